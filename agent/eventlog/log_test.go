package eventlog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"typist/agent"
	"typist/agent/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var background = context.Background()

const chat = "telegram/42"

func newLog(t *testing.T) *Log {
	st, err := store.Open(background, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log := New(st)
	t.Cleanup(func() {
		log.Close()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return log
}

func text(s string) agent.Event { return agent.TextContent{ID: "t", Delta: s} }

func appendText(t *testing.T, log *Log, texts ...string) {
	t.Helper()
	var evs []agent.Event
	for _, s := range texts {
		evs = append(evs, text(s))
	}
	if _, err := log.Append(background, chat, "r", time.Now(), evs); err != nil {
		t.Error(err)
	}
}

// take reads until n events have come and checks that their numbers follow after without a gap.
func take(t *testing.T, sub *Subscription, n int) (out []Event) {
	t.Helper()
	last := sub.Last()
	for len(out) < n {
		evs, err := sub.Next(t.Context())
		if err != nil {
			t.Error(err)
			return out
		}
		for _, ev := range evs {
			if ev.Seq != last+1 {
				t.Errorf("event %d comes after %d", ev.Seq, last)
				return out
			}
			last = ev.Seq
		}
		out = append(out, evs...)
	}
	if len(out) != n || sub.Last() != last {
		t.Errorf("%d events up to %d, want %d", len(out), last, n)
	}
	return out
}

func TestS6_ReplayThenFollow(t *testing.T) {
	log := newLog(t)
	appendText(t, log, "1", "2", "3", "4", "5")
	sub := log.Subscribe(chat, 2)
	defer sub.Close()
	take(t, sub, 3)
	go appendText(t, log, "6", "7")
	evs := take(t, sub, 2)
	stored, err := log.st.Events(background, chat, 5, 0)
	if err != nil || len(stored) != 2 || fmt.Sprint(stored) != fmt.Sprint(evs) {
		t.Errorf("live %+v\nstored %+v %v", evs, stored, err)
	}
	other := log.Subscribe("telegram/43", 0)
	defer other.Close()
	ctx, cancel := context.WithCancelCause(background)
	why := errors.New("why")
	cancel(why)
	if evs, err := other.Next(ctx); !errors.Is(err, why) {
		t.Errorf("another chat's reader got %v %v", evs, err)
	}
}

// TestS6_NoGapWhileManyAppend: readers that come at any time see every number, whatever order the
// writers publish in.
func TestS6_NoGapWhileManyAppend(t *testing.T) {
	log := newLog(t)
	const writers, each = 8, 50
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				appendText(t, log, fmt.Sprint(w), fmt.Sprint(n))
			}
		})
	}
	for range 5 {
		wg.Go(func() {
			sub := log.Subscribe(chat, 0)
			defer sub.Close()
			take(t, sub, 2*writers*each)
		})
	}
	wg.Wait()
	if n := log.Subscribers(); n != 0 || len(log.topics) != 0 {
		t.Errorf("%d subscriptions and %d topics are left", n, len(log.topics))
	}
}

// reordered gives numbers in order but lets the first append return after the second.
type reordered struct {
	Store
	first, second chan struct{}
}

func (s *reordered) Append(ctx context.Context, chat, runID string, at time.Time, evs []agent.Event) (int64, error) {
	first, err := s.Store.Append(ctx, chat, runID, at, evs)
	if first == 1 {
		close(s.first)
		<-s.second
	}
	return first, err
}

// TestS6_PublishedInTheOtherOrder: an append that is published before an earlier one makes no gap.
func TestS6_PublishedInTheOtherOrder(t *testing.T) {
	log := newLog(t)
	late := &reordered{Store: log.st, first: make(chan struct{}), second: make(chan struct{})}
	log.st = late
	sub := log.Subscribe(chat, 0)
	defer sub.Close()
	var wg sync.WaitGroup
	wg.Go(func() { appendText(t, log, "a", "b") })
	<-late.first
	appendText(t, log, "c")
	take(t, sub, 3)
	close(late.second)
	wg.Wait()
	appendText(t, log, "d")
	take(t, sub, 1)
}

// TestS6_SlowReaderHoldsNobodyUp: it costs no memory beyond the tail, and misses nothing.
func TestS6_SlowReaderHoldsNobodyUp(t *testing.T) {
	log := newLog(t)
	slow, fast := log.Subscribe(chat, 0), log.Subscribe(chat, 0)
	defer slow.Close()
	defer fast.Close()
	for i := range 100 {
		appendText(t, log, make([]string, 10)...)
		if i%20 == 0 {
			take(t, fast, int(10*(i+1))-int(fast.Last()))
		}
	}
	if n := len(log.topics[chat].tail); n > tailLen {
		t.Errorf("%d events are in memory", n)
	}
	take(t, slow, 1000)
	take(t, fast, 1000-int(fast.Last()))
}

// TestS6_OnlyStoredEventsArePublished: what the store refuses nobody sees.
func TestS6_OnlyStoredEventsArePublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, err := store.Open(background, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		log := New(refusing{st})
		sub := log.Subscribe(chat, 0)
		got := make(chan []Event, 1)
		go func() {
			evs, err := sub.Next(background)
			if !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
			got <- evs
		}()
		synctest.Wait()
		if _, err := log.Append(background, chat, "r", time.Now(), []agent.Event{text("x")}); !errors.Is(err, store.ErrFull) {
			t.Error(err)
		}
		synctest.Wait()
		log.Close()
		if evs := <-got; len(evs) != 0 {
			t.Errorf("published: %+v", evs)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
}

type refusing struct{ Store }

func (refusing) Append(context.Context, string, string, time.Time, []agent.Event) (int64, error) {
	return 0, store.ErrFull
}

func TestS6_ReaderPastWhatRetentionRemoved(t *testing.T) {
	log := newLog(t)
	sub := log.Subscribe(chat, 0)
	defer sub.Close()
	appendText(t, log, make([]string, 2*tailLen)...)
	log.st = pruned{log.st}
	evs, err := sub.Next(background)
	if err != nil || evs[0].Seq != 2*tailLen-9 {
		t.Errorf("%+v %v", evs, err)
	}
	// With nothing left it waits for what comes next.
	gone := log.Subscribe(chat, 0)
	defer gone.Close()
	log.st = forgetful{log.st}
	appendText(t, log, "next")
	log.topics[chat].tail = nil
	ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
	defer cancel()
	if evs, err := gone.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v %v", evs, err)
	}
	appendText(t, log, "after")
	if evs, err := gone.Next(background); err != nil || len(evs) != 1 || evs[0].Seq != 2*tailLen+2 {
		t.Errorf("%+v %v", evs, err)
	}
}

// forgetful has no events any more.
type forgetful struct{ Store }

func (forgetful) Events(ctx context.Context, _ string, _ int64, _ int) ([]store.Stored, error) {
	return nil, ctx.Err()
}

// pruned has forgotten all but the newest events.
type pruned struct{ Store }

func (s pruned) Events(ctx context.Context, chat string, after int64, limit int) ([]store.Stored, error) {
	return s.Store.Events(ctx, chat, max(after, 2*tailLen-10), limit)
}

func TestClosedSubscription(t *testing.T) {
	log := newLog(t)
	sub := log.Subscribe(chat, 0)
	sub.Close()
	sub.Close()
	if _, err := sub.Next(background); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}
