package turn

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
)

// TestT6_T13_AQuietToolKeepsIt: ten minutes without an event, no gap; then the ceiling ends both.
func TestT6_T13_AQuietToolKeepsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: working(10*time.Minute, "Done.")})
		b.write("dm", "hi")
		for range 115 {
			after(5 * time.Second)
			if !b.typing("dm") {
				t.Fatal("the indicator lapsed in a quiet tool call")
			}
		}
		after(time.Minute)
		b.want("dm", "Done.")
		b.noGhost(t, "dm")
	})
}

func TestT13_TheRunsTimeoutEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: working(time.Hour, "Done."), settings: func(s *Settings) {
			a := s.Agents[""]
			a.Timeout = 2 * time.Minute
			s.Agents[""] = a
		}})
		b.write("dm", "hi")
		after(119 * time.Second)
		if !b.typing("dm") {
			t.Error("the indicator ended before the run")
		}
		after(12 * time.Second)
		b.want("dm", "This took longer than a run may take", "[Resume]")
		b.noGhost(t, "dm")
	})
}

// TestT13_ABackendThatIgnoresItsTimeout is cut off: the chat goes on.
func TestT13_ABackendThatIgnoresItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			if runs++; runs > 1 {
				return answering(time.Second, "Next.")(ctx, req, emit)
			}
			waitFor(context.WithoutCancel(ctx), 10*time.Minute)
			return nil
		}), settings: func(s *Settings) {
			a := s.Agents[""]
			a.Timeout = time.Minute
			s.Agents[""] = a
		}})
		b.hub.log = slog.New(slog.DiscardHandler)
		b.write("dm", "hi")
		after(70 * time.Second)
		b.want("dm", "This took longer than a run may take")
		b.write("dm", "next")
		after(10 * time.Second)
		b.want("dm", "typist: Next.")
		b.noGhost(t, "dm")
		after(10 * time.Minute)
	})
}

func TestT13_TypingMaxSecondsCutsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClearing("slack")
		b := start(t, setup{fake: c.fake, adapter: c, backend: working(time.Minute, "Done."), settings: func(s *Settings) {
			a := s.Agents[""]
			a.TypingMax = 20 * time.Second
			s.Agents[""] = a
		}})
		b.write("dm", "hi")
		after(19 * time.Second)
		if !b.typing("dm") {
			t.Error("no indicator before typingMaxSeconds")
		}
		after(2 * time.Second)
		if b.typing("dm") {
			t.Error("the indicator shows after typingMaxSeconds")
		}
		n := b.pulses()
		after(30 * time.Second)
		if b.pulses() != n {
			t.Error("pulses after typingMaxSeconds")
		}
		after(30 * time.Second)
		b.want("dm", "Done.")
	})
}

// TestT6_StatusIsRenewedAtHalfItsLife and at once when its text changes (Slack).
func TestT6_StatusIsRenewedAtHalfItsLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClearing("slack")
		b := start(t, setup{fake: c.fake, adapter: c, settings: func(s *Settings) { s.Delay = time.Hour },
			backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
				waitFor(ctx, 4*time.Minute+time.Second)
				emit(agent.ReasoningStarted{ID: "r"})
				waitFor(ctx, 30*time.Second)
				return nil
			})})
		b.write("dm", "hi")
		after(4 * time.Minute)
		if n := b.pulses(); n < 4 || n > 5 {
			t.Errorf("%d pulses in 4 minutes of a status that lives 2 minutes", n)
		}
		if _, text := b.chat.world.Typing("dm", ""); text != "is working…" {
			t.Errorf("status %q", text)
		}
		after(3500 * time.Millisecond)
		if _, text := b.chat.world.Typing("dm", ""); text != "is thinking…" {
			t.Errorf("2 s after the change the status is %q", text)
		}
		if tl := b.chat.world.Timeline("dm", ""); len(tl) != 1 {
			t.Errorf("gaps: %v", tl)
		}
	})
}

// TestT7_NoGapAfterTheBotsOwnPost: the progress message, a note and a command's answer clear the
// indicator; the next pulse follows at once.
func TestT7_NoGapAfterTheBotsOwnPost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: working(20*time.Second, "Done.")})
		b.write("dm", "hi")
		after(6100 * time.Millisecond)
		b.write("dm", "/status")
		after(100 * time.Millisecond)
		sends := b.chat.world.Calls(sim.OpSend)
		if len(sends) != 2 {
			t.Fatalf("%d posts", len(sends))
		}
		for _, post := range sends {
			next := time.Hour
			for _, p := range b.chat.world.Calls(sim.OpPulse) {
				if d := p.At.Sub(post.At); d >= 0 {
					next = min(next, d)
				}
			}
			if next > 10*time.Millisecond {
				t.Errorf("the next pulse came %v after a post", next)
			}
		}
		if !b.typing("dm") {
			t.Error("no indicator after a post")
		}
	})
}

// TestT7_NotWhileToldToWait (T11) and not while a person is asked (T12).
func TestT7_NotWhileToldToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("telegram")
		f.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) {
			if op == sim.OpPulse {
				return &adapters.RateLimitError{RetryAfter: 10 * time.Second}, false
			}
			return nil, false
		}
		b := start(t, setup{fake: f, backend: working(30*time.Second, "Done.")})
		b.write("dm", "hi")
		after(5 * time.Second)
		b.write("dm", "/status")
		after(4900 * time.Millisecond)
		if b.pulses() != 1 {
			t.Errorf("%d pulses in the 10 s that were told to wait", b.pulses())
		}
		after(200 * time.Millisecond)
		if b.pulses() != 2 {
			t.Errorf("%d pulses after the wait", b.pulses())
		}
	})
}

// TestT12_PausesOnlyWhileAllWaits: a parallel call that runs keeps the indicator.
func TestT12_PausesOnlyWhileAllWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			emit(agent.ToolCallStarted{ID: "x", Name: "Bash"})
			emit(agent.ToolCallEnded{ID: "x"})
			emit(agent.ToolCallStarted{ID: "a", Name: "mail"})
			emit(agent.ToolCallEnded{ID: "a"})
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = req.Approve(ctx, "", agent.Approval{ID: "q", ToolCall: "a", Title: "Send mail", Options: []agent.Option{{ID: "y", Allow: true}, {ID: "n"}}})
			}()
			waitFor(ctx, 20*time.Second)
			emit(agent.ToolCallResult{ID: "x", Content: "ok"})
			<-done
			emit(agent.ToolCallResult{ID: "a", Content: "sent"})
			waitFor(ctx, 20*time.Second)
			say(emit, "1", "Done.")
			return nil
		})})
		b.write("dm", "hi")
		after(15 * time.Second)
		if !b.typing("dm") {
			t.Error("no indicator although a call runs beside the one that waits")
		}
		after(15 * time.Second)
		if b.typing("dm") {
			t.Error("the indicator shows while all the run does is wait for a person")
		}
		b.press("dm", "Approve")
		after(100 * time.Millisecond)
		if !b.typing("dm") {
			t.Error("no indicator right after the decision")
		}
		after(time.Minute)
		b.want("dm", "Done.")
		b.noGhost(t, "dm")
	})
}
