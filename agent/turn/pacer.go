package turn

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"typist/adapters"
)

// class orders what wants to leave for a platform when its budget is short (P11): stops before
// answers before first posts before notes before edits.
type class uint8

const (
	classStop   class = iota // stop acknowledgements: they show at once, also before a crowd of answers (S2)
	classAnswer              // answers, questions
	classFirst               // first posts of progress messages; clean-up after an answer
	classNote                // notes, answers to commands: a flood of them holds no answer up
	classEdit                // edits
	classes
)

// callOp says which pace of the chat a call counts against.
type callOp uint8

const (
	callSend callOp = iota
	callEdit
	callDelete // only the budget of the token
)

// pacer keeps one platform token below the platform's limits (P11, PLATFORMS "Pace of edits"):
// one budget shared by all chats, a pace per chat, and the waits that the platform told. It is
// fair: within a class first come, first served, and a chat that has to wait holds up no other.
type pacer struct {
	caps  adapters.Capabilities
	calls *rate.Limiter // nil: no bound
	edits *rate.Limiter

	mu      sync.Mutex
	seq     uint64
	ready   [classes]permits // wait for the budget of the token alone
	parked  permits          // wait for their chat
	chats   map[string]*pace
	tidied  time.Time // chats was last looked through
	blocked time.Time // the whole token, told by the platform
	wake    chan struct{}
}

// pace is what one chat has used.
type pace struct {
	blocked  [callDelete + 1]time.Time // retry-after, by call
	nextEdit time.Time
	posts    time.Time // theoretical arrival time of the next post at the sustained pace
}

func newPacer(caps adapters.Capabilities) *pacer {
	p := &pacer{caps: caps, chats: map[string]*pace{}, wake: make(chan struct{}, 1)}
	p.parked.less = func(a, b *permit) bool { return a.at.Before(b.at) }
	for cl := range p.ready {
		p.ready[cl].less = func(a, b *permit) bool { return a.seq < b.seq }
	}
	if caps.CallsPerSecond > 0 {
		p.calls = rate.NewLimiter(rate.Limit(caps.CallsPerSecond), max(1, caps.CallBurst))
	}
	if caps.EditsPerMinute > 0 {
		p.edits = rate.NewLimiter(rate.Limit(caps.EditsPerMinute/60), max(1, int(caps.EditsPerMinute/6)))
	}
	return p
}

// request queues a permit.
func (p *pacer) request(r *permit) {
	p.mu.Lock()
	p.seq++
	r.seq = p.seq
	heap.Push(&p.ready[r.class], r)
	p.mu.Unlock()
	p.poke()
}

// withdraw takes a permit back that has not been granted.
func (p *pacer) withdraw(r *permit) {
	p.mu.Lock()
	r.gone = true
	p.mu.Unlock()
}

// limited records a 429: exactly that wait, for that chat or for the whole token (P11).
func (p *pacer) limited(chat string, op callOp, e *adapters.RateLimitError) {
	p.mu.Lock()
	until := time.Now().Add(e.RetryAfter)
	if e.Global {
		if until.After(p.blocked) {
			p.blocked = until
		}
	} else {
		c := p.chat(chat)
		for i := range c.blocked {
			// Where each call has a limit of its own, posts that wait hold up no edit: a stop shows.
			if (callOp(i) == op || !p.caps.LimitPerCall) && until.After(c.blocked[i]) {
				c.blocked[i] = until
			}
		}
	}
	p.mu.Unlock()
}

// backlog is about how long an answer to the chat would wait now.
func (p *pacer) backlog(chat string, group bool, op callOp) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	until := p.blocked
	if c := p.chats[chat]; c != nil {
		if c.blocked[op].After(until) {
			until = c.blocked[op]
		}
		if ready := p.mayPost(c, group); op == callSend && ready.After(until) {
			until = ready
		}
	}
	wait := until.Sub(now)
	if p.calls != nil {
		missing := float64(p.ready[classAnswer].Len()+1) - p.calls.TokensAt(now)
		wait = max(wait, time.Duration(missing/float64(p.calls.Limit())*float64(time.Second)))
	}
	return max(wait, 0)
}

