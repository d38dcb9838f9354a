package agent

import (
	"strconv"
	"sync"
)

// normaliser puts a backend's events in order: every block that has content has been started,
// every started block ends once, an id that is used again for a new block gets a name of its own,
// and an event of an unknown subagent introduces it. What makes no sense is dropped.
type normaliser struct {
	mu       sync.Mutex
	emit     func(Event)
	ended    bool
	blocks   map[blockKey]*block
	used     map[usedID]int // how often an id was used
	open     []*block       // in the order they were started; closed ones are skipped
	areas    map[string]bool
	requests map[string]bool
}

type blockKind uint8

const (
	reasoningBlock blockKind = iota
	textBlock
	callBlock
	stepBlock
	approvalBlock
	subagentBlock
)

// usedID keeps tool call ids apart from those of messages: S4 keys by them, so they change only
// where two calls collide.
type usedID struct {
	call bool
	id   string
}

type blockKey struct {
	kind blockKind
	area string
	id   string // the backend's
}

type block struct {
	blockKey
	name     string // id as emitted
	executes bool   // a call's ToolCallEnded was seen
	closed   bool
}

func newNormaliser(emit func(Event)) *normaliser {
	return &normaliser{emit: emit, blocks: map[blockKey]*block{}, used: map[usedID]int{},
		areas: map[string]bool{"": true}, requests: map[string]bool{}}
}

func (n *normaliser) begin(runID string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.emit(RunStarted{RunID: runID})
}

// end closes what is open and emits the terminal event.
func (n *normaliser) end(terminal Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	finished, ok := terminal.(RunFinished)
	// Innermost first: a subagent is closed after what it contains.
	for i := len(n.open) - 1; i >= 0; i-- {
		n.close(n.open[i], ok && finished.Outcome == Success)
	}
	n.ended = true
	n.emit(terminal)
}

// close ends a block whose end never came. A step is finished only by a success: it would be
// ticked otherwise (P9).
func (n *normaliser) close(b *block, success bool) {
	if b.closed {
		return
	}
	b.closed = true
	sub := Sub{Subagent: b.area}
	switch b.kind {
	case reasoningBlock:
		n.emit(ReasoningEnded{Sub: sub, ID: b.name, Incomplete: true})
	case textBlock:
		n.emit(TextEnded{Sub: sub, ID: b.name, Incomplete: true})
	case callBlock:
		n.emit(ToolCallResult{Sub: sub, ID: b.name, Incomplete: true})
	case stepBlock:
		if success {
			n.emit(StepFinished{Sub: sub, Name: b.name})
		}
	case approvalBlock:
		n.emit(ApprovalResolved{Sub: sub, ID: b.name})
	case subagentBlock:
		n.emit(SubagentFinished{Sub: Sub{Subagent: b.id}, Incomplete: true})
	}
}

// start opens a block; nil if it is open already. Ids of steps and approvals are never changed.
func (n *normaliser) start(kind blockKind, area, id string) *block {
	key := blockKey{kind, area, id}
	if old := n.blocks[key]; old != nil && !old.closed {
		return nil
	}
	b := &block{blockKey: key, name: id}
	if kind == reasoningBlock || kind == textBlock || kind == callBlock {
		b.name = n.unique(kind, id)
	}
	n.blocks[key] = b
	n.open = append(n.open, b)
	return b
}

// unique keeps an id on its first use and appends a number later: a backend that numbers its
// blocks anew in every model request would otherwise have them merged.
func (n *normaliser) unique(kind blockKind, id string) string {
	key := usedID{kind == callBlock, id}
	for {
		n.used[key]++
		count := n.used[key]
		if count == 1 && id != "" {
			return id
		}
		next := usedID{key.call, id + "~" + strconv.Itoa(count)}
		if n.used[next] == 0 {
			n.used[next] = 1
			return next.id
		}
	}
}

// find returns the block that goes by id now, closed or not; nil if there never was one.
func (n *normaliser) find(kind blockKind, area, id string) *block {
	return n.blocks[blockKey{kind, area, id}]
}

// handle takes one event of the backend.
func (n *normaliser) handle(ev Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ended || ev == nil {
		return
	}
	if started, ok := ev.(SubagentStarted); ok {
		n.subagent(started)
		return
	}
	area := ev.Area()
	if !n.areas[area] {
		n.subagent(SubagentStarted{Sub: Sub{Subagent: area}})
	}
	if area != "" && n.find(subagentBlock, "", area).closed {
		return
	}
	n.inArea(ev)
}

func (n *normaliser) subagent(ev SubagentStarted) {
	if ev.Subagent == "" || n.areas[ev.Subagent] {
		return
	}
	n.areas[ev.Subagent] = true
	n.start(subagentBlock, "", ev.Subagent)
	if call := n.find(callBlock, ev.Parent, ev.ToolCall); call != nil {
		ev.ToolCall = call.name
	}
	n.emit(ev)
}

