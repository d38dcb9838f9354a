package turn

import (
	"context"
	"time"

	"typist/agent"
)

// save stores the run's events so far (hop 4). One batch is under way per run, at most four a
// second, fewer under load; what is not merged yet waits in order.
func (r *run) save(now time.Time) {
	if r.saving || len(r.unsaved) == 0 || r.begun == nil || r.begun.err != nil {
		return
	}
	if r.terminal == nil && now.Before(r.saveAt) {
		return
	}
	merged := agent.NewCoalescer()
	for _, ev := range r.unsaved {
		merged.Add(ev)
	}
	batch := merged.Take()
	r.unsaved, r.saving = r.unsaved[:0:0], true
	r.saveAt = now.Add(r.lane.hub.saveInterval())
	hub, chat, id := r.lane.hub, r.lane.chat.Key(), r.id
	hub.go_(func() {
		_, err := hub.events.Append(context.WithoutCancel(hub.callCtx), chat, id, now, batch)
		r.lane.mail.put(saved{run: r, err: err})
	})
}

// saved: a batch of events is stored, or could not be.
type saved struct {
	run *run
	err error
}

func (saved) isLetter() {}

func (s saved) read(l *lane) {
	s.run.saving = false
	if s.err != nil {
		// The run goes on: its answer is worth more than its log (issue "disk full").
		l.log.Error("events of a run could not be stored", "run", s.run.id, "error", s.err)
	}
	if s.run.terminal != nil {
		s.run.land(time.Now())
	}
}
