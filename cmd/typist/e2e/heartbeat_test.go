package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"typist/adapters/sim"
)

const beating = `on "all is well":
  wait 700ms
  say 1ms: HEARTBEAT_OK
on "disk is full":
  wait 700ms
  say 300ms: NOTICE: the disk
  | is full.
otherwise:
  say 1ms: Answer to {{input}}
`

func (s *stage) beat(t *testing.T) {
	t.Helper()
	if out, err := typist("heartbeat", "--now", "--config", s.config); err != nil {
		t.Fatalf("%v %s", err, out)
	}
}

// TestH2_NothingToSayLeavesNothing: the indicator shows for the run, in the chat where a person
// last spoke (T4), and nothing is left.
func TestH2_NothingToSayLeavesNothing(t *testing.T) {
	more := quick + "\nagents: {defaults: {typingMode: message, heartbeat: {every: 1h, prompt: all is well}}}"
	alone(t, beating, more, func(t *testing.T, s *stage, at place) {
		out, err := typist("heartbeat", "--now", "--config", s.config)
		if err == nil || !strings.Contains(out, "nobody has written to this agent yet") {
			t.Errorf("%v %s", err, out)
		}
		at.say(t, "hello")
		at.answer(t, at.direct, "Answer to hello")
		at.quiet(t, quietTime)
		before, messages := len(shown(at, at.direct)), len(at.platform.World().Everything(at.direct, "*"))
		s.beat(t)
		began := time.Now() // the run takes 0.7 s
		eventually(t, at, "the indicator", patience, func() bool { return len(shown(at, at.direct)) > before })
		if all := shown(at, at.direct); all[len(all)-1].Start.Sub(began) > 600*time.Millisecond {
			t.Error("the indicator waited for the text")
		}
		at.quiet(t, quietTime)
		if n := len(at.bots(at.direct)); n != 1 {
			t.Errorf("%d messages", n)
		}
		if len(at.platform.World().Everything(at.direct, "*")) != messages {
			t.Error("the heartbeat showed something in between")
		}
		if all := shown(at, at.direct); at.platform.Name() == "slack" && all[len(all)-1].End.After(time.Now()) {
			t.Error("the status is left")
		}
	})
}

// shown lists when the indicator showed in a chat: on Slack it hangs on one of its messages.
func shown(at place, chat string) []sim.Interval {
	world := at.platform.World()
	out := world.Timeline(chat, "")
	for _, m := range world.Everything(chat, "*") {
		if m.Thread == "" && at.platform.Name() == "slack" {
			out = append(out, world.Timeline(chat, m.ID)...)
		}
	}
	slices.SortFunc(out, func(a, b sim.Interval) int { return a.Start.Compare(b.Start) })
	return out
}

// TestH1_TextIsDeliveredWhole: held until the run ends, once; to the channel and chat that the
// config names (H1), by a name where the platform has names.
func TestH1_TextIsDeliveredWhole(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"telegram", "discord", "slack"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, beating, "", name)
			at := s.on[name]
			to := map[string]string{"telegram": at.group, "discord": "#general", "slack": "#general"}[name]
			s.reconfigure(t, s.backend, fmt.Sprintf("%s\nagents: {defaults: {heartbeat: {every: 1h, prompt: the disk is full, target: %s, to: %q}}}", quick, name, to))
			t.Cleanup(func() { t.Log(transcript(at)) })
			s.start(t)
			s.beat(t)
			m := at.sees(t, at.group, "NOTICE: the disk\nis full.")
			if m.Edits > 0 {
				t.Errorf("its text showed before it was whole: %v", m.History)
			}
			at.quiet(t, 300*time.Millisecond)
			s.beat(t) // H4: not the same text again
			at.quiet(t, 2*time.Second)
			if n := at.count(at.group, "NOTICE"); n != 1 {
				t.Errorf("%d copies", n)
			}
			if len(shown(at, at.group)) == 0 && name != "slack" { // an empty channel has nothing for it to hang on
				t.Error("no indicator")
			}
			s.stop(t)
		})
	}
}

// TestT4_NoIndicator where the mode is never, delivery is off, or the target is none; a target that
// is not found is a warning with the reason.
func TestT4_NoIndicator(t *testing.T) {
	t.Parallel()
	for what, heartbeat := range map[string]string{
		"never":   "typingMode: never, heartbeat: {every: 1h, prompt: the disk is full}",
		"deliver": "heartbeat: {every: 1h, prompt: the disk is full, deliver: false}",
		"none":    "heartbeat: {every: 1h, prompt: the disk is full, target: none}",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, beating, quick+"\nagents: {defaults: {"+heartbeat+"}}")
			s.start(t)
			for _, at := range s.on {
				at.say(t, "hello")
				at.sees(t, at.direct, "Answer to hello")
				at.quiet(t, 300*time.Millisecond)
			}
			pulses := func() (n int) {
				for _, at := range s.on {
					n += len(at.platform.World().Calls(sim.OpPulse))
				}
				return n
			}
			before := pulses()
			s.beat(t)
			ctx, cancel := contextFor(patience)
			defer cancel()
			must(t, s.program.log.wait(ctx, "the turn ended", 4))
			for _, at := range s.on {
				at.quiet(t, 300*time.Millisecond)
				if n := len(at.bots(at.direct)); n > 1 && what != "never" {
					t.Errorf("%s: it was delivered", at.platform.Name())
				}
			}
			if pulses() != before {
				t.Error("the indicator showed")
			}
			s.stop(t)
		})
	}
	t.Run("lost", func(t *testing.T) {
		t.Parallel()
		s := newStage(t, beating, quick+"\nagents: {defaults: {heartbeat: {every: 1h, prompt: the disk is full, target: slack, to: \"#nowhere\"}}}", "slack")
		s.start(t)
		out, err := typist("heartbeat", "--now", "--config", s.config)
		if err == nil || !strings.Contains(out, "#nowhere") {
			t.Errorf("%v %s", err, out)
		}
		s.stop(t)
	})
}
