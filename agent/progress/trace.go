package progress

import (
	"strings"
	"time"

	"typist/adapters/rich"
	"typist/agent"
)

const (
	traceChars = 3600 // of the trace behind the Details button: one message on Telegram
	bodyChars  = 600  // of what is folded behind an entry
	argsChars  = 300
)

// Trace is what stands behind the Details button (P8): every entry collapsed to its preview, with
// its content folded behind it where there is room; the newest entries come first to room. The
// answer itself is no part of it.
func (b *Board) Trace(now time.Time) rich.Doc { return b.trace(max(traceChars, b.opt.Limit), now) }

// row is an entry's place in the trace.
type row struct {
	entry   *entry
	preview []rich.Span
	body    []rich.Block
}

// trace is the newest of the trace in about limit characters, in order: previews first, then
// bodies, as far as there is room.
func (b *Board) trace(limit int, now time.Time) rich.Doc {
	var entries []*entry
	gone := 0
	b.collect(b.run, &entries, &gone)
	var rows []row // newest first
	room := limit
	for i := len(entries) - 1; i >= 0; i-- {
		r := row{entry: entries[i], preview: b.preview(entries[i], now)}
		if room -= spansLen(r.preview) + 1; room < 0 && len(rows) > 0 {
			gone += i + 1
			break
		}
		rows = append(rows, r)
	}
	for i := range rows {
		body, size := b.body(rows[i].entry, min(room, bodyChars))
		if size > room {
			break
		}
		rows[i].body = body
		room -= size
	}
	var doc rich.Doc
	if gone > 0 {
		doc = append(doc, paragraph(plain(b.words.EarlierEntries(gone))))
	}
	for i := len(rows) - 1; i >= 0; i-- {
		head := paragraph(rows[i].preview...)
		if len(rows[i].body) == 0 {
			doc = append(doc, head)
			continue
		}
		doc = append(doc, rich.Block{Kind: rich.Fold, Children: append([]rich.Block{head}, rows[i].body...)})
	}
	return doc
}

// collect lists an area's entries in the trace's order, a subagent's behind its own.
func (b *Board) collect(a *area, to *[]*entry, gone *int) {
	*gone += a.dropped
	for _, e := range a.entries {
		switch e.kind {
		case thoughtKind:
			if b.opt.Reasoning == ReasoningOff || b.opt.Reasoning == ReasoningOn && e.open {
				continue
			}
		case textKind:
			if !e.said || e == b.run.text {
				continue
			}
		case callKind, areaKind:
		}
		*to = append(*to, e)
		if e.sub != nil {
			b.collect(e.sub, to, gone)
		}
	}
}

// preview is an entry's collapsed line.
func (b *Board) preview(e *entry, now time.Time) []rich.Span {
	var spans []rich.Span
	if e.area.entry != nil && e.kind != areaKind {
		spans = append(spans, plain(b.areaName(e.area)+" › "))
	}
	switch e.kind {
	case thoughtKind:
		if e.open && !e.paused && bodied(e) {
			return append(spans, bold(b.thoughtHeader(e, now)))
		}
		return append(spans, titled(b.thoughtHeader(e, now), b.beginning(e))...)
	case callKind:
		spans = append(spans, titled(b.toolName(e.call), e.call.show())...)
		return append(spans, plain(b.outcome(e, now)))
	case areaKind:
		return b.areaHeader(e.sub, now)
	case textKind: // below
	}
	if e.incomplete {
		return append(spans, titled(b.words.CutShort, b.beginning(e))...)
	}
	return append(spans, plain(b.beginning(e)))
}

// thoughtHeader is "Thinking… (10s)", "Thought for 12s", or "Thought" without times (P6).
func (b *Board) thoughtHeader(e *entry, now time.Time) string {
	d, timed := e.elapsed(now)
	var s string
	switch {
	case e.open && !e.paused:
		s = b.words.ThinkingFor(d)
	case timed:
		s = b.words.ThoughtFor(d)
	default:
		s = b.words.Thought
	}
	if e.incomplete {
		s += " (" + b.words.CutShort + ")"
	}
	return s
}

// beginning is the first words of a thought or a text.
func (b *Board) beginning(e *entry) string {
	if e.preview != "" {
		return e.preview
	}
	head := string(e.body[:min(len(e.body), liveBytes)])
	head = strings.ToValidUTF8(head, "")
	if e.kind == textKind {
		head = rich.Text(rich.Parse(head))
	}
	short := mask(head, previewGraphemes)
	if !e.open || len(e.body) >= liveBytes {
		e.preview = short
	}
	return short
}

// settle lets go of what lies behind an entry's preview.
func (b *Board) settle(e *entry) {
	switch e.kind {
	case thoughtKind, textKind:
		b.beginning(e)
	case callKind:
		e.call.show()
		e.call.args = argScan{consumed: e.call.args.consumed}
	case areaKind:
	}
	e.body, e.bodyCut = nil, false
}

// body is what is folded behind an entry, in about limit characters, and its size.
func (b *Board) body(e *entry, limit int) (blocks []rich.Block, size int) {
	if limit < previewGraphemes {
		return nil, 0
	}
	text := b.shortened(e, limit)
	switch e.kind {
	case thoughtKind:
		if bodied(e) {
			for p := range strings.SplitSeq(text, "\n\n") {
				if p = strings.TrimSpace(p); p != "" {
					blocks = append(blocks, paragraph(plain(p)))
					size += len([]rune(p)) + 2
				}
			}
		}
	case textKind:
		if bodied(e) {
			blocks, size = rich.Parse(text), len([]rune(text))
		}
	case callKind:
		if !e.call.args.told(e.call.show()) {
			args := strings.TrimSpace(agent.MaskPartial(string(e.call.args.raw)))
			args = block(args, min(limit, argsChars), e.call.args.rawCut)
			blocks = append(blocks, rich.Block{Kind: rich.Code, Text: args, Lang: "json"})
			size += len([]rune(args)) + 10
		}
		if text != "" {
			blocks = append(blocks, rich.Block{Kind: rich.Code, Text: text})
			size += len([]rune(text)) + 8
		}
	case areaKind: // its own entries follow
	}
	return blocks, size
}

// shortened is an entry's text without secrets, cut to limit characters.
func (b *Board) shortened(e *entry, limit int) string {
	text := strings.TrimSpace(string(e.body[:min(len(e.body), 4*limit+256)]))
	if e.kind != textKind {
		text = agent.MaskPartial(text)
	}
	return block(text, limit, e.bodyCut || len(e.body) > 4*limit+256)
}

// bodied reports whether a thought or text has more than its preview can show.
func bodied(e *entry) bool {
	return len(e.body) > previewGraphemes || strings.Contains(strings.TrimSpace(string(e.body)), "\n")
}

// block is a text of several lines made safe to show: no control characters, at most limit
// characters.
func block(s string, limit int, more bool) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && hidden(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if short := cutRunes(s, limit); short != s || !more {
		return short
	}
	return s + ellipsis
}

func spansLen(spans []rich.Span) (n int) {
	for _, s := range spans {
		n += len([]rune(s.Text))
	}
	return n
}
