package agui

import (
	"strings"

	"typist/agent"
)

// thought takes the events of reasoning. A span is a thought that may have no words, until its
// first message takes its place; old agents send THINKING events, which have no ids.
func (t *translator) thought(ev *event) {
	id := ev.MessageID
	switch ev.Type {
	case "REASONING_START":
		t.owner[id] = ev.Subagent
		t.spans[id] = t.startThought(ev.Subagent)
	case "REASONING_END":
		if block, ok := t.spans[id]; ok {
			delete(t.spans, id)
			t.emit(agent.ReasoningEnded{Sub: t.area(ev, id), ID: block})
		}
	case "REASONING_MESSAGE_START":
		t.owner[id] = ev.Subagent
		t.thoughts[id], t.words[id] = t.takeSpan(ev.Subagent), &strings.Builder{}
	case "REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_CHUNK":
		t.think(ev, t.thoughts[id])
	case "REASONING_MESSAGE_END":
		if block := t.thoughts[id]; block != "" {
			t.endThought()
			t.ended = id
		}
	case "REASONING_ENCRYPTED_VALUE":
		if ev.Encrypted != "" && t.thoughts[ev.Entity] != "" {
			t.wanted[ev.Entity] = ev.Encrypted
		}
	case "THINKING_START", "THINKING_TEXT_MESSAGE_START":
		if t.thinking == "" {
			t.thinking = t.startThought("")
		}
	case "THINKING_TEXT_MESSAGE_CONTENT":
		if t.thinking == "" {
			t.thinking = t.startThought("")
		}
		t.think(ev, t.thinking)
	case "THINKING_END":
		if t.thinking != "" {
			t.emit(agent.ReasoningEnded{ID: t.thinking})
			t.thinking = ""
		}
	default: // CUSTOM, RAW, ACTIVITY, RUN_STARTED, and what is not known yet
	}
}

func (t *translator) startThought(area string) string {
	block := t.block()
	t.emit(agent.ReasoningStarted{Sub: agent.Sub{Subagent: area}, ID: block})
	return block
}

// takeSpan is the block of the next reasoning message: that of an open span, or a new one.
func (t *translator) takeSpan(area string) string {
	for id, block := range t.spans {
		if t.owner[id] == area {
			delete(t.spans, id)
			return block
		}
	}
	return t.startThought(area)
}

func (t *translator) think(ev *event, block string) {
	if delta := text(ev.Delta); delta != "" && block != "" {
		if w := t.words[ev.MessageID]; w != nil {
			w.WriteString(delta)
		}
		t.emit(agent.ReasoningContent{Sub: t.area(ev, ev.MessageID), ID: block, Delta: delta})
	}
}

// endThought emits the end of a reasoning message, with what is wanted back.
func (t *translator) endThought() {
	id := t.ended
	if id == "" {
		return
	}
	t.ended = ""
	end := agent.ReasoningEnded{Sub: agent.Sub{Subagent: t.owner[id]}, ID: t.thoughts[id]}
	if value := t.wanted[id]; value != "" {
		end.Signature = mark + id + "\n" + value
		t.kept = append(t.kept, message{ID: id, Role: "reasoning", Content: t.words[id].String(), EncryptedValue: value})
	}
	delete(t.thoughts, id)
	t.emit(end)
}

// flush emits what waits when the stream has ended.
func (t *translator) flush() {
	t.endThought()
	if t.thinking != "" {
		t.emit(agent.ReasoningEnded{ID: t.thinking})
		t.thinking = ""
	}
}
