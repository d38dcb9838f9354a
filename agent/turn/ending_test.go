package turn

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
)

// outcomes are all the ways in which a run can end (T8).
var outcomes = []struct {
	name    string
	backend backendFunc
	end     func(b *bench) // nil: by itself
	fail    bool           // the answer can't be delivered
	silent  bool           // no message stands at the end
}{
	{name: "answer", backend: working(5*time.Second, "Done.")},
	{name: "long answer", backend: working(30*time.Second, "Done.")},
	{name: "silence", backend: working(5*time.Second, "NO_REPLY"), silent: true},
	{name: "error", backend: func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
		_ = working(5*time.Second, "So far.")(ctx, req, emit)
		return &agent.Failure{Kind: agent.Overloaded}
	}},
	{name: "stop", backend: working(time.Hour, ""), end: func(b *bench) { b.press("dm", "Stop") }},
	{name: "platform's stop", backend: working(time.Hour, ""), end: func(b *bench) { b.deliver(adapters.StopRequested{Origin: b.origin("dm")}) }},
	{name: "timeout", backend: working(time.Hour, "")},
	{name: "panic", backend: func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
		_ = working(5*time.Second, "So far.")(ctx, req, emit)
		panic("a bug")
	}},
	{name: "shutdown", backend: working(time.Hour, ""), end: func(b *bench) { b.shut() }},
	{name: "failed delivery", backend: working(5*time.Second, "Done."), fail: true, silent: true},
}

// TestT8_EveryOutcomeEndsIt: no pulse follows the end, nothing shows beside the answer, and where
// there is no message it lapses within its life; where the platform can clear, it is gone at once.
func TestT8_EveryOutcomeEndsIt(t *testing.T) {
	for _, o := range outcomes {
		for _, slack := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				s := setup{backend: o.backend, settings: func(s *Settings) {
					a := s.Agents[""]
					a.Timeout = time.Minute
					s.Agents[""] = a
				}}
				if slack {
					c := newClearing("slack")
					s.fake, s.adapter = c.fake, c
				}
				b := start(t, s)
				b.write("dm", "hi")
				after(3500 * time.Millisecond)
				if !b.typing("dm") {
					t.Errorf("%s: no indicator in mid-run", o.name)
				}
				if o.fail {
					b.chat.now(func() {
						b.chat.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) {
							if op == sim.OpSend || op == sim.OpEdit {
								return adapters.ErrDenied, false
							}
							return nil, false
						}
					})
				}
				if o.end != nil {
					o.end(b)
				}
				after(70 * time.Second)
				n := b.pulses()
				after(5 * time.Minute)
				if b.pulses() != n {
					t.Errorf("%s: %d pulses after the end", o.name, b.pulses()-n)
				}
				if b.typing("dm") {
					t.Errorf("%s: the indicator shows for ever", o.name)
				}
				if !o.silent {
					b.noGhost(t, "dm")
				}
				b.wantNot("dm", "Working…", "[Stop]")
				if o.fail {
					return
				}
				if got := b.bot("dm"); (len(got) == 0) != o.silent {
					t.Errorf("%s: at the end stands %q", o.name, got)
				}
			})
		}
	}
}

// TestT8_TheAnswerWaits50msForAPulse at most, whatever the pulse comes to (T11).
func TestT8_T11_TheAnswerWaits50msForAPulse(t *testing.T) {
	for _, result := range []error{nil, adapters.ErrDenied, adapters.ErrUnknownOutcome, &adapters.RateLimitError{RetryAfter: time.Minute}, errors.New("500")} {
		synctest.Test(t, func(t *testing.T) {
			f := &slowPulse{fake: newFake("telegram"), take: 8 * time.Second, deaf: true, result: result}
			b := start(t, setup{fake: f.fake, adapter: f, backend: answering(time.Second, "Done.")})
			b.write("dm", "hi")
			after(1049 * time.Millisecond)
			before := len(b.bot("dm"))
			after(2 * time.Millisecond)
			if got := b.bot("dm"); before != 0 || len(got) != 1 || got[0] != "Done." {
				t.Errorf("%v: %d messages before 50 ms, then %q", result, before, got)
			}
			after(time.Minute)
			if n := f.begun; n != 1 {
				t.Errorf("%v: %d pulses", result, n)
			}
			if !f.cancelled {
				t.Errorf("%v: the pulse in flight was not cancelled", result)
			}
		})
	}
}

