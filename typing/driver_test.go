package typing

import "time"

var t0 = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// driver plays the lane's part: it sends each pulse when it is due, and the call takes latency.
type driver struct {
	c        Controller
	now      time.Time
	latency  time.Duration
	result   func(n int) (Result, time.Duration) // of the n-th pulse, from 0; nil: OK
	sent     []time.Time
	inFlight bool
	doneAt   time.Time
}

func newDriver(p Params) *driver { return &driver{c: NewController(p), now: t0} }

// run lets d pass.
func (d *driver) run(span time.Duration) {
	until := d.now.Add(span)
	for {
		next, kind := until, 0
		if d.inFlight && d.doneAt.Before(next) {
			next, kind = d.doneAt, 1
		}
		if at, ok := d.c.Due(); ok && at.Before(next) {
			next, kind = at, 2
		}
		if next.After(d.now) {
			d.now = next
		}
		switch kind {
		case 0:
			return
		case 1:
			r, after := OK, time.Duration(0)
			if d.result != nil {
				r, after = d.result(len(d.sent) - 1)
			}
			d.c.Done(d.now, r, after)
			d.inFlight = false
		case 2:
			if d.inFlight || !d.c.Begin(d.now) {
				panic("a due pulse was refused, or overtakes another")
			}
			d.inFlight = true
			d.sent = append(d.sent, d.now)
			d.doneAt = d.now.Add(d.latency)
		}
	}
}

// at are the times of the pulses since t0.
func (d *driver) at() []time.Duration {
	var out []time.Duration
	for _, s := range d.sent {
		out = append(out, s.Sub(t0))
	}
	return out
}