// inArea takes an event of an area that has begun and not ended.
func (n *normaliser) inArea(ev Event) {
	switch ev := ev.(type) {
	case RunStarted, RunFinished, RunError, SubagentStarted:
		// Made here, from what Run returned; SubagentStarted was taken before.
	case ModelRequest:
		if !n.requests[ev.ID] {
			n.requests[ev.ID] = true
			n.emit(ev)
		}
	case StepStarted:
		if n.start(stepBlock, ev.Subagent, ev.Name) != nil {
			n.emit(ev)
		}
	case StepFinished:
		if n.finish(n.find(stepBlock, ev.Subagent, ev.Name)) {
			n.emit(ev)
		}
	case ReasoningStarted:
		if b := n.start(reasoningBlock, ev.Subagent, ev.ID); b != nil {
			ev.ID = b.name
			n.emit(ev)
		}
	case ReasoningContent:
		n.content(reasoningBlock, ev.Sub, ev.ID, ev.Delta)
	case ReasoningEnded:
		b := n.find(reasoningBlock, ev.Subagent, ev.ID)
		if b == nil && ev.Signature != "" {
			b = n.opened(reasoningBlock, ev.Sub, ev.ID)
		}
		if n.finish(b) {
			ev.ID = b.name
			n.emit(ev)
		}
	case TextStarted:
		if b := n.start(textBlock, ev.Subagent, ev.ID); b != nil {
			ev.ID = b.name
			n.emit(ev)
		}
	case TextContent:
		n.content(textBlock, ev.Sub, ev.ID, ev.Delta)
	case TextEnded:
		if b := n.find(textBlock, ev.Subagent, ev.ID); n.finish(b) {
			ev.ID = b.name
			n.emit(ev)
		}
	case ToolCallStarted:
		if b := n.start(callBlock, ev.Subagent, ev.ID); b != nil {
			ev.ID = b.name
			n.emit(ev)
		}
	case ToolCallArgs:
		n.content(callBlock, ev.Sub, ev.ID, ev.Delta)
	case ToolCallEnded:
		b := n.opened(callBlock, ev.Sub, ev.ID)
		n.executes(b, ev.Sub)
	case ToolCallResult:
		n.result(ev)
	case SubagentFinished:
		n.subagentFinished(ev)
	case ApprovalRequested:
		if n.start(approvalBlock, ev.Subagent, ev.Approval.ID) != nil {
			if call := n.find(callBlock, ev.Subagent, ev.Approval.ToolCall); call != nil {
				ev.Approval.ToolCall = call.name
			}
			n.emit(ev)
		}
	case ApprovalResolved:
		if n.finish(n.find(approvalBlock, ev.Subagent, ev.ID)) {
			n.emit(ev)
		}
	case Usage, FileProduced, Retrying:
		n.emit(ev)
	}
}

// finish marks a block ended; false if there is none, or it has ended before.
func (n *normaliser) finish(b *block) bool {
	if b == nil || b.closed {
		return false
	}
	b.closed = true
	return true
}

// opened returns the block of an id, started now if it never was.
func (n *normaliser) opened(kind blockKind, sub Sub, id string) *block {
	if b := n.find(kind, sub.Subagent, id); b != nil {
		return b
	}
	b := n.start(kind, sub.Subagent, id)
	switch kind {
	case reasoningBlock:
		n.emit(ReasoningStarted{Sub: sub, ID: b.name})
	case textBlock:
		n.emit(TextStarted{Sub: sub, ID: b.name})
	default:
		n.emit(ToolCallStarted{Sub: sub, ID: b.name})
	}
	return b
}

// content passes a delta on. One for a block that has ended comes late and is dropped; an empty
// one is legal and says nothing.
func (n *normaliser) content(kind blockKind, sub Sub, id, delta string) {
	if delta == "" {
		return
	}
	b := n.opened(kind, sub, id)
	if b.closed {
		return
	}
	switch kind {
	case reasoningBlock:
		n.emit(ReasoningContent{Sub: sub, ID: b.name, Delta: delta})
	case textBlock:
		n.emit(TextContent{Sub: sub, ID: b.name, Delta: delta})
	default:
		if !b.executes {
			n.emit(ToolCallArgs{Sub: sub, ID: b.name, Delta: delta})
		}
	}
}

func (n *normaliser) executes(b *block, sub Sub) {
	if !b.closed && !b.executes {
		b.executes = true
		n.emit(ToolCallEnded{Sub: sub, ID: b.name})
	}
}

// result ends a call. A good result proves that it was executed, even if nobody said so.
func (n *normaliser) result(ev ToolCallResult) {
	b := n.opened(callBlock, ev.Sub, ev.ID)
	if !ev.IsError && !ev.Incomplete {
		n.executes(b, ev.Sub)
	}
	if n.finish(b) {
		ev.ID = b.name
		n.emit(ev)
	}
}

// subagentFinished closes what the subagent left open, then the subagent.
func (n *normaliser) subagentFinished(ev SubagentFinished) {
	if ev.Subagent == "" {
		return
	}
	for i := len(n.open) - 1; i >= 0; i-- {
		if b := n.open[i]; b.area == ev.Subagent {
			n.close(b, !ev.IsError && !ev.Incomplete)
		}
	}
	if n.finish(n.find(subagentBlock, "", ev.Subagent)) {
		n.emit(ev)
	}
}
