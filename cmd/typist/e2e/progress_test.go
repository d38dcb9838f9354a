package e2e

import (
	"strings"
	"testing"
	"time"

	"typist/adapters/sim"
	simslack "typist/adapters/sim/slack"
)

const working = `on "long":
  step Prepare
    think 300ms: I look at what is there before anything else.
    tool 700ms Read {"file":"go.mod"} => module x
  end-step
  step Build
    tool 700ms Bash {"command":"make","description":"Build with tests"} => ok
  end-step
  say 1ms: All is built.
on "quick":
  say 1ms: At once.
on "slowly":
  tool 1m Bash {"command":"make"} => ok
otherwise:
  wait 300ms
  say 1ms: Answer to {{input}}
`

// TestP12_TheEndOfALongRun: the answer is a new message that notifies, on Discord a reply that
// pings; the progress message shrinks to its summary, behind whose button the trace is (P8).
func TestP12_TheEndOfALongRun(t *testing.T) {
	each(t, working, "progress: {delaySeconds: 0.2, notifyAfterSeconds: 1}", func(t *testing.T, _ *stage, at place) {
		question := at.say(t, "long")
		at.sees(t, at.direct, "Build with tests")
		m := at.answer(t, at.direct, "All is built.")
		if m.Silent {
			t.Error("the answer is silent")
		}
		if at.platform.Name() == "discord" && (m.ReplyTo != question || len(m.Pings) != 1) {
			t.Errorf("reply to %q, pings %v", m.ReplyTo, m.Pings)
		}
		worked := at.sees(t, at.direct, "Worked for ")
		if !strings.HasSuffix(worked.Text, " steps") || worked.ID == m.ID {
			t.Errorf("%q", worked.Text)
		}
		at.press(t, at.direct, "Details")
		open := at.sees(t, at.direct, "Thought for")
		for _, want := range []string{"Worked for", "Read: go.mod", "Bash: Build with tests", "✓"} {
			if !strings.Contains(open.Text, want) {
				t.Errorf("%q is missing in %q", want, open.Text)
			}
		}
		at.press(t, at.direct, "Details")
		at.gone(t, at.direct, "Read: go.mod")
		if n := len(at.bots(at.direct)); n != 2 {
			t.Errorf("%d messages", n)
		}

		at.say(t, "quick") // P1: an answer that is there before the delay makes no progress message
		at.answer(t, at.direct, "At once.")
		at.quiet(t, 500*time.Millisecond)
		if n := len(at.platform.World().Everything(at.direct, "*")); n != 5 {
			t.Errorf("%d messages in all", n)
		}
	})
}

// TestP7_Views: one line, the steps, or everything, as /view says, at once.
func TestP7_Views(t *testing.T) {
	each(t, working, quick, func(t *testing.T, _ *stage, at place) {
		at.command(t, "view", "overview")
		at.sees(t, at.direct, "view in this chat: overview")
		at.say(t, "long")
		m := at.sees(t, at.direct, "Bash: Build with tests")
		if strings.Contains(strings.TrimSpace(m.Text), "\n") {
			t.Errorf("%q is not one line", m.Text)
		}
		at.answer(t, at.direct, "All is built.")
		at.say(t, "slowly")
		at.sees(t, at.direct, "Bash: make")
		at.command(t, "view", "detail")
		at.sees(t, at.direct, "view in this chat: detail")
		eventually(t, at, "the detail view", patience, func() bool {
			m, ok := at.find(at.direct, "Bash: make")
			return ok && strings.Count(m.Text, "Bash: make") >= 2
		})
		at.press(t, at.direct, "Stop")
		at.sees(t, at.direct, "Stopped after")
	})
}

// TestT8_NoGhostAfterTheAnswer: once the answer stands nobody sees the indicator, and no pulse
// follows; it shows from the start, without a gap (T7).
func TestT8_NoGhostAfterTheAnswer(t *testing.T) {
	each(t, working, quick, func(t *testing.T, _ *stage, at place) {
		for _, text := range []string{"one", "long", "two"} {
			began := time.Now()
			at.say(t, text)
			want := "Answer to " + text
			if text == "long" {
				want = "All is built."
			}
			m := at.answer(t, at.direct, want)
			at.quiet(t, quietTime)
			stands := m.At
			if m.Edits > 0 {
				stands = m.EditedAt
			}
			for _, i := range shown(at, at.direct) {
				if i.Start.After(began) && i.End.After(stands.Add(60*time.Millisecond)) {
					t.Errorf("%s: the indicator shows until %v after the answer", text, i.End.Sub(stands))
				}
			}
			if all := shown(at, at.direct); len(all) == 0 || all[len(all)-1].End.Before(began) {
				t.Errorf("%s: no indicator", text)
			}
		}
	})
}

// TestS2_SlacksOwnStopButton ends the run that it stands beside.
func TestS2_SlacksOwnStopButton(t *testing.T) {
	t.Parallel()
	s := newStage(t, working, quick, "slack")
	s.start(t)
	at := s.on["slack"]
	question := at.mention(t, "slowly")
	at.sees(t, at.group, "Bash: make")
	at.platform.(*simslack.Server).StopSession(at.group, question, at.ann)
	at.sees(t, at.group, "Stopped after")
	s.stop(t)
}

// TestO3_NoTokenAtAnyLevel: not even where everything is logged.
func TestO3_NoTokenAtAnyLevel(t *testing.T) {
	t.Parallel()
	s := newStage(t, working, quick)
	s.program = run(t, s.config, len(s.on), "--log-level", "debug", "--log-format", "json")
	for _, at := range s.on {
		at.say(t, "long")
		at.answer(t, at.direct, "All is built.")
		at.platform.World().Inject(sim.Fault{Times: 1, Cut: sim.CutBefore})
		at.platform.Disconnect(300 * time.Millisecond)
		at.say(t, "hello again")
		at.sees(t, at.direct, "Answer to hello again")
	}
	log := s.program.log.String()
	for name, at := range s.on {
		for key, secret := range at.platform.Credentials() {
			if strings.Contains(log, secret) {
				t.Errorf("%s's %s is in the log", name, key)
			}
		}
	}
	s.stop(t)
}
