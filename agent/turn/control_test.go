package turn

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/agent"
)

// slowBackend runs a tool for d, then answers.
func slowBackend(d time.Duration, ended *bool) backendFunc {
	return func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
		say(emit, "0", "I look into it.")
		if !tool(ctx, emit, "t", "Bash", `{"command":"make"}`, d) {
			*ended = true
			return ctx.Err()
		}
		say(emit, "1", "Done.")
		return nil
	}
}

func TestS2_ButtonStopsTheBackendAndKeepsWhatThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended bool
		b := start(t, setup{backend: slowBackend(time.Hour, &ended)})
		b.write("dm", "build")
		after(12 * time.Second)
		b.press("dm", "Stop")
		after(time.Second)
		if !ended {
			t.Error("the backend still runs")
		}
		got := b.text("dm")
		if !strings.Contains(got, "Stopped after 12s") || !strings.Contains(got, "I look into it.") || !strings.Contains(got, "[Resume]") || strings.Contains(got, "[Stop]") {
			t.Errorf("chat:\n%s", got)
		}
		after(10 * time.Second)
		if on, _ := b.chat.world.Typing("dm", ""); on {
			t.Error("the indicator shows after the stop")
		}
	})
}

func TestS2_StoppingShowsAtOnceAndStoppedOnlyWhenItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
			tool(ctx, emit, "t", "Bash", `{"command":"make"}`, time.Hour)
			waitFor(context.Background(), 3*time.Second) // a process that takes its time to end
			return ctx.Err()
		})})
		b.write("dm", "build")
		after(10 * time.Second)
		b.press("dm", "Stop")
		after(300 * time.Millisecond)
		if got := b.text("dm"); !strings.Contains(got, "Stopping…") || strings.Contains(got, "Stopped") {
			t.Errorf("300 ms after the press:\n%s", got)
		}
		after(4 * time.Second)
		if got := b.text("dm"); strings.Contains(got, "Stopping…") || !strings.Contains(got, "Stopped after") {
			t.Errorf("after the backend's end:\n%s", got)
		}
	})
}

func TestS5_ResumeGoesOnWithoutRepeating(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests []agent.Request
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			requests = append(requests, req)
			if len(requests) > 1 {
				say(emit, "2", "Now done.")
				return nil
			}
			say(emit, "0", "First part.")
			tool(ctx, emit, "t", "Bash", `{"command":"make"}`, time.Second)
			waitFor(ctx, time.Hour)
			return ctx.Err()
		})})
		b.write("dm", "build")
		after(5 * time.Second)
		b.press("dm", "Stop")
		after(2 * time.Second)
		b.press("dm", "Resume")
		after(3 * time.Second)
		if len(requests) != 2 || !requests[1].Resume {
			t.Fatalf("%d requests", len(requests))
		}
		h := requests[1].History
		var roles []string
		for _, m := range h {
			roles = append(roles, string(m.Role))
		}
		if !slices.Equal(roles, []string{"user", "assistant", "tool"}) && !slices.Equal(roles, []string{"user", "assistant", "assistant", "tool"}) {
			t.Errorf("history: %v", roles)
		}
		got := b.text("dm")
		if strings.Count(got, "Now done.") != 1 || strings.Contains(got, "[Resume]") {
			t.Errorf("chat:\n%s", got)
		}
	})
}

func TestS9_CrashLeavesInterruptedAndWorksOffTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		backend := backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			say(emit, "1", "Answer to "+textOf(req.History[len(req.History)-1]))
			return nil
		})
		f := newFake("telegram")
		crashed := start(t, setup{fake: f, backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			say(emit, "0", "Half an answer.")
			tool(ctx, emit, "t", "Bash", `{"command":"make"}`, time.Hour)
			return ctx.Err()
		}), store: openStore(t, dir)})
		crashed.write("dm", "first")
		after(3 * time.Second)
		crashed.write("dm", "second")
		after(3 * time.Second)
		crashed.crash()

		b := start(t, setup{fake: f.again(), backend: backend, store: openStore(t, dir)})
		after(3 * time.Second)
		got := b.text("dm")
		if !strings.Contains(got, "Interrupted") || !strings.Contains(got, "Half an answer.") || !strings.Contains(got, "[Resume]") || strings.Contains(got, "[Stop]") {
			t.Errorf("chat:\n%s", got)
		}
		if strings.Count(got, "Answer to second") != 1 || strings.Contains(got, "Answer to first") {
			t.Errorf("chat:\n%s", got)
		}
	})
}
