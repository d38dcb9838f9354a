package turn

import (
	"strings"

	"typist/agent"
)

// heldArgs are the arguments of a call that the model still writes.
type heldArgs struct {
	first agent.ToolCallArgs
	text  strings.Builder
}

// keep queues an event for the log. A call's arguments are held until they are complete, or the
// run ends: readers of the log see them masked (P4), and of a piece nobody can tell whether it is
// part of a secret. Until then nothing depends on them: a call is executed after its end.
func (r *run) keep(ev agent.Event) {
	switch e := ev.(type) {
	case agent.ToolCallArgs:
		key := e.Subagent + "/" + e.ID
		h := r.heldArgs[key]
		if h == nil {
			h = &heldArgs{first: e}
			r.heldArgs[key] = h
			r.heldOrder = append(r.heldOrder, key)
		}
		h.text.WriteString(e.Delta)
		return
	case agent.ToolCallEnded:
		r.release(e.Subagent + "/" + e.ID)
	case agent.ToolCallResult:
		r.release(e.Subagent + "/" + e.ID)
	case agent.RunFinished, agent.RunError:
		for _, key := range r.heldOrder {
			r.release(key)
		}
		r.heldOrder = nil
	default: // nothing else is about a call's arguments
	}
	r.unsaved = append(r.unsaved, ev)
}

// release queues a call's arguments in one piece.
func (r *run) release(key string) {
	if h := r.heldArgs[key]; h != nil {
		delete(r.heldArgs, key)
		h.first.Delta = h.text.String()
		r.unsaved = append(r.unsaved, h.first)
	}
}
