package store

import (
	"context"
	"fmt"
	"time"
)

// RunState is what a run came to.
type RunState string

// The states of a run.
const (
	RunRunning     RunState = "running"
	RunDone        RunState = "done"
	RunSilent      RunState = "silent"
	RunStopped     RunState = "stopped"
	RunInterrupted RunState = "interrupted"
	RunFailed      RunState = "failed"
)

// Run is one execution of the agent for a turn.
type Run struct {
	ID          string
	Chat        string
	Node        string // the node it answers or goes on from
	Backend     string
	State       RunState
	Progress    string   // message id of the progress message; "" = none stands
	ProgressKey string   // the post's key
	Answer      []string // message ids of the answer, in order
	Anchor      string   // the person's message it belongs to, for replies
	Indicator   bool     // something was shown that only a call clears (Slack's status, a reaction) (S9)
	Failure     string   // agent.FailureKind, or the turn code's own words; "" = none
	StartedAt   time.Time
	EndedAt     time.Time
}

const runColumns = `SELECT r.id, c.key, r.node, r.backend, r.state, r.progress, r.progress_key, r.anchor, r.indicator, r.failure, r.started_at, r.ended_at
	FROM runs r JOIN chats c ON c.id = r.chat`

func runs(c *conn, where string, args ...any) ([]Run, error) {
	var out []Run
	if err := c.rows(runColumns+where, args, func(r scanner) error {
		var run Run
		var state string
		var indicator, started, ended int64
		err := r.Scan(&run.ID, &run.Chat, &run.Node, &run.Backend, &state, &run.Progress, &run.ProgressKey, &run.Anchor, &indicator, &run.Failure, &started, &ended)
		run.State, run.Indicator, run.StartedAt, run.EndedAt = RunState(state), indicator != 0, fromMillis(started), fromMillis(ended)
		out = append(out, run)
		return err
	}); err != nil {
		return nil, err
	}
	for i := range out {
		if err := c.rows(`SELECT message FROM answers WHERE run = ?1 ORDER BY part`, []any{out[i].ID}, func(r scanner) error {
			var message string
			err := r.Scan(&message)
			out[i].Answer = append(out[i].Answer, message)
			return err
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Store) oneRun(ctx context.Context, what, where string, args ...any) (run Run, ok bool, err error) {
	err = s.read(ctx, what, func(c *conn) error {
		list, err := runs(c, where, args...)
		if ok = len(list) > 0; ok {
			run = list[0]
		}
		return err
	})
	return run, ok, err
}

// Run reads a run; false: there is none.
func (s *Store) Run(ctx context.Context, id string) (Run, bool, error) {
	return s.oneRun(ctx, "run", ` WHERE r.id = ?1`, id)
}

const lastOf = ` WHERE r.chat = (SELECT id FROM chats WHERE key = ?1) ORDER BY r.n DESC LIMIT 1`

// LastRun is the run of the chat that began last; false: none has.
func (s *Store) LastRun(ctx context.Context, chat string) (Run, bool, error) {
	return s.oneRun(ctx, "last run", lastOf, chat)
}

// RunByMessage is the newest run whose progress message or answer a message of the platform is.
func (s *Store) RunByMessage(ctx context.Context, chat, messageID string) (Run, bool, error) {
	return s.oneRun(ctx, "run by message", ` WHERE r.id IN (
		SELECT id FROM runs WHERE chat = (SELECT id FROM chats WHERE key = ?1) AND progress = ?2 AND progress <> ''
		UNION SELECT run FROM answers WHERE chat = (SELECT id FROM chats WHERE key = ?1) AND message = ?2)
		ORDER BY r.n DESC LIMIT 1`, chat, messageID)
}

const inState = ` WHERE r.state = ?1 ORDER BY r.n`

// RunsIn lists the runs in these states, the oldest first; at the start of the program those
// still RunRunning were interrupted (S9).
func (s *Store) RunsIn(ctx context.Context, states ...RunState) (out []Run, err error) {
	err = s.read(ctx, "runs by state", func(c *conn) error {
		out = nil
		for _, state := range states {
			list, err := runs(c, inState, string(state))
			if err != nil {
				return err
			}
			out = append(out, list...)
		}
		return nil
	})
	return out, err
}

// RunsOf lists the runs that answer or go on from a node, the oldest first.
func (s *Store) RunsOf(ctx context.Context, chat, node string) (out []Run, err error) {
	err = s.read(ctx, "runs of a node", func(c *conn) error {
		out, err = runs(c, ` WHERE r.chat = (SELECT id FROM chats WHERE key = ?1) AND r.node = ?2 ORDER BY r.n`, chat, node)
		return err
	})
	return out, err
}

// SaveProgress records the post and the message that show a run's progress; messageID "" with a
// key: it is being sent; both "": none stands.
func (s *Store) SaveProgress(ctx context.Context, runID, key, messageID string) error {
	return s.write(ctx, "save progress message", func(c *conn) error {
		n, err := c.exec(`UPDATE runs SET progress_key = ?2, progress = ?3 WHERE id = ?1`, runID, key, messageID)
		return oneRow(n, err, "run", runID)
	})
}

// UpdateRun writes all fields of a run but its chat.
func (s *Store) UpdateRun(ctx context.Context, run Run) error {
	return s.write(ctx, "update run", func(c *conn) error {
		n, err := c.exec(`UPDATE runs SET node = ?2, backend = ?3, state = ?4, progress = ?5, progress_key = ?6, anchor = ?7, indicator = ?8,
			failure = ?9, started_at = ?10, ended_at = ?11 WHERE id = ?1`,
			run.ID, run.Node, run.Backend, string(run.State), run.Progress, run.ProgressKey, run.Anchor, flag(run.Indicator),
			run.Failure, millis(run.StartedAt), millis(run.EndedAt))
		if err := oneRow(n, err, "run", run.ID); err != nil {
			return err
		}
		return setAnswer(c, run.ID, run.Answer)
	})
}

func insertRun(c *conn, chat int64, run Run) error {
	if _, err := c.exec(`INSERT INTO runs (id, chat, node, backend, state, progress, progress_key, anchor, indicator, failure, started_at, ended_at)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)`,
		run.ID, chat, run.Node, run.Backend, string(run.State), run.Progress, run.ProgressKey, run.Anchor, flag(run.Indicator),
		run.Failure, millis(run.StartedAt), millis(run.EndedAt)); err != nil {
		return err
	}
	return setAnswer(c, run.ID, run.Answer)
}

// setAnswer replaces the messages that hold a run's answer.
func setAnswer(c *conn, run string, messages []string) error {
	if _, err := c.exec(`DELETE FROM answers WHERE run = ?1`, run); err != nil {
		return err
	}
	for i, message := range messages {
		if _, err := c.exec(`INSERT INTO answers (run, part, chat, message) SELECT id, ?2, chat, ?3 FROM runs WHERE id = ?1`, run, i, message); err != nil {
			return err
		}
	}
	return nil
}

// oneRow makes a missing row an error.
func oneRow(n int64, err error, what, id string) error {
	if err == nil && n == 0 {
		return fmt.Errorf("%s %s: %w", what, id, ErrNotFound)
	}
	return err
}
