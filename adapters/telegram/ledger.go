package telegram

import (
	"context"
	"sync"
	"time"
)

// remembered is how many delivered update ids are kept against redelivery: hours of a busy bot.
const remembered = 10_000

// ledger knows what became of each update, and from that which offset may be confirmed.
type ledger struct {
	mu      sync.Mutex
	open    map[int64]bool // taken and not delivered; true = held for its other parts
	done    map[int64]struct{}
	ring    []int64 // of done, oldest overwritten first
	at      int
	last    int64 // id of the newest update that was taken
	changed chan struct{}
}

func newLedger() *ledger {
	return &ledger{open: map[int64]bool{}, done: map[int64]struct{}{}, changed: make(chan struct{})}
}

func (l *ledger) touch() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// take registers an update that came in; false = it is known.
func (l *ledger) take(id int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.done[id]; known {
		return false
	}
	if _, known := l.open[id]; known {
		return false
	}
	l.open[id] = false
	l.last = id
	l.touch()
	return true
}

// hold marks an update that waits for its other parts.
func (l *ledger) hold(id int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.open[id]; ok {
		l.open[id] = true
		l.touch()
	}
}

// deliver marks updates that are durable, or of no interest.
func (l *ledger) deliver(ids ...int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		delete(l.open, id)
		if len(l.ring) < remembered {
			l.ring = append(l.ring, id)
		} else {
			delete(l.done, l.ring[l.at])
			l.ring[l.at] = id
			l.at = (l.at + 1) % remembered
		}
		l.done[id] = struct{}{}
	}
	l.touch()
}

// ready waits until every update is delivered or held, and gives the offset to ask for: it
// confirms what lies before it. 0 = nothing came yet.
func (l *ledger) ready(ctx context.Context) (offset int64, held bool, err error) {
	for {
		l.mu.Lock()
		busy := false
		offset, held = 0, false
		for id, holds := range l.open {
			if !holds {
				busy = true
				break
			}
			if !held || id < offset {
				offset, held = id, true
			}
		}
		if !held && l.last != 0 {
			offset = l.last + 1
		}
		changed := l.changed
		l.mu.Unlock()
		if !busy {
			return offset, held, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, false, ctx.Err()
		}
	}
}

// waitChange waits that long, or until anything changes; false = ctx has ended.
func (l *ledger) waitChange(ctx context.Context, d time.Duration) bool {
	l.mu.Lock()
	changed := l.changed
	l.mu.Unlock()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-changed:
		return true
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
