// Package eventlog is the log of run events (S6): every event is stored, thereby numbered within
// its chat, and only then published. Readers say the last number they have seen and get the rest.
//
// The store keeps the arguments and results of tools as they are, since a run that goes on after a
// crash needs them; keep its file as private as the tools' own secrets. Readers of the log, and so
// of its Handler, get them masked (P4).
package eventlog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"typist/agent"
	"typist/agent/store"
)

// Event is an event as stored: with its number, run and time.
type Event = store.Stored

// Store is what the log stands on; *store.Store is one.
type Store interface {
	Append(ctx context.Context, chat, runID string, at time.Time, evs []agent.Event) (first int64, err error)
	Events(ctx context.Context, chat string, after int64, limit int) ([]store.Stored, error)
}

// ErrClosed: the log was closed.
var ErrClosed = errors.New("event log: closed")

// Bounds: how many of a chat's newest events are kept in memory while somebody subscribes, and
// how many are read from the store at once. A reader that is further behind reads the store.
const (
	tailLen  = 256
	pageSize = 512
)

// Log stores and publishes events. It is safe for concurrent use and has no goroutine of its own.
type Log struct {
	st Store

	mu     sync.Mutex
	topics map[string]*topic // of chats with subscribers
	closed bool
}

// topic is a chat with subscribers.
type topic struct {
	subs   int
	latest int64   // highest number published since the topic exists
	tail   []Event // the newest events, without a gap, up to latest
	wake   chan struct{}
}

// New makes a log over a store.
func New(st Store) *Log { return &Log{st: st, topics: make(map[string]*topic)} }

// Append stores coalesced events of a run, which numbers them first … first+len(evs)-1, and then
// publishes them. Subscribers never make it wait.
func (l *Log) Append(ctx context.Context, chat, runID string, at time.Time, evs []agent.Event) (first int64, err error) {
	if at.IsZero() {
		at = time.Now()
	}
	at = time.UnixMilli(at.UnixMilli()) // as the store keeps it: live and replayed events are equal
	first, err = l.st.Append(ctx, chat, runID, at, evs)
	if err != nil || len(evs) == 0 {
		return first, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.topics[chat]; t != nil {
		t.publish(first, runID, at, evs)
	}
	return first, nil
}

// publish keeps the tail without gaps. Two appends of a chat can arrive here in the other order
// than they were stored in: the later one begins a new tail, and who needs the earlier one finds
// it in the store, where it is already.
func (t *topic) publish(first int64, runID string, at time.Time, evs []agent.Event) {
	last := first + int64(len(evs)) - 1
	if last <= t.latest {
		return
	}
	if first != t.latest+1 {
		t.tail = nil
	}
	t.latest = last
	for i, ev := range evs {
		t.tail = append(t.tail, Event{Seq: first + int64(i), RunID: runID, At: at, Event: ev})
	}
	if over := len(t.tail) - tailLen; over > 0 {
		t.tail = append([]Event(nil), t.tail[over:]...)
	}
	close(t.wake)
	t.wake = make(chan struct{})
}

// Close ends all subscriptions with ErrClosed. The store stays open.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, t := range l.topics {
		close(t.wake)
		t.wake = make(chan struct{})
	}
}

// Subscribers is how many subscriptions are open, for metrics.
func (l *Log) Subscribers() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, t := range l.topics {
		n += t.subs
	}
	return n
}

// Subscribe follows a chat's events with numbers above after. Close the subscription when done.
func (l *Log) Subscribe(chat string, after int64) *Subscription {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.topics[chat]
	if t == nil {
		t = &topic{wake: make(chan struct{})}
		l.topics[chat] = t
	}
	t.subs++
	return &Subscription{log: l, chat: chat, topic: t, last: max(after, 0)}
}

// Subscription is one reader's place in a chat's events. It is used by one goroutine. It holds no
// queue: a slow reader costs nothing and reads what it missed from the store.
type Subscription struct {
	log    *Log
	chat   string
	topic  *topic
	last   int64
	read   bool // the store was read since the subscription began
	closed bool
}

// Last is the number of the last event that Next returned, or what Subscribe was told.
func (s *Subscription) Last() int64 { return s.last }

// Next returns the next events in order, without a gap (but what retention has removed), at least
// one, without secrets (P4). It waits for one, until ctx ends or the log is closed.
func (s *Subscription) Next(ctx context.Context) ([]Event, error) {
	for {
		evs, latest, wake, err := s.fromTail()
		if err != nil {
			return nil, err
		}
		if len(evs) > 0 {
			return s.advance(evs), nil
		}
		if s.read && latest <= s.last {
			select {
			case <-wake:
				continue
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		evs, err = s.log.st.Events(ctx, s.chat, s.last, pageSize)
		if err != nil {
			return nil, fmt.Errorf("replay %s after %d: %w", s.chat, s.last, err)
		}
		s.read = true
		if len(evs) > 0 {
			return s.advance(evs), nil
		}
		s.last = max(s.last, latest) // removed before it could be read
	}
}

// advance is what the reader gets of events, which are its own copy.
func (s *Subscription) advance(evs []Event) []Event {
	s.last = evs[len(evs)-1].Seq
	for i := range evs {
		evs[i].Event = masked(evs[i].Event)
	}
	return evs
}

// fromTail takes what follows the reader's place from memory, if all of it is there.
func (s *Subscription) fromTail() (evs []Event, latest int64, wake <-chan struct{}, err error) {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if s.log.closed || s.closed {
		return nil, 0, nil, ErrClosed
	}
	t := s.topic
	if len(t.tail) > 0 && t.tail[0].Seq <= s.last+1 && s.last < t.latest {
		evs = append([]Event(nil), t.tail[s.last+1-t.tail[0].Seq:]...)
	}
	return evs, t.latest, t.wake, nil
}

// Close ends the subscription; it can be called again.
func (s *Subscription) Close() {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	if s.topic.subs--; s.topic.subs == 0 {
		delete(s.log.topics, s.chat)
	}
}
