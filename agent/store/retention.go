package store

import (
	"context"
	"math"
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

// What is older than ?1, at most ?2 rows of it.
const forgetSeen = `DELETE FROM seen WHERE (channel, event_id) IN (SELECT channel, event_id FROM seen WHERE at < ?1 LIMIT ?2)`

var forgetOld = []string{
	`DELETE FROM inbox WHERE id IN (SELECT id FROM inbox WHERE state IN ('done', 'dropped') AND at < ?1 LIMIT ?2)`,
	`DELETE FROM slots WHERE (name, slot) IN (SELECT name, slot FROM slots WHERE at < ?1 LIMIT ?2)`,
	`DELETE FROM posts WHERE key IN (SELECT key FROM posts WHERE sent = 1 AND at < ?1
		AND run NOT IN (SELECT id FROM runs WHERE state = 'running') LIMIT ?2)`,
	`DELETE FROM tools WHERE key IN (SELECT key FROM tools WHERE ended_at > 0 AND ended_at < ?1
		AND run NOT IN (SELECT id FROM runs WHERE state = 'running') LIMIT ?2)`,
}

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
	old := map[string]int64{forgetSeen: millis(now.Add(-s.keep.Seen))}
	steps := []string{forgetSeen}
	if s.keep.Age > 0 {
		for _, query := range forgetOld {
			old[query] = millis(now.Add(-s.keep.Age))
		}
		steps = append(steps, forgetOld...)
	}
	for _, query := range steps {
		n, err := s.pruneStep(ctx, stop, func(c *conn, _ int64) (removed, _ int64, err error) {
			removed, err = c.exec(query, old[query], pruneBatch)
			return removed, 0, err
		})
		if total += n; err != nil {
			return total, err
		}
	}
	n, err := s.pruneEvents(ctx, now, stop)
	return total + n, err
}

func (s *Store) pruneEvents(ctx context.Context, now time.Time, stop <-chan struct{}) (total int64, err error) {
	if s.keep.Age > 0 {
		if total, err = s.pruneStep(ctx, stop, func(c *conn, _ int64) (int64, int64, error) {
			return pruneRuns(c, millis(now.Add(-s.keep.Age)), math.MaxInt64)
		}); err != nil {
			return total, err
		}
	}
	if s.keep.EventBytes < 0 {
		return total, nil
	}
	var size int64
	if err := s.read(ctx, "size of events", func(c *conn) error {
		_, err := c.row(`SELECT COALESCE(SUM(bytes), 0) FROM spans`, nil, &size)
		return err
	}); err != nil {
		return total, err
	}
	n, err := s.pruneStep(ctx, stop, func(c *conn, freed int64) (int64, int64, error) {
		return pruneRuns(c, math.MaxInt64, size-s.keep.EventBytes-freed)
	})
	return total + n, err
}

// pruneStep repeats a step, each time in a transaction of its own, until it removes nothing. The
// step is told how many bytes of events were freed before.
func (s *Store) pruneStep(ctx context.Context, stop <-chan struct{}, step func(c *conn, before int64) (removed, freed int64, err error)) (total int64, err error) {
	for before := int64(0); ; {
		select {
		case <-stop:
			return total, nil
		default:
		}
		var n, freed int64
		if err := s.write(ctx, "prune", func(c *conn) error {
			n, freed, err = step(c, before)
			return err
		}); err != nil || n == 0 {
			return total, err
		}
		total, before = total+n, before+freed
	}
}

const oldestRun = `SELECT s.id, s.run, s.chat, s.first, s.last, s.bytes FROM spans s LEFT JOIN runs r ON r.id = s.run
	WHERE s.at < ?1 AND COALESCE(r.state, '') <> 'running' ORDER BY s.at LIMIT 1`

// pruneRuns removes events of ended runs whose last event is before
// old, the oldest first: at most about a batch, and no more than frees the wanted bytes of events.
func pruneRuns(c *conn, old, want int64) (removed, freed int64, err error) {
	for removed < pruneBatch && freed < want {
		var span, chat, first, last, bytes int64
		var run string
		found, err := c.row(oldestRun, []any{old}, &span, &run, &chat, &first, &last, &bytes)
		if err != nil || !found {
			return removed, freed, err
		}
		n, err := c.exec(`DELETE FROM events WHERE chat = ?1 AND seq IN (
			SELECT seq FROM events WHERE chat = ?1 AND seq BETWEEN ?2 AND ?3 AND span = ?4 ORDER BY seq LIMIT ?5)`, chat, first, last, span, pruneBatch)
		if removed += n; err != nil || n == pruneBatch {
			return removed, freed, err // the rest of a long run comes with the next batch
		}
		if _, err := c.exec(`DELETE FROM spans WHERE id = ?1`, span); err != nil {
			return removed, freed, err
		}
		removed++
		freed += bytes
	}
	return removed, freed, nil
}
