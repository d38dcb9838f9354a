package turn

import (
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
)

// TestT8_TheIndicatorStaysForAnAnswerThatHasToWait: the platform's budget is spent when the run
// ends. The indicator shows without a gap until the answer stands, and not after.
func TestT8_TheIndicatorStaysForAnAnswerThatHasToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("telegram")
		f.caps.CallsPerSecond, f.caps.CallBurst = 0.05, 1
		b := start(t, setup{fake: f, backend: working(3*time.Second, "Built.")})
		began := time.Now()
		b.write("dm", "build") // the progress message takes the only call for 20 s
		after(19 * time.Second)
		b.wantNot("dm", "Built.")
		b.want("dm", "Bash")
		if !b.typing("dm") {
			t.Error("no indicator while the answer waits")
		}
		after(3 * time.Second)
		b.want("dm", "Built.")
		b.noGhost(t, "dm")
		gaps := time.Duration(0)
		at := began
		for _, show := range f.world.Timeline("dm", "") {
			gaps += show.Start.Sub(at)
			at = show.End
		}
		if gaps > 100*time.Millisecond {
			t.Errorf("the indicator was gone for %v: %+v", gaps, f.world.Timeline("dm", ""))
		}
		after(time.Minute)
		b.noGhost(t, "dm")
		b.wantNot("dm", "Bash")
		for i, c := range f.world.Calls(sim.OpSend) {
			if i > 1 {
				t.Errorf("a third message: %+v", c)
			}
		}
	})
}

// TestT8_AnAnswerInLineIsNotStopped: a stop that comes when the run has ended changes nothing.
func TestT8_AnAnswerInLineIsNotStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("telegram")
		f.caps.CallsPerSecond, f.caps.CallBurst = 0.05, 1
		b := start(t, setup{fake: f, backend: working(3*time.Second, "Built.")})
		b.write("dm", "build")
		after(10 * time.Second)
		b.press("dm", "Stop")
		after(15 * time.Second)
		b.want("dm", "Built.")
		b.wantNot("dm", "Stopped")
	})
}

// TestP11_Backlog says how long an answer would wait.
func TestP11_Backlog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(adapters.Capabilities{CallsPerSecond: 10, CallBurst: 2, PostPaceDirect: time.Second, PostBurst: 1})
		near := func(what string, got, want time.Duration) {
			t.Helper()
			if got < want-time.Millisecond || got > want+time.Millisecond {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		near("nothing waits", p.backlog("a", false, callSend), 0)
		p.request(&permit{class: classAnswer, chat: "a", op: callSend, grant: func() {}})
		p.pass()
		near("a second post of the chat", p.backlog("a", false, callSend), time.Second)
		near("an edit there", p.backlog("a", false, callEdit), 0)
		for range 3 {
			p.request(&permit{class: classAnswer, chat: "b", op: callEdit, grant: func() {}})
		}
		p.pass()
		near("two wait for the token", p.backlog("c", false, callSend), 300*time.Millisecond)
		p.limited("c", callSend, &adapters.RateLimitError{RetryAfter: 7 * time.Second})
		near("a told wait", p.backlog("c", false, callEdit), 7*time.Second)
	})
}
