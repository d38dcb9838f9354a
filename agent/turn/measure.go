package turn

import (
	"time"

	"typist/agent/metrics"
)

// coverage follows a run's indicator for the metrics (O2): how much of the time in which it had to
// show it did, and how long it may have shown beside the answer.
type coverage struct {
	metrics.Coverage
	counted bool
}

// began: a pulse leaves; the first one makes the indicator count.
func (r *run) began(now time.Time) {
	if r.pulsed {
		return
	}
	r.pulsed = true
	r.coverage.Coverage = metrics.NewCoverage(r.lane.chn.caps.IndicatorLife)
	r.coverage.counted = true
	r.coverage.Start(now)
	r.lane.hub.metrics.IndicatorStarted(r.lane.chat.Channel)
	r.lane.hub.metrics.FirstPulse(r.lane.chat.Channel, now.Sub(r.in.accepted()))
}

// answered: what people read of the run stands.
func (r *run) answered(now time.Time) {
	if r.coverage.counted {
		r.coverage.Answered(now)
	}
}

// measured hands the totals over, once.
func (r *run) measured() {
	if !r.coverage.counted {
		return
	}
	r.coverage.counted = false
	required, covered, ghost := r.coverage.Totals()
	r.lane.hub.metrics.IndicatorEnded(r.lane.chat.Channel, required, covered, ghost)
}

// touch says that a slot's state has changed; one that was not sent yet is merged with it.
func (s *slot) touch(l *lane) {
	if s.stale && s.id != "" {
		l.hub.metrics.EditCoalesced(l.chat.Channel)
	}
	if !s.stale {
		s.staleAt = time.Now()
	}
	s.stale = true
}
