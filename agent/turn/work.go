package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"typist/agent"
	"typist/agent/session"
	"typist/agent/store"
)

// work prepares the turn, runs the backend and ends when the backend has. It runs beside the
// lane; what it learns goes there as letters and through the feed.
func (r *run) work(ctx context.Context) {
	defer func() { r.lane.mail.put(workEnded{run: r}) }()
	ctx, cancel := context.WithTimeoutCause(ctx, r.timeout(), context.DeadlineExceeded)
	defer cancel()
	unwatch := context.AfterFunc(ctx, func() { r.lane.mail.put(contextOver{run: r, cause: context.Cause(ctx)}) })
	defer unwatch()
	req, b := r.prepare(ctx)
	r.lane.mail.put(turnBegun{run: r, begun: b})
	if b.err != nil {
		return
	}
	if r.backend.Backend == nil {
		r.feed.emit(agent.RunStarted{RunID: r.id})
		r.feed.emit(agent.RunError{RunID: r.id, Failure: agent.Failure{Kind: agent.NotFound,
			Detail: fmt.Sprintf("agent %q has no backend %q", r.agent.Name, r.agent.Backend)}})
		return
	}
	agent.Drive(ctx, r.backend.Backend, req, r.feed.emit)
}

// prepare stores that the turn begins and collects what the backend is given (hop 3). What is
// stored does not depend on ctx: a stop in this moment stops a turn that has begun.
func (r *run) prepare(ctx context.Context) (agent.Request, *begun) {
	durable := context.WithoutCancel(ctx)
	st, chat := r.lane.hub.store, r.lane.chat.Key()
	tree := session.Open(st, chat)
	node, err := r.place(ctx, durable, tree)
	if err != nil {
		return agent.Request{}, &begun{err: err}
	}
	row := store.Run{ID: r.id, Chat: chat, Node: node.ID, Backend: r.agent.Backend, State: store.RunRunning,
		StartedAt: r.started, Anchor: r.anchor, Indicator: true}
	if err := st.BeginTurn(durable, store.Begin{Inputs: r.in.rows, Node: node, Run: row}); err != nil {
		return agent.Request{}, &begun{err: err}
	}
	b := &begun{parent: node.ID}
	req := agent.Request{
		RunID: r.id, Session: chat, System: r.agent.SystemPrompt, Resume: r.in.Kind == store.InputResume,
		Reasoning: r.agent.Effort, Approve: r.approve,
	}
	if req.History, err = tree.History(durable, node.ID, maxHistory); err != nil {
		r.lane.log.Error("the session could not be read; the agent gets the message alone", "error", err)
		req.History = []agent.Message{node.Message}
	}
	if b.versions, err = tree.Next(durable, node.ID); err != nil {
		r.lane.log.Error("the versions of the answer could not be read", "error", err)
	}
	if r.backend.Tools != nil {
		req.Tools = &guard{run: r, box: r.backend.Tools, scope: chat + "/" + node.ID}
	}
	return req, b
}

// maxHistory bounds the messages that a model is given: beyond any context window.
const maxHistory = 2000

// place is the node that the run's own nodes will hang on: a new one of the person, or for a
// retry or a resume the one to go on from.
func (r *run) place(ctx, durable context.Context, tree *session.Tree) (store.Node, error) {
	in := r.in
	switch in.Kind {
	case store.InputRetry, store.InputResume:
		n, ok, err := r.lane.hub.store.Node(durable, in.From)
		if err == nil && !ok {
			err = fmt.Errorf("node %s: %w", in.From, store.ErrNotFound)
		}
		return n, err
	case store.InputMessage, store.InputHeartbeat, store.InputNew:
	}
	n := store.Node{ID: newID(), Chat: tree.Chat(), RunID: r.id, Message: r.userMessage(ctx, r.in), At: r.started}
	if in.Message.ID != "" {
		n.Refs = in.refs()
	}
	if in.Branch != nil {
		n.Parent = in.Branch.Parent
		return n, nil
	}
	var err error
	n.Parent, err = tree.Leaf(durable)
	return n, err
}

// userMessage makes the model's view of the input, files included (C7). Each message's text is a
// block of its own that carries the message's id, so that an edit finds it (S7).
func (r *run) userMessage(ctx context.Context, in input) agent.Message {
	if h := in.Heartbeat; h != nil {
		return agent.UserText(h.Prompt)
	}
	msg := agent.Message{Role: agent.User, Blocks: in.Blocks}
	if len(in.Blocks) > 0 {
		return msg
	}
	load := loading{run: r, left: maxInput}
	for _, m := range append(slices.Clone(in.Earlier), in.Message) {
		msg.Blocks = append(msg.Blocks, block(m))
		for _, f := range m.Files {
			msg.Blocks = append(msg.Blocks, load.file(ctx, f))
		}
	}
	load.tell()
	return msg
}

// turnBegun: the turn is stored, or could not be.
type turnBegun struct {
	run   *run
	begun *begun
}

func (turnBegun) isLetter() {}

func (t turnBegun) read(l *lane) {
	r := t.run
	if r.begun != nil { // it was abandoned before it began
		if t.begun.err == nil {
			end := store.End{RunID: r.id, State: r.state(), EndedAt: time.Now()}
			l.hub.go_(func() { l.hub.storeEnd(end) })
		}
		return
	}
	r.begun = t.begun
	if t.begun.err == nil {
		l.hub.metrics.RunStarted(l.chat.Channel)
		l.beginFails = 0
		return
	}
	// Nothing has happened that anyone relies on: the input still waits and is tried again.
	r.endIndicator(time.Now())
	r.dropProgress()
	r.phase = over
	l.setRun(nil)
	if errors.Is(t.begun.err, store.ErrNotFound) {
		l.dropInput(r.in, t.begun.err)
		return
	}
	l.log.Error("a turn could not begin; it is tried again", "error", t.begun.err)
	l.notBefore = time.Now().Add(backoff(min(l.beginFails+1, 5)))
	l.beginFails++
}

// dropInput gives up an input that can never begin, so that it does not hold up those behind it.
func (l *lane) dropInput(in input, why error) {
	l.log.Error("a turn can't begin and is dropped", "error", why)
	for _, id := range in.rows {
		if err := l.hub.store.FinishInput(l.hub.callCtx, id, store.InputDropped); err != nil {
			l.log.Error("an input could not be dropped", "error", err)
			l.notBefore = time.Now().Add(backoff(5))
		}
	}
	l.note(l.words().NothingToRetry)
}

// workEnded: nothing of the run's backend is left.
type workEnded struct{ run *run }

func (workEnded) isLetter() {}

func (w workEnded) read(l *lane) {
	l.hub.active.Add(-1)
	w.run.cancel(nil)
}
