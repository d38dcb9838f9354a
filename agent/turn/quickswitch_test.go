package turn

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters/sim"
	"typist/agent"
)

// TestS8_QuickSwitchesEndAtTheLast: whoever presses on before the first switch stands, sees the
// last one in the end, and the next message goes on from what is shown; no edit overtakes another.
func TestS8_QuickSwitchesEndAtTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("telegram")
		b := start(t, setup{fake: f, backend: backendFunc(func(_ context.Context, req agent.Request, emit func(agent.Event)) error {
			say(emit, "1", "A:"+textOf(req.History[len(req.History)-1]))
			return nil
		})})
		id := b.write("dm", "v1")
		after(20 * time.Second)
		versions := map[string]string{}
		for i, text := range []string{"v2", "v3"} {
			leaf, err := b.store.Leaf(t.Context(), "telegram/dm")
			if err != nil {
				t.Fatal(err)
			}
			versions[string(rune('1'+i))] = "b:" + leaf
			b.edit("dm", id, text)
			after(20 * time.Second)
		}
		answer := sim.FromBot(b.chat.world.Messages("dm", "*"))[0].ID
		f.now(func() { f.editing = 3 * time.Second })
		b.pressData("dm", answer, versions["2"])
		b.pressData("dm", answer, versions["1"])
		after(100 * time.Millisecond)
		b.pressData("dm", answer, versions["2"])
		b.pressData("dm", answer, versions["1"])
		after(time.Minute)
		leaf, _ := b.store.Leaf(t.Context(), "telegram/dm")
		active, _, err := b.store.Node(t.Context(), leaf)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.bot("dm"); len(got) != 1 || got[0] != "A:v1" || textOf(active.Message) != "A:v1" {
			t.Errorf("shown %q, active %q", got, textOf(active.Message))
		}
		var until time.Time
		for _, c := range b.chat.world.Calls(sim.OpEdit) {
			if c.At.Before(until) {
				t.Errorf("an edit at %v overtakes the one before it", c.At)
			}
			until = c.At.Add(c.Took)
		}
	})
}

// TestS8_MessageRightBehindASwitch goes on from the version that was switched to.
func TestS8_MessageRightBehindASwitch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(echo)})
		id := b.write("dm", "one")
		after(5 * time.Second)
		b.edit("dm", id, "uno")
		after(5 * time.Second)
		b.press("dm", "◀")
		b.write("dm", "two")
		after(5 * time.Second)
		b.write("dm", "three")
		after(5 * time.Second)
		if got := b.text("dm"); !strings.Contains(got, "Answer to u=one | a=Answer to u=one | u=two | a=") || strings.Contains(got, "u=uno | ") {
			t.Errorf("%s", got)
		}
	})
}
