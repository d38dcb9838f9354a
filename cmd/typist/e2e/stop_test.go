package e2e

import (
	"strings"
	"testing"
	"time"

	"typist/adapters/sim"
)

const phases = `on "first token":
  say 100ms: Before.
  wait 1m
  say: Never said.
on "thinking":
  say 10ms: I begin.
  think 1m: One word after the other comes here and it takes very long.
on "one tool":
  say 10ms: I begin.
  tool 1m Bash {"command":"make","description":"Build"} => ok
on "parallel":
  say 10ms: I begin.
  parallel {
    tool 1m Read {"file":"a"} => a
    tool 1m Fetch {"url":"b"} => b
  }
on "helper":
  say 10ms: I begin.
  subagent Scout {
    tool 1m Search {"query":"c"} => c
  }
on "ask me":
  say 10ms: I begin.
  ask-approval: Delete everything
  if-approved {
    say: Deleted.
  }
on "retry later":
  say 10ms: I begin.
  error rate_limited 1m
otherwise:
  say 1ms: You said {{input}}
`

// stopShows: after a stop the chat says so at once, and says that it is over when it is (S2).
func stopShows(t *testing.T, at place, chat string, stop func()) {
	t.Helper()
	at.button(t, chat, "Stop")
	began := time.Now()
	stop()
	shown := func() time.Time {
		for _, m := range at.platform.World().Everything(chat, "*") {
			since := m.At // of the version that is looked at
			for _, v := range append(m.History, sim.Version{Text: m.Text}) {
				if m.From.Bot && m.Private == "" && since.After(began) && (strings.Contains(v.Text, "Stopping…") || strings.Contains(v.Text, "Stopped after")) {
					return since
				}
				since = v.At
			}
		}
		return time.Time{}
	}
	eventually(t, at, "Stopping…", patience, func() bool { return shown().After(began) })
	if took := shown().Sub(began); took > 300*time.Millisecond {
		t.Errorf("the stop was shown after %v", took)
	}
}

// TestS2_StopButtonInEachPhase presses Stop in whatever a run is doing.
func TestS2_StopButtonInEachPhase(t *testing.T) {
	each(t, phases, quick, func(t *testing.T, s *stage, at place) {
		for input, what := range map[string]string{"first token": "Working…", "thinking": "Thinking…", "one tool": "Bash: Build", "parallel": "Fetch",
			"helper": "Scout", "ask me": "Waiting for approval"} {
			if at.platform.Name() == "discord" {
				at.quiet(t, 2500*time.Millisecond) // five posts in 5 s; beyond them a whole chat waits
			}
			began := time.Now()
			at.say(t, input)
			at.sees(t, at.direct, what)
			stopShows(t, at, at.direct, func() { at.press(t, at.direct, "Stop") })
			m := at.sees(t, at.direct, "Stopped after")
			if _, ok := buttonOf(m, "Resume"); !ok {
				t.Errorf("%s: no Resume under %q", input, m.Text)
			}
			if partial := "I begin."; input != "first token" && !strings.Contains(m.Text, partial) {
				t.Errorf("%s: the partial text is gone: %q", input, m.Text)
			}
			if !m.Silent && at.platform.Name() != "slack" {
				t.Errorf("%s: a stop notifies", input)
			}
			for _, label := range []string{"Stop", "Approve", "Deny"} {
				eventually(t, at, "no button "+label, patience, func() bool { _, _, ok := at.labelled(at.direct, label); return !ok })
			}
			at.gone(t, at.direct, "Working…")
			at.gone(t, at.direct, "Stopping…")
			for _, m := range at.bots(at.direct) {
				if m.At.After(began) {
					at.platform.World().Delete(at.direct, m.ID) // the next phase begins with a clean chat
				}
			}
		}
		if strings.Contains(s.program.log.String(), "level=ERROR") {
			t.Errorf("a stop is no error:\n%s", s.program.log)
		}
	})
}

// TestS2_StopCommandAndWords: /stop and a stop word alone, in groups only when the bot is addressed.
func TestS2_StopCommandAndWords(t *testing.T) {
	each(t, phases, quick, func(t *testing.T, _ *stage, at place) {
		at.command(t, "stop", "")
		at.sees(t, at.direct, "Nothing runs here right now.")

		at.say(t, "stop")
		at.sees(t, at.direct, "You said stop") // with nothing running it is ordinary text

		at.say(t, "one tool")
		stopShows(t, at, at.direct, func() { at.command(t, "stop", "") })
		at.sees(t, at.direct, "Stopped after")
		at.gone(t, at.direct, "Stopping…")

		for n, word := range []string{"Bitte stopp!", "やめて"} {
			at.say(t, "one tool")
			eventually(t, at, "the tool", patience, func() bool { return at.says(at.direct, "Bash: Build") })
			at.say(t, word)
			eventually(t, at, "stopped by "+word, patience, func() bool { return at.count(at.direct, "Stopped after") == n+2 })
			if at.says(at.direct, "You said "+word) {
				t.Errorf("%s was answered", word)
			}
		}

		question := at.mention(t, "one tool")
		running := at.sees(t, at.group, "Bash: Build")
		thread := ""
		if at.platform.Name() == "slack" {
			thread = question
		}
		at.speak(t, sim.Say{Chat: at.group, Thread: thread, Person: at.ann, Text: "stop"})
		at.quiet(t, 300*time.Millisecond)
		if at.says(at.group, "Stopp") {
			t.Error("a stop word that was not for the bot stopped it")
		}
		at.speak(t, sim.Say{Chat: at.group, Thread: running.Thread, Person: at.ann, Text: "stop", Mention: true})
		at.sees(t, at.group, "Stopped after")
	})
}

// TestS5_ResumeGoesOn: Resume continues where a stop cut, executes nothing twice and repeats no text.
func TestS5_ResumeGoesOn(t *testing.T) {
	script := `otherwise:
  say 1ms: First part.
  tool 50ms Mail {"to":"bob"} => sent
  think 30s: slowly slowly slowly slowly
  say 1ms: Second part.
`
	alone(t, script, quick, func(t *testing.T, s *stage, at place) {
		at.say(t, "go")
		at.sees(t, at.direct, "Thinking…")
		at.press(t, at.direct, "Stop")
		stopped := at.sees(t, at.direct, "Stopped after")
		if !strings.Contains(stopped.Text, "First part.") {
			t.Errorf("the partial text is gone: %q", stopped.Text)
		}
		s.restart(t)
		at.press(t, at.direct, "Resume")
		eventually(t, at, "the second press to find no button", patience, func() bool {
			m, ok := at.platform.World().Message(at.direct, stopped.ID)
			_, resume := buttonOf(m, "Resume")
			return !ok || m.Deleted || !resume
		})
		at.sees(t, at.direct, "Thinking…")
		at.press(t, at.direct, "Stop")
		eventually(t, at, "a second stop", patience, func() bool { return at.count(at.direct, "Stopped after") == 2 })
		if n := executions(t, s.record)[`Mail{"to":"bob"}`]; n != 1 {
			t.Errorf("the tool was executed %d times", n)
		}
	})
}
