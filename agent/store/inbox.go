package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// InputKind says what an input asks for.
type InputKind string

// The kinds of input.
const (
	InputMessage   InputKind = "message"
	InputHeartbeat InputKind = "heartbeat"
	InputResume    InputKind = "resume"
	InputRetry     InputKind = "retry"
	InputNew       InputKind = "new" // begins a new conversation; no run
)

// InputState is how far an input has come.
type InputState string

// The states of an input.
const (
	InputWaiting InputState = "waiting"
	InputRunning InputState = "running"
	InputDone    InputState = "done"
	InputDropped InputState = "dropped"
)

// Input is a row of the inbox: something that becomes, or became, a turn.
type Input struct {
	ID        int64  // given by Accept; grows with the order of acceptance
	EventID   string // the platform's id of the event, unique in the chat's channel (C3); "" = not de-duplicated
	Chat      string
	MessageID string // the person's message; "" where there is none
	Kind      InputKind
	Payload   []byte // JSON of the turn code
	State     InputState
	RunID     string // the run that took it
	At        time.Time
}

// Accept stores a waiting input. fresh is false when its event was accepted before; id is then
// the earlier row's. ID, State and RunID of in are ignored; a zero At is now.
func (s *Store) Accept(ctx context.Context, in Input) (id int64, fresh bool, err error) {
	if in.At.IsZero() {
		in.At = time.Now()
	}
	if in.Payload == nil {
		in.Payload = []byte{}
	}
	err = s.write(ctx, "accept input", func(c *conn) error {
		chat, err := touch(c, in.Chat, in.At)
		if err != nil {
			return err
		}
		var event any
		if in.EventID != "" {
			event = in.EventID
		}
		fresh, err = c.row(`INSERT INTO inbox (channel, event_id, chat, message, kind, payload, state, at)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'waiting', ?7) ON CONFLICT (channel, event_id) DO NOTHING RETURNING id`,
			[]any{channelOf(in.Chat), event, chat, in.MessageID, string(in.Kind), in.Payload, millis(in.At)}, &id)
		if err != nil || fresh {
			return err
		}
		_, err = c.row(`SELECT id FROM inbox WHERE channel = ?1 AND event_id = ?2`, []any{channelOf(in.Chat), event}, &id)
		return err
	})
	return id, fresh && err == nil, err
}

// Accepted reports whether Accept has taken that event of the chat's channel.
func (s *Store) Accepted(ctx context.Context, chat, eventID string) (known bool, err error) {
	err = s.read(ctx, "look an event up", func(c *conn) error {
		var id int64
		known, err = c.row(`SELECT id FROM inbox WHERE channel = ?1 AND event_id = ?2`, []any{channelOf(chat), eventID}, &id)
		return err
	})
	return known && err == nil, err
}

// Seen records an event that becomes no input (a press, an edit, a command): fresh is true the
// first time. It is forgotten after Retention.Seen.
func (s *Store) Seen(ctx context.Context, channel, eventID string) (fresh bool, err error) {
	err = s.write(ctx, "mark event as seen", func(c *conn) error {
		n, err := c.exec(`INSERT INTO seen (channel, event_id, at) VALUES (?1, ?2, ?3) ON CONFLICT (channel, event_id) DO NOTHING`,
			channel, eventID, millis(time.Now()))
		fresh = n > 0
		return err
	})
	return fresh && err == nil, err
}

const inputColumns = `SELECT i.id, COALESCE(i.event_id, ''), c.key, i.message, i.kind, i.payload, i.state, i.run, i.at
	FROM inbox i JOIN chats c ON c.id = i.chat`

func scanInput(r scanner) (Input, error) {
	var in Input
	var kind, state string
	var at int64
	err := r.Scan(&in.ID, &in.EventID, &in.Chat, &in.MessageID, &kind, &in.Payload, &state, &in.RunID, &at)
	in.Kind, in.State, in.At = InputKind(kind), InputState(state), fromMillis(at)
	return in, err
}

func inputs(c *conn, where string, args ...any) ([]Input, error) {
	var out []Input
	err := c.rows(inputColumns+where, args, func(r scanner) error {
		in, err := scanInput(r)
		out = append(out, in)
		return err
	})
	return out, err
}

