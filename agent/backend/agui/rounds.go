package agui

import (
	"encoding/json"
	"slices"
	"strings"

	"typist/agent"
)

// said reports whether the run itself said something.
func (t *translator) said() bool {
	return slices.ContainsFunc(t.texts, func(p *textPart) bool { return p.area == "" && strings.TrimSpace(p.buf.String()) != "" })
}

// pending are the calls that the run left for us: those of our tools, and with them all others
// that have no result, since the next run wants an answer to each.
func (t *translator) pending(tools map[string]agent.Tool) []agent.Part {
	var out []agent.Part
	ours := false
	for _, c := range t.calls {
		if c.answered || t.interrupted(c.id) {
			continue
		}
		p := agent.Part{Kind: agent.PartToolCall, ID: c.id, Subagent: c.area, Name: c.name}
		if args := strings.TrimSpace(c.args.String()); args == "" {
			p.Args = agent.ToolArgs("{}")
		} else if json.Valid([]byte(args)) {
			p.Args = agent.ToolArgs(args)
		}
		out = append(out, p)
		_, ok := tools[c.name]
		ours = ours || ok
	}
	if !ours {
		return nil
	}
	return out
}

// interrupted reports whether a call waits for an approval of the agent's own.
func (t *translator) interrupted(call string) bool {
	return slices.ContainsFunc(t.interrupts, func(i interrupt) bool { return i.Call == call })
}

// messages are what the run adds to the conversation.
func (t *translator) messages() []message {
	out := slices.Clone(t.kept)
	own := message{Role: "assistant"}
	var texts []string
	for _, p := range t.texts {
		if p.area == "" && p.buf.Len() > 0 {
			texts = append(texts, p.buf.String())
			own.ID = p.id
		}
	}
	for _, c := range t.calls {
		args := c.args.String()
		if args == "" {
			args = "{}"
		}
		own.ToolCalls = append(own.ToolCalls, toolCall{ID: c.id, Type: "function", Function: function{Name: c.name, Arguments: args}})
		if c.parent != "" {
			own.ID = c.parent
		}
	}
	if len(texts) == 0 && len(own.ToolCalls) == 0 {
		return append(out, t.results...)
	}
	if own.ID == "" {
		own.ID = "answer-" + t.run
	}
	if len(texts) > 0 {
		own.Content = strings.Join(texts, "\n\n")
	}
	return append(append(out, own), t.results...)
}

// ending says how our run ends with the agent's last one.
func (t *translator) ending(said bool) error {
	switch {
	case said || t.snapshot == nil && !t.cancelled && len(t.calls) > 0:
		return nil
	case t.cancelled:
		return &agent.Failure{Kind: agent.CutEarly, Detail: "the agent's run was cancelled there"}
	}
	return &agent.Failure{Kind: agent.Malformed, Detail: "the agent ended without an answer"}
}

// within puts the events of executed calls into the areas that the calls are of.
func within(calls []agent.Part, emit func(agent.Event)) func(agent.Event) {
	areas := map[string]agent.Sub{}
	for _, c := range calls {
		areas[c.ID] = agent.Sub{Subagent: c.Subagent}
	}
	return func(ev agent.Event) {
		switch e := ev.(type) {
		case agent.ToolCallEnded:
			e.Sub = areas[e.ID]
			ev = e
		case agent.ToolCallResult:
			e.Sub = areas[e.ID]
			ev = e
		default:
		}
		emit(ev)
	}
}
