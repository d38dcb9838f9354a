package agui

import (
	"encoding/json"
	"fmt"
	"strings"

	"typist/agent"
	"typist/agent/backend/sse"
)

// translator makes run events of the events of one of the agent's runs.
type translator struct {
	run   string
	tools map[string]agent.Tool // ours
	emit  func(agent.Event)

	owner    map[string]string           // message or call → subagent that opened it; a continuation may leave it out
	hidden   map[string]bool             // messages that are nobody's answer
	chunks   map[string]chunk            // open item of the short form, by subagent
	thoughts map[string]string           // reasoning message → our block
	spans    map[string]string           // reasoning span → our block that no message has taken yet
	words    map[string]*strings.Builder // of reasoning messages
	wanted   map[string]string           // what an agent wants back with a reasoning message
	thinking string                      // block of the old THINKING events, which have no ids
	ended    string                      // reasoning message that ended; what is wanted back may follow
	blocks   int

	texts      []*textPart
	calls      []*callPart
	results    []message
	kept       []message // thoughts that the agent wants back
	snapshot   json.RawMessage
	state      json.RawMessage
	closed     bool // some run was finished on this stream
	cancelled  bool
	interrupts []interrupt
	failure    error
}

// chunk is an item in the short form.
type chunk struct{ kind, id string }

type textPart struct {
	id, area string
	buf      strings.Builder
}

func newTranslator(run string, tools map[string]agent.Tool, emit func(agent.Event)) *translator {
	return &translator{run: run, tools: tools, emit: emit, owner: map[string]string{}, hidden: map[string]bool{}, chunks: map[string]chunk{},
		thoughts: map[string]string{}, spans: map[string]string{}, words: map[string]*strings.Builder{}, wanted: map[string]string{}}
}

// step takes the next event of the stream.
func (t *translator) step(raw sse.Event) (sse.Progress, error) {
	ev, err := decode(raw.Data)
	if err != nil {
		if raw.Open {
			return sse.Going, nil // cut within it; the end of the stream says so
		}
		return sse.Going, err
	}
	if ev.Type != "REASONING_ENCRYPTED_VALUE" {
		t.endThought()
	}
	if err := t.expand(&ev); err != nil {
		return sse.Going, err
	}
	switch ev.Type {
	case "RUN_FINISHED":
		t.finished(&ev)
		if ev.Run == t.run || ev.Run == "" {
			return sse.Finished, nil
		}
	case "RUN_ERROR":
		t.used(ev.Usage)
		t.failure = ev.failure()
		return sse.Done, nil
	default:
		t.event(&ev)
	}
	return sse.Going, nil
}

// expand closes an item of the short form where it can't go on (spec: Closing a chunk stream), and
// finds out which item a chunk without id continues.
func (t *translator) expand(ev *event) error {
	kind, isChunk := strings.CutSuffix(ev.Type, "_CHUNK")
	switch ev.Type {
	case "RAW", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "REASONING_ENCRYPTED_VALUE", "SUBAGENT_STARTED":
		return nil
	case "RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "MESSAGES_SNAPSHOT":
		for area := range t.chunks {
			t.closeChunk(area)
		}
		return nil
	}
	if !isChunk {
		t.closeChunk(ev.Subagent)
		return nil
	}
	id := &ev.MessageID
	if kind == "TOOL_CALL" {
		id = &ev.Call
	}
	if *id == "" {
		area, err := t.continued(kind, ev.Subagent)
		if err != nil {
			return err
		}
		ev.Subagent, *id = area, t.chunks[area].id
		return nil
	}
	if area, ok := t.owner[*id]; ok && ev.Subagent == "" {
		ev.Subagent = area
	}
	if t.chunks[ev.Subagent] == (chunk{kind, *id}) {
		return nil
	}
	t.closeChunk(ev.Subagent)
	if kind == "TOOL_CALL" && ev.CallName == "" {
		return &agent.ProtocolError{Detail: "a first TOOL_CALL_CHUNK without toolCallName"}
	}
	start := *ev
	start.Type = kind + "_START"
	t.event(&start)
	t.chunks[ev.Subagent] = chunk{kind, *id}
	return nil
}

// continued is the subagent whose item a chunk without id continues: the named one's, the run's
// own, or the only one.
func (t *translator) continued(kind, area string) (string, error) {
	if t.chunks[area].kind == kind {
		return area, nil
	}
	found, n := "", 0
	for other, c := range t.chunks {
		if c.kind == kind {
			found, n = other, n+1
		}
	}
	if area != "" || n != 1 {
		return "", &agent.ProtocolError{Detail: "a " + kind + "_CHUNK that continues nothing in particular"}
	}
	return found, nil
}

