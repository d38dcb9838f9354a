package turn

import (
	"sync"

	"typist/agent"
)

// feed carries a run's events from the backend's goroutines to the lane. Deltas that pile up are
// merged, so a fast backend costs the lane no more than it can read; nothing else ever is.
type feed struct {
	mu     sync.Mutex
	merged *agent.Coalescer
	closed bool
	asked  bool // a letter is on its way
	notify func()
}

func newFeed(notify func()) *feed {
	return &feed{merged: agent.NewCoalescer(), notify: notify}
}

// emit takes an event; it never blocks.
func (f *feed) emit(ev agent.Event) {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return
	}
	f.merged.Add(ev)
	ask := !f.asked
	f.asked = true
	f.mu.Unlock()
	if ask {
		f.notify()
	}
}

// take returns what came since the last call.
func (f *feed) take() []agent.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = false
	return f.merged.Take()
}

// abandon drops what still comes: the run is over for the chat, whatever its backend does.
func (f *feed) abandon() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
}
