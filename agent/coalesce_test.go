package agent

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestS6_DeltasAreMergedTerminalsNever(t *testing.T) {
	s := Sub{"s"}
	c := NewCoalescer()
	for _, ev := range []Event{
		TextStarted{ID: "a"}, TextContent{ID: "a", Delta: "He"}, TextContent{ID: "a", Delta: "llo"},
		TextContent{Sub: s, ID: "a", Delta: "x"}, TextContent{ID: "a", Delta: "!"}, ReasoningContent{ID: "a", Delta: "hm"},
		ToolCallArgs{ID: "c", Delta: "{"}, ToolCallArgs{ID: "c", Delta: "}"},
		TextEnded{ID: "a"}, TextContent{ID: "b", Delta: "y"}, ModelRequest{ID: "m"}, TextContent{ID: "b", Delta: "z"},
		RunError{RunID: "r"},
	} {
		c.Add(ev)
	}
	wantEvents(t, c.Take(),
		TextStarted{ID: "a"}, TextContent{ID: "a", Delta: "Hello!"}, TextContent{Sub: s, ID: "a", Delta: "x"}, ReasoningContent{ID: "a", Delta: "hm"},
		ToolCallArgs{ID: "c", Delta: "{}"},
		TextEnded{ID: "a"}, TextContent{ID: "b", Delta: "y"}, ModelRequest{ID: "m"}, TextContent{ID: "b", Delta: "z"},
		RunError{RunID: "r"})
	if !c.Empty() || len(c.Take()) != 0 {
		t.Error("Take left something")
	}
	c.Add(TextContent{ID: "b", Delta: "next"})
	wantEvents(t, c.Take(), TextContent{ID: "b", Delta: "next"})
}

// TestS6_CoalescingChangesNoTranscript: whatever is merged, and wherever it is taken, the text of
// every block is the same.
func TestS6_CoalescingChangesNoTranscript(t *testing.T) {
	gen := anyEvent()
	rapid.Check(t, func(t *rapid.T) {
		evs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Event { return fewIDs(t, gen.Draw(t, "e")) }), 0, 30).Draw(t, "events")
		var plain, merged Transcript
		c := NewCoalescer()
		for _, ev := range evs {
			plain.Apply(ev)
			c.Add(ev)
			if rapid.IntRange(0, 5).Draw(t, "take") == 0 {
				for _, ev := range c.Take() {
					merged.Apply(ev)
				}
			}
		}
		for _, ev := range c.Take() {
			merged.Apply(ev)
		}
		for key, e := range plain.blocks {
			if got := merged.blocks[key]; got == nil || string(got.buf) != string(e.buf) {
				t.Fatalf("%v: %q became %+v", key, e.buf, got)
			}
		}
	})
}

func TestS6_CoalescingIsLinear(t *testing.T) {
	c := NewCoalescer()
	delta := strings.Repeat("x", 10)
	for range 100_000 {
		c.Add(TextContent{ID: "a", Delta: delta})
	}
	if out := c.Take(); len(out) != 1 || len(out[0].(TextContent).Delta) != 1_000_000 {
		t.Errorf("%d events", len(out))
	}
}

func BenchmarkCoalescer(b *testing.B) {
	c := NewCoalescer()
	ev := TextContent{ID: "a", Delta: "some words "}
	b.ReportAllocs()
	for i := range b.N {
		c.Add(ev)
		if i%100 == 99 {
			c.Take()
		}
	}
}
