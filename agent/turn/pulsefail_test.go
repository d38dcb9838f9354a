package turn

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
)

// TestT11_FailingPulses delay nothing, and each kind of failure is handled as it must be.
func TestT11_FailingPulses(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		times  int // how often it fails; 0 = always
		pulses int // in a run of 100 s
		shows  bool
		denied bool
	}{
		{"403", adapters.ErrDenied, 0, 1, false, true},
		{"429", &adapters.RateLimitError{RetryAfter: 30 * time.Second}, 0, 4, false, false},
		{"429 once", &adapters.RateLimitError{RetryAfter: 30 * time.Second}, 1, 0, true, false},
		{"500", errors.New("500"), 0, 5, false, false},
		{"500 four times", errors.New("500"), 4, 0, true, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake("telegram")
			failed := 0
			f.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) {
				if op != sim.OpPulse || c.times > 0 && failed == c.times {
					return nil, false
				}
				failed++
				return c.err, false
			}
			b := start(t, setup{fake: f, backend: answering(100*time.Second, "Done."), settings: func(s *Settings) { s.Delay = time.Hour }})
			var logged bytes.Buffer
			b.hub.log = slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelWarn}))
			b.write("dm", "hi")
			after(99 * time.Second)
			if n := b.pulses(); c.pulses > 0 && n != c.pulses {
				t.Errorf("%s: %d pulses, want %d", c.name, n, c.pulses)
			}
			if got := b.typing("dm"); got != c.shows {
				t.Errorf("%s: the indicator shows at the end: %t", c.name, got)
			}
			if got := b.hub.Channels()["telegram"].Denied != nil; got != c.denied {
				t.Errorf("%s: the channel's health is red: %t", c.name, got)
			}
			if n := strings.Count(logged.String(), "refuses the typing indicator"); n > 1 || (n == 1) != c.denied {
				t.Errorf("%s: %d warnings", c.name, n)
			}
			after(time.Second + time.Millisecond)
			if got := b.bot("dm"); len(got) != 1 || got[0] != "Done." {
				t.Errorf("%s: the answer is late or missing: %q", c.name, got)
			}
		})
	}
}

// TestT11_BackoffIsExponential between failing pulses.
func TestT11_BackoffIsExponential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("telegram")
		f.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) {
			return map[bool]error{true: errors.New("500")}[op == sim.OpPulse], false
		}
		b := start(t, setup{fake: f, backend: answering(100*time.Second, "Done."), settings: func(s *Settings) { s.Delay = time.Hour }})
		b.write("dm", "hi")
		after(99 * time.Second)
		calls := b.chat.world.Calls(sim.OpPulse)
		var last time.Duration
		for i := 1; i < len(calls); i++ {
			gap := calls[i].At.Sub(calls[i-1].At)
			if gap < 2*last || gap == 0 {
				t.Errorf("gap %v after %v", gap, last)
			}
			last = gap
		}
	})
}

// TestT11_TheNextTurnTriesAgain and turns the health green.
func TestT11_TheNextTurnTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("telegram")
		deny := true
		f.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) {
			return map[bool]error{true: adapters.ErrDenied}[deny && op == sim.OpPulse], false
		}
		b := start(t, setup{fake: f, backend: answering(5*time.Second, "Done.")})
		b.write("dm", "hi")
		after(10 * time.Second)
		deny = false
		b.write("dm", "hi")
		after(time.Second)
		if !b.typing("dm") || b.hub.Channels()["telegram"].Denied != nil {
			t.Errorf("indicator %t, health %v", b.typing("dm"), b.hub.Channels()["telegram"].Denied)
		}
	})
}

// TestT11_SingleFlight: a slow pulse is not overtaken, and holds up neither edits nor the answer.
func TestT11_SingleFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &slowPulse{fake: newFake("telegram"), take: 9 * time.Second, deaf: true}
		b := start(t, setup{fake: f.fake, adapter: f, backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			tool(ctx, emit, "t1", "Bash", `{"command":"one"}`, 4*time.Second)
			return working(4500*time.Millisecond, "Done.")(ctx, req, emit)
		})})
		b.write("dm", "hi")
		after(8 * time.Second)
		if f.begun != 1 {
			t.Errorf("%d pulses in the 9 s of the first one", f.begun)
		}
		b.want("dm", "Bash: make")
		after(650 * time.Millisecond)
		b.want("dm", "Done.")
		after(time.Minute)
		if f.begun > 1 {
			t.Errorf("%d pulses", f.begun)
		}
	})
}
