package progress

import (
	"time"

	"typist/adapters/rich"
	"typist/agent"
)

const nameGraphemes = 60 // of a tool, step or subagent

// actKind is what an area is doing.
type actKind uint8

const (
	actWorking actKind = iota
	actThinking
	actTool
	actStep
	actApproval
)

// act is an area's current step (P2).
type act struct {
	kind  actKind
	entry *entry // actThinking, actTool
	name  string // actStep, actApproval
}

// current applies P2's precedence: thinking, then the newest tool that still runs, then the named
// step, else working. Calls that wait for a decision do nothing meanwhile.
func (b *Board) current(a *area) act {
	if b.opt.Reasoning == ReasoningStream {
		for i := len(a.thoughts) - 1; i >= 0; i-- {
			if e := a.thoughts[i]; !e.paused {
				return act{kind: actThinking, entry: e}
			}
		}
	}
	for i := len(a.calls) - 1; i >= 0; i-- {
		if e := a.calls[i]; !a.waits(e.id) {
			return act{kind: actTool, entry: e}
		}
	}
	if n := len(a.approvals); n > 0 {
		return act{kind: actApproval, name: a.approvals[n-1].title}
	}
	for i := len(a.steps) - 1; i >= 0; i-- {
		if s := a.steps[i]; !s.done && !s.cut {
			return act{kind: actStep, name: s.name}
		}
	}
	return act{kind: actWorking}
}

// waits reports whether a call waits for a person's decision.
func (a *area) waits(call string) bool {
	for _, p := range a.approvals {
		if p.call == call {
			return true
		}
	}
	return false
}

// clock is since when the clock in an area's line counts; ok is false where it has none.
func (b *Board) clock(a *area) (since time.Time, ok bool) {
	if a == b.run {
		switch b.note.Kind {
		case Stopping, WaitingApproval:
			return time.Time{}, false
		case Retrying:
			return b.note.Until, !b.note.Until.IsZero()
		case NoNote:
		}
	}
	switch c := b.current(a); c.kind {
	case actThinking:
		return c.entry.from.Add(-c.entry.spent), !c.entry.from.IsZero()
	case actWorking:
		if a.entry != nil {
			return a.entry.started, !a.entry.started.IsZero()
		}
		return b.started, !b.started.IsZero()
	case actTool, actStep, actApproval:
	}
	return time.Time{}, false
}

// line is an area's current step as one line.
func (b *Board) line(a *area, now time.Time) []rich.Span {
	w := b.words
	if a == b.run {
		switch b.note.Kind {
		case Stopping:
			return []rich.Span{bold(w.Stopping)}
		case WaitingApproval:
			title := b.note.Title
			if n := len(a.approvals); title == "" && n > 0 {
				title = a.approvals[n-1].title
			}
			return titled(w.WaitingApproval, mask(title, previewGraphemes))
		case Retrying:
			return []rich.Span{bold(w.Retrying(b.note.Until.Sub(now)))}
		case NoNote:
		}
	}
	switch c := b.current(a); c.kind {
	case actThinking:
		d, _ := c.entry.elapsed(now)
		return clocked(w.Thinking, w.clock(d))
	case actTool:
		return titled(b.toolName(c.entry.call), c.entry.call.show())
	case actStep:
		return []rich.Span{bold(oneLine(c.name, nameGraphemes))}
	case actApproval:
		return titled(w.WaitingApproval, mask(c.name, previewGraphemes))
	case actWorking: // with the clock, below
	}
	since, ok := b.clock(a)
	if !ok || now.IsZero() {
		return []rich.Span{bold(w.Working)}
	}
	if b.over && !b.ended.IsZero() {
		now = b.ended
	}
	return clocked(w.Working, w.clock(now.Sub(since)))
}

func (b *Board) toolName(c *call) string {
	for _, name := range [...]string{c.title, c.name} {
		if name = oneLine(name, nameGraphemes); name != "" {
			return name
		}
	}
	return b.words.Tool
}

// show is the call's preview, computed again only when more of its arguments have come.
func (c *call) show() string {
	if c.previewed != c.args.consumed {
		c.preview, c.previewed = c.args.preview(), c.args.consumed
	}
	return c.preview
}

func bold(s string) rich.Span   { return rich.Span{Text: s, Bold: true} }
func plain(s string) rich.Span  { return rich.Span{Text: s} }
func italic(s string) rich.Span { return rich.Span{Text: s, Italic: true} }

// titled is "Name: text", or only the name.
func titled(name, text string) []rich.Span {
	if text == "" {
		return []rich.Span{bold(name)}
	}
	return []rich.Span{bold(name), plain(": " + text)}
}

// clocked is "Working… (12s)"; within the first second only the word.
func clocked(word, clock string) []rich.Span {
	if clock == "" {
		return []rich.Span{bold(word)}
	}
	return []rich.Span{bold(word), plain(" (" + clock + ")")}
}

// mask is a short text from outside without its secrets.
func mask(s string, n int) string { return oneLine(agent.Mask(s), n) }
