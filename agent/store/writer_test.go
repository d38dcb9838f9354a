package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"typist/agent"
)

// hold keeps the writer busy until the function it returns is called, so that what is asked for
// meanwhile gathers in one batch.
func hold(t *testing.T, s *Store) (release func()) {
	t.Helper()
	started, free, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		_ = s.write(background, "hold", func(*conn) error {
			close(started)
			<-free
			return nil
		})
	}()
	<-started
	return func() { close(free); <-done }
}

// gather starts the calls one after the other, waits until all are in the writer's queue, lets
// the writer go and returns their errors.
func gather(t *testing.T, s *Store, calls ...func() error) []error {
	t.Helper()
	release := hold(t, s)
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() { errs[i] = call() })
		for len(s.writer.ops) < i+1 {
			select {
			case <-t.Context().Done():
				t.Fatal("call did not reach the writer")
			default:
				runtime.Gosched()
			}
		}
	}
	release()
	wg.Wait()
	return errs
}

func TestGroupCommitSharesTransactions(t *testing.T) {
	s := open(t, t.TempDir())
	before := s.writer.commits.Load()
	var calls []func() error
	for i := range 20 {
		calls = append(calls, func() error {
			_, _, err := s.Accept(background, Input{EventID: fmt.Sprint(i), Chat: chatA})
			return err
		})
	}
	for _, err := range gather(t, s, calls...) {
		if err != nil {
			t.Error(err)
		}
	}
	if n := s.writer.commits.Load() - before; n != 2 { // the one that held the writer, and the batch
		t.Errorf("20 writes took %d transactions, want 1", n-1)
	}
	if n, err := s.CountWaiting(background, chatA); n != 20 || err != nil {
		t.Errorf("%d stored, %v", n, err)
	}
}

func TestGroupCommitOneFailureFailsNobodyElse(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		id := accept(t, s, chatA, "e")
		before := s.writer.commits.Load()
		var first int64
		errs := gather(t, s,
			func() error { return s.Save(background, "a", "1") },
			func() error { return s.SetRefs(background, "no such node", []string{"1"}) },
			func() error { // fails after it has changed rows
				return s.BeginTurn(background, Begin{Inputs: []int64{id, 999}, Run: Run{ID: "r", Chat: chatA}})
			},
			func() error { return s.write(background, "panic", func(*conn) error { panic("boom") }) },
			func() (err error) {
				first, err = s.Append(background, chatA, "r", at(1), []agent.Event{agent.TextContent{ID: "t", Delta: "x"}})
				return err
			},
			func() error { return s.Save(background, "b", "2") },
		)
		if errs[0] != nil || errs[4] != nil || errs[5] != nil {
			t.Fatalf("the others failed: %v", errs)
		}
		if !errors.Is(errs[1], ErrNotFound) || !errors.Is(errs[2], ErrNotWaiting) || errs[3] == nil || !strings.Contains(errs[3].Error(), "boom") {
			t.Fatalf("the failing ones: %v", errs[1:4])
		}
		if n := s.writer.commits.Load() - before; n != 2 { // the one that held the writer, and the batch
			t.Errorf("the batch took %d transactions, want 1", n-1)
		}
		if first != 1 {
			t.Errorf("a repeated append was numbered %d, want 1", first)
		}
		a, _ := s.Load(background, "a")
		b, _ := s.Load(background, "b")
		if a != "1" || b != "2" {
			t.Errorf("stored %q %q", a, b)
		}
		if n, _ := s.CountWaiting(background, chatA); n != 1 {
			t.Errorf("the failed turn left %d waiting inputs, want 1", n)
		}
	})
}

func TestWriteCancelledBeforeItsTurnLeavesNothing(t *testing.T) {
	s := open(t, t.TempDir())
	ctx, cancel := context.WithCancelCause(background)
	why := errors.New("why")
	errs := gather(t, s,
		func() error { return s.Save(ctx, "a", "1") },
		func() error { cancel(why); return s.Save(background, "b", "2") },
		func() error { return s.Save(background, "c", "3") },
	)
	if !errors.Is(errs[0], why) || errs[1] != nil || errs[2] != nil {
		t.Fatal(errs)
	}
	if err := s.Save(ctx, "d", "4"); !errors.Is(err, why) {
		t.Errorf("write with an ended context: %v", err)
	}
	for key, want := range map[string]string{"a": "", "b": "2", "c": "3", "d": ""} {
		if got, err := s.Load(background, key); got != want || err != nil {
			t.Errorf("%s: %q %v, want %q", key, got, err, want)
		}
	}
}

func TestCloseFinishesWhatWasAccepted(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(background, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	stored := make([]bool, 50)
	for i := range stored {
		wg.Go(func() {
			err := s.Save(background, fmt.Sprint(i), "x")
			if stored[i] = err == nil; err != nil && !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if _, err := s.Load(background, "1"); !errors.Is(err, ErrClosed) {
		t.Errorf("read after close: %v", err)
	}
	if err := s.Save(background, "1", "y"); !errors.Is(err, ErrClosed) {
		t.Errorf("write after close: %v", err)
	}
	s = open(t, dir)
	for i, want := range stored {
		if got, _ := s.Load(background, fmt.Sprint(i)); want != (got == "x") {
			t.Errorf("%d: told %v, stored %q", i, want, got)
		}
	}
}

// TestAppendRate is a generous bound; BenchmarkAppend32Chats measures (goal 5,000 a second).
func TestAppendRate(t *testing.T) {
	s := open(t, t.TempDir())
	if rate := appendFrom(t, s, 32, 50); rate < 300 {
		t.Errorf("%.0f durable appends a second", rate)
	}
}