func (t *translator) closeChunk(area string) {
	c, ok := t.chunks[area]
	if !ok {
		return
	}
	delete(t.chunks, area)
	end := event{Type: c.kind + "_END", Subagent: area, MessageID: c.id}
	if c.kind == "TOOL_CALL" {
		end.MessageID, end.Call = "", c.id
	}
	t.event(&end)
	t.endThought()
}

// event takes one event of the long form.
func (t *translator) event(ev *event) {
	switch ev.Type {
	case "STEP_STARTED":
		t.emit(agent.StepStarted{Sub: agent.Sub{Subagent: ev.Subagent}, Name: ev.Step})
	case "STEP_FINISHED":
		t.emit(agent.StepFinished{Sub: agent.Sub{Subagent: ev.Subagent}, Name: ev.Step})
	case "SUBAGENT_STARTED":
		t.emit(agent.SubagentStarted{Sub: agent.Sub{Subagent: ev.Subagent}, Name: ev.Name, Parent: ev.Parent, ToolCall: ev.ParentCall})
	case "SUBAGENT_FINISHED":
		t.closeChunk(ev.Subagent)
		if ev.ended().Type != "suspended" { // it goes on in the next round
			t.emit(agent.SubagentFinished{Sub: agent.Sub{Subagent: ev.Subagent}})
		}
	case "SUBAGENT_ERROR":
		t.emit(agent.SubagentFinished{Sub: agent.Sub{Subagent: ev.Subagent}, IsError: true})
	case "STATE_SNAPSHOT":
		t.state = ev.Snapshot
	case "STATE_DELTA":
		t.state = nil // not followed: the next round's run begins with what it keeps itself
	case "MESSAGES_SNAPSHOT":
		t.snapshot = ev.Messages
	default:
		if !t.message(ev) && !t.call(ev) {
			t.thought(ev)
		}
	}
}

// area is the subagent that an event belongs to: its own word, or that of what it continues.
func (t *translator) area(ev *event, id string) agent.Sub {
	if area, ok := t.owner[id]; ok && ev.Subagent == "" {
		return agent.Sub{Subagent: area}
	}
	return agent.Sub{Subagent: ev.Subagent}
}

func (t *translator) message(ev *event) bool {
	id := ev.MessageID
	switch ev.Type {
	case "TEXT_MESSAGE_START":
		t.owner[id] = ev.Subagent
		if ev.Role != "" && ev.Role != "assistant" {
			t.hidden[id] = true
			return true
		}
		t.text(id, ev.Subagent)
		t.emit(agent.TextStarted{Sub: agent.Sub{Subagent: ev.Subagent}, ID: id})
	case "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK":
		delta := text(ev.Delta)
		if t.hidden[id] || delta == "" {
			return true
		}
		sub := t.area(ev, id)
		t.text(id, sub.Subagent).buf.WriteString(delta)
		t.emit(agent.TextContent{Sub: sub, ID: id, Delta: delta})
	case "TEXT_MESSAGE_END":
		if !t.hidden[id] {
			t.emit(agent.TextEnded{Sub: t.area(ev, id), ID: id})
		}
	default:
		return false
	}
	return true
}

func (t *translator) text(id, area string) *textPart {
	for _, p := range t.texts {
		if p.id == id && p.area == area {
			return p
		}
	}
	p := &textPart{id: id, area: area}
	t.texts = append(t.texts, p)
	return p
}

func (t *translator) block() string {
	t.blocks++
	return fmt.Sprintf("%s.r%d", t.run, t.blocks)
}

// finished takes the end of a run.
func (t *translator) finished(ev *event) {
	t.closed = true
	t.used(ev.Usage)
	o := ev.ended()
	t.interrupts = o.Interrupts
	t.cancelled = o.Type == "cancelled"
	if o.Type != "interrupt" {
		t.interrupts = nil
	}
	if id, answer := answerIn(t.snapshot); answer != "" && !t.said() {
		if id == "" {
			id = t.block()
		}
		t.text(id, "").buf.WriteString(answer)
		t.emit(agent.TextStarted{ID: id})
		t.emit(agent.TextContent{ID: id, Delta: answer})
		t.emit(agent.TextEnded{ID: id})
	}
}

// used emits what a run used, its models together.
func (t *translator) used(raw json.RawMessage) {
	var list []tokens
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return
	}
	sum := agent.Usage{Request: t.run}
	for _, u := range list {
		sum.Input += u.Input
		sum.Output += u.Output
	}
	t.emit(sum)
}
