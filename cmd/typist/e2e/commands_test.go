package e2e

import (
	"strings"
	"testing"

	"typist/adapters/sim"
)

// reply waits for the answer to a command and looks at its manners: silent, or private.
func (p place) reply(t *testing.T, text string) sim.Message {
	t.Helper()
	m := p.sees(t, p.direct, text)
	if m.Private == "" && !m.Silent && p.platform.Name() != "slack" {
		t.Errorf("the answer %q notifies", m.Text)
	}
	return m
}

// written uses a command the way that takes any argument: as text on Telegram, elsewhere with the
// platform's own command. Discord's own menu refuses arguments that are no choice.
func (p place) written(t *testing.T, name, args string) {
	t.Helper()
	if p.platform.Name() == "slack" { // one for all: the manifest does not list every command
		name, args = "typist", strings.TrimSpace(name+" "+args)
	}
	p.command(t, name, args)
}

// TestC8_Commands: each command answers, short and silently, without an indicator (T14); wrong
// arguments show the allowed ones; settings survive a restart and say which level decided (T2).
func TestC8_Commands(t *testing.T) {
	more := quick + "\nagents: {defaults: {typingMode: thinking, heartbeat: {every: 1h}}}"
	alone(t, "otherwise:\n  say 1ms: Answer to {{input}}\n", more, func(t *testing.T, s *stage, at place) {
		at.written(t, "help", "")
		m := at.reply(t, "Write to me, or use one of these:")
		slash := "/"
		if at.platform.Name() == "slack" {
			slash = "/typist " // the one command that is there without the app's manifest
		}
		for _, name := range []string{"status", "stop", "retry", "new", "typing", "view", "reasoning", "branch", "heartbeat"} {
			if !strings.Contains(m.Text, slash+name+" ") {
				t.Errorf("/help does not know %s", name)
			}
		}
		at.written(t, "status", "")
		m = at.reply(t, "Idle.")
		for _, want := range []string{"Typing: thinking (from agents.defaults)", "view: summary", "reasoning: stream", "backend: main"} {
			if !strings.Contains(m.Text, want) {
				t.Errorf("/status: %q is missing in %q", want, m.Text)
			}
		}
		at.written(t, "typing", "")
		at.reply(t, "Typing: thinking (from agents.defaults), renewed every 6 s (from the default)")
		at.written(t, "typing", "message 9")
		at.reply(t, "Typing: message (from this chat), renewed every 9 s (from this chat)")
		at.written(t, "view", "detail")
		at.reply(t, "view in this chat: detail")
		at.written(t, "reasoning", "off")
		at.reply(t, "reasoning in this chat: off")
		at.written(t, "heartbeat", "")
		at.reply(t, "Heartbeat every 1h to last, next in")
		at.written(t, "stop", "")
		at.reply(t, "Nothing runs here right now.")
		at.written(t, "retry", "")
		at.reply(t, "There is nothing to retry here.")
		at.written(t, "new", "")
		at.reply(t, "A new conversation begins")
		at.written(t, "branch", "")
		at.reply(t, "Use this on an earlier message")
		if at.platform.Name() == "discord" {
			if err := at.platform.Command(sim.CommandUse{Chat: at.direct, Person: at.ann, Name: "view", Args: "everything"}); err == nil {
				t.Error("the menu offers what is not allowed")
			}
			at.written(t, "typing", "never soon")
			at.reply(t, "“soon” is not possible here. Allowed:")
		} else {
			at.written(t, "view", "everything")
			at.reply(t, "“everything” is not possible here. Allowed: overview, summary, detail, default")
			at.written(t, "reasoning", "loud")
			at.reply(t, "“loud” is not possible here. Allowed: off, on, stream, default")
			at.written(t, "typing", "always")
			at.reply(t, "“always” is not possible here. Allowed: never, instant, thinking, message, default")
		}
		if len(at.platform.World().Calls(sim.OpPulse)) > 0 {
			t.Error("a command showed the indicator")
		}

		s.restart(t)
		at.written(t, "status", "")
		eventually(t, at, "the settings after a restart", patience, func() bool {
			m, ok := at.find(at.direct, "Idle.")
			return ok && strings.Contains(m.Text, "Typing: message (from this chat), renewed every 9 s (from this chat)") &&
				strings.Contains(m.Text, "view: detail") && strings.Contains(m.Text, "reasoning: off")
		})
		at.written(t, "typing", "default")
		eventually(t, at, "the configured typing", patience, func() bool {
			return at.count(at.direct, "Typing: thinking (from agents.defaults), renewed every 6 s (from the default)") >= 2
		})
	})
}

// TestC8_InGroups: commands in groups where they are addressed to the bot; on Slack as text in
// threads, where slash commands do not exist.
func TestC8_InGroups(t *testing.T) {
	each(t, "otherwise:\n  say 1ms: Answer to {{input}}\n", quick, func(t *testing.T, _ *stage, at place) {
		if at.platform.Name() == "slack" {
			thread := at.mention(t, "hello")
			at.sees(t, at.group, "Answer to hello")
			for _, text := range []string{"help", "/help"} { // "help me" is for the agent
				before := at.count(at.group, "Write to me, or use one of these:")
				at.speak(t, sim.Say{Chat: at.group, Thread: thread, Person: at.ann, Text: text, Mention: true})
				eventually(t, at, text, patience, func() bool { return at.count(at.group, "Write to me, or use one of these:") > before })
			}
			at.speak(t, sim.Say{Chat: at.group, Thread: thread, Person: at.ann, Text: "view detail", Mention: true})
			at.sees(t, at.group, "view in this chat: detail")
			at.speak(t, sim.Say{Chat: at.group, Thread: thread, Person: at.ann, Text: "help me", Mention: true})
			at.sees(t, at.group, "Answer to help me")
			return
		}
		at.use(t, sim.CommandUse{Chat: at.group, Person: at.ann, Name: "help"})
		at.sees(t, at.group, "Write to me, or use one of these:")
		if at.platform.Name() == "telegram" {
			at.speak(t, sim.Say{Chat: at.group, Person: at.ann, Text: "/status@another_bot"})
			at.quiet(t, quietTime)
			if at.says(at.group, "Idle.") {
				t.Error("answered another bot's command")
			}
		}
	})
}
