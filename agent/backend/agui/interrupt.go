package agui

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"typist/agent"
)

// resumeEntry answers an interrupt.
type resumeEntry struct {
	ID      string          `json:"interruptId"`
	Status  string          `json:"status"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// decide asks people about all interrupts of a run, each for itself (A4). false: one of them wants
// words, not a choice.
func (b *Backend) decide(ctx context.Context, req agent.Request, t *translator) ([]resumeEntry, bool, error) {
	type asked struct {
		interrupt
		choices []choice
	}
	var all []asked
	for _, i := range t.interrupts {
		c := choices(i.Schema)
		if c == nil || req.Approve == nil {
			return nil, false, nil
		}
		all = append(all, asked{i, c})
	}
	out := make([]resumeEntry, len(all))
	errs := make(chan error, len(all))
	for n, a := range all {
		go func() {
			if a.expired() {
				out[n] = resumeEntry{ID: a.ID, Status: "cancelled"}
				errs <- nil
				return
			}
			ask := agent.Approval{ID: req.RunID + "." + a.ID, ToolCall: a.Call, Title: agent.Mask(t.title(a.interrupt)), Detail: agent.Mask(t.detail(a.Call))}
			for _, c := range a.choices {
				ask.Options = append(ask.Options, c.Option)
			}
			option, err := req.Approve(ctx, a.Subagent, ask)
			out[n] = resumeEntry{ID: a.ID, Status: "cancelled"}
			for _, c := range a.choices {
				if c.ID == option && err == nil && !a.expired() {
					out[n] = resumeEntry{ID: a.ID, Status: "resolved", Payload: c.payload}
				}
			}
			errs <- err
		}()
	}
	var err error
	for range all {
		if e := <-errs; e != nil {
			err = e
		}
	}
	return out, err == nil, err
}

// title is what is to be decided, in one line.
func (t *translator) title(i interrupt) string {
	words := i.Message
	for _, c := range t.calls {
		if words == "" && c.id == i.Call {
			words = c.name
		}
	}
	if words == "" {
		words = i.Reason
	}
	return strings.Join(strings.Fields(words), " ")
}

// detail is all that is to be decided: the arguments of the call, if it is about one.
func (t *translator) detail(call string) string {
	var b bytes.Buffer
	for _, c := range t.calls {
		if c.id == call && json.Indent(&b, []byte(c.args.String()), "", "  ") != nil {
			return ""
		}
	}
	return b.String()
}

func (i interrupt) expired() bool {
	at, err := time.Parse(time.RFC3339, i.Expires)
	return err == nil && !time.Now().Before(at)
}

// choice is an option, and the answer that it stands for.
type choice struct {
	agent.Option
	payload json.RawMessage
}

// choices are the answers that a schema lets one choose from: yes or no, by itself or as the only
// thing to say in an object, or one of some words. nil: it wants something else.
func choices(schema json.RawMessage) []choice {
	var s struct {
		Type       any                        `json:"type"`
		Enum       []json.RawMessage          `json:"enum"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if len(schema) > 0 && json.Unmarshal(schema, &s) != nil {
		return nil
	}
	yesOrNo := func(yes, no string) []choice {
		return []choice{{agent.Option{ID: "allow", Allow: true}, json.RawMessage(yes)}, {agent.Option{ID: "deny"}, json.RawMessage(no)}}
	}
	switch {
	case len(s.Enum) > 0 && len(s.Enum) <= 10:
		var out []choice
		for _, value := range s.Enum {
			name := text(value)
			if name == "" {
				name = string(value)
			}
			out = append(out, choice{agent.Option{ID: string(value), Name: name, Allow: true}, value})
		}
		return out
	case s.Type == "boolean":
		return yesOrNo("true", "false")
	case len(schema) == 0:
		return yesOrNo(`{"approved":true}`, `{"approved":false}`)
	case s.Properties != nil:
		names := s.Required
		if len(names) == 0 && len(s.Properties) == 1 {
			for name := range s.Properties {
				names = []string{name}
			}
		}
		if _, ok := s.Properties["approved"]; ok && len(names) == 0 {
			names = []string{"approved"}
		}
		if len(names) != 1 {
			return nil
		}
		inner := choices(s.Properties[names[0]])
		if len(s.Properties[names[0]]) == 0 {
			return nil
		}
		for i, c := range inner {
			payload, err := json.Marshal(map[string]json.RawMessage{names[0]: c.payload})
			if err != nil {
				return nil
			}
			inner[i].payload = payload
		}
		return inner
	}
	return nil
}

// wait keeps questions that the person's next message answers.
func (b *Backend) wait(thread string, list []interrupt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open[thread] = list
}

// answers are the resume entries for the questions that waited for the person's message.
func (b *Backend) answers(thread string, history []agent.Message) []resumeEntry {
	b.mu.Lock()
	list := b.open[thread]
	delete(b.open, thread)
	b.mu.Unlock()
	var words []string
	if n := len(history); n > 0 && history[n-1].Role == agent.User {
		for _, p := range history[len(history)-1].Blocks {
			if p.Kind == agent.PartText {
				words = append(words, p.Text)
			}
		}
	}
	var out []resumeEntry
	for _, i := range list {
		e := resumeEntry{ID: i.ID, Status: "cancelled"}
		if payload := worded(i.Schema, strings.Join(words, "\n\n")); payload != nil && len(list) == 1 && len(words) > 0 && !i.expired() {
			e.Status, e.Payload = "resolved", payload
		}
		out = append(out, e)
	}
	return out
}

// worded is a message as the answer that a schema wants: its text, by itself or as the only thing
// to say in an object. nil: it wants something else.
func worded(schema json.RawMessage, words string) json.RawMessage {
	var s struct {
		Type       any                        `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if len(schema) > 0 && json.Unmarshal(schema, &s) != nil {
		return nil
	}
	payload, err := json.Marshal(words)
	if err != nil {
		return nil
	}
	if s.Type == "string" || len(schema) == 0 {
		return payload
	}
	for name, inner := range s.Properties {
		if value := worded(inner, words); value != nil && len(s.Properties) == 1 {
			if payload, err = json.Marshal(map[string]json.RawMessage{name: value}); err == nil {
				return payload
			}
		}
	}
	return nil
}

// asked ends a run whose question the person answers with a message: the question is what was said.
func (t *translator) asked(emit func(agent.Event)) error {
	var questions []string
	for _, i := range t.interrupts {
		if title := t.title(i); title != "" {
			questions = append(questions, title)
		}
	}
	id := t.block()
	emit(agent.TextStarted{ID: id})
	emit(agent.TextContent{ID: id, Delta: strings.Join(questions, "\n\n")})
	emit(agent.TextEnded{ID: id})
	return nil
}
