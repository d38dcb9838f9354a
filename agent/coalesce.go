package agent

// Coalescer merges deltas of the same block, so that a run is stored in few rows. Deltas of
// different blocks may interleave (subagents, parallel calls) and still merge; no delta moves past
// an event that is none, and nothing else is ever merged or held back. Linear in the text.
// Use NewCoalescer; not safe for concurrent use.
type Coalescer struct {
	pending []Event
	texts   map[int][]byte   // merged text by index in pending
	last    map[deltaKey]int // where a block's next delta goes
}

type deltaKey struct {
	kind     blockKind
	area, id string
}

// NewCoalescer makes an empty Coalescer.
func NewCoalescer() *Coalescer {
	return &Coalescer{texts: map[int][]byte{}, last: map[deltaKey]int{}}
}

// Add takes the next event.
func (c *Coalescer) Add(ev Event) {
	key, delta, ok := deltaOf(ev)
	if !ok {
		clear(c.last)
		c.pending = append(c.pending, ev)
		return
	}
	i, known := c.last[key]
	if !known {
		i = len(c.pending)
		c.pending = append(c.pending, ev)
		c.last[key] = i
	}
	c.texts[i] = append(c.texts[i], delta...)
}

// Empty reports whether Take would return nothing.
func (c *Coalescer) Empty() bool { return len(c.pending) == 0 }

// Take returns what was added since the last Take, merged.
func (c *Coalescer) Take() []Event {
	out := c.pending
	for i, text := range c.texts {
		out[i] = withDelta(out[i], string(text))
	}
	c.pending = nil
	clear(c.texts)
	clear(c.last)
	return out
}

func deltaOf(ev Event) (deltaKey, string, bool) {
	switch ev := ev.(type) {
	case ReasoningContent:
		return deltaKey{reasoningBlock, ev.Subagent, ev.ID}, ev.Delta, true
	case TextContent:
		return deltaKey{textBlock, ev.Subagent, ev.ID}, ev.Delta, true
	case ToolCallArgs:
		return deltaKey{callBlock, ev.Subagent, ev.ID}, ev.Delta, true
	default:
		return deltaKey{}, "", false
	}
}

func withDelta(ev Event, delta string) Event {
	switch ev := ev.(type) {
	case ReasoningContent:
		ev.Delta = delta
		return ev
	case TextContent:
		ev.Delta = delta
		return ev
	case ToolCallArgs:
		ev.Delta = delta
		return ev
	default:
		return ev
	}
}
