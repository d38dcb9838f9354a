package turn

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
)

// TestP12_S2_WhateverPeopleDo: people write, stop, retry, resume, edit, switch and press old
// buttons at random on a platform on which calls fail; afterwards nothing says that something is in
// work, no run or message is left, and the chat still answers.
func TestP12_S2_WhateverPeopleDo(t *testing.T) {
	for seed := range *seeds {
		for _, platform := range []string{"telegram", "slack", "discord"} {
			synctest.Test(t, func(t *testing.T) { storm(t, platform, seed) })
			if t.Failed() {
				return
			}
		}
	}
}

func storm(t *testing.T, platform string, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	f := newFake(platform)
	f.slow = time.Duration(rng.IntN(200)) * time.Millisecond
	s := setup{fake: f, settings: func(s *Settings) {
		s.Queue = []Queue{Followup, Collect, Steer, Interrupt}[rng.IntN(4)]
		a := s.Agents[""]
		a.Timeout = 2 * time.Minute // questions that nobody decides
		s.Agents[""] = a
	}}
	switch platform {
	case "slack":
		c := newClearing(platform)
		c.slow = f.slow
		f = c.fake
		s.fake, s.adapter = f, c
	case "discord":
		s.adapter = finding{f, map[string]string{}}
	}
	rate := []float64{0, 0.1, 0.25}[rng.IntN(3)]
	faults := rand.New(rand.NewPCG(seed, 9))
	f.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) {
		if faults.Float64() >= rate {
			return nil, false
		}
		switch n := faults.IntN(4); {
		case n == 0:
			return &adapters.RateLimitError{RetryAfter: time.Duration(1+faults.IntN(4)) * time.Second}, false
		case n == 1 || op == sim.OpSend && platform != "discord":
			return adapters.ErrNeverSent, false
		default:
			return adapters.ErrUnknownOutcome, n == 2
		}
	}
	s.backend = wild(seed)
	b := start(t, s)
	b.hub.log = slog.New(slog.DiscardHandler)
	var written []string
	for i := range 25 {
		switch n := rng.IntN(12); {
		case n < 4 || len(written) == 0:
			written = append(written, b.write("dm", fmt.Sprintf("m%d", i)))
		case n < 6:
			b.edit("dm", written[rng.IntN(len(written))], fmt.Sprintf("edited %d", i))
		case n == 6:
			b.write("dm", []string{"stop", "/stop", "/retry", "/new", "/status", "/branch"}[rng.IntN(6)])
		case n == 7:
			b.write("dm", "/branch", func(m *adapters.Message) { m.ReplyTo = &adapters.Reply{ID: written[rng.IntN(len(written))]} })
		default:
			b.pressAny(rng)
		}
		after(time.Duration(rng.IntN(6000)) * time.Millisecond)
	}
	after(2 * time.Hour)
	b.settled(t)
	f.now(func() { f.fail = nil })
	b.write("dm", "still there?")
	after(5 * time.Minute)
	b.settled(t)
	if runs, err := b.store.RunsIn(t.Context(), "done", "silent", "failed"); len(runs) == 0 || err != nil {
		t.Errorf("%d runs ended: %v", len(runs), err)
	}
	if last := b.chat.world.Messages("dm", "*"); last[len(last)-1].Text == "still there?" && !strings.Contains(fmt.Sprint(b.lastState(t)), "silent") {
		t.Errorf("the chat does not answer any more: %v", b.lastState(t))
	}
	if t.Failed() {
		t.Logf("%s, seed %d, %s:\n%s", platform, seed, b.hub.settings().Queue, b.text("dm"))
	}
}

// lastState is how the chat's last run ended.
func (b *bench) lastState(t *testing.T) string {
	run, _, err := b.store.LastRun(t.Context(), b.chat.name+"/dm")
	if err != nil {
		t.Error(err)
	}
	return string(run.State)
}

// settled fails if anything in the chat says that something is in work.
func (b *bench) settled(t *testing.T) {
	t.Helper()
	for _, m := range sim.FromBot(b.chat.world.Messages("dm", "*")) {
		for _, busy := range []string{"Working…", "Thinking…", "Stopping…", "Noted."} {
			if strings.Contains(m.Text, busy) && !strings.Contains(m.Text, "Running for") && !strings.Contains(m.Text, "Idle.") {
				t.Errorf("left behind: %q", m.Text)
			}
		}
		for _, row := range m.Buttons {
			for _, button := range row {
				if button.Text == "Stop" || button.Text == "Approve" {
					t.Errorf("button %s is left under %q", button.Text, m.Text)
				}
			}
		}
	}
	if b.typing("dm") {
		t.Error("the indicator shows for ever")
	}
	if n := b.waitingSigns(); n > 0 {
		t.Errorf("%d reactions are left", n)
	}
	if runs, err := b.store.RunsIn(t.Context(), "running"); len(runs) > 0 || err != nil {
		t.Errorf("%d runs are left: %v", len(runs), err)
	}
	if rows, err := b.store.Unfinished(t.Context()); len(rows) > 0 || err != nil {
		t.Errorf("%d inputs are left: %v", len(rows), err)
	}
	if n := b.hub.Runs(); n > 0 {
		t.Errorf("%d runs are in flight", n)
	}
}

// pressAny presses a random button that stands, or one that stood once.
func (b *bench) pressAny(rng *rand.Rand) {
	var all [][2]string
	for _, m := range b.chat.world.Everything("dm", "*") {
		for _, row := range m.Buttons {
			for _, button := range row {
				all = append(all, [2]string{m.ID, button.Data})
			}
		}
	}
	if len(all) > 0 {
		one := all[rng.IntN(len(all))]
		b.pressData("dm", one[0], one[1])
	}
}

// wild does anything a backend can do.
func wild(seed uint64) agent.Backend {
	n := uint64(0)
	return steerable{func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
		n++
		r := rand.New(rand.NewPCG(seed, 100+n))
		for i := range r.IntN(4) {
			if r.IntN(2) == 0 {
				say(emit, fmt.Sprint("n", i), []string{"I look.", "NO_REPLY", "No", strings.Repeat("A long text. ", 400)}[r.IntN(4)])
			}
			if !tool(ctx, emit, fmt.Sprint("t", i), "Bash", `{"command":"x"}`, time.Duration(r.IntN(8000))*time.Millisecond) {
				if r.IntN(6) == 0 { // takes its time to end
					waitFor(context.WithoutCancel(ctx), time.Duration(r.IntN(9000))*time.Millisecond)
				}
				return ctx.Err()
			}
			if r.IntN(5) == 0 {
				if _, err := req.Approve(ctx, "", agent.Approval{ID: fmt.Sprint("q", i), ToolCall: "x", Title: "Do it", Options: yesNo}); err != nil {
					return err
				}
			}
		}
		switch r.IntN(10) {
		case 0:
			say(emit, "1", "NO_REPLY")
		case 1:
			return &agent.Failure{Kind: agent.Overloaded}
		case 2:
			return &agent.Failure{Kind: agent.Invalid}
		case 3: // not a word
		default:
			say(emit, "1", "Answer.")
		}
		return nil
	}}
}

// steerable takes every other message in mid-run.
type steerable struct{ backendFunc }

func (steerable) Steer(_ context.Context, runID string, msg agent.Message) (bool, error) {
	return len(textOf(msg))%2 == 0, nil
}
