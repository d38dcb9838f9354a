package turn

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/agent"
)

func TestP12_ShortAnswerLeavesOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
			waitFor(ctx, 500*time.Millisecond)
			say(emit, "1", "Hello **Ann**")
			return nil
		})})
		b.write("dm", "hi")
		synctest.Wait()
		if on, _ := b.chat.world.Typing("dm", ""); !on {
			t.Error("instant: no indicator at the start")
		}
		after(2 * time.Second)
		if got := b.bot("dm"); len(got) != 1 || got[0] != "Hello Ann" {
			t.Errorf("got %q", got)
		}
		if on, _ := b.chat.world.Typing("dm", ""); on {
			t.Error("the indicator shows after the answer")
		}
	})
}

func TestP12_LongRunShrinksToSummary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
			for i := range 4 {
				if !tool(ctx, emit, string(rune('a'+i)), "Bash", `{"command":"make","description":"Build with tests"}`, 10*time.Second) {
					return ctx.Err()
				}
			}
			say(emit, "1", "Done.")
			return nil
		})})
		b.write("dm", "build")
		after(5 * time.Second)
		if got := b.text("dm"); !strings.Contains(got, "Bash: Build with tests") || !strings.Contains(got, "[Stop]") {
			t.Errorf("progress: %s", got)
		}
		after(60 * time.Second)
		got := b.bot("dm")
		if len(got) != 2 || got[0] != "Worked for 40s · 4 steps" || got[1] != "Done." {
			t.Errorf("got %q", got)
		}
		for _, iv := range b.chat.world.Timeline("dm", "") {
			t.Log(iv.Start.Format("05.000"), iv.End.Format("05.000"), iv.Pulses, iv.Why)
		}
	})
}
