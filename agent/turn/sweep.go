package turn

import (
	"context"
	"time"

	"typist/adapters"
)

// sweepLimit bounds the search for a progress message whose id was lost in a crash.
const sweepLimit = time.Minute

// sweep takes away the progress message of a run that the last process left, where that process
// ended between the send and the moment its id was stored, and the platform can't be asked (S9):
// its id lies between the question's and the end message's.
func (r *run) sweep(end []*slot) {
	s, ok := r.lane.chn.adapter.(adapters.Sweeper)
	if !ok || r.progress == nil || !r.progress.lost || r.posts == nil && r.sent == nil || r.anchor == "" || len(ids(end)) == 0 {
		return
	}
	l, before := r.lane, ids(end)[0]
	l.hub.go_(func() {
		ctx, cancel := context.WithTimeout(l.hub.callCtx, sweepLimit)
		defer cancel()
		if err := s.Sweep(ctx, l.chat, r.anchor, before, l.claims(ctx)); err != nil {
			l.log.Warn("a progress message of the last process may be left", "run", r.id, "error", err)
		}
	})
}

// claims tells which of the chat's messages the store knows: what it knows is not lost.
func (l *lane) claims(ctx context.Context) func(id string) bool {
	chat := l.chat.Key()
	return func(id string) bool {
		if _, ok, err := l.hub.store.NodeByRef(ctx, chat, id); ok || err != nil {
			return true
		}
		_, ok, err := l.hub.store.RunByMessage(ctx, chat, id)
		return ok || err != nil
	}
}
