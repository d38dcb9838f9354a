package store

import (
	"context"
	"fmt"
	"time"

	"typist/agent"
)

// Stored is an event of a run with its number (S6).
type Stored struct {
	Seq   int64 // grows within the chat, never given twice, not even after pruning
	RunID string
	At    time.Time
	Event agent.Event
}

// Append stores events of a run and numbers them first … first+len(evs)-1. All of them or none
// are stored.
func (s *Store) Append(ctx context.Context, chat, runID string, at time.Time, evs []agent.Event) (first int64, err error) {
	if len(evs) == 0 {
		return 0, nil
	}
	rows := make([][]byte, len(evs))
	size := 0
	for i, ev := range evs {
		if rows[i], err = agent.Encode(ev); err != nil {
			return 0, fmt.Errorf("append events: %w", err)
		}
		size += len(rows[i])
	}
	if at.IsZero() {
		at = time.Now()
	}
	err = s.write(ctx, "append events", func(c *conn) error {
		var id, last, span int64
		if _, err := c.row(`INSERT INTO chats (key, seq, active_at) VALUES (?1, ?2, ?3)
			ON CONFLICT (key) DO UPDATE SET seq = chats.seq + excluded.seq, active_at = excluded.active_at RETURNING id, seq`,
			[]any{chat, len(rows), millis(at)}, &id, &last); err != nil {
			return err
		}
		first = last - int64(len(rows)) + 1
		if _, err := c.row(`INSERT INTO spans (run, chat, first, last, bytes, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
			ON CONFLICT (run, chat) DO UPDATE SET last = excluded.last, bytes = spans.bytes + excluded.bytes, at = excluded.at RETURNING id`,
			[]any{runID, id, first, last, size, millis(at)}, &span); err != nil {
			return err
		}
		for i, row := range rows {
			if _, err := c.exec(`INSERT INTO events (chat, seq, span, at, event) VALUES (?1, ?2, ?3, ?4, ?5)`, id, first+int64(i), span, millis(at), row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return first, nil
}

const (
	eventColumns = `SELECT e.seq, s.run, e.at, e.event FROM events e JOIN spans s ON s.id = e.span`
	eventsAfter  = ` WHERE e.chat = ?1 AND e.seq > ?2 ORDER BY e.seq LIMIT ?3`
	eventsOfSpan = ` WHERE e.chat = ?1 AND e.seq BETWEEN ?2 AND ?3 AND e.span = ?4 ORDER BY e.seq`
)

func events(c *conn, query string, args ...any) ([]Stored, error) {
	var out []Stored
	err := c.rows(eventColumns+query, args, func(r scanner) error {
		var ev Stored
		var at int64
		var data []byte
		if err := r.Scan(&ev.Seq, &ev.RunID, &at, &data); err != nil {
			return err
		}
		ev.At = fromMillis(at)
		var err error
		if ev.Event, err = agent.Decode(data); err != nil {
			return fmt.Errorf("event %d: %w", ev.Seq, err)
		}
		out = append(out, ev)
		return nil
	})
	return out, err
}

// Events lists the chat's events with seq > after, in order, at most limit (0 = 1000). Events
// that retention has removed are missing.
func (s *Store) Events(ctx context.Context, chat string, after int64, limit int) (out []Stored, err error) {
	if limit <= 0 {
		limit = 1000
	}
	err = s.read(ctx, "events", func(c *conn) error {
		id, err := knownChat(c, chat)
		if err != nil || id == 0 {
			return err
		}
		out, err = events(c, eventsAfter, id, after, limit)
		return err
	})
	return out, err
}

// RunEvents lists a run's events in order.
func (s *Store) RunEvents(ctx context.Context, runID string) (out []Stored, err error) {
	err = s.read(ctx, "events of a run", func(c *conn) error {
		out = nil
		type span struct{ id, chat, first, last int64 }
		var spans []span
		if err := c.rows(`SELECT id, chat, first, last FROM spans WHERE run = ?1 ORDER BY id`, []any{runID}, func(r scanner) error {
			var s span
			err := r.Scan(&s.id, &s.chat, &s.first, &s.last)
			spans = append(spans, s)
			return err
		}); err != nil {
			return err
		}
		for _, s := range spans {
			list, err := events(c, eventsOfSpan, s.chat, s.first, s.last, s.id)
			if err != nil {
				return err
			}
			out = append(out, list...)
		}
		return nil
	})
	return out, err
}
