package turn

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
	"typist/agent/progress"
	"typist/typing"
)

// TestT1_WhatStartsTheIndicator holds every row of T1's table against every mode, through the real
// loop: the signal comes a second after the run's start.
func TestT1_WhatStartsTheIndicator(t *testing.T) {
	rows := []struct {
		name   string
		signal func(emit func(agent.Event))
		starts []typing.Mode // at the signal, besides instant, which has started before
	}{
		{"loop", func(func(agent.Event)) {}, nil},
		{"model request", func(emit func(agent.Event)) { emit(agent.ModelRequest{ID: "m"}) }, nil},
		{"call being written", func(emit func(agent.Event)) {
			emit(agent.ToolCallStarted{ID: "t", Name: "Bash"})
			emit(agent.ToolCallArgs{ID: "t", Delta: `{"a`})
		}, nil},
		{"usage", func(emit func(agent.Event)) { emit(agent.Usage{Output: 3}) }, nil},
		{"reasoning", func(emit func(agent.Event)) {
			emit(agent.ReasoningStarted{ID: "r"})
			emit(agent.ReasoningContent{ID: "r", Delta: "hm"})
		}, []typing.Mode{typing.Thinking}},
		{"reasoning without text", func(emit func(agent.Event)) { emit(agent.ReasoningStarted{ID: "r"}) }, []typing.Mode{typing.Thinking}},
		{"tool", func(emit func(agent.Event)) {
			emit(agent.ToolCallStarted{ID: "t", Name: "Bash"})
			emit(agent.ToolCallEnded{ID: "t"})
		}, []typing.Mode{typing.Thinking, typing.Message}},
		{"step", func(emit func(agent.Event)) { emit(agent.StepStarted{Name: "look"}) }, []typing.Mode{typing.Thinking, typing.Message}},
		{"subagent", func(emit func(agent.Event)) {
			emit(agent.SubagentStarted{Sub: agent.Sub{Subagent: "s"}, Name: "scout"})
		}, []typing.Mode{typing.Thinking, typing.Message}},
		{"text", func(emit func(agent.Event)) {
			emit(agent.TextStarted{ID: "1"})
			emit(agent.TextContent{ID: "1", Delta: "Hello"})
		}, []typing.Mode{typing.Thinking, typing.Message}},
		{"empty text", func(emit func(agent.Event)) {
			emit(agent.TextStarted{ID: "1"})
			emit(agent.TextContent{ID: "1", Delta: ""})
		}, nil},
		{"silent prefix", func(emit func(agent.Event)) {
			emit(agent.TextStarted{ID: "1"})
			emit(agent.TextContent{ID: "1", Delta: "NO_RE"})
		}, nil},
	}
	for _, row := range rows {
		for _, m := range []typing.Mode{typing.Never, typing.Instant, typing.Thinking, typing.Message} {
			synctest.Test(t, func(t *testing.T) {
				b := start(t, setup{settings: mode(m), backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
					waitFor(ctx, time.Second)
					row.signal(emit)
					waitFor(ctx, time.Second)
					return nil
				})})
				b.write("dm", "hi")
				after(100 * time.Millisecond)
				if got := b.typing("dm"); got != (m == typing.Instant) {
					t.Errorf("%s, %s: at the run's start the indicator shows: %t", row.name, m, got)
				}
				after(time.Second) // the signal came 100 ms ago
				want := m == typing.Instant
				for _, s := range row.starts {
					want = want || s == m
				}
				if got := b.typing("dm"); got != want {
					t.Errorf("%s, %s: after the signal the indicator shows: %t", row.name, m, got)
				}
			})
		}
	}
}

// TestT3_TheKindOfChatDecides without a configured mode.
func TestT3_TheKindOfChatDecides(t *testing.T) {
	for _, c := range []struct {
		name, chat string
		mentioned  bool
		atStart    bool
	}{
		{"direct", "dm", false, true},
		{"group with mention", "room", true, true},
		{"group without", "room", false, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: answering(2*time.Second, "Hello")})
			b.write(c.chat, "hi", func(m *adapters.Message) { m.Mentioned = c.mentioned })
			after(time.Second)
			if got := b.typing(c.chat); got != c.atStart {
				t.Errorf("%s: the indicator shows before anything happened: %t", c.name, got)
			}
			after(3 * time.Second)
			b.want(c.chat, "Hello")
		})
	}
}

