package discord

import (
	"regexp"
	"strconv"
	"strings"

	"typist/adapters/rich"
)

// Fit splits a document into parts of at most 2,000 UTF-16 units of Discord's Markdown.
func (a *Adapter) Fit(doc rich.Doc) []rich.Doc { return rich.Split(doc, maxLength, measure) }

func measure(doc rich.Doc) int { return rich.UTF16Len(Render(doc)) }

// Render writes a document in Discord's dialect of Markdown. It has three levels of headings, one
// level of quotes, no tables (they become code) and no folding (a fold becomes subtext lines).
func Render(doc rich.Doc) string {
	var p printer
	p.blocks(doc, layout{})
	return strings.TrimRight(p.String(), "\n")
}

// layout is what stands around blocks.
type layout struct {
	quote  bool // inside a quote; Discord knows one level
	small  bool // inside a fold
	depth  int  // of lists
	indent string
	tight  bool // no empty lines between blocks
}

type printer struct{ strings.Builder }

func (p *printer) blocks(blocks []rich.Block, at layout) {
	for i, b := range blocks {
		if i > 0 {
			p.line(at, "")
			if !at.tight && !at.small && loose(blocks[i-1], b) {
				p.line(at, "")
			}
		}
		p.block(b, at)
	}
}

// loose reports whether an empty line belongs between two blocks: headings and quotes have
// distance of their own.
func loose(above, below rich.Block) bool {
	if above.Kind == rich.Heading || below.Kind == rich.Code || above.Kind == rich.Code {
		return false
	}
	return !(above.Kind == rich.Paragraph && below.Kind == rich.List)
}

// line ends the line and begins the next one with what stands around it.
func (p *printer) line(at layout, text string) {
	p.WriteString("\n")
	p.WriteString(prefix(at))
	p.WriteString(text)
}

// prefix opens a line inside quotes and lists.
func prefix(at layout) string {
	if at.quote {
		return "> " + at.indent
	}
	return at.indent
}

// text writes lines; the first stands where the writer is.
func (p *printer) text(lines string, at layout, mark string) {
	for i, line := range strings.Split(lines, "\n") {
		if i > 0 {
			p.line(at, "")
		}
		if line != "" {
			p.WriteString(mark)
		}
		p.WriteString(line)
	}
}

func (p *printer) block(b rich.Block, at layout) {
	if p.Len() == 0 {
		p.WriteString(prefix(at))
	}
	switch b.Kind {
	case rich.Paragraph:
		mark := ""
		if at.small && at.depth == 0 {
			mark = "-# "
		}
		p.text(spans(b.Spans), at, mark)
	case rich.Heading:
		text := strings.ReplaceAll(spans(b.Spans), "\n", " ")
		switch {
		case at.small && at.depth == 0:
			p.text(text, at, "-# ")
		case b.Level <= 3 && !at.small && at.depth == 0 && strings.TrimSpace(text) != "":
			p.text(text, at, strings.Repeat("#", max(1, b.Level))+" ")
		default:
			bold := make([]rich.Span, len(b.Spans))
			for i, s := range b.Spans {
				s.Bold, s.Text = true, strings.ReplaceAll(s.Text, "\n", " ")
				bold[i] = s
			}
			p.text(spans(bold), at, "")
		}
	case rich.Code:
		p.code(b.Text, b.Lang, at)
	case rich.Table:
		p.code(rich.Text(rich.Doc{b}), "", at)
	case rich.Rule:
		p.WriteString("──────────")
	case rich.Quote:
		if !at.quote && at.depth == 0 {
			p.WriteString("> ")
			at.quote = true
		}
		p.blocks(b.Children, at)
	case rich.Fold:
		at.small = true
		p.blocks(b.Children, at)
	case rich.List:
		p.list(b, at)
	}
}

func (p *printer) list(b rich.Block, at layout) {
	for i, item := range b.Items {
		if i > 0 {
			p.line(at, "")
		}
		mark := "- "
		if b.Ordered {
			mark = strconv.Itoa(max(0, b.Start)+i) + ". "
		}
		inner := at
		inner.depth, inner.tight = at.depth+1, true
		inner.indent += strings.Repeat(" ", len(mark))
		if at.small { // subtext has no lists: bullets and wide spaces stand in
			if at.depth == 0 {
				p.WriteString("-# ")
			}
			if !b.Ordered {
				mark = "• "
			}
			inner.indent = "-# " + strings.Repeat("\u2003", inner.depth)
		}
		p.WriteString(mark)
		p.blocks(item, inner)
	}
}

var langForm = regexp.MustCompile(`^[A-Za-z0-9+#._-]{1,32}$`)

// code writes a code block. Discord has no longer fences: backticks inside get a zero-width space.
func (p *printer) code(text, lang string, at layout) {
	if !langForm.MatchString(lang) {
		lang = ""
	}
	at.indent = "" // a fence inside a list stands at the left, or its lines would be indented
	if s := p.String(); at.depth > 0 && !strings.HasSuffix(s, "\n") {
		p.line(at, "")
	}
	p.WriteString("```" + lang)
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "```", "`\u200b`\u200b`"), "\n") {
		p.line(at, strings.TrimSuffix(line, "\r"))
	}
	if strings.HasSuffix(text, "`") {
		p.WriteString("\u200b")
	}
	p.line(at, "```")
}
