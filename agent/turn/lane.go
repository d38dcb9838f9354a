package turn

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"typist/adapters"
	"typist/adapters/rich"
	"typist/agent/progress"
	"typist/agent/store"
)

// lane owns one chat: one goroutine, which holds the turn's indicator, progress board, messages
// and timers; nobody else touches them. It serves the chat's inbox strictly in order (S10), one
// run at a time.
type lane struct {
	hub  *Hub
	chn  *channel
	chat adapters.Chat
	kind adapters.Kind
	mail *mailbox
	log  *slog.Logger

	run        *run // the turn in work; nil: idle
	leftOvers  []recovered
	rootNext   bool     // /new came while a run was in work
	opened     []string // messages that show their details (P8)
	edits      map[string]*rewording
	switching  *switching  // the ◀ or ▶ that is being carried out (S8)
	switches   []switching // those after it, one per message
	leafMoves  bool        // no turn begins before the active leaf is where the switch wants it
	out        outbox
	prefs      prefs
	check      bool  // the inbox may hold something to begin
	taken      int64 // the newest row that no longer waits
	waiting    map[int64]*sign
	unreacted  []*sign   // marks whose reaction may have to change, in order
	reacting   bool      // a call for a reaction is under way
	notBefore  time.Time // no turn begins earlier, after one could not be stored
	beginFails int
	retrying   bool        // a /retry is being looked into, or delivers a stored answer
	retries    []commanded // that came meanwhile
	lastActive time.Time
	busy       atomic.Bool  // a run is in work, or something may wait (read by the hub)
	expected   atomic.Int32 // rows of the inbox whose letters the lane has not read
	began      atomic.Int64 // when it began, ns
}

func newLane(h *Hub, chn *channel, chat adapters.Chat, kind adapters.Kind) *lane {
	l := &lane{hub: h, chn: chn, chat: chat, kind: kind, mail: newMailbox(), log: h.log.With("chat", chat.Key()),
		waiting: map[int64]*sign{}, edits: map[string]*rewording{}, lastActive: time.Now()}
	l.out = outbox{lane: l, slots: map[*slot]struct{}{}}
	return l
}

// loop runs until the hub ends or the chat has been quiet for long.
func (l *lane) loop() {
	l.prefs = l.loadPrefs()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var letters []letter
	for {
		now := time.Now()
		l.step(now)
		if l.idle() && now.Sub(l.lastActive) >= laneIdle && l.hub.retire(l) {
			return
		}
		timer.Reset(max(0, time.Until(l.next(now))))
		select {
		case <-l.mail.ready:
		case <-timer.C:
		case <-l.hub.lanesEnd:
			return
		}
		letters = l.mail.take(letters)
		for i, m := range letters {
			letters[i] = nil
			m.read(l)
		}
		if len(letters) > 0 {
			l.lastActive = time.Now()
		}
	}
}

// idle: nothing to do and nothing under way.
func (l *lane) idle() bool {
	return l.run == nil && !l.check && len(l.out.slots) == 0 && len(l.edits) == 0 && l.switching == nil && !l.reacting
}

// step does what is due.
func (l *lane) step(now time.Time) {
	l.beginDue(now)
	if l.run != nil {
		l.run.step(now)
	}
	for s := range l.out.slots {
		if !s.retryAt.IsZero() && !s.retryAt.After(now) && !s.flying {
			s.retryAt = time.Time{}
			l.out.push(s)
		}
	}
}

// beginDue begins the next turn where nothing is in its way.
func (l *lane) beginDue(now time.Time) {
	if l.run == nil && l.check && !l.leafMoves && !now.Before(l.notBefore) && !l.hub.closing.Load() {
		l.check = false
		l.beginNext()
	}
	l.busy.Store(l.run != nil || l.check)
}

