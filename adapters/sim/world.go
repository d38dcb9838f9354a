package sim

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	maxMessages  = 20000 // per world, deleted ones included; the oldest go first
	maxCalls     = 20000 // per world
	maxIntervals = 2000  // per chat and thread
	maxVersions  = 200   // per message
)

// World is what the people of one platform see, and what the bot did to it. It is safe for
// concurrent use.
type World struct {
	mu       sync.Mutex
	bot      Person
	people   map[string]Person
	chats    map[string]*Chat
	order    []string
	messages []*Message
	byID     map[string]*Message // chat/id
	shows    map[place][]Interval
	calls    []Call
	gone     int64 // calls that are no longer kept
	faults   []*Fault
	lastID   int64
	version  int64
	changed  chan struct{}

	keepMessages, keepCalls int
}

type place struct{ chat, thread string }

// NewWorld makes a world in which only the bot lives.
func NewWorld(bot Person) *World {
	bot.Bot = true
	return &World{
		bot:     bot,
		people:  map[string]Person{bot.ID: bot},
		chats:   map[string]*Chat{},
		byID:    map[string]*Message{},
		shows:   map[place][]Interval{},
		changed: make(chan struct{}),

		keepMessages: maxMessages, keepCalls: maxCalls,
	}
}

// Keep raises how many messages and calls are kept, for measurements with many chats.
func (w *World) Keep(messages, calls int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keepMessages, w.keepCalls = max(messages, maxMessages), max(calls, maxCalls)
}

// touch wakes everyone who waits for a change; callers hold mu.
func (w *World) touch() {
	w.version++
	close(w.changed)
	w.changed = make(chan struct{})
}

// Bot is the bot's own account.
func (w *World) Bot() Person { return w.bot }

// AddPerson adds or renames a person.
func (w *World) AddPerson(p Person) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.people[p.ID] = p
	w.touch()
}

// Person finds a person by id.
func (w *World) Person(id string) (Person, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, ok := w.people[id]
	return p, ok
}

// AddChat adds a chat; the bot is made a member.
func (w *World) AddChat(c Chat) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(c.Members, w.bot.ID) {
		c.Members = append(slices.Clone(c.Members), w.bot.ID)
	}
	if _, known := w.chats[c.ID]; !known {
		w.order = append(w.order, c.ID)
	}
	w.chats[c.ID] = &c
	w.touch()
}

// Chat finds a chat by id.
func (w *World) Chat(id string) (Chat, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.chats[id]
	if !ok {
		return Chat{}, false
	}
	return copyChat(c), true
}

// Chats lists the chats in the order they were added.
func (w *World) Chats() []Chat {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]Chat, 0, len(w.order))
	for _, id := range w.order {
		out = append(out, copyChat(w.chats[id]))
	}
	return out
}

func copyChat(c *Chat) Chat {
	out := *c
	out.Members, out.Threads = slices.Clone(c.Members), slices.Clone(c.Threads)
	return out
}

// AddThread adds a topic or thread to a chat; a known one stays as it is.
func (w *World) AddThread(chat string, t Thread) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.chats[chat]
	if !ok || slices.ContainsFunc(c.Threads, func(x Thread) bool { return x.ID == t.ID }) {
		return
	}
	c.Threads = append(c.Threads, t)
	w.touch()
}

// NextID gives out growing numbers for ids.
func (w *World) NextID() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastID++
	return w.lastID
}

// Post adds a message as it becomes visible. A message of the bot takes the indicator of its
// chat and thread away (T7), except a private one.
func (w *World) Post(m Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m.At.IsZero() {
		m.At = time.Now()
	}
	if m.From.ID == w.bot.ID && m.Private == "" {
		w.endShow(place{m.Chat, m.Thread}, m.At, "post")
	}
	w.messages = append(w.messages, &m)
	w.byID[m.Chat+"/"+m.ID] = &m
	if len(w.messages) > w.keepMessages {
		old := w.messages[0]
		delete(w.byID, old.Chat+"/"+old.ID)
		w.messages[0] = nil
		w.messages = w.messages[1:]
	}
	w.touch()
}

// Change applies f to a message that is not deleted; f must not keep it. Text changes count as
// edits and keep the earlier state. It reports whether the message exists.
func (w *World) Change(chat, id string, f func(*Message)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	m, ok := w.byID[chat+"/"+id]
	if !ok || m.Deleted {
		return false
	}
	before := m.Text
	f(m)
	if m.Text != before {
		m.Edits++
		m.EditedAt = time.Now()
		m.History = append(m.History, Version{At: m.EditedAt, Text: before})
		if len(m.History) > maxVersions {
			m.History = slices.Delete(m.History, 0, len(m.History)-maxVersions)
		}
	}
	w.touch()
	return true
}

// Delete marks a message deleted and reports whether it existed.
func (w *World) Delete(chat, id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	m, ok := w.byID[chat+"/"+id]
	if !ok || m.Deleted {
		return false
	}
	m.Deleted = true
	w.touch()
	return true
}

