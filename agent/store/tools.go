package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"typist/agent"
)

// ToolRecord is a tool call as stored (S4).
type ToolRecord struct {
	Key      string // session + node + tool call id
	RunID    string
	CallID   string
	Args     agent.ToolArgs
	Finished bool // Result counts
	Result   agent.ToolResult
	At       time.Time // when the intent was stored
	EndedAt  time.Time
}

// ToolIntent stores that a call is about to be executed. known is true when its key was stored
// before: prior then says what came of it, nothing was changed, and the caller must not execute.
// Only known == false with a nil error allows the execution.
func (s *Store) ToolIntent(ctx context.Context, key, runID, callID string, args agent.ToolArgs) (prior ToolRecord, known bool, err error) {
	if args == nil {
		args = agent.ToolArgs{}
	}
	at := millis(time.Now())
	err = s.write(ctx, "store tool call", func(c *conn) error {
		prior, known = ToolRecord{}, false
		n, err := c.exec(`INSERT INTO tools (key, run, call_id, args, at, ended_at) VALUES (?1, ?2, ?3, ?4, ?5, 0) ON CONFLICT (key) DO NOTHING`,
			key, runID, callID, []byte(args), at)
		if err != nil || n > 0 {
			return err
		}
		list, err := tools(c, ` WHERE key = ?1`, key)
		if err != nil {
			return err
		}
		prior, known = list[0], true
		return nil
	})
	return prior, known, err
}

// ToolFinished stores a call's result; only then may it be used. The first result stays: a
// second one is ignored.
func (s *Store) ToolFinished(ctx context.Context, key string, result agent.ToolResult) error {
	data, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("store tool result: %w", err)
	}
	at := millis(time.Now())
	return s.write(ctx, "store tool result", func(c *conn) error {
		n, err := c.exec(`UPDATE tools SET result = COALESCE(result, ?2), ended_at = CASE WHEN result IS NULL THEN ?3 ELSE ended_at END WHERE key = ?1`, key, data, at)
		return oneRow(n, err, "tool call", key)
	})
}

// ToolsOf lists the tool calls that a run executed, in order.
func (s *Store) ToolsOf(ctx context.Context, runID string) (out []ToolRecord, err error) {
	err = s.read(ctx, "tool calls of a run", func(c *conn) error {
		out, err = tools(c, ` WHERE run = ?1 ORDER BY n`, runID)
		return err
	})
	return out, err
}

func tools(c *conn, where string, args ...any) ([]ToolRecord, error) {
	var out []ToolRecord
	err := c.rows(`SELECT key, run, call_id, args, result, at, ended_at FROM tools`+where, args, func(r scanner) error {
		var t ToolRecord
		var args, result []byte
		var at, ended int64
		if err := r.Scan(&t.Key, &t.RunID, &t.CallID, &args, &result, &at, &ended); err != nil {
			return err
		}
		t.Args, t.At, t.EndedAt, t.Finished = args, fromMillis(at), fromMillis(ended), result != nil
		if t.Finished {
			if err := json.Unmarshal(result, &t.Result); err != nil {
				return fmt.Errorf("tool call %s: %w", t.Key, err)
			}
		}
		out = append(out, t)
		return nil
	})
	return out, err
}
