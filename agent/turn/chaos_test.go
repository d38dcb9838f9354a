package turn

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
)

// seeds is how many random courses each test of faults takes: -turn.seeds=500 for a long run.
var seeds = flag.Uint64("turn.seeds", 25, "random courses per test of faults")

// chaos is a platform on which calls fail at random, and a backend that does anything. Whatever
// happens: every message is answered exactly once or its run ends in words, nothing that says
// "Working…" is left, and the indicator is gone (P12, T8, C3).
func chaos(t *testing.T, seed uint64, rate float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	f := newFake("telegram")
	f.slow = 50 * time.Millisecond
	lost := map[string]bool{} // answers whose send was carried out though its outcome is unknown
	f.fail = func(op sim.Op, _ adapters.Chat, text string) (error, bool) {
		if rng.Float64() > rate {
			return nil, false
		}
		switch n := rng.IntN(4); {
		case n == 0:
			return &adapters.RateLimitError{RetryAfter: time.Duration(1+rng.IntN(5)) * time.Second}, false
		case n == 1:
			return adapters.ErrNeverSent, false
		case op == sim.OpSend:
			lost[text] = true
			return adapters.ErrUnknownOutcome, true
		default:
			return adapters.ErrUnknownOutcome, n == 2
		}
	}
	backend := backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
		n := textOf(req.History[len(req.History)-1])
		r := rand.New(rand.NewPCG(seed, uint64(len(n))+uint64(n[len(n)-1])))
		for i := range r.IntN(5) {
			emit(agent.ReasoningStarted{ID: fmt.Sprint("r", i)})
			emit(agent.ReasoningContent{ID: fmt.Sprint("r", i), Delta: "hm "})
			if !waitFor(ctx, time.Duration(r.IntN(4000))*time.Millisecond) {
				return ctx.Err()
			}
			emit(agent.ReasoningEnded{ID: fmt.Sprint("r", i)})
			if r.IntN(2) == 0 {
				say(emit, fmt.Sprint("n", i), "I look.")
			}
			if !tool(ctx, emit, fmt.Sprint("t", i), "Bash", `{"command":"x"}`, time.Duration(r.IntN(9000))*time.Millisecond) {
				return ctx.Err()
			}
		}
		switch r.IntN(8) {
		case 0:
			say(emit, "1", "NO_REPLY")
			return nil
		case 1:
			return &agent.Failure{Kind: agent.Overloaded}
		}
		say(emit, "1", "Answer to "+n)
		return nil
	})
	b := start(t, setup{fake: f, backend: backend})
	const messages = 6
	for i := range messages {
		b.write("dm", fmt.Sprintf("m%d", i))
		var pause time.Duration
		f.now(func() { pause = time.Duration(rng.IntN(8000)) * time.Millisecond })
		after(pause)
	}
	after(10 * time.Minute)
	for i := range messages {
		want := fmt.Sprintf("Answer to m%d", i)
		n := 0
		for _, m := range sim.FromBot(b.chat.world.Messages("dm", "*")) {
			if strings.Contains(m.Text, want) && (m.Text == want || !lost[original(m)]) {
				n++
			}
		}
		if n > 1 {
			t.Errorf("%d copies of %q", n, want)
		}
	}
	runs, err := b.store.RunsIn(t.Context(), "running")
	if err != nil || len(runs) > 0 {
		t.Errorf("runs left: %v, %v", runs, err)
	}
	done, err := b.store.RunsIn(t.Context(), "done", "silent", "failed")
	if err != nil || len(done) != messages {
		t.Errorf("%d runs ended of %d: %v", len(done), messages, err)
	}
	for _, r := range done {
		in, err := b.store.RunEvents(t.Context(), r.ID)
		if err != nil || len(in) == 0 {
			t.Errorf("run %s has no events: %v", r.ID, err)
		}
	}
	for _, m := range sim.FromBot(b.chat.world.Messages("dm", "*")) {
		// A progress message whose id never came back can't be taken away by anyone.
		if (strings.Contains(m.Text, "Working…") || strings.Contains(m.Text, "Thinking…") || strings.Contains(m.Text, "Bash")) && !lost[original(m)] {
			t.Errorf("left behind: %q", m.Text)
		}
		for _, row := range m.Buttons {
			if row[0].Text == "Stop" && !lost[original(m)] {
				t.Errorf("a Stop button is left: %q", m.Text)
			}
		}
	}
	if on, _ := b.chat.world.Typing("dm", ""); on {
		t.Error("the indicator shows for ever")
	}
	for _, m := range b.chat.world.Messages("dm", "*") {
		if len(m.Reactions) > 0 {
			t.Errorf("a reaction is left on %q", m.Text)
		}
	}
	if t.Failed() {
		t.Logf("seed %d:\n%s", seed, b.text("dm"))
	}
}

func TestP12_OneAnswerWhateverFails(t *testing.T) {
	for seed := range *seeds {
		for _, rate := range []float64{0, 0.1, 0.3} {
			synctest.Test(t, func(t *testing.T) { chaos(t, seed, rate) })
			if t.Failed() {
				return
			}
		}
	}
}

// original is what a message said first.
func original(m sim.Message) string {
	if len(m.History) > 0 {
		return m.History[0].Text
	}
	return m.Text
}
