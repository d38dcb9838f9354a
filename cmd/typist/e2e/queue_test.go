package e2e

import (
	"fmt"
	"strings"
	"testing"
)

const queueing = `on "^slow":
  tool 1500ms Bash {"command":"make"} => ok
  say 1ms: Slow is done.
on "block":
  tool 1m Bash {"command":"make"} => ok
otherwise:
  say 1ms: Answer to {{input}}.
`

// TestS10_FollowupShowsThatItWaits: in order, one after the other, with a sign on what waits.
func TestS10_FollowupShowsThatItWaits(t *testing.T) {
	each(t, queueing, quick, func(t *testing.T, _ *stage, at place) {
		at.say(t, "slow")
		at.sees(t, at.direct, "Bash: make")
		second := at.say(t, "second")
		third := at.say(t, "third")
		signs := func(id string) int {
			m, _ := at.platform.World().Message(at.direct, id)
			return len(m.Reactions)
		}
		eventually(t, at, "signs", patience, func() bool { return signs(second) == 1 && signs(third) == 1 })
		at.answer(t, at.direct, "Slow is done.")
		at.answer(t, at.direct, "Answer to second.")
		at.answer(t, at.direct, "Answer to third.")
		eventually(t, at, "no signs", patience, func() bool { return signs(second)+signs(third) == 0 })
		var order []string
		for _, m := range at.bots(at.direct) {
			order = append(order, m.Text)
		}
		if got := strings.Join(order, "|"); got != "Slow is done.|Answer to second.|Answer to third." {
			t.Errorf("%q", got)
		}
	})
}

// TestS10_Collect: what came while the chat was busy becomes one turn.
func TestS10_Collect(t *testing.T) {
	each(t, queueing, quick+"\nsession: {queue: collect}", func(t *testing.T, _ *stage, at place) {
		at.say(t, "slow")
		at.sees(t, at.direct, "Bash: make")
		at.say(t, "second")
		at.say(t, "third")
		at.answer(t, at.direct, "Slow is done.")
		m := at.sees(t, at.direct, "Answer to")
		if !strings.Contains(m.Text, "second") || !strings.Contains(m.Text, "third") {
			t.Errorf("%q", m.Text)
		}
		at.quiet(t, quietTime)
		if n := len(at.bots(at.direct)); n != 2 {
			t.Errorf("%d messages", n)
		}
	})
}

// TestS10_Interrupt: a new message ends the run, of which nothing is left.
func TestS10_Interrupt(t *testing.T) {
	each(t, queueing, quick+"\nsession: {queue: interrupt}", func(t *testing.T, _ *stage, at place) {
		at.say(t, "block")
		at.sees(t, at.direct, "Bash: make")
		at.say(t, "never mind")
		at.answer(t, at.direct, "Answer to never mind.")
		at.gone(t, at.direct, "Bash: make")
		at.quiet(t, quietTime)
		if n := len(at.bots(at.direct)); n != 1 {
			t.Errorf("%d messages are left", n)
		}
	})
}

// TestS10_CapAndStopDropsTheQueue: the 21st waiting message is refused, and a stop drops the others.
func TestS10_CapAndStopDropsTheQueue(t *testing.T) {
	each(t, queueing, quick, func(t *testing.T, _ *stage, at place) {
		at.say(t, "block")
		at.sees(t, at.direct, "Bash: make")
		for i := range 21 {
			at.say(t, fmt.Sprintf("message %d", i))
		}
		m := at.sees(t, at.direct, "20 messages wait already. Please send this again later.")
		if !m.Silent && at.platform.Name() != "slack" {
			t.Error("the refusal notifies")
		}
		at.command(t, "stop", "")
		at.sees(t, at.direct, "20 waiting messages dropped.")
		at.sees(t, at.direct, "Stopped after")
		eventually(t, at, "no signs", patience, func() bool {
			for _, m := range at.platform.World().Messages(at.direct, "*") {
				if len(m.Reactions) > 0 {
					return false
				}
			}
			return true
		})
		if at.says(at.direct, "Answer to message") {
			t.Error("a dropped message was answered")
		}
	})
}
