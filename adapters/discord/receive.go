package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"typist/adapters"
)

// queueCap bounds what waits for the sink. When it is full the connection is given up, and what
// did not fit is fetched with the next session.
const queueCap = 10000

// receiver takes the gateway's events in, in order, and hands them to the sink one at a time.
type receiver struct {
	a          *Adapter
	sink       adapters.Sink
	acks       sync.WaitGroup
	overflowed chan struct{}

	mu    sync.Mutex
	queue []gatewayEvent
	full  bool
	wake  chan struct{}

	// Of the worker alone:
	cursor  *cursor
	recent  *recent
	pastes  map[string]*paste // by channel
	expect  map[string]bool   // servers whose missed messages are not fetched yet
	members map[string]member // of missed messages' authors, by server/user
}

type gatewayEvent struct {
	name  string
	data  json.RawMessage
	acked <-chan error // of an interaction: closed or filled when the acknowledgement is through
}

func newReceiver(ctx context.Context, a *Adapter, sink adapters.Sink) (*receiver, error) {
	c, err := loadCursor(ctx, a.memory)
	if err != nil {
		return nil, fmt.Errorf("discord: %w", err)
	}
	return &receiver{
		a: a, sink: sink, overflowed: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		cursor: c, recent: newRecent(), pastes: map[string]*paste{}, expect: map[string]bool{}, members: map[string]member{},
	}, nil
}

// push takes an event from the connection, inside discordgo's locks: it must not block.
func (r *receiver) push(name string, data json.RawMessage) {
	if !wanted[name] {
		return
	}
	ev := gatewayEvent{name: name, data: data}
	if name == "INTERACTION_CREATE" {
		ev.acked = r.acknowledge(data)
	}
	r.mu.Lock()
	if r.full && name == "READY" {
		r.full = false
	}
	if !r.full && len(r.queue) >= int(r.a.queueCap.Load()) {
		r.full = true
		select {
		case r.overflowed <- struct{}{}:
		default:
		}
	}
	if !r.full {
		r.queue = append(r.queue, ev)
	}
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// wanted are the events that mean something here.
var wanted = map[string]bool{
	"READY": true, "GUILD_CREATE": true, "GUILD_MEMBER_UPDATE": true,
	"CHANNEL_CREATE": true, "CHANNEL_UPDATE": true, "CHANNEL_DELETE": true,
	"THREAD_CREATE": true, "THREAD_UPDATE": true, "THREAD_DELETE": true, "THREAD_LIST_SYNC": true,
	"MESSAGE_CREATE": true, "MESSAGE_UPDATE": true, "INTERACTION_CREATE": true,
}

func (r *receiver) take() (gatewayEvent, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 {
		r.queue = nil
		return gatewayEvent{}, false
	}
	e := r.queue[0]
	r.queue[0] = gatewayEvent{}
	r.queue = r.queue[1:]
	return e, true
}

// work hands events on until ctx ends.
func (r *receiver) work(ctx context.Context) {
	defer r.cursor.save(r.a)
	for ctx.Err() == nil {
		r.flushPastes(ctx, time.Now())
		if e, ok := r.take(); ok {
			r.handle(ctx, e)
			r.cursor.saveNowAndThen(r.a)
			continue
		}
		next := r.nextDue()
		timer := time.NewTimer(next)
		select {
		case <-r.wake:
		case <-timer.C:
			r.cursor.saveNowAndThen(r.a)
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// nextDue is how long the worker may sleep without an event.
func (r *receiver) nextDue() time.Duration {
	next := time.Hour
	now := time.Now()
	for _, p := range r.pastes {
		next = min(next, max(0, p.due.Sub(now)))
	}
	if r.cursor.dirty {
		next = min(next, max(0, r.cursor.saved.Add(saveEvery).Sub(now)))
	}
	return next
}

// handle works on one event; a panic costs that event only.
func (r *receiver) handle(ctx context.Context, e gatewayEvent) {
	defer func() {
		if p := recover(); p != nil {
			r.a.log.Error("event dropped", "event", e.name, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	r.handleOrPanic(ctx, e)
}

func (r *receiver) handleOrPanic(ctx context.Context, e gatewayEvent) {
	switch e.name {
	case "READY":
		var d ready
		if err := json.Unmarshal(e.data, &d); err != nil {
			r.a.log.Warn("READY is malformed", "error", err)
			return
		}
		r.a.introduce(d)
		r.started(ctx, d)
	case "MESSAGE_CREATE":
		var m message
		if err := json.Unmarshal(e.data, &m); err != nil {
			r.a.log.Warn("message is malformed", "error", err)
			return
		}
		r.message(ctx, m)
	case "MESSAGE_UPDATE":
		var m message
		if err := json.Unmarshal(e.data, &m); err != nil {
			r.a.log.Warn("edit is malformed", "error", err)
			return
		}
		r.edited(ctx, m)
	case "INTERACTION_CREATE":
		r.interaction(ctx, e)
	default:
		r.a.dir.update(e.name, e.data, r.a.botID())
		if e.name == "GUILD_CREATE" {
			r.guild(ctx, e.data)
		}
	}
}

// deliver hands an event to the sink until it takes it; false when ctx ended first. Discord
// delivers nothing twice, so it is kept here, and everything behind it waits.
func (r *receiver) deliver(ctx context.Context, ev adapters.Event) bool {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := r.hand(ctx, ev)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		r.a.log.Warn("event not taken, trying again", "event", ev.About().EventID, "error", err)
		if !sleep(ctx, wait) {
			return false
		}
	}
}

func (r *receiver) hand(ctx context.Context, ev adapters.Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.a.log.Error("event dropped", "event", ev.About().EventID, "panic", p, "stack", string(debug.Stack()))
			err = nil
		}
	}()
	return r.sink.Deliver(ctx, ev)
}
