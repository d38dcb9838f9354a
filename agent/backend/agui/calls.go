package agui

import (
	"strings"

	"typist/agent"
)

// callPart is a tool call as far as it has come.
type callPart struct {
	id, area, name, parent string
	args                   strings.Builder
	answered               bool
}

func (t *translator) call(ev *event) bool {
	id := ev.Call
	switch ev.Type {
	case "TOOL_CALL_START":
		area := t.area(ev, ev.ParentID) // a call is of the message that carries it
		t.owner[id] = area.Subagent
		c := t.callOf(id, area.Subagent)
		c.name, c.parent = ev.CallName, ev.ParentID
		t.emit(agent.ToolCallStarted{Sub: area, ID: id, Name: ev.CallName, Title: t.tools[ev.CallName].Title})
	case "TOOL_CALL_ARGS", "TOOL_CALL_CHUNK":
		delta := text(ev.Delta)
		if delta == "" {
			return true
		}
		area := t.area(ev, id)
		t.callOf(id, area.Subagent).args.WriteString(delta)
		t.emit(agent.ToolCallArgs{Sub: area, ID: id, Delta: delta})
	case "TOOL_CALL_END":
		area := t.area(ev, id)
		if _, ours := t.tools[t.callOf(id, area.Subagent).name]; !ours { // the agent's own tools it executes now
			t.emit(agent.ToolCallEnded{Sub: area, ID: id})
		}
	case "TOOL_CALL_RESULT":
		area := t.area(ev, id)
		result := contentText(ev.Content)
		t.results = append(t.results, message{ID: ev.MessageID, Role: "tool", Content: result, ToolCallID: id})
		for _, c := range t.calls {
			c.answered = c.answered || c.id == id
		}
		t.emit(agent.ToolCallResult{Sub: area, ID: id, Content: result})
	default:
		return false
	}
	return true
}

func (t *translator) callOf(id, area string) *callPart {
	for _, c := range t.calls {
		if c.id == id {
			return c
		}
	}
	c := &callPart{id: id, area: area}
	t.calls = append(t.calls, c)
	return c
}
