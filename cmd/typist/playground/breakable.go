package playground

import (
	"context"
	"errors"
	"sync"

	"typist/agent"
)

// errBroken is the cause of a run's end when its backend was killed.
var errBroken = errors.New("the backend was killed in the playground")

// breakable puts a switch between the runs and their backends: breakAll makes the backends of all
// runs in work end as a process does that is killed.
type breakable struct {
	mu   sync.Mutex
	runs map[*context.CancelCauseFunc]struct{}
}

func newBreakable() *breakable { return &breakable{runs: map[*context.CancelCauseFunc]struct{}{}} }

func (k *breakable) wrap(_ string, b agent.Backend) agent.Backend {
	broken := brokenBackend{Backend: b, k: k}
	if s, ok := b.(agent.Steerer); ok {
		return struct {
			brokenBackend
			agent.Steerer
		}{broken, s}
	}
	return broken
}

func (k *breakable) breakAll() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	for cancel := range k.runs {
		(*cancel)(errBroken)
	}
	return len(k.runs)
}

type brokenBackend struct {
	agent.Backend
	k *breakable
}

// Run implements agent.Backend.
func (b brokenBackend) Run(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b.k.mu.Lock()
	b.k.runs[&cancel] = struct{}{}
	b.k.mu.Unlock()
	defer func() {
		b.k.mu.Lock()
		delete(b.k.runs, &cancel)
		b.k.mu.Unlock()
	}()
	err := b.Backend.Run(running, req, emit)
	if ctx.Err() == nil && errors.Is(context.Cause(running), errBroken) {
		return &agent.Failure{Kind: agent.Crashed, Detail: errBroken.Error(), Err: err}
	}
	return err
}
