package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"typist/adapters/sim"
)

// TestC4_OneWrongTokenStopsOneChannel: with a sentence that says what to do; the others go on.
func TestC4_OneWrongTokenStopsOneChannel(t *testing.T) {
	t.Parallel()
	for _, wrong := range []string{"telegram", "discord", "slack"} {
		t.Run(wrong, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "otherwise:\n  say 1ms: Answer to {{input}}\n", quick)
			data, err := os.ReadFile(s.config)
			must(t, err)
			secret := s.on[wrong].platform.Credentials()["botToken"]
			s.write(t, strings.Replace(string(data), secret, secret+"x", 1))
			s.program = run(t, s.config, 2)
			ctx, cancel := contextFor(patience)
			defer cancel()
			must(t, s.program.log.wait(ctx, "the channel stops: ", 1))
			for line := range strings.Lines(s.program.log.String()) {
				if strings.Contains(line, "the channel stops") {
					t.Log(line)
					if !strings.Contains(line, "channel="+wrong) {
						t.Errorf("another channel stopped: %s", line)
					}
				}
			}
			for name, at := range s.on {
				if name == wrong {
					continue
				}
				at.say(t, "hello")
				at.answer(t, at.direct, "Answer to hello")
			}
			s.stop(t)
		})
	}
}

// TestC3_NothingLostNothingTwice: redeliveries, lost connections, an outage, answers of the platform
// that are lost, all in one conversation.
func TestC3_NothingLostNothingTwice(t *testing.T) {
	each(t, "otherwise:\n  wait 200ms\n  say 1ms: Answer to {{input}}.\n", quick, func(t *testing.T, _ *stage, at place) {
		world := at.platform.World()
		said := 0
		say := func() {
			t.Helper()
			said++
			at.say(t, fmt.Sprintf("message number %d", said))
		}
		say()
		must(t, at.platform.Redeliver(1))
		at.sees(t, at.direct, "Answer to message number 1.")
		at.platform.Disconnect(0)
		say()
		at.platform.Disconnect(700 * time.Millisecond)
		say()
		say()
		for i := 2; i <= 4; i++ {
			at.sees(t, at.direct, fmt.Sprintf("Answer to message number %d.", i))
		}
		must(t, at.platform.Redeliver(4))
		remove := world.Inject(sim.Fault{Op: sim.OpSend, Times: 2, Cut: sim.CutAfter})
		say()
		at.sees(t, at.direct, "Answer to message number 5.")
		remove()
		remove = world.Inject(sim.Fault{Op: sim.OpSend, Times: 2, Status: 429, RetryAfter: 500 * time.Millisecond})
		say()
		at.sees(t, at.direct, "Answer to message number 6.")
		remove()
		at.quiet(t, 3*time.Second)
		for i := 1; i <= said; i++ {
			want := fmt.Sprintf("Answer to message number %d.", i)
			if n := at.count(at.direct, want); n != 1 {
				t.Errorf("%d copies of %q", n, want)
			}
		}
		if at.says(at.direct, "Working…") {
			t.Error("Working… is left")
		}
	})
}

// TestT11_ABrokenIndicatorDelaysNothing: refused, slow and failing pulses.
func TestT11_ABrokenIndicatorDelaysNothing(t *testing.T) {
	for name, fault := range map[string]sim.Fault{
		"slow": {Op: sim.OpPulse, Delay: 8 * time.Second}, "refused": {Op: sim.OpPulse, Status: 403},
		"limited": {Op: sim.OpPulse, Status: 429, RetryAfter: 5 * time.Second}, "broken": {Op: sim.OpPulse, Status: 500},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, "otherwise:\n  wait 300ms\n  say 1ms: Answer to {{input}}\n", "", func(t *testing.T, _ *stage, at place) {
				at.platform.World().Inject(fault)
				began := time.Now()
				at.say(t, "hello")
				m := at.answer(t, at.direct, "Answer to hello")
				if took := m.At.Sub(began); took > 2500*time.Millisecond { // the run takes 0.3 s, the faults 5 s and more
					t.Errorf("the answer took %v", took)
				}
			})
		})
	}
}
