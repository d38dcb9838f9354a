package script

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"typist/agent"
)

// defaultPace is the time of a word where a script gives none.
const defaultPace = 40 * time.Millisecond

// player plays one run.
type player struct {
	backend *Backend
	req     agent.Request
	emit    func(agent.Event)
	input   string
	past    past
	mu      sync.Mutex
	asked   map[string]int    // model requests by area
	titles  map[string]string // of real tools
}

// scope is where a sequence of directives plays: an area, and what its directives share. Each
// branch of a parallel block has a copy.
type scope struct {
	area     string
	request  string // the model request that goes on; "" = the next text or call begins one
	pace     time.Duration
	texted   bool // the request has text: more text is another request's
	approved *bool
	steps    []string // open ones, outermost first
}

func (s *scope) sub() agent.Sub { return agent.Sub{Subagent: s.area} }

// id names what a directive yields: the same in every run but for the run's own id, so that a
// resumed run finds it in its history.
func (p *player) id(letter string, n *node) string {
	return fmt.Sprintf("%s.%s%d", p.req.RunID, letter, n.line)
}

// expand fills in {{input}}. In JSON it becomes the inside of a string.
func (p *player) expand(s string, inJSON bool) string {
	input := p.input
	if inJSON {
		input = quoteInner(input)
	}
	return strings.ReplaceAll(s, "{{input}}", input)
}

// answered ends the model request that goes on: the results of its calls are there.
func (s *scope) answered() { s.request, s.texted = "", false }

// ask makes sure that a model request goes on. One that has text already ends before more text or
// thinking comes.
func (p *player) ask(s *scope, call bool) {
	if s.texted && !call {
		s.answered()
	}
	if s.request != "" {
		return
	}
	p.mu.Lock()
	p.asked[s.area]++
	s.request = fmt.Sprintf("%s.m%d", p.req.RunID, p.asked[s.area])
	p.mu.Unlock()
	if s.area != "" {
		s.request += "." + s.area
	}
	p.emit(agent.ModelRequest{Sub: s.sub(), ID: s.request})
}

// sequence plays directives one after the other, from where the history ends.
func (p *player) sequence(ctx context.Context, s *scope, nodes []*node) error {
	from := p.past.reached(nodes)
	outer := len(s.steps)
	for i, n := range nodes[:from] {
		p.skip(s, n, nodes[i+1:])
	}
	for _, step := range s.steps[min(outer, len(s.steps)):] {
		p.emit(agent.StepStarted{Sub: s.sub(), Name: step})
	}
	for _, n := range nodes[from:] {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.play(ctx, s, n); err != nil {
			return err
		}
	}
	return nil
}

// skip notes what a directive that was played before leaves behind. rest follows it.
func (p *player) skip(s *scope, n *node, rest []*node) {
	switch n.word {
	case "step":
		s.steps = append(s.steps, n.name)
	case "end-step":
		if len(s.steps) > 0 {
			s.steps = s.steps[:len(s.steps)-1]
		}
	case "pace":
		s.pace = n.time
	case "ask-approval":
		approved := !slices.ContainsFunc(rest, func(n *node) bool { return n.word == "if-denied" && p.past.begun(n) })
		s.approved = &approved
	}
}

func (p *player) play(ctx context.Context, s *scope, n *node) error {
	switch n.word {
	case "think":
		return p.think(ctx, s, n)
	case "think-silent":
		p.ask(s, false)
		id := p.id("r", n)
		p.emit(agent.ReasoningStarted{Sub: s.sub(), ID: id, Request: s.request})
		if err := sleep(ctx, n.time); err != nil {
			return err
		}
		p.emit(agent.ReasoningEnded{Sub: s.sub(), ID: id})
	case "say":
		return p.say(ctx, s, n, p.expand(n.text, false))
	case "silence":
		return p.say(ctx, s, n, "NO_REPLY")
	case "wait":
		return sleep(ctx, n.time)
	case "pace":
		s.pace = n.time
	case "tool", "tool-fail", "call":
		p.write(s, n)
		if err := p.execute(ctx, s, n); err != nil {
			return err
		}
		s.answered()
	case "step":
		s.steps = append(s.steps, n.name)
		p.emit(agent.StepStarted{Sub: s.sub(), Name: n.name})
	case "end-step":
		if len(s.steps) > 0 {
			p.emit(agent.StepFinished{Sub: s.sub(), Name: s.steps[len(s.steps)-1]})
			s.steps = s.steps[:len(s.steps)-1]
		}
	case "parallel":
		return p.parallel(ctx, s, n)
	case "do":
		return p.sequence(ctx, s, n.children)
	case "once":
		if p.backend.first(p.req.Session, n) {
			return p.sequence(ctx, s, n.children)
		}
	case "subagent":
		p.begin(s, n)
		return p.inside(ctx, s, n)
	case "ask-approval":
		return p.approve(ctx, s, n)
	case "if-approved", "if-denied":
		if s.approved != nil && *s.approved == (n.word == "if-approved") {
			return p.sequence(ctx, s, n.children)
		}
	case "file":
		f, err := produced(n, p.expand(n.text, false))
		f.Sub = s.sub()
		if err != nil {
			return err
		}
		p.emit(f)
	case "error":
		return &agent.Failure{Kind: n.kind, RetryAfter: n.time, Detail: n.text}
	case "cut":
		return fmt.Errorf("read the stream: %w", io.ErrUnexpectedEOF)
	case "crash":
		panic("the script says so")
	}
	return nil
}

