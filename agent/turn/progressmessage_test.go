package turn

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
	"typist/agent/progress"
)

// TestP1_WhenItAppears: with work or after the delay, never for an answer that is complete before.
func TestP1_WhenItAppears(t *testing.T) {
	quiet := func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
		emit(agent.ReasoningStarted{ID: "r"})
		for range 10 {
			emit(agent.ReasoningContent{ID: "r", Delta: "hm "})
			waitFor(ctx, time.Second)
		}
		say(emit, "1", "Done.")
		return nil
	}
	for _, c := range []struct {
		name    string
		chat    string
		mention bool
		backend backendFunc
		at      time.Duration // when it appears; 0 = never
	}{
		{"a tool, at once", "dm", false, working(10*time.Second, "Done."), 10 * time.Millisecond},
		{"a step", "dm", false, func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			emit(agent.StepStarted{Name: "look"})
			return answering(10*time.Second, "Done.")(ctx, req, emit)
		}, 10 * time.Millisecond},
		{"a subagent", "dm", false, func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			emit(agent.SubagentStarted{Sub: agent.Sub{Subagent: "s"}, Name: "scout"})
			return answering(10*time.Second, "Done.")(ctx, req, emit)
		}, 10 * time.Millisecond},
		{"nothing yet, after the delay", "dm", false, answering(10*time.Second, "Done."), 1500 * time.Millisecond},
		{"thinking, after the delay", "dm", false, quiet, 1500 * time.Millisecond},
		{"text, after the delay", "dm", false, func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
			stream(ctx, emit, "1", 2*time.Second, "Hel", "lo, ", "Ann", ".")
			return nil
		}, 1500 * time.Millisecond},
		{"an answer before the delay", "dm", false, answering(1400*time.Millisecond, "Done."), 0},
		{"mentioned", "room", true, quiet, 1500 * time.Millisecond},
		{"without mention: thinking makes none", "room", false, quiet, 0},
		{"without mention: a tool does", "room", false, working(10*time.Second, "Done."), 10 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: c.backend})
			b.write(c.chat, "hi", func(m *adapters.Message) { m.Mentioned = c.mention })
			for _, d := range []time.Duration{c.at - 5*time.Millisecond, 10 * time.Millisecond} {
				if c.at == 0 {
					break
				}
				after(d)
			}
			if c.at == 0 {
				after(5 * time.Second)
				if got := b.bot(c.chat); c.chat == "room" && len(got) > 0 {
					t.Errorf("%s: %q", c.name, got)
				}
				after(15 * time.Second)
				if n := len(b.chat.world.Everything(c.chat, "*")); n != 2 {
					t.Errorf("%s: %d messages were posted", c.name, n)
				}
				return
			}
			if n := len(b.bot(c.chat)); n != 1 {
				t.Errorf("%s: %d messages 5 ms after it was due", c.name, n)
			}
			sends := b.chat.world.Calls(sim.OpSend)
			if at := sends[0].At.Sub(b.chat.world.Messages(c.chat, "*")[0].At); at < c.at-5*time.Millisecond && c.at > time.Second {
				t.Errorf("%s: appeared after %v", c.name, at)
			}
			m := sim.FromBot(b.chat.world.Messages(c.chat, "*"))[0]
			if !m.Silent {
				t.Errorf("%s: it notifies", c.name)
			}
			id := m.ID
			after(5 * time.Second)
			if now := sim.FromBot(b.chat.world.Messages(c.chat, "*")); len(now) != 1 || now[0].ID != id {
				t.Errorf("%s: it was not edited in place", c.name)
			}
			after(20 * time.Second)
			if got := b.bot(c.chat); len(got) != 1 || (got[0] != "Done." && got[0] != "Hello, Ann.") {
				t.Errorf("%s: at the end %q", c.name, got)
			}
		})
	}
}

// TestP5_TheLastTextStays through an empty model request; the answer is the last non-empty text.
func TestP5_TheLastTextStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
			emit(agent.ModelRequest{ID: "m1"})
			say(emit, "a", "First text.")
			tool(ctx, emit, "t", "Bash", `{"command":"make"}`, 4*time.Second)
			emit(agent.ModelRequest{ID: "m2"})
			tool(ctx, emit, "u", "Bash", `{"command":"test"}`, 4*time.Second)
			emit(agent.ModelRequest{ID: "m3"})
			say(emit, "b", "Second text.")
			tool(ctx, emit, "v", "Bash", `{"command":"ship"}`, 4*time.Second)
			emit(agent.ModelRequest{ID: "m4"})
			say(emit, "c", "")
			return nil
		})})
		b.write("dm", "hi")
		after(7 * time.Second)
		b.want("dm", "First text.", "Bash: test")
		after(4 * time.Second)
		b.want("dm", "Second text.")
		b.wantNot("dm", "First text.")
		after(10 * time.Second)
		if got := b.bot("dm"); len(got) != 1 || got[0] != "Second text." {
			t.Errorf("got %q", got)
		}
	})
}

// TestP7_TheViewIsTheChats: /view holds for this chat, at once and durably.
func TestP7_TheViewIsTheChats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			emit(agent.ReasoningStarted{ID: "r"})
			emit(agent.ReasoningContent{ID: "r", Delta: "A long thought. "})
			emit(agent.ReasoningEnded{ID: "r"})
			say(emit, "0", "I look.")
			return working(30*time.Second, "Done.")(ctx, req, emit)
		})})
		b.write("dm", "hi")
		after(3 * time.Second)
		first := func() string { return b.bot("dm")[0] }
		if got := first(); strings.Contains(got, "A long thought") || !strings.Contains(got, "I look.") {
			t.Errorf("summary: %q", got)
		}
		for _, c := range []struct{ level, has, hasNot string }{{"detail", "A long thought", "?"}, {"overview", "Bash: make", "I look."}} {
			b.write("dm", "/view "+c.level)
			after(3 * time.Second)
			if got := first(); !strings.Contains(got, c.has) || strings.Contains(got, c.hasNot) {
				t.Errorf("%s: %q", c.level, got)
			}
		}
		if v, err := b.store.Settings(t.Context(), "telegram/dm"); v["view"] != string(progress.Overview) || err != nil {
			t.Errorf("stored: %v, %v", v, err)
		}
	})
}

// TestP8_DetailsOpenAndClose, in mid-run and afterwards, never by another message.
func TestP8_DetailsOpenAndClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			for i := range 3 {
				tool(ctx, emit, fmt.Sprint("t", i), "Bash", fmt.Sprintf(`{"command":"step %d"}`, i), 8*time.Second)
			}
			say(emit, "1", "Done.")
			return nil
		})})
		b.write("dm", "hi")
		after(10 * time.Second)
		b.press("dm", "Details")
		after(3 * time.Second)
		b.want("dm", "Bash: step 0")
		b.press("dm", "Details")
		after(3 * time.Second)
		b.wantNot("dm", "Bash: step 0")
		after(30 * time.Second)
		b.want("dm", "Worked for 24s · 3 steps")
		for range 2 {
			b.press("dm", "Details")
			after(2 * time.Second)
			b.want("dm", "Worked for 24s · 3 steps", "Bash: step 0", "Bash: step 2", "✓")
			b.press("dm", "Details")
			after(2 * time.Second)
			b.wantNot("dm", "Bash: step")
		}
		if n := len(b.bot("dm")); n != 2 {
			t.Errorf("%d messages", n)
		}
	})
}
