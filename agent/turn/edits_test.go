package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
)

// talking streams numbered words, then answers after a pause.
func talking(n int, pause time.Duration) backendFunc {
	return func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
		emit(agent.TextStarted{ID: "1"})
		for i := range n {
			emit(agent.TextContent{ID: "1", Delta: fmt.Sprintf("w%d ", i)})
			if !waitFor(ctx, pause) {
				return ctx.Err()
			}
		}
		emit(agent.TextEnded{ID: "1"})
		return nil
	}
}

// TestP11_OneEditInFlightNewestWins: a slow platform gets one edit after the other, each with the
// newest state, and the last state always.
func TestP11_OneEditInFlightNewestWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newClearing("slack")
		f.slow = 3 * time.Second
		b := start(t, setup{fake: f.fake, adapter: f, backend: talking(200, 100*time.Millisecond), settings: func(s *Settings) { s.NotifyAfter = time.Hour }})
		b.write("dm", "hi")
		after(time.Minute)
		var until time.Time
		for _, c := range b.chat.world.Calls("") {
			if c.Op != sim.OpEdit && c.Op != sim.OpSend {
				continue
			}
			if c.At.Before(until) {
				t.Errorf("%s at %v overtakes the call before it", c.Op, c.At)
			}
			until = c.At.Add(c.Took)
		}
		if n := b.calls(sim.OpEdit); n < 4 || n > 8 {
			t.Errorf("%d edits in a run of 20 s where each takes 3 s", n)
		}
		if got := b.bot("dm"); len(got) != 1 || !strings.HasSuffix(got[0], "w199") || strings.Contains(got[0], "Working") {
			t.Errorf("the last state: %q", got)
		}
	})
}

// TestP11_UnchangedIsNotSent: a run in which nothing happens but the clock is edited for the clock
// only, and what is cut off at the limit makes no edit.
func TestP11_UnchangedIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("telegram")
		f.limit = 60
		b := start(t, setup{fake: f, backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			emit(agent.TextStarted{ID: "1"})
			emit(agent.TextContent{ID: "1", Delta: strings.Repeat("word ", 40)})
			for range 200 {
				emit(agent.TextContent{ID: "1", Delta: "more "})
				waitFor(ctx, 100*time.Millisecond)
			}
			waitFor(ctx, 10*time.Minute)
			return nil
		}), settings: func(s *Settings) { s.NotifyAfter = time.Hour }})
		b.write("dm", "hi")
		after(9 * time.Minute)
		edits := b.chat.world.Calls(sim.OpEdit)
		if n := len(edits); n > 20+8*4+2 || n < 30 { // every 3 s for a minute, then every 15 s (P6)
			t.Errorf("%d edits in 9 minutes", n)
		}
		m := sim.FromBot(b.chat.world.Messages("dm", "*"))[0]
		if m.Edits != len(edits) {
			t.Errorf("%d of %d edits changed nothing", len(edits)-m.Edits, len(edits))
		}
	})
}

// TestP11_LimitedWaitsExactly retry-after, and blocks only its own chat.
func TestP11_LimitedWaitsExactly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("telegram")
		limited := false
		f.fail = func(op sim.Op, chat adapters.Chat, _ string) (error, bool) {
			if op == sim.OpEdit && chat.ID == "dm" && !limited {
				limited = true
				return &adapters.RateLimitError{RetryAfter: 17 * time.Second}, false
			}
			return nil, false
		}
		b := start(t, setup{fake: f, backend: talking(600, 100*time.Millisecond)})
		b.write("dm", "hi")
		b.write("room", "hi", mentioned)
		after(50 * time.Second)
		var refused time.Time
		other := 0
		for _, c := range b.chat.world.Calls(sim.OpEdit) {
			switch {
			case c.Chat == "dm" && refused.IsZero():
				refused = c.At
			case c.Chat == "dm":
				if d := c.At.Sub(refused); d < 17*time.Second || d > 17*time.Second+10*time.Millisecond {
					t.Errorf("the next edit came %v after the 429, told were 17 s", d)
				}
				if other < 3 {
					t.Errorf("only %d edits of the other chat meanwhile", other)
				}
				return
			case !refused.IsZero():
				other++
			}
		}
		t.Error("no edit after the 429")
	})
}

// TestP11_GlobalLimitHoldsForAllChats of the token.
func TestP11_GlobalLimitHoldsForAllChats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("telegram")
		var refused time.Time
		f.fail = func(op sim.Op, chat adapters.Chat, _ string) (error, bool) {
			if op == sim.OpEdit && refused.IsZero() {
				refused = time.Now()
				return &adapters.RateLimitError{RetryAfter: 20 * time.Second, Global: true}, false
			}
			return nil, false
		}
		b := start(t, setup{fake: f, backend: talking(600, 100*time.Millisecond)})
		b.write("dm", "hi")
		b.write("room", "hi", mentioned)
		after(50 * time.Second)
		after20 := 0
		for _, c := range b.chat.world.Calls("") {
			if d := c.At.Sub(refused); (c.Op == sim.OpEdit || c.Op == sim.OpSend) && d > 0 {
				if d < 20*time.Second {
					t.Errorf("%s in %s %v after a global 429 of 20 s", c.Op, c.Chat, d)
				}
				after20++
			}
		}
		if after20 == 0 {
			t.Error("nothing went on")
		}
	})
}

