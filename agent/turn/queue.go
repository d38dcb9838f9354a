package turn

import (
	"time"

	"typist/adapters"
	"typist/agent/store"
)

const (
	// answerPatience is how long an answer waits for the platform's budget without more ado: an
	// indicator that lapses within seconds is renewed a second before that (T6).
	answerPatience = 250 * time.Millisecond
	// lineLimit bounds how long an indicator is kept for an answer that can't leave.
	lineLimit = 5 * time.Minute
)

// waitsInLine lets an answer that the platform's budget or a told wait holds back get its permit
// before anything else is done about the end: until then people see the indicator, as they do to
// the answer of every run, and with the permit it ends (T8). It reports whether the answer waits.
func (r *run) waitsInLine(now time.Time) bool {
	l := r.lane
	if r.phase == queued {
		if !r.admitted && now.Before(r.endedAt.Add(lineLimit)) {
			return true
		}
		if !r.admitted {
			l.chn.pacer.withdraw(r.ticket)
		}
		return false
	}
	state := r.state()
	if r.phase != running || !r.ctl.Active() || r.in.Heartbeat != nil || state != store.RunDone && state != store.RunFailed {
		return false
	}
	op := callSend
	if !r.asNew(state, now.Sub(r.started), now) {
		op = callEdit
	}
	group := l.kind == adapters.Group
	if l.chn.pacer.backlog(l.chat.ID, group, op) < answerPatience {
		return false
	}
	r.phase, r.endedAt = queued, now
	r.closeApprovals()
	if r.progress != nil {
		r.progress.held = true // what becomes of it is decided with the answer
	}
	r.ticket = &permit{class: classAnswer, chat: l.chat.ID, group: group, op: op,
		grant: func() { l.mail.put(answerAdmitted{run: r}) }}
	l.chn.pacer.request(r.ticket)
	r.save(now)
	return true
}

// answerAdmitted: an answer that waited may leave.
type answerAdmitted struct{ run *run }

func (answerAdmitted) isLetter() {}

func (a answerAdmitted) read(*lane) {
	if r := a.run; r.phase == queued {
		r.admitted = true
		r.land(time.Now())
	}
}
