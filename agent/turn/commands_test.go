package turn

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/agent/progress"
	"typist/typing"
)

// TestC8_EveryCommand answers, with good arguments and with wrong ones, as text, as a native
// command, and as an argument of /typist; natively only the one who asked sees it.
func TestC8_EveryCommand(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"help", "/reasoning [off|on|stream|default] – How much of the thinking is shown"},
		{"status", "Idle."},
		{"stop", "Nothing runs here right now."},
		{"retry", "There is nothing to retry here."},
		{"new", "A new conversation begins with your next message."},
		{"branch", "reply to it with /branch"},
		{"typing", "Typing: instant (from the kind of chat), renewed every 6 s (from the default)"},
		{"typing thinking", "Typing: thinking (from this chat), renewed every 6 s (from the default)"},
		{"typing THINKING 2.5", "Typing: thinking (from this chat), renewed every 2.5 s (from this chat)"},
		{"typing 3", "Typing: instant (from the kind of chat), renewed every 3 s (from this chat)"},
		{"typing default", "Typing: instant (from the kind of chat)"},
		{"typing often", "“often” is not possible here. Allowed: never, instant, thinking, message, default"},
		{"typing instant 0.5", "“0.5” is not possible here."},
		{"typing instant 3 4", "“4” is not possible here."},
		{"typing NaN", "“nan” is not possible here."},
		{"view", "view: summary (from progress.view)"},
		{"view detail", "view in this chat: detail"},
		{"view default", "view is no longer set for this chat."},
		{"view everything", "“everything” is not possible here. Allowed: overview, summary, detail, default"},
		{"reasoning", "stream"},
		{"reasoning on", "reasoning in this chat: on"},
		{"reasoning loud", "“loud” is not possible here. Allowed: off, on, stream, default"},
		{"heartbeat", "beat now: false"},
		{"heartbeat now", "beat now: true"},
		{"unknown", "There is no command /unknown."},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: answering(0, "the agent")})
			b.hub.SetHeartbeats(beats{})
			name, args, _ := strings.Cut(c.text, " ")
			if name != "unknown" {
				b.write("dm", "/"+c.text)
				after(2 * time.Second)
				got := b.bot("dm")
				if len(got) != 1 || !strings.Contains(got[0], c.want) {
					t.Errorf("/%s: %q", c.text, got)
				}
				if msgs := b.chat.world.Messages("dm", "*"); len(msgs) > 1 && (!msgs[1].Silent || msgs[1].ReplyTo != msgs[0].ID) {
					t.Errorf("/%s: silent %t, reply to %q", c.text, msgs[1].Silent, msgs[1].ReplyTo)
				}
			}
			before := len(b.bot("dm"))
			for _, said := range []*[]string{b.native("dm", name, args), b.native("dm", "typist", c.text)} {
				after(2 * time.Second)
				if len(*said) != 1 || !strings.Contains((*said)[0], c.want) {
					t.Errorf("native /%s: %q", c.text, *said)
				}
			}
			if n := len(b.bot("dm")); n != before {
				t.Errorf("native /%s: %d messages in the chat", c.text, n-before)
			}
		})
	}
}

// TestC8_WhatIsNoCommand goes to the agent: other slashes, and in groups what does not address the bot.
func TestC8_WhatIsNoCommand(t *testing.T) {
	for _, c := range []struct {
		chat, text string
		mention    bool
		agent      bool
	}{
		{"dm", "/etc/hosts is broken", false, true}, {"dm", "what does /help do?", false, true}, {"dm", "/", false, true},
		{"room", "/status", false, true}, {"room", "/status", true, false}, {"dm", "/STATUS", false, false}, {"dm", "/start", false, false},
		{"dm", "/status\n", false, false}, {"dm", "/typist", false, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: answering(0, "the agent")})
			b.write(c.chat, c.text, func(m *adapters.Message) { m.Mentioned = c.mention })
			after(3 * time.Second)
			if got := b.bot(c.chat); len(got) != 1 || (got[0] == "the agent") != c.agent {
				t.Errorf("%q in %s: %q", c.text, c.chat, got)
			}
		})
	}
}

// TestC8_StatusInARun names the step, what waits, and the settings in force.
func TestC8_StatusInARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: working(20*time.Second, "Done."), settings: mode(typing.Thinking)})
		b.write("dm", "hi")
		after(3 * time.Second)
		b.write("dm", "next")
		after(time.Second)
		said := b.native("dm", "status", "")
		after(time.Second)
		for _, want := range []string{"Running for 4s: Bash: make", "1 message waits.", "Typing: thinking (from channels.telegram)", "backend: main"} {
			if len(*said) != 1 || !strings.Contains((*said)[0], want) {
				t.Errorf("%q is missing in %q", want, *said)
			}
		}
	})
}

// TestC8_NativeStop answers when the stop is done; /typist stop is the same (Slack).
func TestC8_NativeStop(t *testing.T) {
	for _, by := range []string{"stop", "typist"} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: working(time.Hour, "")})
			b.write("dm", "hi")
			after(12 * time.Second)
			said := b.native("dm", by, map[string]string{"typist": "stop"}[by])
			after(5 * time.Second)
			if len(*said) != 1 || (*said)[0] != "Stopped after 12s" {
				t.Errorf("%s: %q", by, *said)
			}
			b.want("dm", "Stopped after 12s")
		})
	}
}

// TestC8_NotLetIn: a native command is answered, in private, and does nothing.
func TestC8_NotLetIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: working(time.Hour, "")})
		b.write("room", "hi", mentioned)
		after(3 * time.Second)
		var said []string
		o := b.origin("room")
		o.From.ID = "bob"
		b.deliver(adapters.Command{Origin: o, Name: "stop", Answer: func(p adapters.Post) error { said = append(said, show(p)); return nil }})
		after(3 * time.Second)
		if len(said) != 1 || said[0] != b.hub.words().NotAllowed {
			t.Errorf("said %q", said)
		}
		b.want("room", "[Stop]")
	})
}

// TestC8_TheMenu describes every command in every language, with its choices.
func TestC8_TheMenu(t *testing.T) {
	specs := Commands()
	if len(specs) != len(commands) {
		t.Errorf("%d of %d commands are in the menu", len(specs), len(commands))
	}
	for _, s := range specs {
		for _, lang := range progress.Langs() {
			if s.Description[string(lang)] == "" {
				t.Errorf("/%s is not described in %s", s.Name, lang)
			}
		}
		if (s.Args != "") != (len(s.Choices) > 0) || s.OnMessage != (s.Name == "branch") {
			t.Errorf("/%s: %+v", s.Name, s)
		}
	}
}

// TestO3_OneLinePerTurn at info, without texts.
func TestO3_OneLinePerTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		b := start(t, setup{backend: answering(time.Second, "a secret answer")})
		b.hub.log = slog.New(slog.NewTextHandler(&logged, nil))
		b.write("dm", "a secret question")
		after(5 * time.Second)
		if n := strings.Count(logged.String(), "\n"); n != 1 || !strings.Contains(logged.String(), "outcome=done") || strings.Contains(logged.String(), "secret") {
			t.Errorf("%d lines: %s", n, logged.String())
		}
	})
}
