package turn

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
)

// pacing runs a pacer in a bubble.
func pacing(t *testing.T, caps adapters.Capabilities, f func(t *testing.T, p *pacer)) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(caps)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.run(ctx)
		}()
		f(t, p)
		stop()
		<-done
	})
}

// grants collects when permits were granted, by name.
type grants struct {
	mu    sync.Mutex
	began time.Time
	at    map[string]time.Duration
	order []string
}

func (g *grants) ask(p *pacer, name string, r permit) *permit {
	r.grant = func() { // under the pacer's lock
		g.mu.Lock()
		defer g.mu.Unlock()
		g.at[name] = time.Since(g.began)
		g.order = append(g.order, name)
	}
	p.request(&r)
	return &r
}

// after lets d pass.
func (g *grants) after(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
	synctest.Wait()
	g.mu.Lock() // what the grants wrote is seen
	defer g.mu.Unlock()
}

func newGrants() *grants { return &grants{began: time.Now(), at: map[string]time.Duration{}} }

// TestP11_WhatWaitsForTheBudgetLeavesBySelf: when the last token went to an answer, the edits
// behind it go on as soon as there is another one, though nobody asks for anything any more.
func TestP11_WhatWaitsForTheBudgetLeavesBySelf(t *testing.T) {
	pacing(t, adapters.Capabilities{CallsPerSecond: 10, CallBurst: 1}, func(t *testing.T, p *pacer) {
		g := newGrants()
		for i := range 3 {
			g.ask(p, fmt.Sprint("edit", i), permit{class: classEdit, chat: fmt.Sprint(i), op: callEdit})
		}
		g.ask(p, "answer", permit{class: classAnswer, chat: "9", op: callSend})
		g.after(time.Second)
		if len(g.order) != 4 {
			t.Errorf("after 1 s only %v have left", g.order)
		}
		if g.order[0] != "answer" {
			t.Errorf("order %v", g.order)
		}
	})
}

// TestP11_AChatThatWaitsHoldsUpNobody: the pace of one chat, and a 429 told for it, are its own.
func TestP11_AChatThatWaitsHoldsUpNobody(t *testing.T) {
	caps := adapters.Capabilities{CallsPerSecond: 100, CallBurst: 10, EditPaceDirect: time.Second, PostPaceDirect: time.Second, PostBurst: 2}
	pacing(t, caps, func(t *testing.T, p *pacer) {
		g := newGrants()
		p.limited("blocked", callEdit, &adapters.RateLimitError{RetryAfter: 5 * time.Second})
		g.ask(p, "blocked", permit{class: classAnswer, chat: "blocked", op: callSend})
		for i := range 3 {
			g.ask(p, fmt.Sprint("post", i), permit{class: classFirst, chat: "busy", op: callSend})
		}
		g.ask(p, "edit", permit{class: classEdit, chat: "other", op: callEdit})
		g.ask(p, "edit again", permit{class: classEdit, chat: "other", op: callEdit})
		gone := g.ask(p, "gone", permit{class: classEdit, chat: "other", op: callEdit})
		p.withdraw(gone)
		g.after(10 * time.Second)
		for name, want := range map[string]time.Duration{"blocked": 5 * time.Second, "post0": 0, "post1": 0, "post2": time.Second, "edit": 0, "edit again": time.Second} {
			if got := g.at[name]; got < want || got > want+50*time.Millisecond {
				t.Errorf("%s left after %v, want %v", name, got, want)
			}
		}
		if _, ok := g.at["gone"]; ok {
			t.Error("a withdrawn permit was granted")
		}
	})
}

// TestP11_ABlockedTokenHoldsEverything: a 429 for the whole token stops every chat until it is over.
func TestP11_ABlockedTokenHoldsEverything(t *testing.T) {
	pacing(t, adapters.Capabilities{CallsPerSecond: 100, CallBurst: 10}, func(t *testing.T, p *pacer) {
		g := newGrants()
		p.limited("a", callEdit, &adapters.RateLimitError{RetryAfter: 3 * time.Second, Global: true})
		g.ask(p, "b", permit{class: classAnswer, chat: "b", op: callSend})
		g.after(4 * time.Second)
		if got := g.at["b"]; got < 3*time.Second || got > 3100*time.Millisecond {
			t.Errorf("left after %v", got)
		}
	})
}

// TestS2_AStopPassesACrowdOfAnswers: a hundred answers wait for the token's budget; the
// acknowledgement of a stop leaves before them, whatever the pace of edits in its chat.
func TestS2_AStopPassesACrowdOfAnswers(t *testing.T) {
	pacing(t, adapters.Capabilities{CallsPerSecond: 10, CallBurst: 1, EditPaceDirect: 10 * time.Second}, func(t *testing.T, p *pacer) {
		g := newGrants()
		g.ask(p, "edit", permit{class: classEdit, chat: "mine", op: callEdit})
		g.after(time.Second)
		for i := range 100 {
			g.ask(p, fmt.Sprint("answer", i), permit{class: classAnswer, chat: fmt.Sprint(i), op: callSend})
		}
		g.after(time.Second)
		g.mu.Lock()
		g.began = time.Now()
		g.mu.Unlock()
		g.ask(p, "stop", permit{class: classStop, chat: "mine", op: callEdit})
		g.after(300 * time.Millisecond)
		if _, ok := g.at["stop"]; !ok {
			t.Errorf("not within 300 ms; %d others were", len(g.order)-1)
		}
	})
}

// BenchmarkPacer requests a permit while 2,000 edits wait for their chats.
func BenchmarkPacer(b *testing.B) {
	p := newPacer(adapters.Capabilities{CallsPerSecond: 1e9, CallBurst: 1 << 30, EditPaceDirect: time.Hour})
	for range 2 {
		for i := range 2000 {
			p.request(&permit{class: classEdit, chat: fmt.Sprint(i), op: callEdit, grant: func() {}})
		}
	}
	p.pass()
	b.ResetTimer()
	for b.Loop() {
		p.request(&permit{class: classAnswer, chat: "1", op: callSend, grant: func() {}})
		p.pass()
	}
}

func TestP11_WaitingPostsHoldUpNoEditWhereEachCallHasItsLimit(t *testing.T) {
	for _, perCall := range []bool{true, false} {
		p := newPacer(adapters.Capabilities{LimitPerCall: perCall})
		p.limited("c", callSend, &adapters.RateLimitError{RetryAfter: time.Minute})
		_, send := p.may(&permit{class: classAnswer, chat: "c", op: callSend}, time.Now())
		_, edit := p.may(&permit{class: classStop, chat: "c", op: callEdit}, time.Now())
		if send || edit != perCall {
			t.Errorf("per call %v: send %v, edit %v", perCall, send, edit)
		}
	}
}
