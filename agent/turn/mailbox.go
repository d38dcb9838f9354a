package turn

import "sync"

// mailbox is an unbounded queue of letters for one goroutine. Senders never block, so an adapter,
// a backend or a network call can never be held up by a chat.
type mailbox struct {
	mu     sync.Mutex
	queue  []letter
	closed bool
	ready  chan struct{} // holds one token while the queue may be non-empty
}

// letter is a message to a lane. The set is sealed.
type letter interface {
	isLetter()
	// read is called on the goroutine of the lane.
	read(l *lane)
}

func newMailbox() *mailbox { return &mailbox{ready: make(chan struct{}, 1)} }

// put queues a letter; false: the lane has ended and takes no more.
func (m *mailbox) put(l letter) bool {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return false
	}
	m.queue = append(m.queue, l)
	m.mu.Unlock()
	select {
	case m.ready <- struct{}{}:
	default:
	}
	return true
}

// take returns all letters in order and empties the box.
func (m *mailbox) take(reuse []letter) []letter {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.queue
	m.queue = reuse[:0]
	return out
}

// closeIfEmpty ends the box unless letters wait.
func (m *mailbox) closeIfEmpty() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.queue) > 0 {
		return false
	}
	m.closed = true
	return true
}