// mayPost is from when on the chat's pace allows a new message.
func (p *pacer) mayPost(c *pace, group bool) time.Time {
	every := p.caps.PostPaceDirect
	if group {
		every = p.caps.PostPaceGroup
	}
	return c.posts.Add(-time.Duration(max(0, p.caps.PostBurst-1)) * every)
}

func (p *pacer) chat(id string) *pace {
	c := p.chats[id]
	if c == nil {
		c = &pace{}
		p.chats[id] = c
	}
	return c
}

func (p *pacer) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run grants permits until ctx ends.
func (p *pacer) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait := p.pass()
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-timer.C:
		}
	}
}

// pass grants all that may go now and returns how long until something else might. It looks only
// at what may have become possible: a request costs the same however many others wait.
func (p *pacer) pass() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.blocked.After(now) {
		return p.blocked.Sub(now)
	}
	for p.parked.Len() > 0 && !p.parked.list[0].at.After(now) {
		r := p.parked.pop()
		heap.Push(&p.ready[r.class], r)
	}
	next := p.grant(now)
	if p.parked.Len() > 0 && p.parked.list[0].at.Before(next) {
		next = p.parked.list[0].at
	}
	p.forget(now)
	return max(next.Sub(now), time.Millisecond)
}

// grant grants what is ready, the more urgent classes first, as long as the token's budget lasts,
// and says when that has something again.
func (p *pacer) grant(now time.Time) time.Time {
	for cl := range p.ready {
		for queue := &p.ready[cl]; queue.Len() > 0; {
			r := queue.list[0]
			if !r.gone && p.calls != nil && p.calls.TokensAt(now) < 1 {
				return now.Add(untilToken(p.calls, now)) // nobody else of this class or a lower one can go
			}
			queue.pop()
			if r.gone {
				continue
			}
			at, ok := p.may(r, now)
			if ok {
				r.grant()
				continue
			}
			r.at = at
			heap.Push(&p.parked, r)
		}
	}
	return now.Add(time.Minute)
}

// may takes what r needs from the budgets, or says when to look again. The budget of the token
// has something left.
func (p *pacer) may(r *permit, now time.Time) (time.Time, bool) {
	c := p.chat(r.chat)
	if c.blocked[r.op].After(now) {
		return c.blocked[r.op], false
	}
	// A stop must show at once, and beside an answer nothing may look as if it still ran: only the
	// edits of a run in work are held to the pace of edits, the others to the budget of the token.
	if r.op == callEdit && r.class > classFirst && c.nextEdit.After(now) {
		return c.nextEdit, false
	}
	postPace := p.caps.PostPaceDirect
	editPace := p.caps.EditPaceDirect
	if r.group {
		postPace, editPace = p.caps.PostPaceGroup, p.caps.EditPaceGroup
	}
	if r.op == callSend {
		if ready := p.mayPost(c, r.group); ready.After(now) {
			return ready, false
		}
	}
	if r.op == callEdit && r.class > classAnswer && p.edits != nil && p.edits.TokensAt(now) < 1 {
		return now.Add(untilToken(p.edits, now)), false
	}
	if p.calls != nil {
		p.calls.AllowN(now, 1)
	}
	switch r.op {
	case callEdit:
		if p.edits != nil {
			p.edits.AllowN(now, 1)
		}
		c.nextEdit = now.Add(editPace)
	case callSend:
		if c.posts.Before(now) {
			c.posts = now
		}
		c.posts = c.posts.Add(postPace)
	case callDelete:
	}
	return time.Time{}, true
}

func untilToken(l *rate.Limiter, now time.Time) time.Duration {
	missing := 1 - l.TokensAt(now)
	return time.Duration(missing/float64(l.Limit())*float64(time.Second)) + time.Millisecond
}

// forget drops chats that have nothing left to wait for, once there are many.
func (p *pacer) forget(now time.Time) {
	if len(p.chats) < 1024 || now.Sub(p.tidied) < forgetEvery {
		return
	}
	p.tidied = now
	for id, c := range p.chats {
		if c.blocked[callSend].Before(now) && c.blocked[callEdit].Before(now) && c.blocked[callDelete].Before(now) && c.nextEdit.Before(now) && c.posts.Before(now) {
			delete(p.chats, id)
		}
	}
}

// forgetEvery bounds how often all chats are looked through.
const forgetEvery = 10 * time.Second
