package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"typist/agent"
)

// openKeeping opens a store in memory that prunes only when told to.
func openKeeping(t *testing.T, keep Retention) *Store {
	t.Helper()
	keep.Every = -1
	s, err := Open(background, Options{Retention: keep})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// ranAt stores a whole turn that ran at a time: input, nodes, events, a post, two tool calls.
func ranAt(t *testing.T, s *Store, name string, when time.Time, events int, ended bool) {
	t.Helper()
	id, _, err := s.Accept(background, Input{EventID: name, Chat: chatA, Kind: InputMessage, At: when})
	if err != nil {
		t.Fatal(err)
	}
	user := text("u"+name, chatA, "", agent.User, "q")
	user.At = when
	if err := s.BeginTurn(background, Begin{Inputs: []int64{id}, Node: user, Run: Run{ID: name, StartedAt: when}}); err != nil {
		t.Fatal(err)
	}
	evs := make([]agent.Event, events)
	for i := range evs {
		evs[i] = agent.TextContent{ID: "t", Delta: "0123456789"}
	}
	_, err = s.Append(background, chatA, name, when, evs)
	_, _, err2 := s.ToolIntent(background, name+"/1", name, "1", nil)
	_, _, err3 := s.ToolIntent(background, name+"/2", name, "2", nil)
	if err := errors.Join(err, err2, err3,
		s.PostIntent(background, Post{Key: name, Chat: chatA, RunID: name, At: when}), s.PostSent(background, name, "1"),
		s.ToolFinished(background, name+"/1", agent.ToolResult{}),
		s.write(background, "age", func(c *conn) error {
			_, err := c.exec(`UPDATE tools SET ended_at = ?2 WHERE run = ?1 AND ended_at > 0`, name, millis(when))
			return err
		})); err != nil {
		t.Fatal(err)
	}
	if ended {
		if err := s.EndTurn(background, End{RunID: name, State: RunDone, EndedAt: when}); err != nil {
			t.Fatal(err)
		}
	}
}

func sizes(t *testing.T, s *Store) string {
	t.Helper()
	var out string
	for _, table := range []string{"events", "spans", "posts", "tools", "inbox", "runs", "nodes", "slots", "seen"} {
		n, err := count(s, "SELECT COUNT(*) FROM "+table)
		if err != nil {
			t.Fatal(err)
		}
		out += fmt.Sprintf("%s %d ", table, n)
	}
	return out
}

// TestPruneByAge removes what is old of ended runs, in many small transactions, and leaves nodes,
// runs, what runs, unanswered calls, and the numbers of events.
func TestPruneByAge(t *testing.T) {
	s := openKeeping(t, Retention{Age: 24 * time.Hour})
	now := time.Now()
	ranAt(t, s, "old", now.Add(-25*time.Hour), 1200, true)
	ranAt(t, s, "running", now.Add(-25*time.Hour), 10, false)
	ranAt(t, s, "young", now.Add(-time.Hour), 10, true)
	for what, err := range map[string]error{
		"seen": s.write(background, "seen", func(c *conn) error {
			_, err := c.exec(`INSERT INTO seen (channel, event_id, at) VALUES ('slack', '1', ?1), ('slack', '2', ?2)`, millis(now.Add(-25*time.Hour)), millis(now))
			return err
		}),
		"slots": s.write(background, "slots", func(c *conn) error {
			_, err := c.exec(`INSERT INTO slots (name, slot, at) VALUES ('h', '1', ?1), ('h', '2', ?2)`, millis(now.Add(-25*time.Hour)), millis(now))
			return err
		}),
	} {
		if err != nil {
			t.Fatal(what, err)
		}
	}
	before := s.writer.commits.Load()
	n, err := s.Prune(background, now)
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
	if got, want := sizes(t, s), "events 20 spans 2 posts 2 tools 5 inbox 2 runs 3 nodes 3 slots 1 seen 1 "; got != want {
		t.Errorf("left:\n%s\nwant\n%s", got, want)
	}
	if took := s.writer.commits.Load() - before; took < 3 {
		t.Errorf("1,200 events were removed in %d transactions", took)
	}
	if first, err := s.Append(background, chatA, "r", now, []agent.Event{agent.TextContent{ID: "t", Delta: "x"}}); first != 1221 || err != nil {
		t.Errorf("next number is %d, %v", first, err)
	}
	if evs, err := s.RunEvents(background, "old"); len(evs) != 0 || err != nil {
		t.Errorf("%d %v", len(evs), err)
	}
	if n, err := s.Prune(background, now); n != 0 || err != nil {
		t.Errorf("second prune removed %d, %v", n, err)
	}
}

// TestPruneBySize removes the oldest ended runs' events until the rest fits, and no running one's.
func TestPruneBySize(t *testing.T) {
	s := openKeeping(t, Retention{Age: -1, EventBytes: 6500})
	now := time.Now()
	for i := range 5 {
		ranAt(t, s, fmt.Sprint(i), now.Add(time.Duration(i)*time.Minute), 50, i > 0)
	}
	if _, err := s.Prune(background, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	var kept string
	for i := range 5 {
		evs, err := s.RunEvents(background, fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		kept += fmt.Sprint(len(evs), " ")
	}
	if size, _ := count(s, `SELECT SUM(LENGTH(event)) FROM events`); kept != "50 0 0 0 50 " || size > 6500 {
		t.Errorf("kept %s, %d bytes", kept, size)
	}
}

func TestRetentionDefaults(t *testing.T) {
	got := Retention{Seen: time.Minute}.withDefaults()
	if want := (Retention{Age: 720 * time.Hour, EventBytes: 1 << 30, Seen: time.Hour, Every: time.Hour}); got != want {
		t.Errorf("%+v", got)
	}
}
