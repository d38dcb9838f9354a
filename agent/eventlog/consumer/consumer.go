// Package consumer is the reader's side of the event log (S6): the rule by which a web page or a
// reconnecting client that may be sent an event twice drops the second copy, and loses none.
package consumer

import "typist/agent"

// Consumer decides which events of one chat are new. The zero value has seen nothing. It is used
// by one goroutine.
type Consumer struct {
	last int64
	seen map[mark]bool // what came without a number, of the runs since the last RunStarted
	run  string
}

// mark names a start, end or result: the kind of event and the id it carries.
type mark struct{ kind, area, id string }

// After makes a Consumer that has seen all events up to last.
func After(last int64) *Consumer { return &Consumer{last: last} }

// Last is the highest number seen: what a reconnecting reader asks to go on after.
func (c *Consumer) Last() int64 { return c.last }

// Fresh reports whether an event is to be used. With a number it is by the number alone: one that
// is not above the last is a replay. Without (seq 0) starts, ends and results are fresh once per
// id, and deltas always: two equal deltas are two pieces of text. Content never decides.
func (c *Consumer) Fresh(seq int64, ev agent.Event) bool {
	if seq > 0 {
		if seq <= c.last {
			return false
		}
		c.last = seq
		return true
	}
	m, once := markOf(ev)
	if !once {
		return true
	}
	if start, ok := ev.(agent.RunStarted); ok && start.RunID != c.run {
		c.run, c.seen = start.RunID, nil // ids count within their run; this bounds the memory
	}
	if c.seen[m] {
		return false
	}
	if c.seen == nil {
		c.seen = make(map[mark]bool)
	}
	c.seen[m] = true
	return true
}

// markOf is what an event without a number is known by; false: it is a delta.
func markOf(ev agent.Event) (mark, bool) {
	kind, id := "", ""
	switch ev := ev.(type) {
	case agent.RunStarted:
		kind, id = "run started", ev.RunID
	case agent.RunFinished:
		kind, id = "run ended", ev.RunID
	case agent.RunError:
		kind, id = "run ended", ev.RunID
	case agent.ModelRequest:
		kind, id = "model request", ev.ID
	case agent.ReasoningStarted:
		kind, id = "reasoning started", ev.ID
	case agent.ReasoningEnded:
		kind, id = "reasoning ended", ev.ID
	case agent.TextStarted:
		kind, id = "text started", ev.ID
	case agent.TextEnded:
		kind, id = "text ended", ev.ID
	case agent.ToolCallStarted:
		kind, id = "call started", ev.ID
	case agent.ToolCallEnded:
		kind, id = "call ended", ev.ID
	case agent.ToolCallResult:
		kind, id = "call result", ev.ID
	case agent.SubagentStarted:
		kind, id = "subagent started", ev.Subagent
	case agent.SubagentFinished:
		kind, id = "subagent ended", ev.Subagent
	case agent.ApprovalRequested:
		kind, id = "approval requested", ev.Approval.ID
	case agent.ApprovalResolved:
		kind, id = "approval resolved", ev.ID
	case agent.Usage:
		kind, id = "usage", ev.Request
	case agent.StepStarted, agent.StepFinished, agent.FileProduced,
		agent.ReasoningContent, agent.TextContent, agent.ToolCallArgs, agent.Retrying:
		return mark{}, false // steps have a name, not an id: the same one may be taken twice
	}
	return mark{kind, ev.Area(), id}, id != ""
}