// TestP11_NeverASecondCopy: a timed-out edit is tried again, whether it landed or not; a timed-out
// post that landed is not posted again.
func TestP11_NeverASecondCopy(t *testing.T) {
	for _, op := range []sim.Op{sim.OpSend, sim.OpEdit} {
		for _, landed := range []bool{true, false} {
			for _, err := range []error{adapters.ErrUnknownOutcome, context.DeadlineExceeded, errors.New("502")} {
				synctest.Test(t, func(t *testing.T) {
					f := newFake("telegram")
					failed := 0
					f.fail = func(o sim.Op, _ adapters.Chat, text string) (error, bool) {
						if o == op && (op == sim.OpEdit && failed < 2 || strings.Contains(text, "Done.")) {
							failed++
							return err, landed
						}
						return nil, false
					}
					backend := backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
						_ = talking(80, 100*time.Millisecond)(ctx, req, emit)
						say(emit, "2", "All is well.")
						return nil
					})
					if op == sim.OpSend {
						backend = answering(time.Second, "Done.")
					}
					b := start(t, setup{fake: f, backend: backend})
					b.write("dm", "hi")
					after(2 * time.Minute)
					all := b.chat.world.Everything("dm", "*")
					copies := 0
					for _, m := range all {
						if m.From.Bot && (m.Text == "Done." || m.Text == "All is well.") {
							copies++
						}
					}
					want := 1
					if op == sim.OpSend && !landed {
						want = 0 // it counts as sent (S3); /retry delivers it again
					}
					if copies != want || failed == 0 {
						t.Errorf("%s, landed %t, %v: %d copies after %d failures:\n%s", op, landed, err, copies, failed, b.text("dm"))
					}
					b.wantNot("dm", "Working…", "Bash")
				})
			}
		}
	}
}

// TestP11_ALookUpTellsWhatBecameOfAPost where the platform has one: posted again only if it surely
// is not there.
func TestP11_S3_ALookUpTellsWhatBecameOfAPost(t *testing.T) {
	for _, landed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake("discord")
			failed := 0
			f.fail = func(op sim.Op, _ adapters.Chat, text string) (error, bool) {
				if op == sim.OpSend && failed == 0 {
					failed++
					return adapters.ErrUnknownOutcome, landed
				}
				return nil, false
			}
			b := start(t, setup{fake: f, adapter: finding{f, map[string]string{}}, backend: answering(time.Second, "Done.")})
			b.write("dm", "hi")
			after(time.Minute)
			if got := b.bot("dm"); len(got) != 1 || failed != 1 {
				t.Errorf("landed %t: %q", landed, got)
			}
		})
	}
}

// TestP11_AMessageThatIsGoneIsReplacedByOne, and so is one that became too old to edit.
func TestP11_AMessageThatIsGoneIsReplacedByOne(t *testing.T) {
	for _, how := range []error{adapters.ErrGone, adapters.ErrTooOld} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake("telegram")
			old := ""
			f.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) {
				if op == sim.OpEdit && errors.Is(how, adapters.ErrTooOld) {
					if now := sim.FromBot(f.world.Messages("dm", "*")); len(now) > 0 && (old == "" || now[0].ID == old) {
						old = now[0].ID
						return how, false
					}
				}
				return nil, false
			}
			b := start(t, setup{fake: f, backend: talking(300, 100*time.Millisecond), settings: func(s *Settings) { s.NotifyAfter = time.Hour }})
			b.write("dm", "hi")
			after(5 * time.Second)
			if errors.Is(how, adapters.ErrGone) {
				b.chat.world.Delete("dm", sim.FromBot(b.chat.world.Messages("dm", "*"))[0].ID)
			}
			after(15 * time.Second)
			if got := b.bot("dm"); len(got) != 1 || !strings.Contains(got[0], "Working…") || !strings.Contains(got[0], "w180") {
				t.Errorf("%v: in mid-run stands %q", how, got)
			}
			after(time.Minute)
			if got := b.bot("dm"); len(got) != 1 || !strings.HasSuffix(got[0], "w299") {
				t.Errorf("%v: at the end stands %q", how, got)
			}
			posts := b.chat.world.Everything("dm", "*")
			if n := len(sim.FromBot(posts)); n > 3 {
				t.Errorf("%v: %d messages were posted", how, n)
			}
		})
	}
}
