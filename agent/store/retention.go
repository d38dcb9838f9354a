package store

import (
	"context"
	"time"
)

// Retention bounds what is kept. Nodes, running work, unanswered tool calls and what waits are
// never removed.
type Retention struct {
	// Age: events, posts, tool results, done inputs and claimed slots are removed when they are
	// older. 0 = 30 days; negative = never.
	Age time.Duration
	// EventBytes bounds the events' text together; the oldest ended runs' go first.
	// 0 = 1 GiB; negative = no bound.
	EventBytes int64
	// Seen: ids of events are forgotten when they are older. 0 = 24 h; at least 1 h (C3).
	Seen time.Duration
	// Every is the time between two prunings. 0 = 1 h; negative = only when Prune is called.
	Every time.Duration
}

func (r Retention) withDefaults() Retention {
	if r.Age == 0 {
		r.Age = 30 * 24 * time.Hour
	}
	if r.EventBytes == 0 {
		r.EventBytes = 1 << 30
	}
	if r.Seen == 0 {
		r.Seen = 24 * time.Hour
	}
	r.Seen = max(r.Seen, time.Hour)
	if r.Every == 0 {
		r.Every = time.Hour
	}
	return r
}

// pruneBatch is how many rows one transaction removes: no caller waits long behind it.
const pruneBatch = 500

func (s *Store) pruneLoop() {
	defer close(s.pruned)
	if s.keep.Every < 0 {
		return
	}
	tick := time.NewTicker(s.keep.Every)
	defer tick.Stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for {
		select {
		case <-s.stop:
			return
		case now := <-tick.C:
			// An error here is noted for Stats by the writer, and tried again at the next tick.
			_, _ = s.prune(ctx, now, s.stop)
		}
	}
}

// Prune removes what Retention does not keep, in small transactions, and returns how many rows.
func (s *Store) Prune(ctx context.Context, now time.Time) (int64, error) {
	return s.prune(ctx, now, nil)
}

func (s *Store) prune(ctx context.Context, now time.Time, stop <-chan struct{}) (total int64, err error) {
	steps := []func(*conn) (int64, error){
		func(c *conn) (int64, error) {
			return c.exec(`DELETE FROM seen WHERE (channel, event_id) IN (SELECT channel, event_id FROM seen WHERE at < ?1 LIMIT ?2)`, millis(now.Add(-s.keep.Seen)), pruneBatch)
		},
	}
	if s.keep.Age > 0 {
		old := millis(now.Add(-s.keep.Age))
		for _, query := range []string{
			`DELETE FROM inbox WHERE id IN (SELECT id FROM inbox WHERE state IN ('done', 'dropped') AND at < ?1 LIMIT ?2)`,
			`DELETE FROM slots WHERE (name, slot) IN (SELECT name, slot FROM slots WHERE at < ?1 LIMIT ?2)`,
		} {
			steps = append(steps, func(c *conn) (int64, error) { return c.exec(query, old, pruneBatch) })
		}
		steps = append(steps, func(c *conn) (int64, error) { return pruneRun(c, old) })
	}
	if s.keep.EventBytes > 0 {
		steps = append(steps, func(c *conn) (int64, error) {
			var size int64
			if _, err := c.row(`SELECT COALESCE(SUM(bytes), 0) FROM spans`, nil, &size); err != nil || size <= s.keep.EventBytes {
				return 0, err
			}
			return pruneRun(c, millis(now)+1)
		})
	}
	for _, step := range steps {
		for {
			select {
			case <-stop:
				return total, nil
			default:
			}
			var n int64
			if err := s.write(ctx, "prune", func(c *conn) error {
				n, err = step(c)
				return err
			}); err != nil {
				return total, err
			}
			if total += n; n == 0 {
				break
			}
		}
	}
	return total, nil
}

// pruneRun removes a batch of the oldest ended run's events, posts and finished tool calls, if
// that run's last event is before old. 0: there is no such run.
func pruneRun(c *conn, old int64) (int64, error) {
	var span, chat, first, last int64
	var run string
	found, err := c.row(`SELECT s.id, s.run, s.chat, s.first, s.last FROM spans s LEFT JOIN runs r ON r.id = s.run
		WHERE s.at < ?1 AND COALESCE(r.state, '') <> 'running' ORDER BY s.at LIMIT 1`, []any{old}, &span, &run, &chat, &first, &last)
	if err != nil || !found {
		return 0, err
	}
	n, err := c.exec(`DELETE FROM events WHERE chat = ?1 AND seq IN (
		SELECT seq FROM events WHERE chat = ?1 AND seq BETWEEN ?2 AND ?3 AND span = ?4 ORDER BY seq LIMIT ?5)`, chat, first, last, span, pruneBatch)
	if err != nil || n == pruneBatch {
		return n, err
	}
	for _, query := range []string{
		`DELETE FROM posts WHERE run = ?1 AND sent = 1`,
		`DELETE FROM tools WHERE run = ?1 AND result IS NOT NULL`,
	} {
		more, err := c.exec(query, run)
		if err != nil {
			return n, err
		}
		n += more
	}
	_, err = c.exec(`DELETE FROM spans WHERE id = ?1`, span)
	return n + 1, err
}
