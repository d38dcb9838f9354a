package store

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Begin is the beginning of a turn.
type Begin struct {
	Inputs []int64 // waiting inputs that become this turn; they are running from now on
	// Node is the person's message, appended under its Parent. With the ID of a node that exists
	// (resume, retry) nothing is appended. It becomes the active leaf. Without ID the tree stays
	// as it is.
	Node Node
	// Run is the run's row. Chat, Node and State may be empty: Node's chat and id, and RunRunning.
	Run Run
}

// BeginTurn stores the beginning of a turn in one transaction. ErrNotWaiting: an input was taken
// or dropped meanwhile; nothing was changed then.
func (s *Store) BeginTurn(ctx context.Context, b Begin) error {
	run := b.Run
	if run.Chat == "" {
		run.Chat = b.Node.Chat
	}
	if run.Node == "" {
		run.Node = b.Node.ID
	}
	if run.State == "" {
		run.State = RunRunning
	}
	if run.StartedAt.IsZero() {
		run.StartedAt = time.Now()
	}
	if b.Node.Chat == "" {
		b.Node.Chat = run.Chat
	}
	var rows []nodeRow
	if b.Node.ID != "" {
		var err error
		if rows, err = encodeNodes([]Node{b.Node}); err != nil {
			return fmt.Errorf("begin turn: %w", err)
		}
	}
	return s.write(ctx, "begin turn", func(c *conn) error {
		chat, err := touch(c, run.Chat, run.StartedAt)
		if err != nil {
			return err
		}
		for _, id := range b.Inputs {
			n, err := c.exec(`UPDATE inbox SET state = 'running', run = ?2 WHERE id = ?1 AND chat = ?3 AND state = 'waiting'`, id, run.ID, chat)
			if err != nil {
				return err
			}
			if n == 0 {
				return fmt.Errorf("input %d: %w", id, ErrNotWaiting)
			}
		}
		if err := appendNodes(c, rows); err != nil {
			return err
		}
		if b.Node.ID != "" {
			if err := setLeaf(c, run.Chat, b.Node.ID); err != nil {
				return err
			}
		}
		return insertRun(c, chat, run)
	})
}

// PostRef says which message of the platform holds a part of an answer.
type PostRef struct {
	Node      string // the node it shows; "" = End.Leaf
	MessageID string
}

// End is the end of a turn.
type End struct {
	RunID   string
	State   RunState
	EndedAt time.Time
	Nodes   []Node    // what the run adds to the tree, parents first; those that exist are left as they are
	Leaf    string    // the new active leaf; "" = it stays
	Failure string    // see Run.Failure
	Answer  []PostRef // in order
	Inputs  []int64   // inputs that the run took besides those it began with (steer)
	// KeepProgress: the progress message stands on; otherwise the run has none any more.
	KeepProgress bool
}

// EndTurn stores the end of a turn in one transaction: the inputs are done, the nodes appended,
// the leaf moved, the run has its state, the answer's messages are known. ErrRunEnded: it has
// ended before; nothing was changed then.
func (s *Store) EndTurn(ctx context.Context, e End) error {
	rows, err := encodeNodes(e.Nodes)
	if err != nil {
		return fmt.Errorf("end turn: %w", err)
	}
	e.Inputs, e.Answer = slices.Clone(e.Inputs), slices.Clone(e.Answer)
	if e.EndedAt.IsZero() {
		e.EndedAt = time.Now()
	}
	return s.write(ctx, "end turn", func(c *conn) error {
		var chat, state string
		found, err := c.row(`SELECT c.key, r.state FROM runs r JOIN chats c ON c.id = r.chat WHERE r.id = ?1`, []any{e.RunID}, &chat, &state)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("run %s: %w", e.RunID, ErrNotFound)
		}
		if RunState(state) != RunRunning {
			return fmt.Errorf("run %s is %s: %w", e.RunID, state, ErrRunEnded)
		}
		if _, err := c.exec(`UPDATE runs SET state = ?2, ended_at = ?3, failure = ?4, indicator = 0,
			progress = CASE WHEN ?5 = 1 THEN progress ELSE '' END, progress_key = CASE WHEN ?5 = 1 THEN progress_key ELSE '' END WHERE id = ?1`,
			e.RunID, string(e.State), millis(e.EndedAt), e.Failure, flag(e.KeepProgress)); err != nil {
			return err
		}
		if err := appendNodes(c, rows); err != nil {
			return err
		}
		if e.Leaf != "" {
			if err := setLeaf(c, chat, e.Leaf); err != nil {
				return err
			}
		}
		if err := endInputs(c, chat, e); err != nil {
			return err
		}
		return endAnswer(c, e)
	})
}

func endInputs(c *conn, chat string, e End) error {
	if _, err := c.exec(`UPDATE inbox SET state = 'done' WHERE chat = (SELECT id FROM chats WHERE key = ?1)
		AND state IN ('waiting', 'running') AND state = 'running' AND run = ?2`, chat, e.RunID); err != nil {
		return err
	}
	for _, id := range e.Inputs {
		if err := setInput(c, id, InputDone, e.RunID); err != nil {
			return err
		}
	}
	return nil
}

// endAnswer makes the messages of the answer the run's and those of the nodes they show.
func endAnswer(c *conn, e End) error {
	if e.Answer == nil {
		return nil
	}
	messages := make([]string, len(e.Answer))
	for i, ref := range e.Answer {
		messages[i] = ref.MessageID
		node := ref.Node
		if node == "" {
			node = e.Leaf
		}
		if node == "" {
			continue
		}
		pos, chat, err := nodePos(c, node)
		if err != nil {
			return err
		}
		if pos == 0 {
			return fmt.Errorf("answer's node %s: %w", node, ErrNotFound)
		}
		if err := setRefs(c, chat, pos, []string{ref.MessageID}); err != nil {
			return err
		}
	}
	return setAnswer(c, e.RunID, messages)
}
