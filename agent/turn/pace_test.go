package turn

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
)

// TestP11_WhatCanNeitherGoNorChangeIsLeft after few tries, and nothing is posted for it.
func TestP11_WhatCanNeitherGoNorChangeIsLeft(t *testing.T) {
	for _, second := range []error{adapters.ErrTooOld, adapters.ErrGone} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake("telegram")
			over := false
			f.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) {
				switch {
				case over && op == sim.OpDelete:
					return adapters.ErrTooOld, false
				case over && op == sim.OpEdit:
					return second, false
				}
				return nil, false
			}
			b := start(t, setup{fake: f, backend: working(5*time.Second, "NO_REPLY")})
			b.write("dm", "hi")
			after(4 * time.Second)
			f.now(func() { over = true })
			after(10 * time.Minute)
			if n := b.calls(sim.OpDelete) + b.calls(sim.OpEdit); n > 8 {
				t.Errorf("%v: %d calls for a message that can't be taken away", second, n)
			}
			// A last edit of the run in work may have been replaced by one new message (P11).
			if slices.Contains(b.bot("dm"), "—") || b.calls(sim.OpSend) > 2 {
				t.Errorf("%v: posted %q", second, b.bot("dm"))
			}
		})
	}
}

// TestP11_AnswersGoFirst under pressure: before first posts, and those before edits.
func TestP11_AnswersGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(adapters.Capabilities{CallsPerSecond: 1, CallBurst: 1})
		var order []string
		ask := func(name string, c class, op callOp) {
			p.request(&permit{class: c, chat: name, op: op, grant: func() { order = append(order, name) }})
		}
		ask("edit", classEdit, callEdit)
		ask("first", classFirst, callSend)
		ask("answer", classAnswer, callSend)
		ask("answer 2", classAnswer, callSend)
		ctx, cancel := context.WithCancel(t.Context())
		go p.run(ctx)
		after(10 * time.Second)
		cancel()
		if !slices.Equal(order, []string{"answer", "answer 2", "first", "edit"}) {
			t.Errorf("order %v", order)
		}
	})
}
