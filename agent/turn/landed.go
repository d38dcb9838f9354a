package turn

import (
	"errors"
	"time"

	"typist/adapters"
	"typist/adapters/rich"
)

// landed: a call to the platform came back.
type landed struct {
	slot *slot
	call call
}

func (landed) isLetter() {}

func (r landed) read(l *lane) {
	s, c := r.slot, r.call
	s.flying = false
	if c.recordErr != nil {
		l.log.Error("a post's record could not be stored", "error", c.recordErr)
	}
	l.hub.metrics.Call(l.chat.Channel, c.opName(), c.err, time.Since(c.started))
	if c.err == nil {
		s.fails, s.retryAt = 0, time.Time{}
		switch c.op {
		case callSend:
			s.id, s.shown, s.showing = c.id, c.post, true
			l.posted()
			if len(c.unsent) > 0 {
				l.log.Warn("files could not be sent", "files", len(c.unsent), "error", c.refusal)
				l.note(l.words().FileUnsent(c.unsent))
			}
		case callEdit:
			s.shown, s.showing = c.post, true
			if s.live != nil {
				l.hub.metrics.EditLag(l.chat.Channel, time.Since(s.staleAt))
			}
		case callDelete:
			s.id, s.showing = "", false
			s.remove = s.remove && !s.wanted
			s.dead = true
		}
		l.out.push(s)
		return
	}
	var limited *adapters.RateLimitError
	if errors.As(c.err, &limited) {
		l.hub.metrics.Limited(l.chat.Channel, limited.RetryAfter)
		l.chn.pacer.limited(l.chat.ID, c.op, limited)
		l.out.push(s)
		return
	}
	if l.hub.callCtx.Err() != nil {
		l.giveUp(s, c)
		return
	}
	switch c.op {
	case callSend:
		r.sendFailed(l)
	case callEdit:
		r.editFailed(l)
	case callDelete:
		r.deleteFailed(l)
	}
}

func (r landed) sendFailed(l *lane) {
	s, err := r.slot, r.call.err
	switch {
	case errors.Is(err, adapters.ErrNeverSent):
		l.again(s, r.call)
	case unknownOutcome(err):
		if _, ok := r.call.adapter.(adapters.Finder); ok && s.fails < maxTries {
			// The look-up failed as well: ask again later, never post blindly.
			l.findLater(s, r.call)
			return
		}
		// It counts as sent: a second copy is worse than a lost one, and /retry delivers again (S3).
		s.lost, s.showing, s.shown = true, true, r.call.post
		l.log.Warn("the outcome of a post is unknown; it counts as sent", "error", err)
		l.posted()
		l.out.push(s)
	default:
		l.giveUp(s, r.call)
	}
}

func (r landed) editFailed(l *lane) {
	s, err := r.slot, r.call.err
	switch {
	case s.shrunk && !unknownOutcome(err) && !errors.Is(err, adapters.ErrNeverSent):
		l.giveUp(s, r.call) // it is gone, or stays: nothing is posted in its place
	case errors.Is(err, adapters.ErrGone), errors.Is(err, adapters.ErrTooOld):
		// One new message takes its place (P11); one that still stands there goes first.
		if errors.Is(err, adapters.ErrTooOld) {
			l.clean(s.id)
		}
		s.id, s.key, s.showing = "", newID(), false
		l.out.push(s)
	case errors.Is(err, adapters.ErrDenied), errors.Is(err, adapters.ErrInvalid):
		l.giveUp(s, r.call)
	default:
		// It may have landed: the edit is tried again, never posted as a copy (P11).
		l.again(s, r.call)
	}
}

func (r landed) deleteFailed(l *lane) {
	s, err := r.slot, r.call.err
	switch {
	case errors.Is(err, adapters.ErrDenied), errors.Is(err, adapters.ErrInvalid), errors.Is(err, adapters.ErrTooOld):
		// What can't be deleted shrinks to one line, without buttons.
		s.shrunk = true
		s.show(adapters.Post{Doc: rich.Plain("—"), Silent: true})
		l.out.push(s)
	default:
		l.again(s, r.call)
	}
}

// again tries the slot's call later, with backoff.
func (l *lane) again(s *slot, c call) {
	s.fails++
	if s.fails >= maxTries && s.live == nil && !errors.Is(c.err, adapters.ErrNeverSent) {
		l.giveUp(s, c)
		return
	}
	s.retryAt = time.Now().Add(backoff(s.fails))
	l.out.push(s)
}

// giveUp ends the tries for a message.
func (l *lane) giveUp(s *slot, c call) {
	s.dead = true
	if c.op == callEdit {
		l.hub.metrics.EditDropped(l.chat.Channel)
	}
	l.log.Warn("a message could not be delivered", "op", c.opName(), "error", c.err)
	l.out.settle(s, c.err)
}

// findLater repeats only the look-up.
func (l *lane) findLater(s *slot, c call) {
	s.fails++
	s.flying = true
	wait := backoff(s.fails)
	l.hub.go_(func() {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-l.hub.callCtx.Done():
		}
		ref, err := find(l.hub.callCtx, c.adapter.(adapters.Finder), c.chat, c.post.Key, c.started)
		c.id, c.err = ref.ID, err
		if err == nil && c.durable != nil {
			c.recordErr = c.durable.sent(l.hub.callCtx, c.post.Key, ref.ID)
		}
		l.mail.put(landed{slot: s, call: c})
	})
}

// clean deletes a message that nothing stands for any more, as far as the platform lets us.
func (l *lane) clean(id string) {
	if id == "" {
		return
	}
	s := &slot{id: id, class: classFirst}
	s.drop()
	l.out.push(s)
}

func (c *call) opName() string {
	switch c.op {
	case callEdit:
		return "edit"
	case callDelete:
		return "delete"
	case callSend:
	}
	return "send"
}
