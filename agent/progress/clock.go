package progress

import (
	"strings"
	"time"
	"unicode/utf8"
)

const (
	tickEarly = 3 * time.Second // P6
	tickLate  = 15 * time.Second
	early     = time.Minute
)

// NextTick is when a clock in the view next changes enough for an edit of its own: every 3 s in
// its first minute, then every 15 s (P6). ok is false while the view has no clock.
func (b *Board) NextTick(now time.Time) (at time.Time, ok bool) {
	if b.over || now.IsZero() {
		return time.Time{}, false
	}
	b.walk(b.run, func(a *area) {
		if a.entry != nil && !a.entry.open {
			return
		}
		since, runs := b.clock(a)
		if !runs {
			return
		}
		if t, runs := tick(since, now); runs && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	})
	return at, ok
}

// tick is the next time after now at which a clock that counts since then (or down to it, where
// it lies ahead) is worth an edit.
func tick(since, now time.Time) (time.Time, bool) {
	d := now.Sub(since)
	if d < 0 { // counting down
		left := -d
		step := tickEarly
		if left > early {
			step = tickLate
		}
		n := (left - 1) / step
		return since.Add(-n * step), true
	}
	step := tickEarly
	if d >= early {
		step = tickLate
	}
	return since.Add((d/step + 1) * step), true
}

// statusChars is what a platform's status text may have (Slack's is cut beyond it).
const statusChars = 50

// Status is a short line for a platform's status text, which stands behind the bot's name: no
// comma (Slack joins several by commas), at most 50 characters, and no clock, since each change
// costs a call.
func (b *Board) Status(now time.Time) string {
	w := b.words
	text := w.StatusWorking
	switch b.note.Kind {
	case Stopping:
		text = w.StatusStopping
	case WaitingApproval:
		text = w.StatusWaiting
	default:
		switch c := b.current(b.run); c.kind {
		case actThinking:
			text = w.StatusThinking
		case actTool:
			text = fill(w.statusRuns, "name", b.toolName(c.entry.call))
			if p := c.entry.call.show(); p != "" && c.entry.call.begun {
				text += ": " + p
			}
		case actStep:
			text = fill(w.statusStep, "name", oneLine(c.name, nameGraphemes))
		case actApproval:
			text = w.StatusWaiting
		case actWorking: // says so already
		}
	}
	text = clean(strings.NewReplacer(",", " ", "，", " ", "、", " ").Replace(text))
	if utf8.RuneCountInString(text) > statusChars {
		text = cutRunes(text, statusChars)
	}
	return text
}
