package turn

import (
	"context"
	"slices"
	"time"

	"typist/agent"
)

// steered is a message that was handed to the run in mid-run (S10).
type steered struct {
	row     int64
	message agent.Message
	at      int // how many of the run's messages came before it
}

// steer offers a message to the running backend; false: it takes none, so the message waits.
// Messages are offered one after the other, in their order.
func (r *run) steer(a inputArrived) bool {
	if _, ok := r.backend.Backend.(agent.Steerer); !ok || r.phase != running || r.begun == nil {
		return false
	}
	r.offers = append(r.offers, a)
	if len(r.offers) == 1 {
		r.offer(a)
	}
	return true
}

// offer hands a message to the backend.
func (r *run) offer(a inputArrived) {
	s := r.backend.Backend.(agent.Steerer)
	in := r.in
	in.Message, in.Earlier, in.Blocks = a.message, nil, nil
	before := len(r.transcript.Messages())
	r.lane.hub.go_(func() {
		ctx, cancel := context.WithTimeout(r.lane.hub.callCtx, callTimeout)
		defer cancel()
		msg := r.userMessage(ctx, in)
		taken, err := s.Steer(ctx, r.id, msg)
		r.lane.mail.put(offered{run: r, taken: taken, err: err, steered: steered{row: a.row.ID, message: msg, at: before}})
	})
}

// offered: the backend has taken a message, or not.
type offered struct {
	run     *run
	steered steered
	taken   bool
	err     error
}

func (offered) isLetter() {}

func (o offered) read(l *lane) {
	r := o.run
	if o.err != nil {
		l.log.Warn("the backend did not take a message in mid-run; it waits", "error", o.err)
	}
	if o.taken {
		r.steered, r.offers = append(r.steered, o.steered), r.offers[1:]
	}
	if o.taken && len(r.offers) > 0 && r.phase == running {
		r.offer(r.offers[0])
		return
	}
	for _, a := range r.offers { // nor is one taken that came after one that waits
		if a.row.ID > l.taken { // not dropped meanwhile
			l.sign(a.row.ID, a.message.ID)
		}
	}
	r.offers = nil
	if r.phase == landing {
		r.land(time.Now())
	}
}

// withSteered puts the messages that were handed to a run where they came, never between a call
// and its results.
func withSteered(messages []agent.Message, given []steered) []agent.Message {
	for n, s := range given {
		at := min(s.at+n, len(messages))
		for at < len(messages) && messages[at].Role == agent.ToolRole {
			at++
		}
		messages = slices.Insert(messages, at, s.message)
	}
	return messages
}