// React sets or removes a reaction and reports whether anything changed.
func (w *World) React(chat, id, person, emoji string, on bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	m, ok := w.byID[chat+"/"+id]
	if !ok || m.Deleted {
		return false
	}
	has := slices.Contains(m.Reactions[emoji], person)
	if has == on {
		return false
	}
	reactions := maps.Clone(m.Reactions)
	if reactions == nil {
		reactions = map[string][]string{}
	}
	if on {
		reactions[emoji] = append(slices.Clone(reactions[emoji]), person)
	} else {
		reactions[emoji] = slices.DeleteFunc(slices.Clone(reactions[emoji]), func(p string) bool { return p == person })
		if len(reactions[emoji]) == 0 {
			delete(reactions, emoji)
		}
	}
	m.Reactions = reactions
	w.touch()
	return true
}

// Message finds a message, deleted ones included.
func (w *World) Message(chat, id string) (Message, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m, ok := w.byID[chat+"/"+id]
	if !ok {
		return Message{}, false
	}
	return *m, true
}

// Messages lists what stands in a chat and thread, oldest first: what people see. Thread "*"
// means all threads of the chat.
func (w *World) Messages(chat, thread string) []Message {
	return w.filter(chat, thread, false)
}

// Everything lists as Messages does, with the deleted ones.
func (w *World) Everything(chat, thread string) []Message {
	return w.filter(chat, thread, true)
}

func (w *World) filter(chat, thread string, deleted bool) []Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []Message
	for _, m := range w.messages {
		if m.Chat == chat && (thread == "*" || m.Thread == thread) && (deleted || !m.Deleted) {
			out = append(out, *m)
		}
	}
	return out
}

// FromBot keeps the bot's messages.
func FromBot(messages []Message) []Message {
	return slices.DeleteFunc(slices.Clone(messages), func(m Message) bool { return !m.From.Bot })
}

// Pulse shows or renews the indicator for life, with a text where the platform has one.
func (w *World) Pulse(chat, thread, text string, life time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	key := place{chat, thread}
	list := w.shows[key]
	if n := len(list); n > 0 && list[n-1].End.After(now) {
		last := &list[n-1]
		last.End, last.Text = now.Add(life), text
		last.Pulses++
	} else {
		list = append(list, Interval{Start: now, End: now.Add(life), Text: text, Pulses: 1})
		if len(list) > maxIntervals {
			list = slices.Delete(list, 0, len(list)-maxIntervals)
		}
	}
	w.shows[key] = list
	w.touch()
}

// ClearIndicator takes the indicator away.
func (w *World) ClearIndicator(chat, thread string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.endShow(place{chat, thread}, time.Now(), "clear")
	w.touch()
}

func (w *World) endShow(key place, at time.Time, why string) {
	list := w.shows[key]
	if n := len(list); n > 0 && list[n-1].End.After(at) {
		list[n-1].End, list[n-1].Why = at, why
	}
}

// Typing reports whether the indicator shows now, and its text.
func (w *World) Typing(chat, thread string) (bool, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.shows[place{chat, thread}]
	if n := len(list); n > 0 && list[n-1].End.After(time.Now()) {
		return true, list[n-1].Text
	}
	return false, ""
}

// Timeline lists when the indicator showed, oldest first.
func (w *World) Timeline(chat, thread string) []Interval {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.shows[place{chat, thread}])
}

// Record logs a call of the bot.
func (w *World) Record(c Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, c)
	if len(w.calls) > w.keepCalls {
		w.calls = slices.Delete(w.calls, 0, maxCalls/10)
		w.gone += maxCalls / 10
	}
	w.touch()
}

// Calls lists the bot's calls, oldest first; op "" means all but OpReceive.
func (w *World) Calls(op Op) []Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []Call
	for _, c := range w.calls {
		if c.Op == op || op == "" && c.Op != OpReceive {
			out = append(out, c)
		}
	}
	return out
}

// CallsAfter lists the kept calls with numbers from n on, oldest first, without OpReceive, and the
// number to ask with next time: what a follower needs who does not want all of them each time.
func (w *World) CallsAfter(n int64) (calls []Call, next int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	next = w.gone + int64(len(w.calls))
	for _, c := range w.calls[min(max(n-w.gone, 0), int64(len(w.calls))):] {
		if c.Op != OpReceive {
			calls = append(calls, c)
		}
	}
	return calls, next
}

// Inject makes calls fail from now on; remove ends it.
func (w *World) Inject(f Fault) (remove func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fault := &f
	w.faults = append(w.faults, fault)
	w.touch()
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.faults = slices.DeleteFunc(w.faults, func(x *Fault) bool { return x == fault })
		w.touch()
	}
}

// Faults lists what is injected.
func (w *World) Faults() []Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make([]Fault, 0, len(w.faults))
	for _, f := range w.faults {
		out = append(out, *f)
	}
	return out
}

// TakeFault is for the platforms: the fault that applies to this call, counted off.
func (w *World) TakeFault(op Op, chat string) (Fault, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, f := range w.faults {
		if f.Op != "" && f.Op != op || f.Chat != "" && f.Chat != chat {
			continue
		}
		out := *f
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				w.faults = slices.Delete(w.faults, i, i+1)
			}
		}
		return out, true
	}
	return Fault{}, false
}

// Version grows with every change.
func (w *World) Version() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.version
}

// Changed gives a channel that is closed at the next change.
func (w *World) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

// Wait blocks until ok holds, looking again after each change; what names it in the error.
func (w *World) Wait(ctx context.Context, what string, ok func() bool) error {
	for {
		changed := w.Changed()
		if ok() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		}
	}
}

// FormatID writes a numeric id.
func FormatID(id int64) string { return strconv.FormatInt(id, 10) }
