package metrics

import (
	"time"

	"typist/typing"
)

// Pulse counts an indicator call by its result.
func (m *Metrics) Pulse(channel string, result typing.Result) {
	if m != nil {
		m.pulses.WithLabelValues(channel, pulseResult(result)).Inc()
	}
}

func pulseResult(r typing.Result) string {
	switch r {
	case typing.OK:
		return "ok"
	case typing.Limited:
		return "limited"
	case typing.Denied:
		return "denied"
	case typing.Cancelled:
		return "cancelled"
	case typing.Failed:
	}
	return "failed"
}

// FirstPulse measures the time from a received message to the first pulse of its turn.
func (m *Metrics) FirstPulse(channel string, took time.Duration) {
	if m != nil {
		m.firstPulse.WithLabelValues(channel).Observe(max(took, 0).Seconds())
	}
}

// IndicatorStarted counts an indicator in.
func (m *Metrics) IndicatorStarted(channel string) {
	if m != nil {
		m.active.WithLabelValues(channel).Inc()
	}
}

// IndicatorEnded counts an indicator out. Required is how long it had to show, covered how much of
// that it did, ghost how long it may have shown after the answer stood (T8), as far as the bot
// can know: from the calls that came back and the platform's life of a pulse.
func (m *Metrics) IndicatorEnded(channel string, required, covered, ghost time.Duration) {
	if m == nil {
		return
	}
	m.active.WithLabelValues(channel).Dec()
	m.required.WithLabelValues(channel).Add(max(required, 0).Seconds())
	m.covered.WithLabelValues(channel).Add(max(covered, 0).Seconds())
	m.ghost.WithLabelValues(channel).Add(max(ghost, 0).Seconds())
}

// Coverage follows one indicator and knows how long it showed. It is a plain value; times must
// not go back. Life is how long a pulse shows.
type Coverage struct {
	life     time.Duration
	from     time.Time // the indicator has to show since; zero: it does not
	until    time.Time // the last pulse shows until; zero: none shows
	counted  time.Time // covered counts up to here
	required time.Duration
	covered  time.Duration
	ghost    time.Duration
	answered time.Time
}

// NewCoverage makes a Coverage for a platform whose pulses show for life.
func NewCoverage(life time.Duration) Coverage { return Coverage{life: life} }

// Start says that the indicator has to show from now on.
func (c *Coverage) Start(now time.Time) {
	if c.from.IsZero() {
		c.from, c.counted = now, now
	}
}

// Shown says that a pulse was carried out.
func (c *Coverage) Shown(now time.Time) {
	c.count(now)
	c.until = now.Add(c.life)
	if !c.answered.IsZero() {
		c.ghost += c.life
	}
}

// Cleared says that nothing shows any more: the bot posted a message, or cleared it.
func (c *Coverage) Cleared(now time.Time) {
	c.count(now)
	if !c.answered.IsZero() && now.Before(c.until) {
		c.ghost -= c.until.Sub(now)
	}
	c.until = time.Time{}
}

// Pause says that the indicator does not have to show for now (T12); Start goes on.
func (c *Coverage) Pause(now time.Time) {
	c.count(now)
	if !c.from.IsZero() {
		c.required += now.Sub(c.from)
		c.from = time.Time{}
	}
}

// Answered says that the answer stands: what shows from now on is a ghost.
func (c *Coverage) Answered(now time.Time) {
	c.Pause(now)
	if c.answered.IsZero() {
		c.answered = now
		if now.Before(c.until) {
			c.ghost += c.until.Sub(now)
		}
	}
}

// Totals are what IndicatorEnded wants.
func (c *Coverage) Totals() (required, covered, ghost time.Duration) {
	return c.required, min(c.covered, c.required), max(c.ghost, 0)
}

// count adds the time since the last count during which a pulse showed.
func (c *Coverage) count(now time.Time) {
	if c.from.IsZero() {
		return
	}
	end := now
	if c.until.Before(end) {
		end = c.until
	}
	if end.After(c.counted) {
		c.covered += end.Sub(c.counted)
	}
	c.counted = now
}
