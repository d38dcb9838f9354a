package turn

import (
	"context"
	"errors"
	"time"

	"typist/adapters"
	"typist/typing"
)

// pulse is an indicator call in flight. It runs beside everything else: a slow or failing one
// delays neither edits nor the answer (T11).
type pulse struct {
	cancel context.CancelFunc
	began  time.Time
}

// sendPulse sends the pulse that is due, if any.
func (r *run) sendPulse(now time.Time) {
	ind, ok := r.lane.chn.adapter.(adapters.Indicator)
	if !ok || !r.ctl.Begin(now) {
		return
	}
	ctx, cancel := context.WithTimeout(r.lane.hub.callCtx, callTimeout)
	p := &pulse{cancel: cancel, began: now}
	r.pulse = p
	r.status = ""
	if r.lane.chn.caps.IndicatorText {
		r.status, r.statusAt = r.board.Status(now), now
	}
	r.began(now)
	chat, what := r.lane.chat, adapters.Indication{Text: r.status, Anchor: r.anchor}
	r.lane.hub.go_(func() {
		err := ind.Pulse(ctx, chat, what)
		cancelled := ctx.Err() == context.Canceled
		cancel()
		r.lane.mail.put(pulseLanded{run: r, pulse: p, err: err, cancelled: cancelled})
	})
}

// pulseLanded: an indicator call came back.
type pulseLanded struct {
	run       *run
	pulse     *pulse
	err       error
	cancelled bool
}

func (pulseLanded) isLetter() {}

func (p pulseLanded) read(l *lane) {
	r, now := p.run, time.Now()
	r.pulse = nil
	result, wait := typing.OK, time.Duration(0)
	var limited *adapters.RateLimitError
	switch {
	case p.err == nil:
	case p.cancelled:
		result = typing.Cancelled
	case errors.As(p.err, &limited):
		result, wait = typing.Limited, limited.RetryAfter
		l.hub.metrics.Limited(l.chat.Channel, limited.RetryAfter)
	case errors.Is(p.err, adapters.ErrDenied):
		result = typing.Denied
		if l.hub.deny(l.chat.Channel, p.err) {
			l.log.Warn("the platform refuses the typing indicator; it stays off for this turn", "error", p.err)
		}
	default:
		result = typing.Failed
	}
	l.hub.metrics.Pulse(l.chat.Channel, result)
	if result == typing.OK {
		l.hub.allow(l.chat.Channel)
		r.coverage.Shown(now)
	}
	r.ctl.Done(now, result, wait)
	if (r.phase == stopping || r.phase >= landing || r.cut) && r.ctl.MayShow(now) {
		r.clear() // it may have been carried out after the clear (T8)
	}
	if r.phase >= landing {
		r.land(now)
		return
	}
	r.sendPulse(now)
}

// endIndicator ends the indicator for good (T8).
func (r *run) endIndicator(now time.Time) {
	ending := r.ctl.End(now)
	if r.pulse != nil {
		r.pulse.cancel()
	}
	if ending.Shown || r.pulse != nil {
		r.clear()
	}
}

// clear takes the indicator away where the platform can (Slack).
func (r *run) clear() {
	c, ok := r.lane.chn.adapter.(adapters.Clearer)
	if !ok {
		return
	}
	r.clearing = true
	chat, anchor := r.lane.chat, r.anchor
	r.lane.hub.go_(func() {
		ctx, cancel := context.WithTimeout(r.lane.hub.callCtx, callTimeout)
		defer cancel()
		var err error
		for try := 1; try <= 3; try++ {
			if err = c.Clear(ctx, chat, anchor); err == nil || !waitFor(ctx, retryDelay(err, try)) {
				break
			}
		}
		r.lane.mail.put(cleared{run: r, err: err})
	})
}

// cleared: the indicator is gone, or could not be taken away.
type cleared struct {
	run *run
	err error
}

func (cleared) isLetter() {}

func (c cleared) read(l *lane) {
	c.run.clearing = false
	if c.err == nil {
		c.run.coverage.Cleared(time.Now())
	}
	if c.err != nil {
		l.log.Warn("the indicator could not be cleared; it lapses by itself", "error", c.err)
	}
	if c.run.phase == landing {
		c.run.land(time.Now())
	}
}

// retryDelay is the wait before another try of a small call.
func retryDelay(err error, try int) time.Duration {
	var limited *adapters.RateLimitError
	if errors.As(err, &limited) {
		return limited.RetryAfter
	}
	return backoff(try)
}

// waitFor sleeps unless ctx ends first.
func waitFor(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
