package script

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"typist/agent"
)

// Backend plays a script. It is an agent.Backend and Prober. Use New.
type Backend struct {
	script  *Script
	toolbox *Toolbox
	mu      sync.Mutex
	played  map[playedBlock]bool
}

// playedBlock is a once block that a session has seen.
type playedBlock struct {
	session string
	block   *node
}

// New makes a backend that plays s. toolbox is the one whose guard the requests bring as Tools;
// nil makes one that records nothing.
func New(s *Script, toolbox *Toolbox) *Backend {
	if toolbox == nil {
		toolbox = NewToolbox(nil, "")
	}
	return &Backend{script: s, toolbox: toolbox, played: map[playedBlock]bool{}}
}

// Run implements agent.Backend.
func (b *Backend) Run(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
	p := &player{backend: b, req: req, emit: emit, input: lastInput(req.History), asked: map[string]int{}}
	if req.Resume {
		p.past = remember(req.History)
	}
	body, err := b.script.find(p.input)
	if err != nil {
		return err
	}
	if err := p.list(ctx, body); err != nil {
		return err
	}
	return p.sequence(ctx, &scope{pace: defaultPace}, body)
}

// list asks for the tools if the script calls real ones: the turn code learns by it which of them
// need an approval.
func (p *player) list(ctx context.Context, body []*node) error {
	if p.req.Tools == nil || !slices.ContainsFunc(body, callsRealTool) {
		return nil
	}
	tools, err := p.req.Tools.List(ctx)
	if err != nil {
		return fmt.Errorf("list the tools: %w", err)
	}
	p.titles = map[string]string{}
	for _, t := range tools {
		p.titles[t.Name] = t.Title
	}
	return nil
}

func callsRealTool(n *node) bool {
	return n.word == "call" || slices.ContainsFunc(n.children, callsRealTool)
}

// Probe implements agent.Prober.
func (b *Backend) Probe(context.Context) (string, error) {
	if len(b.script.sections) == 1 {
		return "a script with 1 section", nil
	}
	return fmt.Sprintf("a script with %d sections", len(b.script.sections)), nil
}

// lastInput is the text of the last user message.
func lastInput(history []agent.Message) string {
	for i := len(history) - 1; i >= 0; i-- {
		if history[i].Role != agent.User {
			continue
		}
		var texts []string
		for _, p := range history[i].Blocks {
			if p.Kind == agent.PartText {
				texts = append(texts, p.Text)
			}
		}
		return strings.Join(texts, "\n")
	}
	return ""
}

// first reports whether a once block is played for the first time in a session.
func (b *Backend) first(session string, n *node) bool {
	key := playedBlock{session, n}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.played[key] {
		return false
	}
	b.played[key] = true
	return true
}