// unfinished sorts by an expression so that SQLite stays on the partial index, which is small,
// instead of reading the whole table in the order of its ids.
const unfinished = ` WHERE i.state IN ('waiting', 'running') ORDER BY i.id + 0`

// Unfinished lists the waiting and running inputs of all chats in the order of acceptance; a
// program reads it once, at its start (S9).
func (s *Store) Unfinished(ctx context.Context) (out []Input, err error) {
	err = s.read(ctx, "unfinished inputs", func(c *conn) error {
		out, err = inputs(c, unfinished)
		return err
	})
	return out, err
}

const waitingOf = ` WHERE i.chat = (SELECT id FROM chats WHERE key = ?1) AND i.state IN ('waiting', 'running') AND i.state = 'waiting'`

// NextWaiting is the chat's oldest waiting input; false: none waits.
func (s *Store) NextWaiting(ctx context.Context, chat string) (in Input, ok bool, err error) {
	err = s.read(ctx, "next input", func(c *conn) error {
		list, err := inputs(c, waitingOf+` ORDER BY i.id LIMIT 1`, chat)
		if ok = len(list) > 0; ok {
			in = list[0]
		}
		return err
	})
	return in, ok, err
}

// Waiting lists the chat's waiting inputs, oldest first.
func (s *Store) Waiting(ctx context.Context, chat string) (out []Input, err error) {
	err = s.read(ctx, "waiting inputs", func(c *conn) error {
		out, err = inputs(c, waitingOf+` ORDER BY i.id`, chat)
		return err
	})
	return out, err
}

// CountWaiting is how many inputs of the chat wait (S10's cap).
func (s *Store) CountWaiting(ctx context.Context, chat string) (n int, err error) {
	err = s.read(ctx, "count waiting inputs", func(c *conn) error {
		_, err := c.row(`SELECT COUNT(*) FROM inbox i`+waitingOf, []any{chat}, &n)
		return err
	})
	return n, err
}

// EditWaiting gives the waiting input of a message a new payload (S7); false: none waits. Retries and
// resumes of that message are inputs of their own kind and stay as they are.
func (s *Store) EditWaiting(ctx context.Context, chat, messageID string, payload []byte) (edited bool, err error) {
	err = s.write(ctx, "edit waiting input", func(c *conn) error {
		n, err := c.exec(`UPDATE inbox SET payload = ?3 WHERE chat = (SELECT id FROM chats WHERE key = ?1)
			AND state IN ('waiting', 'running') AND state = 'waiting' AND message = ?2 AND kind = 'message'`, chat, messageID, payload)
		edited = n > 0
		return err
	})
	return edited && err == nil, err
}

// DropWaiting drops what waits in the chat (S2) and returns it; the inputs in except stay: those of
// a turn that is beginning. A dropped resume or retry can be asked for again, so its event is
// forgotten; a person's message stays known (C3).
func (s *Store) DropWaiting(ctx context.Context, chat string, except ...int64) (out []Input, err error) {
	err = s.write(ctx, "drop waiting inputs", func(c *conn) error {
		if out, err = inputs(c, waitingOf+` ORDER BY i.id`, chat); err != nil {
			return err
		}
		out = slices.DeleteFunc(out, func(in Input) bool { return slices.Contains(except, in.ID) })
		for i := range out {
			out[i].State = InputDropped
			if err := setInput(c, out[i].ID, InputDropped, ""); err != nil {
				return err
			}
			if _, err := c.exec(`UPDATE inbox SET event_id = NULL WHERE id = ?1 AND kind IN ('resume', 'retry')`, out[i].ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		out = nil
	}
	return out, err
}

// FinishInput marks one input as done or dropped that became no turn of its own.
func (s *Store) FinishInput(ctx context.Context, id int64, state InputState) error {
	return s.write(ctx, "finish input", func(c *conn) error { return setInput(c, id, state, "") })
}

func setInput(c *conn, id int64, state InputState, run string) error {
	n, err := c.exec(`UPDATE inbox SET state = ?2, run = CASE WHEN ?3 = '' THEN run ELSE ?3 END WHERE id = ?1`, id, string(state), run)
	if err == nil && n == 0 {
		err = fmt.Errorf("input %d: %w", id, ErrNotFound)
	}
	return err
}

// channelOf is the channel in a chat key.
func channelOf(chat string) string {
	channel, _, _ := strings.Cut(chat, "/")
	return channel
}
