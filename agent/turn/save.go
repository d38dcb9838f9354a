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
	if r.terminal == nil && len(r.flushes) == 0 && now.Before(r.saveAt) {
		return
	}
	merged := agent.NewCoalescer()
	for _, ev := range r.unsaved {
		merged.Add(ev)
	}
	batch := merged.Take()
	r.unsaved, r.saving = r.unsaved[:0:0], true
	flushes := r.flushes
	r.flushes = nil
	r.saveAt = now.Add(r.lane.hub.saveInterval())
	hub, chat, id := r.lane.hub, r.lane.chat.Key(), r.id
	hub.go_(func() {
		_, err := hub.events.Append(context.WithoutCancel(hub.callCtx), chat, id, now, batch)
		for _, done := range flushes {
			close(done)
		}
		r.lane.mail.put(saved{run: r, err: err})
	})
}

// flush returns when all that the run has emitted so far is stored. The guard needs it: a call
// that is executed has to be in the history of the run that goes on after a crash (S4, S5).
func (r *run) flush(ctx context.Context) {
	f := flushAsked{run: r, done: make(chan struct{})}
	if !r.lane.mail.put(f) {
		return
	}
	select {
	case <-f.done:
	case <-ctx.Done():
	case <-r.lane.hub.callCtx.Done():
	}
}

// flushAsked: a tool call is about to be executed.
type flushAsked struct {
	run  *run
	done chan struct{}
}

func (flushAsked) isLetter() {}

func (f flushAsked) read(*lane) {
	r, now := f.run, time.Now()
	r.drain(now)
	if len(r.unsaved) == 0 && !r.saving || r.terminal != nil {
		close(f.done)
		return
	}
	r.flushes = append(r.flushes, f.done)
	r.save(now)
}

// saved: a batch of events is stored, or could not be.
type saved struct {
	run *run
	err error
}

func (saved) isLetter() {}

func (s saved) read(l *lane) {
	s.run.saving = false
	if len(s.run.flushes) > 0 {
		if len(s.run.unsaved) == 0 {
			for _, done := range s.run.flushes {
				close(done)
			}
			s.run.flushes = nil
		}
		s.run.save(time.Now())
	}
	if s.err != nil {
		// The run goes on: its answer is worth more than its log (issue "disk full").
		l.log.Error("events of a run could not be stored", "run", s.run.id, "error", s.err)
	}
	if s.run.terminal != nil {
		s.run.land(time.Now())
	}
}