// next is when something is due.
func (l *lane) next(now time.Time) time.Time {
	at := l.lastActive.Add(laneIdle)
	sooner := func(t time.Time) {
		if !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	if !l.idle() {
		at = now.Add(time.Hour)
	}
	if l.run != nil {
		sooner(l.run.next())
	} else if l.check && !l.leafMoves && !l.hub.closing.Load() {
		sooner(l.notBefore.Add(time.Nanosecond))
	}
	for s := range l.out.slots {
		sooner(s.retryAt)
	}
	return at
}

// beginNext takes the oldest waiting input and begins its turn (hop 3).
func (l *lane) beginNext() {
	if len(l.leftOvers) > 0 {
		first := l.leftOvers[0]
		l.leftOvers, l.check = l.leftOvers[1:], true
		l.settle(first)
		return
	}
	ctx := l.hub.callCtx
	row, ok, err := l.hub.store.NextWaiting(ctx, l.chat.Key())
	if err != nil {
		l.log.Error("the inbox could not be read; it is tried again", "error", err)
		l.check, l.notBefore = true, time.Now().Add(backoff(min(l.beginFails+1, 5)))
		l.beginFails++
		return
	}
	if !ok {
		l.beginFails = 0
		return
	}
	l.check = true // there may be more after this turn
	in, err := readInput(row)
	if err != nil {
		l.log.Error("an input could not be read and is dropped", "error", err)
		if err := l.hub.store.FinishInput(ctx, row.ID, store.InputDropped); err != nil {
			l.log.Error("it could not be dropped", "error", err)
			l.notBefore = time.Now().Add(backoff(5))
		}
		return
	}
	if in.Kind == store.InputNew {
		l.takeRoot(ctx, row.ID)
		return
	}
	if l.hub.settings().Queue == Collect && in.mergeable() {
		in = l.collect(ctx, in)
	}
	for _, id := range in.rows {
		l.unsign(id)
		l.taken = max(l.taken, id)
	}
	l.setRun(l.newRun(in))
	l.run.begin()
	if in.Pressed != nil {
		l.takeButton(*in.Pressed)
	}
	if l.hub.settings().Queue == Interrupt && l.overtaken(ctx, row.ID) {
		l.run.supersede()
	}
}

// overtaken reports whether a newer message waits, which would have interrupted this one had it
// run already.
func (l *lane) overtaken(ctx context.Context, id int64) bool {
	rows, err := l.hub.store.Waiting(ctx, l.chat.Key())
	if err != nil {
		l.log.Error("the inbox could not be read", "error", err)
	}
	return slices.ContainsFunc(rows, func(row store.Input) bool { return row.ID > id && row.Kind == store.InputMessage })
}

// setRun makes r the turn in work.
func (l *lane) setRun(r *run) {
	l.run = r
	if r != nil {
		l.busy.Store(true)
		l.began.Store(r.started.UnixNano())
	}
}

// collect joins what came while the chat was busy (S10).
func (l *lane) collect(ctx context.Context, first input) input {
	rows, err := l.hub.store.Waiting(ctx, l.chat.Key())
	if err != nil {
		l.log.Error("the inbox could not be read", "error", err)
		return first
	}
	for _, row := range rows {
		next, err := readInput(row)
		if err != nil || row.ID == first.rows[0] {
			continue
		}
		if !next.mergeable() {
			break
		}
		first = first.merge(next)
	}
	return first
}

// posted: a message of the bot stands in the chat (T7).
func (l *lane) posted() {
	if l.run == nil {
		return
	}
	now := time.Now()
	l.run.ctl.Posted(now)
	l.run.coverage.Cleared(now)
	l.run.sendPulse(now) // none is due after the end (T8)
}

// lang is the chat's language.
func (l *lane) lang() progress.Lang { return l.hub.settings().Lang }

func (l *lane) words() *progress.Table { return progress.Words(l.lang()) }

func (l *lane) view() progress.Level {
	if l.prefs.view != "" {
		return l.prefs.view
	}
	return l.hub.settings().View
}

// say posts a short silent message: a note, or the answer to a command. One that waits already is
// not said again.
func (l *lane) say(post adapters.Post) {
	for s := range l.out.slots {
		if s.note && s.id == "" && !s.lost && !s.dead && samePost(s.want, post) {
			return
		}
	}
	l.post(post, classNote).note = true
}

// post is a short silent message of that class.
func (l *lane) post(post adapters.Post, c class) *slot {
	post.Silent = true
	s := &slot{key: newID(), class: c}
	s.show(post)
	l.out.push(s)
	return s
}

// note says a sentence.
func (l *lane) note(text string) { l.say(adapters.Post{Doc: l.chn.fitOne(rich.Plain(text))}) }

// inputArrived: a new row is in the inbox.
type inputArrived struct {
	row     store.Input
	message adapters.Message
	left    bool // by the last process, so it may carry a mark that it waits
}

func (inputArrived) isLetter() {}

func (a inputArrived) read(l *lane) {
	l.check = true
	l.busy.Store(true)
	l.expected.Add(-1)
	if a.left {
		l.waiting[a.row.ID] = &sign{message: a.message.ID, want: true, stands: true}
		return
	}
	// The first of several that came at once begins, so that the others show that they wait; and the
	// lane may have found this one in the inbox before it read the letter.
	l.beginDue(time.Now())
	if l.run == nil || a.row.ID <= l.taken {
		return
	}
	if a.row.Kind == store.InputHeartbeat { // never behind a run (H3)
		if err := l.hub.store.FinishInput(l.hub.callCtx, a.row.ID, store.InputDropped); err != nil {
			l.log.Error("a heartbeat could not be dropped; it runs later", "error", err)
		}
		return
	}
	switch l.hub.settings().Queue {
	case Interrupt:
		if a.row.Kind == store.InputMessage {
			l.run.supersede()
			return
		}
	case Steer:
		if a.row.Kind == store.InputMessage && l.run.steer(a) {
			return
		}
	case Followup, Collect:
	}
	if a.row.Kind != store.InputNew {
		l.sign(a.row.ID, a.message.ID)
	}
}
