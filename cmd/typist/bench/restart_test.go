package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"typist/adapters/sim/telegram"
	"typist/agent"
	"typist/agent/store"
)

const queued = `on "^long":
  wait 10m
otherwise:
  say 1ms: Answer to {{input}}
`

// fill stores sessions of one turn each, with their events.
func fill(t testing.TB, dir string, sessions, events int) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	must(t, err)
	var next atomic.Int64
	var all sync.WaitGroup
	var failed atomic.Pointer[error]
	for range 256 { // they share commits
		all.Go(func() {
			for i := next.Add(1); i <= int64(sessions) && failed.Load() == nil; i = next.Add(1) {
				if err := session(t.Context(), s, i, events/sessions); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		t.Fatal(*err)
	}
	must(t, s.Close())
}

func session(ctx context.Context, s *store.Store, i int64, events int) error {
	chat, run := fmt.Sprintf("telegram/%d", 1_000_000+i), fmt.Sprintf("run%d", i)
	input, _, err := s.Accept(ctx, store.Input{EventID: "e" + run, Chat: chat, MessageID: "1", Kind: store.InputMessage, Payload: []byte(`{}`)})
	if err != nil {
		return err
	}
	question := store.Node{ID: "q" + run, Chat: chat, RunID: run, Message: agent.UserText("What is the weather like today in Lisbon?"), Refs: []string{"1"}}
	if err := s.BeginTurn(ctx, store.Begin{Inputs: []int64{input}, Node: question, Run: store.Run{ID: run}}); err != nil {
		return err
	}
	log := make([]agent.Event, events)
	for j := range log {
		log[j] = agent.TextContent{ID: "t1", Delta: "some words that a model wrote, about as many as come in a quarter of a second"}
	}
	if _, err := s.Append(ctx, chat, run, time.Now(), log); err != nil {
		return err
	}
	answer := store.Node{ID: "a" + run, Chat: chat, Parent: question.ID, RunID: run,
		Message: agent.Message{Role: agent.Assistant, Blocks: []agent.Part{{Kind: agent.PartText, Text: strings.Repeat("Sunny, with a light wind. ", 10)}}}}
	return s.EndTurn(ctx, store.End{RunID: run, State: store.RunDone, Nodes: []store.Node{answer}, Leaf: answer.ID, Answer: []store.PostRef{{MessageID: "2"}}})
}

// restartFigures are what a start on a large store takes.
type restartFigures struct {
	answered time.Duration // from the start of the process to the first answer to a queued message
	rss      float64       // MB, soon after that
}

// measureRestart kills the program while messages wait behind runs, and starts it again.
func measureRestart(t testing.TB, sessions, events int) restartFigures {
	t.Helper()
	dir := t.TempDir()
	fill(t, filepath.Join(dir, "data"), sessions, events)
	w := newTown(t, 5, telegram.Limits{})
	config := configure(t, dir, queued, "", w)
	p := run(t, config, 1)
	for _, person := range w.people {
		w.say(t, person, "long work")
		w.say(t, person, "one")
		w.say(t, person, "two")
	}
	eventually(t, "all that was written in the inbox", 10*time.Second, func() bool {
		return p.metrics(t)["typist_queue_depth"] == float64(2*len(w.people))
	})
	_ = p.end(syscall.SIGKILL)

	p = start(t, config)
	first := func() time.Time {
		var first time.Time
		for _, person := range w.people {
			if at, ok := w.answer(person, "Answer to one"); ok && (first.IsZero() || at.Before(first)) {
				first = at
			}
		}
		return first
	}
	eventually(t, "an answer to a queued message", 30*time.Second, func() bool { return !first().IsZero() })
	f := restartFigures{answered: first().Sub(p.started)}
	eventually(t, "all answers", 30*time.Second, func() bool {
		for _, person := range w.people {
			if _, ok := w.answer(person, "Answer to two"); !ok {
				return false
			}
		}
		return true
	})
	f.rss = p.rss(t)
	return f
}

// TestS9_RestartIsQuick: BenchmarkRestart measures; the goals are 1 s and 60 MB.
func TestS9_RestartIsQuick(t *testing.T) {
	f := measureRestart(t, 500, 5000)
	t.Logf("first answer %v after the start, %.1f MB resident", f.answered, f.rss)
	if f.answered > 5*time.Second {
		t.Errorf("the first queued message is answered %v after the start", f.answered)
	}
	if f.rss > 70 {
		t.Errorf("%.1f MB resident", f.rss)
	}
}

// BenchmarkRestart reports a start on a store of 100,000 sessions and a million events; the goals
// are 1 s to the first answer and 60 MB.
func BenchmarkRestart(b *testing.B) {
	for b.Loop() {
		f := measureRestart(b, 100_000, 1_000_000)
		b.ReportMetric(float64(f.answered.Milliseconds()), "first-answer-ms")
		b.ReportMetric(f.rss, "rss-MB")
	}
}