// slowPulse is a fake whose pulses take their time, and may be carried out though cancelled.
type slowPulse struct {
	*fake
	take      time.Duration
	deaf      bool // goes on when cancelled, and lands
	result    error
	begun     int
	cancelled bool
}

func (s *slowPulse) Pulse(ctx context.Context, chat adapters.Chat, ind adapters.Indication) error {
	s.begun++
	wait := ctx
	if s.deaf {
		wait = context.WithoutCancel(ctx)
	}
	done := waitFor(wait, s.take)
	s.cancelled = s.cancelled || ctx.Err() != nil
	if !done {
		return errors.Join(adapters.ErrUnknownOutcome, ctx.Err())
	}
	if s.result != nil {
		return s.result
	}
	return s.fake.Pulse(context.WithoutCancel(ctx), chat, ind)
}

// lateSlack is a slow pulse on a platform that can clear.
type lateSlack struct {
	clearing
	slow   *slowPulse
	result error // what a pulse that was carried out comes back with
}

func newLateSlack(take time.Duration, result error) lateSlack {
	c := newClearing("slack")
	return lateSlack{c, &slowPulse{fake: c.fake, take: take, deaf: true}, result}
}

func (l lateSlack) Pulse(ctx context.Context, chat adapters.Chat, ind adapters.Indication) error {
	return errors.Join(l.slow.Pulse(ctx, chat, ind), l.result)
}

// TestT8_ClearedOnceMoreAfterALatePulse, in every way it can come back late.
func TestT8_ClearedOnceMoreAfterALatePulse(t *testing.T) {
	for _, c := range []struct {
		name   string
		result error // with which it comes back though it was carried out
	}{{"carried out", nil}, {"outcome unknown", adapters.ErrUnknownOutcome}} {
		synctest.Test(t, func(t *testing.T) {
			l := newLateSlack(3*time.Second, c.result)
			b := start(t, setup{fake: l.fake, adapter: l, backend: answering(time.Second, "Done.")})
			b.write("dm", "hi")
			after(2 * time.Second)
			if got := b.bot("dm"); len(got) != 1 || got[0] != "Done." {
				t.Errorf("%s: got %q", c.name, got)
			}
			after(1500 * time.Millisecond) // the pulse has landed meanwhile
			if b.typing("dm") {
				t.Errorf("%s: a pulse that came back late stands", c.name)
			}
		})
	}
}

// TestT8_ALatePulseDuringAStopIsCleared before the run has ended.
func TestT8_ALatePulseDuringAStopIsCleared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLateSlack(3*time.Second, nil)
		b := start(t, setup{fake: l.fake, adapter: l, backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
			<-ctx.Done()
			waitFor(context.WithoutCancel(ctx), 4500*time.Millisecond) // takes its time to end
			return ctx.Err()
		})})
		b.write("dm", "hi")
		after(time.Second)
		b.write("dm", "/stop")
		after(2500 * time.Millisecond)
		if b.typing("dm") {
			t.Error("the status shows beside Stopping…")
		}
		after(10 * time.Second)
		b.want("dm", "Stopped after")
	})
}

// TestT8_ALateSignalNeverRestartsIt: events after a stop, and what a backend emits after its end.
func TestT8_ALateSignalNeverRestartsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var keep func(agent.Event)
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
			keep = emit
			<-ctx.Done()
			for i := range 8 { // still talking while it ends
				emit(agent.StepStarted{Name: string(rune('a' + i))})
				waitFor(context.WithoutCancel(ctx), 500*time.Millisecond)
			}
			return ctx.Err()
		})})
		b.write("dm", "hi")
		after(3 * time.Second)
		b.press("dm", "Stop")
		after(10 * time.Millisecond)
		n := b.pulses()
		after(20 * time.Second)
		keep(agent.StepStarted{Name: "late"})
		keep(agent.TextContent{ID: "9", Delta: "late"})
		after(20 * time.Second)
		if b.pulses() != n || b.typing("dm") {
			t.Errorf("%d pulses after the stop", b.pulses()-n)
		}
		b.wantNot("dm", "late")
	})
}
