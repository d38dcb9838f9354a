package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"typist/agent"
)

// turn is one run in a session.
type turn struct {
	chat    *chat
	ctx     context.Context
	session string
	req     agent.Request
	asking  sync.WaitGroup

	mu         sync.Mutex // of translator: answers to questions come from beside
	translator *translator
	questions  int
}

// notified implements peer.
func (c *chat) notified(method string, params json.RawMessage) {
	t := c.active.Load()
	if method != "session/update" || t == nil { // a replay, or after the turn
		return
	}
	var n struct {
		Session string `json:"sessionId"`
		Update  update `json:"update"`
	}
	if err := lenient(params, &n); err != nil {
		c.backend.log.Debug("an update is not understood", "error", agent.Mask(err.Error()))
		return
	}
	if n.Session != t.session {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.translator.update(&n.Update)
}

// asked implements peer. Approvals are all that may be asked: no other ability was offered.
func (c *chat) asked(method string, params json.RawMessage) func() (any, *rpcError) {
	if method != "session/request_permission" {
		return func() (any, *rpcError) {
			return nil, &rpcError{Code: codeUnknownMethod, Message: "Method not found"}
		}
	}
	var q question
	if err := lenient(params, &q); err != nil {
		return func() (any, *rpcError) { return nil, &rpcError{Code: codeInvalidParams, Message: err.Error()} }
	}
	t := c.active.Load()
	if t == nil || q.Session != t.session {
		return func() (any, *rpcError) { return nobody, nil }
	}
	return t.ask(q)
}

// question is a session/request_permission.
type question struct {
	Session string          `json:"sessionId"`
	Call    json.RawMessage `json:"toolCall"`
	Options []struct {
		ID   string `json:"optionId"`
		Name string `json:"name"`
		Kind string `json:"kind"`
	} `json:"options"`
}

// outcome is the answer to a question.
type outcome struct {
	Outcome chosen `json:"outcome"`
}

type chosen struct {
	Outcome string `json:"outcome"`
	Option  string `json:"optionId,omitempty"`
}

// nobody decided: the turn is being stopped.
var nobody = outcome{chosen{Outcome: "cancelled"}}

// ask takes a question in its place among the updates, and returns what puts it to the chat's
// people (A4).
func (t *turn) ask(q question) func() (any, *rpcError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.questions++
	ask := agent.Approval{ID: t.req.RunID + ".q" + strconv.Itoa(t.questions), Title: "?"}
	var about struct {
		callUpdate
		Content json.RawMessage `json:"content"`
	}
	var call *toolCall
	if lenient(q.Call, &about) == nil && about.ID != "" {
		call = t.translator.call(about.callUpdate, about.Content)
		ask.ToolCall, ask.Title, ask.Detail = call.id, call.describe(), call.detail()
	}
	for _, o := range q.Options {
		ask.Options = append(ask.Options, agent.Option{ID: o.ID, Name: o.Name, Allow: strings.HasPrefix(o.Kind, "allow")})
	}
	if len(ask.Options) == 0 || t.req.Approve == nil {
		return func() (any, *rpcError) { return nobody, nil }
	}
	t.asking.Add(1)
	return func() (any, *rpcError) {
		defer t.asking.Done()
		option, err := t.req.Approve(t.ctx, "", ask)
		if err != nil || option == "" {
			return nobody, nil
		}
		for _, o := range ask.Options {
			if o.ID == option && o.Allow && call != nil {
				t.mu.Lock()
				t.translator.execute(call) // many agents don't say that it begins
				t.mu.Unlock()
			}
		}
		return outcome{chosen{"selected", option}}, nil
	}
}

// describe is what is to be allowed, in one line.
func (c *toolCall) describe() string {
	title := strings.Join(strings.Fields(c.Title), " ")
	if title == "" {
		title = c.started().Name
	}
	return agent.Mask(title)
}

// detail is all that is to be allowed: the input, else what the agent shows of the call.
func (c *toolCall) detail() string {
	if !given(c.Input) {
		return agent.Mask(short(shown(c.shown, nil)))
	}
	var b bytes.Buffer
	if json.Indent(&b, c.Input, "", "  ") != nil {
		return ""
	}
	return agent.Mask(b.String())
}

// outcome ends what the turn has open, and says how it ended.
func (t *turn) outcome(reason string) error {
	tr := t.translator
	tr.end(reason == "max_tokens" || reason == "max_turn_requests")
	switch reason {
	case "refusal":
		return &agent.Failure{Kind: agent.Invalid, Detail: "the agent refused to go on"}
	case "max_tokens":
		if !tr.said {
			return &agent.Failure{Kind: agent.TooLong, Detail: "the agent reached its token limit before it answered"}
		}
	case "max_turn_requests":
		if !tr.said {
			return &agent.Failure{Kind: agent.Malformed, Detail: "the agent reached its limit of model requests before it answered"}
		}
	case "cancelled":
		if !tr.said {
			return &agent.Failure{Kind: agent.CutEarly, Detail: "the agent stopped by itself"}
		}
	default:
		if !tr.said && !tr.didAnyway {
			return &agent.Failure{Kind: agent.Malformed, Detail: "the agent ended without an answer"}
		}
	}
	return nil
}
