package turn

import (
	"context"
	"errors"
	"time"

	"typist/adapters"
	"typist/agent"
	"typist/agent/progress"
	"typist/agent/store"
)

// errStopped is the cause with which a person's stop ends a run.
var errStopped = errors.New("stopped by a person")

// stop ends the run: the chat shows it at once, the backend really ends (S2).
func (r *run) stop(now time.Time) {
	if r.phase != running {
		return
	}
	r.phase, r.ackStop = stopping, now
	r.endIndicator(now)
	r.board.Note(progress.NoteStopping)
	r.closeApprovals()
	if r.progress != nil {
		r.progress.stale = true
	}
	r.showProgress(now)
	r.cancel(errStopped)
}

// supersede ends a run that another input replaces (queue interrupt, an edited message): nothing
// is left of it in the chat.
func (r *run) supersede() {
	if r.phase != running {
		return
	}
	r.superseded = true
	r.phase, r.ackStop = stopping, time.Now()
	r.endIndicator(r.ackStop)
	r.closeApprovals()
	r.cancel(errStopped)
}

// contextOver: a run's context has ended, by a stop, its timeout or the shutdown.
type contextOver struct {
	run   *run
	cause error
}

func (contextOver) isLetter() {}

func (c contextOver) read(*lane) {
	r := c.run
	if r.phase > stopping || r.terminal != nil {
		return
	}
	r.cause, r.deadline = c.cause, time.Now().Add(stopDeadline)
	if errors.Is(c.cause, agent.ErrInterrupted) {
		r.deadline = time.Now().Add(shutdownDeadline)
	}
}

// abandon gives up waiting for a backend that does not end (S2: deadline 5 s). Backends kill what
// they started by themselves; this only frees the chat.
func (r *run) abandon(now time.Time) {
	r.lane.log.Error("the backend did not end in time after its context; it is cut off", "run", r.id, "backend", r.agent.Backend, "cause", r.cause)
	r.feed.abandon()
	if r.begun == nil {
		r.lane.hub.metrics.RunStarted(r.lane.chat.Channel)
		r.begun = &begun{}
	}
	var end agent.Event = agent.RunFinished{RunID: r.id, Outcome: agent.Cancelled}
	switch {
	case errors.Is(r.cause, agent.ErrInterrupted):
		end = agent.RunFinished{RunID: r.id, Outcome: agent.Interrupt}
	case errors.Is(r.cause, context.DeadlineExceeded):
		end = agent.RunError{RunID: r.id, Failure: agent.Failure{Kind: agent.TimedOut}}
	}
	r.handle(end, now)
}

// stopAsked: the platform's own stop control was used, at that time; zero: the platform has not said.
type stopAsked struct{ at time.Time }

func (stopAsked) isLetter() {}

func (s stopAsked) read(l *lane) {
	// It names no run. One that comes late is for the run before; some platforms tell whole seconds.
	if r := l.run; r != nil && (s.at.IsZero() || !s.at.Before(r.started.Truncate(time.Second))) {
		r.stop(time.Now())
	}
}

// stopAll is /stop and the stop words: the run ends, and what waits is dropped (S2). It returns
// what there is to say beside the progress message; "" = nothing.
func (l *lane) stopAll() string {
	now := time.Now()
	stops := l.run != nil && l.run.phase == running
	var begins []int64 // rows of a run that is not stored yet
	if l.run != nil && l.run.begun == nil {
		begins = l.run.in.rows
	}
	dropped, err := l.hub.store.DropWaiting(l.hub.callCtx, l.chat.Key(), begins...)
	if err != nil {
		l.log.Error("the waiting messages could not be dropped", "error", err)
	}
	for _, row := range dropped {
		l.unsign(row.ID)
		l.taken = max(l.taken, row.ID)
	}
	n := l.messages(dropped)
	if stops {
		l.run.stop(now)
	}
	switch {
	case !stops && n == 0 && l.run != nil && l.run.phase == stopping: // the progress message says so
	case !stops && n == 0:
		return l.words().NothingRuns
	case n > 0:
		return l.words().StoppedDropped(n)
	}
	return ""
}

// answerStops answers the native commands that asked the run to stop (S2). The answer is private, so
// it is not the progress message: it comes when the stop is done, and nothing is left that says
// "Stopping…".
func (r *run) answerStops(state store.RunState, elapsed time.Duration) {
	words := r.lane.words()
	text := words.RunOver // its end came before the stop
	if state == store.RunStopped {
		text = words.Stopped(elapsed)
	}
	for _, c := range r.stops {
		c.answer(r.lane, text)
	}
	r.stops = nil
}

// busy reports whether a run or waiting messages make a stop word mean something (S2).
func (h *Hub) busy(chat adapters.Chat) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.lanes[chat]
	return l != nil && (l.expected.Load() > 0 || l.busy.Load()) // in this order: the lane sets busy first
}

// threadOf is the chat that a native command means. Where every question has a thread, platforms
// have no commands inside of threads: one that is used beside them means the thread in which
// something runs, the one that was active last.
func (h *Hub) threadOf(o adapters.Origin) adapters.Chat {
	c := h.channels[o.Chat.Channel]
	if !c.caps.ThreadPerQuestion || o.Kind != adapters.Group || o.Chat.Thread != "" {
		return o.Chat
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	best, at := o.Chat, int64(0)
	for chat, l := range h.lanes {
		if chat.Channel == o.Chat.Channel && chat.ID == o.Chat.ID && l.busy.Load() && l.began.Load() > at {
			best, at = chat, l.began.Load()
		}
	}
	return best
}

// closeApprovals ends the questions that still wait: nobody needs their answers any more.
func (r *run) closeApprovals() {
	e, failed := r.terminal.(agent.RunError)
	for key, a := range r.approvals {
		delete(r.approvals, key)
		a.close(failed && e.Failure.Kind == agent.TimedOut)
	}
}

// ended measures a run.
func (h *Hub) ended(r *run, state store.RunState, elapsed time.Duration) {
	h.metrics.RunEnded(r.lane.chat.Channel, string(state))
	if !r.ackStop.IsZero() {
		h.metrics.Stopped(r.lane.chat.Channel, time.Since(r.ackStop))
	}
	const text = "the turn ended"
	attrs := []any{"run", r.id, "outcome", string(state), "took", elapsed.Round(time.Millisecond), "backend", r.agent.Backend}
	if e, ok := r.terminal.(agent.RunError); ok {
		h.log.WarnContext(context.Background(), text, append(attrs, "chat", r.lane.chat.Key(), "error", agent.Mask(e.Failure.Error()))...)
		return
	}
	h.log.InfoContext(context.Background(), text, append(attrs, "chat", r.lane.chat.Key())...)
}
