package acp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"sync/atomic"
	"time"

	"typist/agent"
)

// chat is one chat's agent: its process and its session. turn is held by whoever uses it.
type chat struct {
	backend *Backend
	key     string // in Memory
	turn    chan struct{}
	idle    *time.Timer // guarded by the backend
	since   time.Time   // last run; guarded by the backend

	process atomic.Pointer[running]
	opened  string // the session that the process has open
	memory  memory
	loaded  bool // memory was loaded
	used    tokens
	active  atomic.Pointer[turn] // the run whose updates come
}

// tokens are an agent's counts of a session so far.
type tokens struct {
	Input  int64 `json:"inputTokens"`
	Output int64 `json:"outputTokens"`
}

func (c *chat) alive() bool {
	p := c.process.Load()
	return p != nil && p.alive()
}

// run executes one run. What the session is afterwards is remembered only if the agent ended the
// turn in order; whatever else happens, the next run begins a new session.
func (c *chat) run(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
	if err := c.recall(ctx); err != nil {
		return err
	}
	p, err := c.ready(ctx)
	if err != nil {
		return err
	}
	prompt, err := c.session(ctx, p, req)
	if err != nil {
		c.process.Store(nil)
		return p.failed(ctx, err)
	}
	known := c.memory
	if err := c.remember(ctx, memory{}); err != nil { // until the turn has ended in order
		return err
	}
	t := &turn{chat: c, ctx: ctx, session: known.ID, req: req, translator: newTranslator(req.RunID, emit)}
	ended, err := c.prompt(ctx, p, t, prompt)
	var refused *rpcError
	if err != nil && !errors.As(err, &refused) {
		c.process.Store(nil)
		return p.failed(ctx, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if refused == nil && ended.Reason != "refusal" { // a refused message is not part of the session
		known.Run, known.Last = req.RunID, place(req.History)
		if err := c.remember(context.WithoutCancel(ctx), known); err != nil {
			return err
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case refused != nil:
		return refusal(refused, p.agent)
	}
	c.count(ended.Usage, emit)
	return t.outcome(ended.Reason)
}

// recall loads what was remembered before a restart.
func (c *chat) recall(ctx context.Context) error {
	if c.loaded || c.backend.config.Memory == nil {
		return nil
	}
	text, err := c.backend.config.Memory.Load(ctx, c.key)
	if err != nil {
		return err
	}
	c.loaded = true
	if json.Unmarshal([]byte(text), &c.memory) != nil {
		c.memory = memory{} // nothing stored, or of another version
	}
	return nil
}

func (c *chat) remember(ctx context.Context, m memory) error {
	c.memory = m
	if c.backend.config.Memory == nil {
		return nil
	}
	text := ""
	if m.ID != "" {
		b, err := json.Marshal(m)
		if err != nil {
			return err
		}
		text = string(b)
	}
	return c.backend.config.Memory.Save(ctx, c.key, text)
}

// ready returns the process, started now if there is none.
func (c *chat) ready(ctx context.Context) (*running, error) {
	if p := c.process.Load(); p != nil {
		if p.alive() {
			return p, nil
		}
		p.end()
		c.process.Store(nil)
	}
	p, err := start(ctx, c.backend.config, c, c.backend.log)
	if err != nil {
		return nil, err
	}
	c.process.Store(p)
	c.opened = ""
	return p, nil
}

// session makes sure of a session that has seen what a request's history says, and returns what to
// prompt it with.
func (c *chat) session(ctx context.Context, p *running, req agent.Request) ([]block, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	fresh, ok := c.memory.continues(req.History, req.Resume)
	if ok && c.opened != c.memory.ID {
		var err error
		if ok, err = c.restore(ctx, p); err != nil {
			return nil, err
		}
	}
	var prompt []block
	if !ok {
		id, err := c.begin(ctx, p)
		if err != nil {
			return nil, err
		}
		c.memory, c.opened, c.used = memory{ID: id}, id, tokens{}
		for fresh = len(req.History); fresh > 0 && req.History[fresh-1].Role == agent.User; fresh-- {
		}
	}
	if system := digest(req.System); system != c.memory.System {
		c.memory.System = system
		if req.System != "" {
			prompt = append(prompt, textBlock("[Instructions for this conversation:]\n\n"+req.System))
		}
	}
	if !ok {
		if told := retell(req.History[:fresh]); told != "" {
			prompt = append(prompt, textBlock(told))
		}
	}
	if fresh == len(req.History) {
		prompt = append(prompt, textBlock(goOn))
	}
	for _, m := range req.History[fresh:] {
		prompt = append(prompt, promptBlocks(m, p.agent)...)
	}
	return prompt, nil
}

// begin begins a new session.
func (c *chat) begin(ctx context.Context, p *running) (string, error) {
	work, err := c.backend.workplace(p.agent)
	if err != nil {
		return "", err
	}
	var made struct {
		ID string `json:"sessionId"`
	}
	if err := p.call(ctx, "session/new", work, &made, nil); err != nil {
		return "", err
	}
	if made.ID == "" {
		return "", &agent.ProtocolError{Detail: "the agent began a session without an id"}
	}
	return made.ID, nil
}

// restore opens the remembered session in a new process, where the agent can. What it replays of
// it is known here. false: the session is gone.
func (c *chat) restore(ctx context.Context, p *running) (bool, error) {
	method := "session/load"
	switch can := p.agent.Capabilities; {
	case can.Session.Resume != nil:
		method = "session/resume" // without a replay
	case !can.LoadSession:
		return false, nil
	}
	work, err := c.backend.workplace(p.agent)
	if err != nil {
		return false, err
	}
	work = maps.Clone(work)
	work["sessionId"] = c.memory.ID
	err = p.call(ctx, method, work, nil, nil)
	var refused *rpcError
	if errors.As(err, &refused) && refused.Code != codeAuthRequired {
		c.backend.log.Info("the agent could not open its session again; a new one begins", "error", agent.Mask(refused.Error()))
		return false, nil
	}
	if err == nil {
		c.opened, c.used = c.memory.ID, tokens{}
	}
	return err == nil, err
}

// retire ends the process if no run has come for so long.
func (c *chat) retire(quiet time.Duration) {
	select {
	case c.turn <- struct{}{}:
	default:
		return
	}
	c.backend.mu.Lock()
	due := time.Since(c.since) >= quiet
	c.backend.mu.Unlock()
	if p := c.process.Load(); p != nil && due {
		p.end()
		c.process.Store(nil)
	}
	<-c.turn
}

// close ends the process, whatever it does.
func (c *chat) close() {
	if p := c.process.Load(); p != nil {
		p.end()
	}
	c.turn <- struct{}{} // a run that was starting one ends first
	if p := c.process.Swap(nil); p != nil {
		p.end()
	}
	<-c.turn
}
