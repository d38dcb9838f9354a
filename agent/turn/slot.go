package turn

import (
	"context"
	"errors"
	"reflect"
	"time"

	"typist/adapters"
	"typist/adapters/rich"
)

// slot is one message of the bot that is kept at its newest wanted state: at most one call in
// flight, the newest state wins, an unchanged rendering is not sent, the last state always is (P11).
// Only the lane's goroutine touches it, except for what a call is given.
type slot struct {
	key   string // Post.Key of the message while it has no id
	id    string // the platform's id; "" until it was sent
	class class
	note  bool // it says something that is worth saying once

	want   adapters.Post
	wanted bool // there is a state to show
	// live renders the newest state when a call may leave, so that nothing is rendered that
	// nobody will see; stale says that it may differ from what stands, ticked that its clock is to
	// go on. nil: want is the state.
	live    func(now time.Time) adapters.Post
	stale   bool
	ticked  bool
	liveAt  time.Time // of the newest rendering
	staleAt time.Time
	remove  bool // it shall be deleted instead
	shrunk  bool // it could not be deleted, so it shrinks to one line
	shown   adapters.Post
	showing bool // shown is what stands there

	permit  *permit
	flying  bool
	held    bool // must not begin a call yet (an answer's pulse wait, a part after an unsent one)
	fails   int
	retryAt time.Time
	lost    bool // sent, but its id will never be known (P11)
	dead    bool // given up: nothing more is tried

	durable durable // nil: nobody needs it after a crash
	// settled is told, on the lane's goroutine, when nothing is left to do; err says why it was
	// given up. It is called once per change of the wanted state.
	settled func(err error)
}

// durable records a message's fate around a send, on the call's goroutine (S3): sending is stored
// before the call leaves, sent before anyone relies on the id.
type durable interface {
	sending(ctx context.Context, key string) error
	sent(ctx context.Context, key, id string) error
	// unsent takes the record of sending back: the call surely was not carried out.
	unsent(ctx context.Context, key string) error
}

// show sets the newest wanted state.
func (s *slot) show(post adapters.Post) {
	s.want, s.wanted, s.remove, s.live = post, true, false, nil
	s.revive()
}

// drop wants the message deleted, or never sent.
func (s *slot) drop() {
	s.remove, s.wanted, s.live = true, false, nil
	s.revive()
}

// revive lets the slot try again: that one state was refused says nothing of another.
func (s *slot) revive() { s.dead, s.fails, s.retryAt = false, 0, time.Time{} }

// next says which call is due, if any.
func (s *slot) next() (callOp, bool) {
	switch {
	case s.dead || s.lost:
		return 0, false
	case s.remove:
		return callDelete, s.id != ""
	case s.live != nil && s.stale && s.id != "":
		return callEdit, true
	case s.live != nil && s.stale:
		return callSend, true
	case !s.wanted:
		return 0, false
	case s.id == "":
		return callSend, true
	case !s.showing || !samePost(s.want, s.shown):
		return callEdit, true
	}
	return 0, false
}

// render renders the newest state. false: it is not worth a call, since nothing has changed but the
// clock, which goes on by ticks (P6).
func (s *slot) render(now time.Time) bool {
	s.stale = false
	if s.showing && !s.ticked && samePost(s.live(s.liveAt), s.shown) {
		return false
	}
	s.want, s.wanted, s.ticked, s.liveAt = s.live(now), true, false, now
	return !s.showing || !samePost(s.want, s.shown)
}

// samePost compares what an edit can change.
func samePost(a, b adapters.Post) bool {
	return rich.Equal(a.Doc, b.Doc) && reflect.DeepEqual(a.Buttons, b.Buttons)
}

// backoff is the wait before try n (1, 2, …) after a failure that may pass.
func backoff(n int) time.Duration {
	return min(time.Second<<min(n-1, 5), 30*time.Second)
}

// maxTries bounds how often a call with an unknown outcome is tried: with backoff about five minutes.
// What surely never left is tried until it does.
const maxTries = 14

// callTimeout bounds one call to a platform; uploads get uploadTimeout.
const (
	callTimeout   = 30 * time.Second
	uploadTimeout = 3 * time.Minute
)

// outbox keeps a chat's messages at their wanted state. It belongs to the lane.
type outbox struct {
	lane  *lane
	slots map[*slot]struct{} // those with something to do
}

// push makes the slot's next call happen as soon as it may.
func (o *outbox) push(s *slot) {
	op, due := s.next()
	if !due {
		o.settle(s, nil)
		return
	}
	o.slots[s] = struct{}{}
	if s.flying || s.held {
		return
	}
	if s.retryAt.After(time.Now()) {
		return // the lane's timer comes back
	}
	if s.permit != nil {
		if s.permit.op == op && s.permit.class <= s.class {
			return
		}
		o.lane.chn.pacer.withdraw(s.permit)
	}
	if r := o.lane.run; r != nil && r.admitted && r.phase == delivering && s.class == classAnswer && op != callDelete {
		r.admitted = false
		s.permit = r.ticket
		o.lane.mail.put(granted{slot: s, permit: s.permit})
		return
	}
	var p *permit
	p = &permit{class: s.class, chat: o.lane.chat.ID, group: o.lane.kind == adapters.Group, op: op,
		grant: func() { o.lane.mail.put(granted{slot: s, permit: p}) }}
	s.permit = p
	o.lane.chn.pacer.request(p)
}

