package turn

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
)

// A stop control names no run: one that was used for the run before and comes late stops nothing.
func TestS2_LatePlatformStop(t *testing.T) {
	for late, want := range map[bool]string{true: "A:two", false: "Stopped after"} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
				if !waitFor(ctx, 5*time.Second) {
					return ctx.Err()
				}
				say(emit, "1", "A:"+textOf(req.History[len(req.History)-1]))
				return nil
			})})
			b.write("dm", "one")
			after(time.Second)
			b.write("dm", "two")
			used := time.Now().Add(2 * time.Second) // while "one" runs
			after(6 * time.Second)
			if !late {
				used = time.Now()
			}
			e := adapters.StopRequested{Origin: adapters.Origin{EventID: "s1", Chat: adapters.Chat{Channel: "telegram", ID: "dm"}, Kind: adapters.Direct, From: adapters.User{ID: "ann"}, At: used}}
			if err := b.chat.sink.Deliver(t.Context(), e); err != nil {
				t.Error(err)
			}
			after(time.Minute)
			if got := b.text("dm"); !strings.Contains(got, want) {
				t.Errorf("late %v:\n%s", late, got)
			}
		})
	}
}

// The partial text of a failed run can stand in several messages; a retry replaces all of them.
func TestS3_RetryReplacesEveryPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		b := start(t, setup{backend: backendFunc(func(_ context.Context, _ agent.Request, emit func(agent.Event)) error {
			if runs++; runs == 1 {
				emit(agent.TextStarted{ID: "1"})
				emit(agent.TextContent{ID: "1", Delta: strings.Repeat("partial text here. ", 600)})
				return &agent.Failure{Kind: agent.CutEarly}
			}
			say(emit, "1", "Full answer")
			return nil
		})})
		b.write("dm", "hi")
		after(20 * time.Second)
		if got := b.bot("dm"); len(got) < 2 {
			t.Fatalf("%d parts", len(got))
		}
		b.press("dm", "Retry")
		after(time.Minute)
		if got := b.bot("dm"); len(got) != 1 || got[0] != "Full answer" {
			t.Errorf("%d messages left; first: %.60q", len(got), got[0])
		}
	})
}

// A message that comes while the interrupted run still ends interrupts the one that waits for that.
func TestS10_InterruptByTheThird(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{settings: func(s *Settings) { s.Queue = Interrupt }, backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			if !waitFor(ctx, 10*time.Minute) {
				waitFor(context.WithoutCancel(ctx), time.Second)
				return ctx.Err()
			}
			say(emit, "1", "A:"+textOf(req.History[len(req.History)-1]))
			return nil
		})})
		b.write("dm", "m1")
		after(3 * time.Second)
		b.write("dm", "m2")
		after(300 * time.Millisecond)
		b.write("dm", "m3")
		after(11 * time.Minute)
		if got := b.text("dm"); !strings.Contains(got, "A:m3") || strings.Contains(got, "A:m2") || strings.Contains(got, "Stopped") {
			t.Errorf("m3 did not interrupt m2:\n%s", got)
		}
	})
}

// A platform can tell a wait that is longer than a call may take; the mark goes all the same.
func TestS10_MarkGoesAfterALongWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("telegram")
		reacts, until := 0, time.Time{}
		f.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) {
			if op == sim.OpReact {
				if reacts++; reacts == 2 {
					until = time.Now().Add(45 * time.Second)
				}
				if d := time.Until(until); d > 0 {
					return &adapters.RateLimitError{RetryAfter: d}, false
				}
			}
			return nil, false
		}
		b := start(t, setup{fake: f, backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
			waitFor(ctx, 3*time.Second)
			say(emit, "1", "A")
			return nil
		})})
		b.write("dm", "one")
		after(time.Second)
		b.write("dm", "two")
		after(2 * time.Minute)
		for _, m := range b.chat.world.Messages("dm", "*") {
			if len(m.Reactions) > 0 {
				t.Errorf("a reaction is left on %q after %d calls", m.Text, reacts)
			}
		}
	})
}

// Of a run that a person has stopped and then given another wording nothing stays.
func TestS7_EditWhileStopping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			if !waitFor(ctx, 10*time.Second) {
				waitFor(context.WithoutCancel(ctx), 2*time.Second)
				return ctx.Err()
			}
			say(emit, "1", "A:"+textOf(req.History[len(req.History)-1]))
			return nil
		})})
		m := b.write("dm", "v1")
		after(2 * time.Second)
		b.write("dm", "/stop")
		after(time.Second)
		b.edit("dm", m, "v2")
		after(time.Minute)
		if got := b.bot("dm"); len(got) != 1 || got[0] != "A:v2" {
			t.Errorf("%q", got)
		}
	})
}

// Platforms refuse a message in which nobody could see anything.
func TestP12_InvisibleAnswer(t *testing.T) {
	for _, text := range []string{"\u200b", "&nbsp;", "\u2060\u3164", "&#10240;", "\u0301"} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: backendFunc(func(_ context.Context, _ agent.Request, emit func(agent.Event)) error {
				say(emit, "1", text)
				return nil
			})})
			b.write("dm", "one")
			after(10 * time.Second)
			if got := b.bot("dm"); len(got) != 1 || got[0] != "Done. There is nothing to say." {
				t.Errorf("%q is answered as %q", text, got)
			}
		})
	}
}

// A superseded run that takes its time to end is waited for without a busy loop: in a bubble one
// would let no time pass. Nothing of it shows (P1).
func TestS7_SupersededBeforeItShowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
			if runs++; runs == 1 {
				waitFor(context.WithoutCancel(ctx), 4*time.Second)
				return ctx.Err()
			}
			say(emit, "1", "A:v2")
			return nil
		})})
		m := b.write("dm", "v1")
		after(time.Second)
		b.edit("dm", m, "v2")
		after(10 * time.Second)
		if got := b.bot("dm"); len(got) != 1 || got[0] != "A:v2" {
			t.Errorf("%q", got)
		}
	})
}
