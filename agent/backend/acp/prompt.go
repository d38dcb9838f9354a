package acp

import (
	"context"
	"sync"
	"time"

	"typist/agent"
)

// stopTime is how long an agent may take to end its turn after a stop: with killing it, a stop
// takes less than 5 s (S2).
const stopTime = 4 * time.Second

// ending is the answer to a prompt.
type ending struct {
	Reason string  `json:"stopReason"`
	Usage  *tokens `json:"usage"`
}

// prompt runs a turn. After a stop the agent may end it in order; else its process is killed.
func (c *chat) prompt(ctx context.Context, p *running, t *turn, prompt []block) (ending, error) {
	if err := ctx.Err(); err != nil {
		return ending{}, err
	}
	var answer ending
	done, sent := make(chan error, 1), make(chan struct{})
	asking, hurry := context.WithCancel(ctx) // ends the questions to people
	defer hurry()
	t.ctx = asking
	c.active.Store(t)
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() {
		params := map[string]any{"sessionId": t.session, "prompt": prompt}
		done <- p.call(context.WithoutCancel(ctx), "session/prompt", params, &answer, sent)
	})
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		beside.Go(func() { // writing may block; killing ends that
			select {
			case <-sent: // never before the prompt that it is about
				_ = p.notify("session/cancel", map[string]string{"sessionId": t.session})
			case <-p.gone:
			}
		})
		timer := time.AfterFunc(stopTime, p.kill)
		err = <-done
		timer.Stop()
	}
	c.active.Store(nil)
	hurry()
	t.asking.Wait()
	return answer, err
}

// count emits what a turn used: agents count a session's tokens from its beginning.
func (c *chat) count(u *tokens, emit func(agent.Event)) {
	if u == nil {
		return
	}
	n := tokens{u.Input - c.used.Input, u.Output - c.used.Output}
	if n.Input < 0 || n.Output < 0 { // or those of the turn
		n = *u
	}
	c.used = *u
	emit(agent.Usage{Input: n.Input, Output: n.Output})
}
