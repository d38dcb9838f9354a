package bench

import (
	"strings"
	"testing"
	"time"

	"typist/adapters/sim"
	"typist/adapters/sim/slack"
)

const endless = `otherwise:
  say 1ms: I begin.
  tool 10m Bash {"command":"make","description":"Build with tests"} => ok
`

// measureStops presses Stop under running runs on each platform, and measures until the chat shows
// that it was heard. Rest keeps the rounds below the platforms' limits: Slack allows all runs of a
// workspace 50 edits a minute.
func measureStops(t testing.TB, rounds int, rest time.Duration) map[string][]time.Duration {
	t.Helper()
	tg, dc, sl := towns(t, slack.Options{})
	out := map[string][]time.Duration{}
	var talks []*talk
	for _, p := range []sim.Platform{tg, dc, sl} {
		for _, c := range chatsOf(p) {
			if c.direct {
				c.platform = p
				talks = append(talks, c)
			}
		}
	}
	run(t, configure(t, t.TempDir(), endless, "progress: {delaySeconds: 0.1}", tg, dc, sl), 3)
	for range rounds {
		for _, c := range talks {
			out[c.platform.Name()] = append(out[c.platform.Name()], c.measureStop(t))
		}
		pause(rest)
	}
	return out
}

// measureStop has a run begin and stops it.
func (t *talk) measureStop(tb testing.TB) time.Duration {
	tb.Helper()
	began := time.Now()
	_, err := t.platform.Say(sim.Say{Chat: t.chat, Person: t.person, Text: "begin"})
	must(tb, err)
	var message, data string
	eventually(tb, "the progress message", 10*time.Second, func() bool {
		for _, m := range sim.FromBot(t.platform.World().Messages(t.chat, "*")) {
			button, ok := buttonOf(m, "Stop")
			if ok && m.At.After(began) && strings.Contains(m.Text, "Bash") {
				message, data = m.ID, button
				return true
			}
		}
		return false
	})
	pressed := time.Now()
	must(tb, t.platform.Press(t.chat, t.person, message, data))
	var shown time.Time
	eventually(tb, "the acknowledgement", 10*time.Second, func() bool {
		shown = t.since(pressed, "Stopp")
		return !shown.IsZero()
	})
	eventually(tb, "the end of the run", 10*time.Second, func() bool { return !t.since(pressed, "Stopped after").IsZero() })
	return shown.Sub(pressed)
}

// since is when a message of the bot first came to hold the text, after began; zero: none did.
func (t *talk) since(began time.Time, text string) (first time.Time) {
	see := func(at time.Time, state string) {
		if strings.Contains(state, text) && at.After(began) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	for _, m := range sim.FromBot(t.platform.World().Everything(t.chat, "*")) {
		// A state in the history carries the time at which the next one took its place.
		at := m.At
		for _, v := range m.History {
			see(at, v.Text)
			at = v.At
		}
		see(at, m.Text)
	}
	return first
}

// TestS2_StopShowsAtOnce: BenchmarkStop measures; the goal is 300 ms.
func TestS2_StopShowsAtOnce(t *testing.T) {
	for name, took := range measureStops(t, 2, 1500*time.Millisecond) {
		t.Logf("%s: median %v, longest %v", name, quantile(took, .5), quantile(took, 1))
		if got := quantile(took, .5); got > 300*time.Millisecond {
			t.Errorf("%s: half of the stops show after %v and more", name, got)
		}
	}
}

// BenchmarkStop reports the time from a press on Stop to its acknowledgement in the chat; the goal
// is 300 ms.
func BenchmarkStop(b *testing.B) {
	for b.Loop() {
		for name, took := range measureStops(b, 8, 12*time.Second) {
			b.ReportMetric(float64(quantile(took, .5).Microseconds())/1000, name+"-p50-ms")
			b.ReportMetric(float64(quantile(took, 1).Microseconds())/1000, name+"-max-ms")
		}
	}
}
