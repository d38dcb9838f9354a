package typing

import "time"

// maxFailures in a row end the indicator for the turn (T11).
const maxFailures = 5

// firstBackoff is the wait after the first failure; it doubles with each further one (T11).
const firstBackoff = time.Second

// Params are what a turn's controller is made of.
type Params struct {
	Mode      Mode
	Heartbeat bool          // starts with the loop whatever Mode but Never (T4)
	Interval  time.Duration // wanted time between pulses; 0 = DefaultInterval
	Life      time.Duration // how long a pulse shows on the platform; 0 = it has no indicator
	Max       time.Duration // typingMaxSeconds, counted from the indicator's start; 0 = none (T13)
}

// Result is how a pulse's call ended.
type Result uint8

// The results (T11).
const (
	OK        Result = iota
	Limited          // 429: refused, wait retry-after
	Denied           // 401, 403: refused, never again in this turn
	Failed           // anything else; it may have landed nevertheless
	Cancelled        // the caller cancelled it; it may have landed nevertheless
)

// Ending is what is left to do about the indicator when a turn has ended (T8).
type Ending struct {
	InFlight bool // cancel the pulse in flight, and report it by Done when it is back
	Shown    bool // a pulse may still show: clear it where the platform can
}

// Controller is one turn's indicator (T9). It is a plain value that shares nothing, is owned by one
// goroutine, and allocates nothing. The owner reports what happens, asks Due when the next pulse
// wants to go out, and frames each with Begin and Done.
type Controller struct {
	mode      Mode
	heartbeat bool
	life      time.Duration
	period    time.Duration
	max       time.Duration

	started, ended, gaveUp, paused bool
	inFlight                       bool
	again                          bool // something happened in flight that wants another pulse at once
	failures                       int  // in a row

	startedAt time.Time
	sentAt    time.Time // Begin of the last pulse
	next      time.Time // when the next pulse is wanted …
	notBefore time.Time // … and until when the platform told us to wait, or backoff does
	showUntil time.Time // a pulse that is back may show until then; zero: none does
}

// NewController makes the controller of one turn.
func NewController(p Params) Controller {
	return Controller{
		mode:      p.Mode,
		heartbeat: p.Heartbeat,
		life:      p.Life,
		period:    Period(p.Interval, p.Life),
		max:       p.Max,
	}
}

// Signal reports a signal of T1. The first one that the mode waits for starts the indicator, with
// a pulse at once. After End nothing does (T8).
func (c *Controller) Signal(now time.Time, s Signal) {
	if c.started || c.ended || c.life <= 0 || !c.startedBy(s) {
		return
	}
	c.started = true
	c.startedAt = now
	c.next = now
}

func (c *Controller) startedBy(s Signal) bool {
	if c.heartbeat && c.mode != Never {
		return true
	}
	return c.mode.starts(s)
}

// Due says when the next pulse wants to go out; a time that has passed means now. !ok: none is
// wanted as things stand, or one is in flight (T11: a slow call is never overtaken).
func (c *Controller) Due() (at time.Time, ok bool) {
	if !c.Active() || c.paused || c.inFlight {
		return time.Time{}, false
	}
	at = c.next
	if at.Before(c.notBefore) {
		at = c.notBefore
	}
	if cut, has := c.CutAt(); has && !at.Before(cut) {
		return time.Time{}, false
	}
	return at, true
}

// Begin takes the pulse that is due. True: the caller sends it now, and reports its end by Done.
func (c *Controller) Begin(now time.Time) bool {
	at, ok := c.Due()
	if !ok || now.Before(at) {
		return false
	}
	if cut, has := c.CutAt(); has && !now.Before(cut) {
		return false
	}
	c.inFlight = true
	c.again = false
	c.sentAt = now
	return true
}

// Done reports how the pulse in flight ended (T11). retryAfter is what a Limited call was told to
// wait; with Failed it lengthens the backoff. It is meant to be called after End too: what a pulse
// that came back late left behind is in MayShow then.
func (c *Controller) Done(now time.Time, r Result, retryAfter time.Duration) {
	if !c.inFlight {
		return
	}
	c.inFlight = false
	switch r {
	case OK:
		c.failures = 0
		c.landed(now)
		// Counted from the sending: the platform's clock may have started then.
		c.next = c.sentAt.Add(c.period)
	case Limited:
		if retryAfter <= 0 {
			retryAfter = firstBackoff
		}
		c.wait(now, retryAfter)
	case Denied:
		c.gaveUp = true
	case Failed:
		c.landed(now)
		c.failures++
		if c.failures >= maxFailures {
			c.gaveUp = true
			return
		}
		c.wait(now, max(retryAfter, firstBackoff<<(c.failures-1)))
	case Cancelled:
		c.landed(now)
		c.next = now.Add(min(c.period, firstBackoff))
	}
	if c.again {
		c.next = now
	}
}

// landed notes that the call that is back now may be showing. The platform may have carried it out
// at any time until now, so its life counts from here.
func (c *Controller) landed(now time.Time) { c.showUntil = now.Add(c.life) }

// wait holds every pulse back for d.
func (c *Controller) wait(now time.Time, d time.Duration) {
	c.notBefore = now.Add(d)
	c.next = c.notBefore
}

// Posted reports that a message of the bot's own stands in the chat, or that the indicator was
// cleared explicitly: whatever showed is gone, and the next pulse is due at once (T7), though not
// while paused or told to wait. A pulse in flight may land after the post, so it still counts.
func (c *Controller) Posted(now time.Time) {
	c.showUntil = time.Time{}
	c.hasten(now)
}

// Changed reports that the indicator's text is another one now: it is sent at once (T6).
func (c *Controller) Changed(now time.Time) { c.hasten(now) }

// hasten makes the next pulse due now, or as soon as the one in flight is back.
func (c *Controller) hasten(now time.Time) {
	if !c.started {
		return
	}
	c.again = true
	c.next = now
}

// Pause holds the pulses while all the run does is wait for a person (T12).
func (c *Controller) Pause(time.Time) { c.paused = true }

// Resume ends a Pause, with a pulse at once.
func (c *Controller) Resume(now time.Time) {
	if !c.paused {
		return
	}
	c.paused = false
	c.hasten(now)
}

// End ends the indicator for good (T8), on every outcome of the turn. Calling it again changes
// nothing and says what is left then.
func (c *Controller) End(now time.Time) Ending {
	c.ended = true
	return Ending{InFlight: c.inFlight, Shown: c.MayShow(now)}
}

// Active reports whether the indicator has started and has neither ended nor been given up. A
// Pause leaves it active.
func (c *Controller) Active() bool { return c.started && !c.ended && !c.gaveUp }

// GaveUp reports whether the turn gave the indicator up (T11): it was denied, or failed five times
// in a row.
func (c *Controller) GaveUp() bool { return c.gaveUp }

// MayShow reports whether a person could still see the indicator (P12): a pulse is in flight, or
// one has come back within its life and no post has cleared it since. Valid after End too.
func (c *Controller) MayShow(now time.Time) bool {
	return c.inFlight || now.Before(c.showUntil)
}

// CutAt is when typingMaxSeconds cuts the indicator (T13); no pulse goes out from then on, and
// where the platform can clear it the caller should. !ok: it never does, or has not started.
func (c *Controller) CutAt() (at time.Time, ok bool) {
	if c.max <= 0 || !c.started {
		return time.Time{}, false
	}
	return c.startedAt.Add(c.max), true
}
