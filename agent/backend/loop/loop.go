// Package loop is what the native backends share: the loop model → tools → model, with parallel
// calls, silent retries (S3) and steering (S10).
//
// A request that broke off is sent again under a new request id. What it had yielded by then is
// closed as incomplete (ReasoningEnded, TextEnded, ToolCallResult with Incomplete), and the new
// request's text has a new id: so the newest non-empty text (P5) replaces the partial one, and
// agent.Transcript leaves the partial one out. Calls of a broken request were never executed.
// After tool results the request that is sent again has them as context; nothing is executed twice.
package loop

import (
	"context"
	"fmt"
	"sync"

	"typist/agent"
)

// maxRounds bounds the model requests of one run: a model that still wants tools after so many
// goes round in circles.
const maxRounds = 200

// Model is one model behind some API.
type Model interface {
	// Stream makes one request and writes what comes to out. It returns nil once the answer is
	// complete, else what agent.Classify understands. It returns soon after ctx has ended.
	Stream(ctx context.Context, req ModelRequest, out *Writer) error
}

// ModelRequest is one call of a model.
type ModelRequest struct {
	System    string
	Messages  []agent.Message // as Prepare leaves them
	Tools     []agent.Tool
	Reasoning string
}

// Loop runs requests on a Model. Use New.
type Loop struct {
	model Model
	mu    sync.Mutex
	runs  map[string]*steering
}

// New makes a Loop. It is safe for concurrent runs if the model is.
func New(m Model) *Loop { return &Loop{model: m, runs: map[string]*steering{}} }

// Run implements agent.Backend.
func (l *Loop) Run(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
	steered := l.begin(req.RunID)
	defer l.end(req.RunID, steered)
	var tools []agent.Tool
	if req.Tools != nil {
		var err error
		if tools, err = req.Tools.List(ctx); err != nil {
			return fmt.Errorf("list the tools: %w", err)
		}
	}
	r := &run{
		model:   l.model,
		toolbox: req.Tools,
		emit:    emit,
		ids:     newIDs(req),
		request: ModelRequest{System: req.System, Messages: Prepare(req.History), Tools: tools, Reasoning: req.Reasoning},
	}
	for range maxRounds {
		reply, err := r.ask(ctx)
		if err != nil {
			return err
		}
		calls := reply.Calls()
		if len(calls) == 0 {
			if more := steered.take(true); len(more) > 0 {
				r.add(reply.Message)
				r.add(more...)
				continue
			}
			return r.ending(reply)
		}
		results, err := r.execute(ctx, calls)
		if err != nil {
			return err
		}
		r.add(reply.Message, results)
		r.add(steered.take(false)...)
	}
	return &agent.Failure{Kind: agent.Malformed, Detail: fmt.Sprintf("the model asked for tools in %d requests in a row", maxRounds)}
}

// run is one run of a Loop.
type run struct {
	model   Model
	toolbox agent.Toolbox
	emit    func(agent.Event)
	ids     *ids
	request ModelRequest
	said    bool // some request of this run had text
}

// add appends to what the model is told next; empty messages are no messages.
func (r *run) add(messages ...agent.Message) {
	for _, m := range messages {
		if len(m.Blocks) > 0 {
			r.request.Messages = append(r.request.Messages, m)
		}
	}
}

// ending says how a run ends whose model wants no more tools. An answer that the model could not
// finish is kept, and marked by TextEnded{Incomplete}; no answer at all is a failure.
func (r *run) ending(reply *Reply) error {
	switch {
	case reply.Finish == Filtered:
		return &agent.Failure{Kind: agent.Invalid, Detail: "the model's provider refused to go on with this answer"}
	case reply.text() != "" || r.said:
		return nil
	case reply.Finish == Length:
		return &agent.Failure{Kind: agent.TooLong, Detail: "the model reached its token limit before it answered"}
	}
	return &agent.Failure{Kind: agent.Malformed, Detail: "the model ended without an answer"}
}

// steering holds what people said to a run in progress until its next request takes it.
type steering struct {
	mu      sync.Mutex
	waiting []agent.Message
	closed  bool
}

// take returns what waits. With last, nothing more is accepted if nothing waits.
func (s *steering) take(last bool) []agent.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.waiting
	s.waiting = nil
	s.closed = s.closed || last && len(out) == 0
	return out
}

func (l *Loop) begin(runID string) *steering {
	s := &steering{}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[runID] = s
	return s
}

func (l *Loop) end(runID string, s *steering) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs[runID] == s {
		delete(l.runs, runID)
	}
}

// Steer implements agent.Steerer: the message goes to the model with its next request, at the
// latest when it would otherwise have ended. false: the run has ended, or ends now.
func (l *Loop) Steer(_ context.Context, runID string, msg agent.Message) (bool, error) {
	l.mu.Lock()
	s := l.runs[runID]
	l.mu.Unlock()
	if s == nil {
		return false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false, nil
	}
	s.waiting = append(s.waiting, msg)
	return true, nil
}