func (o *outbox) settle(s *slot, err error) {
	if s.flying {
		return
	}
	delete(o.slots, s)
	if s.permit != nil {
		o.lane.chn.pacer.withdraw(s.permit)
		s.permit = nil
	}
	if f := s.settled; f != nil {
		s.settled = nil
		f(err)
	}
}

// granted: the budget allows the slot's call.
type granted struct {
	slot   *slot
	permit *permit
}

func (granted) isLetter() {}

func (g granted) read(l *lane) {
	s := g.slot
	if s.permit != g.permit {
		return
	}
	s.permit = nil
	op, due := s.next()
	if !due || s.flying || s.held {
		l.out.push(s)
		return
	}
	if s.live != nil && op != callDelete && !s.render(time.Now()) {
		l.out.push(s)
		return
	}
	s.flying = true
	if op == callSend && s.key == "" {
		s.key = newID()
	}
	post := s.want
	post.Key = s.key
	call := call{adapter: l.chn.adapter, chat: l.chat, op: op, id: s.id, post: post, durable: s.durable, started: time.Now(), maxUpload: l.chn.caps.MaxUploadBytes}
	l.hub.go_(func() {
		call.do(l.hub.callCtx)
		l.mail.put(landed{slot: s, call: call})
	})
}

// call is one call to the platform.
type call struct {
	adapter adapters.Adapter
	chat    adapters.Chat
	op      callOp
	id      string
	post    adapters.Post
	durable durable
	started time.Time
	err     error
	// unsent are the post's files that did not go out; refusal is why the platform refused them.
	maxUpload int64
	unsent    []string
	refusal   error
	// recordErr: the store did not take the record of a send.
	recordErr error
}

func (c *call) do(ctx context.Context) {
	limit := callTimeout
	if len(c.post.Files) > 0 {
		limit = uploadTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ref := adapters.Ref{Chat: c.chat, ID: c.id}
	switch c.op {
	case callSend:
		c.send(ctx)
	case callEdit:
		if e, ok := c.adapter.(adapters.Editor); ok {
			c.err = e.Edit(ctx, ref, c.post)
		} else {
			c.err = adapters.ErrTooOld
		}
	case callDelete:
		if d, ok := c.adapter.(adapters.Deleter); ok {
			c.err = d.Delete(ctx, ref)
		} else {
			c.err = adapters.ErrTooOld
		}
		if errors.Is(c.err, adapters.ErrGone) {
			c.err = nil
		}
	}
}

// send posts, and where the outcome is unknown asks the platform whether it was carried out (S3).
func (c *call) send(ctx context.Context) {
	if c.durable != nil {
		// With a full disk the answer still goes out: it is worth more than its record.
		c.recordErr = c.durable.sending(ctx, c.post.Key)
	}
	ref, err := c.upload(ctx)
	if err != nil && unknownOutcome(err) {
		if f, ok := c.adapter.(adapters.Finder); ok {
			ref, err = find(ctx, f, c.chat, c.post.Key, c.started)
		}
	}
	c.id, c.err = ref.ID, err
	if c.durable == nil {
		return
	}
	durable := context.WithoutCancel(ctx)
	switch {
	case err == nil:
		c.recordErr = errors.Join(c.recordErr, c.durable.sent(durable, c.post.Key, ref.ID))
	case !unknownOutcome(err):
		c.recordErr = errors.Join(c.recordErr, c.durable.unsent(durable, c.post.Key))
	}
}

// find looks a post up by its key: found, surely not sent, or still unknown.
func find(ctx context.Context, f adapters.Finder, chat adapters.Chat, key string, since time.Time) (adapters.Ref, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	ref, found, err := f.Find(ctx, chat, key, since.Add(-time.Minute))
	switch {
	case err != nil:
		return adapters.Ref{}, errors.Join(adapters.ErrUnknownOutcome, err)
	case !found:
		return adapters.Ref{}, adapters.ErrNeverSent
	}
	return ref, nil
}

// unknownOutcome: neither surely done nor surely not done.
func unknownOutcome(err error) bool {
	var limited *adapters.RateLimitError
	for _, known := range []error{adapters.ErrNeverSent, adapters.ErrGone, adapters.ErrTooOld, adapters.ErrDenied, adapters.ErrInvalid} {
		if errors.Is(err, known) {
			return false
		}
	}
	return !errors.As(err, &limited)
}