func (p *player) think(ctx context.Context, s *scope, n *node) error {
	p.ask(s, false)
	id := p.id("r", n)
	p.emit(agent.ReasoningStarted{Sub: s.sub(), ID: id, Request: s.request})
	err := p.stream(ctx, s, n.time, p.expand(n.text, false), func(delta string) {
		p.emit(agent.ReasoningContent{Sub: s.sub(), ID: id, Delta: delta})
	})
	if err == nil {
		p.emit(agent.ReasoningEnded{Sub: s.sub(), ID: id})
	}
	return err
}

// say streams a text, or the rest of it if its beginning is in the history.
func (p *player) say(ctx context.Context, s *scope, n *node, text string) error {
	if rest, ok := strings.CutPrefix(text, p.past.said(n)); ok {
		text = rest
	}
	if text == "" {
		return nil
	}
	p.ask(s, false)
	s.texted = true
	id := p.id("t", n)
	p.emit(agent.TextStarted{Sub: s.sub(), ID: id, Request: s.request})
	err := p.stream(ctx, s, n.time, text, func(delta string) {
		p.emit(agent.TextContent{Sub: s.sub(), ID: id, Delta: delta})
	})
	if err == nil {
		p.emit(agent.TextEnded{Sub: s.sub(), ID: id})
	}
	return err
}

// stream gives a text word by word: within total, or at the pace if total is negative.
func (p *player) stream(ctx context.Context, s *scope, total time.Duration, text string, emit func(string)) error {
	each := s.pace
	if total >= 0 && text != "" {
		words := 0
		for rest := text; rest != ""; words++ {
			_, rest = cutWord(rest)
		}
		each = total / time.Duration(words)
	}
	for word := ""; text != ""; {
		word, text = cutWord(text)
		emit(word)
		if err := sleep(ctx, each); err != nil {
			return err
		}
	}
	return nil
}

// cutWord cuts after the first white space.
func cutWord(text string) (word, rest string) {
	end := len(text)
	if i := strings.IndexAny(text, " \n"); i >= 0 {
		end = i + 1
		for end < len(text) && strings.IndexByte(" \n", text[end]) >= 0 {
			end++
		}
	}
	return text[:end], text[end:]
}

// parallel plays the directives of a block at the same time. The calls among them are written by
// one model request, in order, before any of them executes; subagents begin in order too.
func (p *player) parallel(ctx context.Context, s *scope, block *node) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var calls, subagents, others []*node
	for _, n := range block.children {
		switch {
		case p.past.done(n):
		case n.word == "tool" || n.word == "tool-fail" || n.word == "call":
			calls = append(calls, n)
			p.write(s, n)
		case n.word == "subagent":
			subagents = append(subagents, n)
			p.begin(s, n)
		default:
			others = append(others, n)
		}
	}
	var wg sync.WaitGroup
	var crashed sync.Map
	branch := func(f func(s *scope) error) {
		own := *s
		wg.Go(func() {
			defer func() {
				if r := recover(); r != nil { // told to the run's own goroutine, which Drive guards
					crashed.Store("panic", r)
					cancel(errors.New("crash"))
				}
			}()
			if err := f(&own); err != nil {
				cancel(err)
			}
		})
	}
	for _, n := range calls {
		branch(func(own *scope) error { return p.execute(ctx, own, n) })
	}
	for _, n := range subagents {
		branch(func(own *scope) error { return p.inside(ctx, own, n) })
	}
	for _, n := range others {
		branch(func(own *scope) error { return p.sequence(ctx, own, []*node{n}) })
	}
	wg.Wait()
	if r, ok := crashed.Load("panic"); ok {
		panic(r)
	}
	if len(calls) > 0 {
		s.answered()
	}
	return context.Cause(ctx)
}

// begin introduces a subagent.
func (p *player) begin(s *scope, n *node) {
	p.emit(agent.SubagentStarted{Sub: agent.Sub{Subagent: p.id("s", n)}, Name: n.name, Parent: s.area})
}

// inside plays what a subagent does.
func (p *player) inside(ctx context.Context, s *scope, n *node) error {
	inner := &scope{area: p.id("s", n), pace: s.pace}
	if err := p.sequence(ctx, inner, n.children); err != nil {
		return err
	}
	p.emit(agent.SubagentFinished{Sub: inner.sub()})
	return nil
}

func (p *player) approve(ctx context.Context, s *scope, n *node) error {
	ask := agent.Approval{ID: p.id("a", n), Title: p.expand(n.text, false)}
	if len(n.options) == 0 {
		ask.Options = []agent.Option{{ID: "allow", Allow: true}, {ID: "deny"}}
	}
	for i, name := range n.options {
		ask.Options = append(ask.Options, agent.Option{ID: fmt.Sprintf("option%d", i+1), Name: name, Allow: i == 0})
	}
	approved := false
	if p.req.Approve != nil {
		option, err := p.req.Approve(ctx, s.area, ask)
		if err != nil {
			return err
		}
		approved = option == ask.Options[0].ID
	}
	s.approved = &approved
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
