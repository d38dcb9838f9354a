package turn

import (
	"context"
	"time"

	"typist/agent/session"
	"typist/agent/store"
)

// newRoot answers /new; its row in the inbox does it (Hub.command).
func newRoot(l *lane, c commanded) { c.answer(l, l.words().NewStarted) }

// beginRoot begins a new conversation with the next message.
func (l *lane) beginRoot(ctx context.Context) error {
	return session.Open(l.hub.store, l.chat.Key()).NewRoot(ctx)
}

// takeRoot is /new when its turn has come.
func (l *lane) takeRoot(ctx context.Context, row int64) {
	err := l.beginRoot(ctx)
	if err == nil {
		err = l.hub.store.FinishInput(ctx, row, store.InputDone)
	}
	if err != nil {
		l.log.Error("a new conversation could not be stored; it is tried again", "error", err)
		l.notBefore = time.Now().Add(backoff(min(l.beginFails+1, 5)))
		l.beginFails++
	}
}

// messages counts what waited as messages. A /new among what a stop drops still holds.
func (l *lane) messages(dropped []store.Input) (n int) {
	root := false
	for _, row := range dropped {
		if row.Kind == store.InputNew {
			root = true
			continue
		}
		n++
	}
	switch {
	case root && l.run != nil:
		l.rootNext = true
	case root:
		if err := l.beginRoot(l.hub.callCtx); err != nil {
			l.log.Error("a new conversation could not be stored", "error", err)
		}
	}
	return n
}
