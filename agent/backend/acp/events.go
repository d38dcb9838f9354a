package acp

import (
	"fmt"
	"strings"

	"typist/agent"
)

// maxResult is how many bytes of a tool call's result are kept.
const maxResult = 256 << 10

// translator makes run events of an agent's updates. All ids begin with the run's: they are unique
// for ever, and tell which run a message of a history came from.
type translator struct {
	run  string
	emit func(agent.Event)

	blocks    int
	text      openBlock
	thought   openBlock
	broken    bool // a thought came since the text's last words
	calls     map[string]*toolCall
	steps     map[string]string // a plan's entries by name: their status
	said      bool              // there was text
	didAnyway bool              // there was anything else
}

// openBlock is a message in the making; id "" = none.
type openBlock struct {
	id      string
	message string // the agent's id
	end     byte   // its last byte
}

type toolCall struct {
	id string
	callUpdate
	shown    []byte // its content, as it was last given
	sentArgs bool
	executes bool
	over     bool
}

func newTranslator(run string, emit func(agent.Event)) *translator {
	return &translator{run: run, emit: emit, calls: map[string]*toolCall{}, steps: map[string]string{}}
}

// update takes the next update of the session.
func (t *translator) update(u *update) {
	switch u.Kind {
	case "agent_message_chunk":
		if b, ok := u.chunk(); ok {
			t.message(b, u.MessageID)
		}
	case "agent_thought_chunk":
		if b, ok := u.chunk(); ok {
			t.think(b.said(), u.MessageID)
		}
	case "tool_call", "tool_call_update":
		if u.ID != "" {
			t.call(u.callUpdate, u.Content)
		}
	case "plan":
		t.plan(u.Entries)
	default: // commands, modes, titles: nothing of a run
	}
}

func (t *translator) block() string {
	t.blocks++
	return fmt.Sprintf("%s.b%d", t.run, t.blocks)
}

// message takes a piece of the answer. A thought in the middle does not end a text, only a tool
// call does: the last text is the answer (P5), and would else lose what came before the thought.
func (t *translator) message(b block, id string) {
	t.endThought()
	if f, ok := b.file(); ok {
		t.didAnyway = true
		t.emit(f)
		return
	}
	words := b.said()
	if words == "" {
		return
	}
	if t.text.id != "" && id != "" && t.text.message != "" && id != t.text.message {
		t.endText(false)
	}
	if t.text.id == "" {
		t.text = openBlock{id: t.block(), message: id}
		t.emit(agent.TextStarted{ID: t.text.id})
	} else if t.broken && t.text.end != '\n' && !strings.HasPrefix(words, "\n") {
		words = "\n\n" + words
	}
	t.broken, t.said = false, true
	t.text.end = words[len(words)-1]
	t.emit(agent.TextContent{ID: t.text.id, Delta: words})
}

func (t *translator) think(words, id string) {
	if t.thought.id != "" && id != "" && t.thought.message != "" && id != t.thought.message {
		t.endThought()
	}
	t.broken = t.text.id != ""
	t.didAnyway = true
	if t.thought.id == "" {
		t.thought = openBlock{id: t.block(), message: id}
		t.emit(agent.ReasoningStarted{ID: t.thought.id})
	}
	t.emit(agent.ReasoningContent{ID: t.thought.id, Delta: words})
}

func (t *translator) endText(incomplete bool) {
	if t.text.id != "" {
		t.emit(agent.TextEnded{ID: t.text.id, Incomplete: incomplete})
		t.text = openBlock{}
	}
	t.broken = false
}

func (t *translator) endThought() {
	if t.thought.id != "" {
		t.emit(agent.ReasoningEnded{ID: t.thought.id})
		t.thought = openBlock{}
	}
}

// end ends what is open. incomplete: the agent could not finish its text.
func (t *translator) end(incomplete bool) {
	t.endThought()
	t.endText(incomplete)
}

// call takes what is said of a tool call and returns it.
func (t *translator) call(next callUpdate, content []byte) *toolCall {
	t.didAnyway = true
	c := t.calls[next.ID]
	begins := c == nil
	if begins {
		c = &toolCall{id: t.run + "." + next.ID}
		t.calls[next.ID] = c
	}
	c.merge(next)
	if len(content) > 0 && string(content) != "null" {
		c.shown = append(c.shown[:0], content...)
	}
	if begins {
		t.end(false)
		t.emit(c.started())
	}
	if c.over {
		return c
	}
	if !c.sentArgs && given(c.Input) {
		c.sentArgs = true
		t.emit(agent.ToolCallArgs{ID: c.id, Delta: c.arguments()})
	}
	switch c.Status {
	case "in_progress":
		t.execute(c)
	case "completed", "failed":
		c.over = true
		t.emit(agent.ToolCallResult{ID: c.id, Content: cut(shown(c.shown, c.Output)), IsError: c.Status == "failed"})
	}
	return c
}

// started names a call by its tool where the agent tells it, else by the title it has for people.
func (c *toolCall) started() agent.ToolCallStarted {
	ev := agent.ToolCallStarted{ID: c.id, Name: c.toolName()}
	if ev.Name == "" {
		ev.Name, ev.Title = c.Sort, agent.Mask(strings.Join(strings.Fields(c.Title), " "))
	}
	if ev.Name == "" {
		ev.Name = "tool"
	}
	return ev
}

// execute says that a call's execution begins (T1).
func (t *translator) execute(c *toolCall) {
	if !c.executes {
		c.executes = true
		t.emit(agent.ToolCallEnded{ID: c.id})
	}
}

// plan makes steps of the entries that are being worked on or done; it promises nothing (P9).
func (t *translator) plan(entries []planEntry) {
	now := map[string]string{}
	for _, e := range entries {
		name := strings.TrimSpace(e.Content)
		if name == "" || e.Status != "in_progress" && (e.Status != "completed" || now[name] != "") {
			continue
		}
		now[name] = e.Status
	}
	for name, status := range t.steps { // what was begun and is no longer worked on
		if status == "in_progress" && now[name] == "" {
			now[name] = "completed"
			t.emit(agent.StepFinished{Name: name})
			t.steps[name] = "completed"
		}
	}
	for _, e := range entries {
		name := strings.TrimSpace(e.Content)
		status := now[name]
		if status == "" || t.steps[name] == status {
			continue
		}
		if t.steps[name] != "in_progress" {
			t.emit(agent.StepStarted{Name: name})
		}
		if status == "completed" {
			t.emit(agent.StepFinished{Name: name})
		}
		t.steps[name] = status
		t.didAnyway = true
	}
}

func cut(s string) string {
	if len(s) <= maxResult {
		return s
	}
	return strings.ToValidUTF8(s[:maxResult], "") + "\n…"
}
