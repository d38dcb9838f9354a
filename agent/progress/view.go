package progress

import (
	"strings"
	"time"

	"typist/adapters/rich"
)

const (
	shownSteps     = 8
	shownSubagents = 6
	stepGraphemes  = 50
)

// View is the progress message of a run that goes on, at one of its levels (P7). It costs at most
// what fits a message, however long the run is. The document is the caller's to read, not to
// change.
func (b *Board) View(level Level, now time.Time) rich.Doc {
	head := b.line(b.run, now)
	if level == Overview {
		return rich.Doc{paragraph(head...)}
	}
	if live := b.liveLine(b.run, level, now); live != "" {
		head = append(head, plain("\n"), italic(live))
	}
	doc := rich.Doc{paragraph(head...)}
	if steps, ok := b.stepList(b.run); ok {
		doc = append(doc, steps)
	}
	doc = append(doc, b.subagents(level, now)...)
	if level != Detail {
		return append(doc, b.answer(0, b.opt.Limit*2/3)...)
	}
	doc = append(doc, b.trace(b.opt.Limit*2/5, now)...)
	return append(doc, b.answer(1, b.opt.Limit*2/5)...)
}

func paragraph(spans ...rich.Span) rich.Block {
	return rich.Block{Kind: rich.Paragraph, Spans: spans}
}

// liveLine is the line under the run line: the thought while it streams (P3), afterwards its
// header (P6) until the next model request begins.
func (b *Board) liveLine(a *area, level Level, now time.Time) string {
	if a == b.run && b.note.Kind == Stopping {
		return ""
	}
	if c := b.current(a); c.kind == actThinking {
		return c.entry.live.show(level)
	}
	e := a.thought
	for i := len(a.thoughts) - 1; i >= 0 && b.opt.Reasoning == ReasoningStream; i-- {
		if a.thoughts[i].paused {
			e = a.thoughts[i]
			break
		}
	}
	if e == nil || b.opt.Reasoning == ReasoningOff || e.request != len(a.requests)-1 || level == Detail {
		return ""
	}
	header := b.thoughtHeader(e, now)
	if b.opt.Reasoning == ReasoningOn { // nobody has seen it live
		if begin := b.beginning(e); begin != "" {
			header += ": " + begin
		}
	}
	return cutHead(header, liveGraphemes)
}

// stepList shows the named steps: finished ones ticked, those that go on marked (P9).
func (b *Board) stepList(a *area) (rich.Block, bool) {
	if len(a.steps) == 0 {
		return rich.Block{}, false
	}
	from := max(len(a.steps)-shownSteps, 0)
	var spans []rich.Span
	if n := from + a.stepsGone; n > 0 {
		spans = append(spans, plain(b.words.EarlierSteps(n)+"\n"))
	}
	for i, s := range a.steps[from:] {
		end := "\n"
		if from+i == len(a.steps)-1 {
			end = ""
		}
		switch name := oneLine(s.name, stepGraphemes); {
		case s.done:
			spans = append(spans, plain("✓ "+name+end))
		case s.cut:
			spans = append(spans, plain("– "+name+end))
		default:
			spans = append(spans, plain("▸ "), bold(name), plain(end))
		}
	}
	return paragraph(spans...), true
}

// subagents shows each subagent in an area of its own: those that run with their own current
// step, newest ones first to stay, the finished ones as one line (P10).
func (b *Board) subagents(level Level, now time.Time) rich.Doc {
	var running, finished []*area
	b.walk(b.run, func(a *area) {
		switch {
		case a.entry == nil:
		case a.entry.open:
			running = append(running, a)
		default:
			finished = append(finished, a)
		}
	})
	var doc rich.Doc
	hidden := max(len(running)-shownSubagents, 0)
	room := shownSubagents - (len(running) - hidden)
	if len(finished) > 0 && level != Detail { // the trace has them
		from := max(len(finished)-max(room, 1), 0)
		var lines []rich.Span
		for i, a := range finished[from:] {
			if i > 0 {
				lines = append(lines, plain("\n"))
			}
			lines = append(lines, b.areaHeader(a, now)...)
		}
		if from > 0 {
			lines = append(lines, plain("\n"+b.words.MoreSubagents(from)))
		}
		doc = append(doc, rich.Block{Kind: rich.Quote, Children: []rich.Block{paragraph(lines...)}})
	}
	for _, a := range running[hidden:] {
		spans := append([]rich.Span{bold(b.areaName(a)), plain("\n")}, unbold(b.line(a, now))...)
		if live := b.liveLine(a, level, now); live != "" && b.current(a).kind == actThinking {
			spans = append(spans, plain("\n"), italic(live))
		}
		doc = append(doc, rich.Block{Kind: rich.Quote, Children: []rich.Block{paragraph(spans...)}})
	}
	if hidden > 0 {
		doc = append(doc, paragraph(plain(b.words.MoreSubagents(hidden))))
	}
	return doc
}

// unbold leaves bold to the subagent's name.
func unbold(spans []rich.Span) []rich.Span {
	for i := range spans {
		spans[i].Bold = false
	}
	return spans
}

// areaName is a subagent's name behind those that it works for.
func (b *Board) areaName(a *area) string {
	var names []string
	for ; a.entry != nil && len(names) < 3; a = a.parent {
		name := oneLine(a.name, nameGraphemes/2)
		if name == "" {
			name = b.words.Subagent
		}
		names = append([]string{name}, names...)
	}
	return strings.Join(names, " › ")
}

// areaHeader is a subagent's line in a list.
func (b *Board) areaHeader(a *area, now time.Time) []rich.Span {
	return []rich.Span{bold(b.areaName(a)), plain(b.outcome(a.entry, now))}
}

// outcome is an entry's mark and duration: " ✓ 3s", " ✗ 3s", " ▸" while it goes on.
func (b *Board) outcome(e *entry, now time.Time) string {
	var s string
	switch {
	case e.open && e.kind == callKind && !e.call.begun:
		return ""
	case e.open:
		return " ▸"
	case e.incomplete:
		s = " –"
	case e.failed:
		s = " ✗"
	default:
		s = " ✓"
	}
	if d, ok := e.elapsed(now); ok {
		s += " " + b.words.Duration(d)
	}
	if e.incomplete {
		s += " (" + b.words.CutShort + ")"
	}
	return s
}
