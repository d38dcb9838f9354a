package telegram

import (
	"context"
	"regexp"
	"slices"
	"time"

	"github.com/go-telegram/bot/models"

	"typist/adapters"
	"typist/adapters/rich"
)

const (
	// pasteMin: clients cut a long paste at 4096 units, some at a space before it.
	pasteMin = 3900
	// albumWait and pasteWait: how long after a part the next one may come.
	albumWait = 500 * time.Millisecond
	pasteWait = time.Second
	// pasteGap bounds the parts' own dates, which are whole seconds: after a reconnect messages of
	// different minutes arrive at once.
	pasteGap = 2
	// maxParts bounds one merged message.
	maxParts = 50
)

// line keeps the order of a chat in which something waits for its other parts.
type line struct {
	entries []*entry
}

// entry is a message, perhaps of several parts.
type entry struct {
	msg   adapters.Message
	ids   []int64
	album string // media_group_id
	paste bool   // the last part was as long as a client makes them
	date  int    // of the last part
	open  bool
	due   time.Time
}

// accept takes a message in: delivers it, or holds it for its other parts, or lets it wait behind
// one that is held. A stop waits for nothing.
func (r *receiver) accept(ctx context.Context, id int64, raw *models.Message, m adapters.Message) {
	key := m.Chat.Key()
	if r.isStop(m) {
		r.closeLine(ctx, key)
		r.deliver(ctx, m, id)
		return
	}
	l := r.lines[key]
	if l == nil {
		l = &line{}
		r.lines[key] = l
	}
	long := raw.MediaGroupID == "" && rich.UTF16Len(raw.Text) >= pasteMin
	if e := l.partOf(raw, m); e != nil {
		e.add(id, raw, m)
		e.paste = long
		if e.album == "" && !long || len(e.ids) >= maxParts {
			e.open = false
		} else {
			e.due = time.Now().Add(e.wait())
			r.ledger.hold(id)
		}
		r.drain(ctx, key)
		return
	}
	for _, e := range l.entries { // the person's next message: what they sent before is complete
		if e.msg.From.ID == m.From.ID {
			e.open = false
		}
	}
	e := &entry{msg: m, ids: []int64{id}, album: raw.MediaGroupID, paste: long, date: raw.Date}
	e.open = e.album != "" || long
	e.due = time.Now().Add(e.wait())
	l.entries = append(l.entries, e)
	r.ledger.hold(id)
	r.drain(ctx, key)
}

// command is a command as text; a pasted path ("/usr/bin …") or a paste is none.
var command = regexp.MustCompile(`^/[A-Za-z0-9_]{1,32}(\s|$)`)

func (r *receiver) isStop(m adapters.Message) bool {
	if len(m.Files) > 0 || len(m.Text) >= pasteMin {
		return false
	}
	return command.MatchString(m.Text) || r.a.cfg.IsStop(m.Text)
}

// partOf finds the open entry that a message continues.
func (l *line) partOf(raw *models.Message, m adapters.Message) *entry {
	for _, e := range slices.Backward(l.entries) {
		if !e.open || e.msg.From.ID != m.From.ID {
			continue
		}
		if e.album != "" && e.album == raw.MediaGroupID {
			return e
		}
		if e.paste && raw.MediaGroupID == "" && raw.Text != "" && m.ReplyTo == nil &&
			raw.Date-e.date <= pasteGap && raw.Date >= e.date {
			return e
		}
	}
	return nil
}

func (e *entry) wait() time.Duration {
	if e.album != "" {
		return albumWait
	}
	return pasteWait
}

// add appends a part.
func (e *entry) add(id int64, raw *models.Message, m adapters.Message) {
	e.ids = append(e.ids, id)
	e.date = raw.Date
	e.msg.Files = append(e.msg.Files, m.Files...)
	e.msg.Mentioned = e.msg.Mentioned || m.Mentioned
	if e.msg.ReplyTo == nil {
		e.msg.ReplyTo = m.ReplyTo
	}
	separator := "" // a client cuts a paste anywhere
	if e.album != "" {
		separator = "\n"
	}
	e.msg.Join(m.ID, separator, m.Text)
}

// drain delivers from the front of a chat's line what is complete.
func (r *receiver) drain(ctx context.Context, key string) {
	l := r.lines[key]
	for l != nil && len(l.entries) > 0 && !l.entries[0].open {
		e := l.entries[0]
		l.entries = l.entries[1:]
		r.deliverEntry(ctx, e)
	}
	if l == nil || len(l.entries) == 0 {
		delete(r.lines, key)
	}
}

func (r *receiver) deliverEntry(ctx context.Context, e *entry) {
	defer r.survive(e.ids...)
	r.deliver(ctx, e.msg, e.ids...)
}

// closeLine delivers everything that waits in a chat.
func (r *receiver) closeLine(ctx context.Context, key string) {
	if l := r.lines[key]; l != nil {
		for _, e := range l.entries {
			e.open = false
		}
		r.drain(ctx, key)
	}
}

// untilDue is when the next entry is complete; an hour when none is open.
func (r *receiver) untilDue() time.Duration {
	next := time.Hour
	for _, l := range r.lines {
		for _, e := range l.entries {
			if e.open {
				next = min(next, max(0, time.Until(e.due)))
			}
		}
	}
	return next
}

func (r *receiver) flushDue(ctx context.Context) {
	now := time.Now()
	for key, l := range r.lines {
		for _, e := range l.entries {
			if e.open && !e.due.After(now) {
				e.open = false
			}
		}
		r.drain(ctx, key)
	}
}