// TestT10_NothingShowsBeforeTheGates: whoever is not let in, or did not mean the bot, sees nothing.
func TestT10_NothingShowsBeforeTheGates(t *testing.T) {
	for _, c := range []struct {
		name, chat string
		change     []func(*adapters.Message)
		want       int // runs
	}{
		{"allowed", "dm", nil, 1},
		{"not allowed", "dm", []func(*adapters.Message){from("bob")}, 0},
		{"unmentioned", "room", nil, 0},
		{"mentioned", "room", []func(*adapters.Message){mentioned}, 1},
		{"mentioned by one who is not allowed", "room", []func(*adapters.Message){mentioned, from("bob")}, 0},
		{"empty, as a service message", "dm", []func(*adapters.Message){func(m *adapters.Message) { m.Text = "" }}, 0},
		{"the bot's own", "dm", []func(*adapters.Message){from("bot")}, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: working(5*time.Second, "Hello"), settings: func(s *Settings) {
				c := s.Channels["telegram"]
				c.Groups = map[string]Group{"*": {RequireMention: true}}
				s.Channels["telegram"] = c
			}})
			b.write(c.chat, "hi", c.change...)
			after(3 * time.Second)
			if got := b.typing(c.chat); got != (c.want > 0) {
				t.Errorf("%s: the indicator shows: %t", c.name, got)
			}
			after(10 * time.Second)
			if n := len(b.bot(c.chat)); n != c.want {
				t.Errorf("%s: %d messages of the bot:\n%s", c.name, n, b.text(c.chat))
			}
			if c.want == 0 && len(b.chat.world.Calls("")) > 0 {
				t.Errorf("%s: calls %v", c.name, b.chat.world.Calls(""))
			}
		})
	}
}

func TestT10_ADuplicateShowsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: answering(time.Second, "Hello")})
		b.write("dm", "hi", as("e"))
		after(10 * time.Second)
		n := b.pulses()
		b.write("dm", "hi", as("e"))
		after(10 * time.Second)
		if b.pulses() != n || len(b.bot("dm")) != 1 {
			t.Errorf("%d pulses more, messages %q", b.pulses()-n, b.bot("dm"))
		}
	})
}

// TestT14_CommandsShowNoIndicator and no progress message either.
func TestT14_CommandsShowNoIndicator(t *testing.T) {
	for _, text := range []string{"/help", "/status", "/stop", "/new", "/typing never", "/view detail", "/reasoning on", "/branch", "/heartbeat", "/typist status"} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: answering(0, "Hello")})
			b.write("dm", text)
			after(5 * time.Second)
			if b.pulses() > 0 || len(b.bot("dm")) != 1 || b.calls(sim.OpSend) != 1 {
				t.Errorf("%s: %d pulses, messages %q", text, b.pulses(), b.bot("dm"))
			}
		})
	}
}

// TestA6_ReasoningLevel: what is never shown, or only once it has ended, starts no indicator.
func TestA6_ReasoningLevel(t *testing.T) {
	for _, c := range []struct {
		level  progress.Reasoning
		pref   string // set by /reasoning before
		starts bool
		shows  bool // the thought, live
	}{
		{progress.ReasoningStream, "", true, true},
		{progress.ReasoningOn, "", false, false},
		{progress.ReasoningOff, "", false, false},
		{progress.ReasoningOff, "stream", true, true},
		{progress.ReasoningStream, "off", false, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{settings: both(mode(typing.Thinking), func(s *Settings) {
				a := s.Agents[""]
				a.Reasoning = c.level
				s.Agents[""] = a
			}), backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
				emit(agent.ReasoningStarted{ID: "r"})
				emit(agent.ReasoningContent{ID: "r", Delta: "I wonder."})
				waitFor(ctx, 4*time.Second)
				emit(agent.ReasoningEnded{ID: "r"})
				say(emit, "1", "Done.")
				return nil
			})})
			if c.pref != "" {
				b.write("dm", "/reasoning "+c.pref)
				after(time.Second)
			}
			b.write("dm", "hi")
			after(3 * time.Second)
			if got := b.typing("dm"); got != c.starts {
				t.Errorf("%v: the indicator shows: %t", c, got)
			}
			if c.shows {
				b.want("dm", "I wonder.", "Thinking…")
			} else {
				b.wantNot("dm", "I wonder.", "Thinking")
			}
			after(5 * time.Second)
			b.want("dm", "Done.")
		})
	}
}
