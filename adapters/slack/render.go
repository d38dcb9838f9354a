package slack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"typist/adapters/rich"
)

// nothing stands where a message has no text at all; Slack refuses an empty one.
const nothing = "…"

// Fit splits a document so that each part's blocks stay within what Slack takes for a message,
// with room left for buttons.
func (a *Adapter) Fit(doc rich.Doc) []rich.Doc {
	return rich.Split(doc, maxBlocksSize, measure)
}

// measure is the size of a document's blocks: their JSON in UTF-16 units, as Slack's refusals
// suggest that it counts, or the share of blocks that are taken, whichever is nearer its limit. It
// only grows with the document: a table counts as the bigger of its two looks, whichever is used.
func measure(doc rich.Doc) int {
	blocks := richBlocks(doc, rendering{languages: true})
	size := jsonSize(blocks)
	for _, b := range doc {
		if b.Kind == rich.Table {
			text := jsonSize(richBlocks(rich.Doc{b}, rendering{}))
			size += max(0, min(jsonSize(tableBlock(b)), maxTableSize)-text)
		}
	}
	return max(size, len(blocks)*maxBlocksSize/maxBlocks)
}

func jsonSize(v any) int {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return maxBlocksSize + 1
	}
	n := 0
	for _, r := range b.String() {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// rendering says which extras a form uses.
type rendering struct {
	tables    bool // a table block, where the table is the last thing and not too big
	languages bool // of code
}

// hasExtras says whether a document would look different without them.
func hasExtras(doc rich.Doc) bool {
	for i, b := range doc {
		if b.Kind == rich.Code && b.Lang != "" || b.Kind == rich.Table && i == len(doc)-1 ||
			(b.Kind == rich.List || b.Kind == rich.Quote) && containsCode(b) {
			return true
		}
	}
	return false
}

func containsCode(b rich.Block) bool {
	if b.Kind == rich.Code {
		return true
	}
	for _, c := range b.Children {
		if containsCode(c) {
			return true
		}
	}
	for _, item := range b.Items {
		for _, c := range item {
			if containsCode(c) {
				return true
			}
		}
	}
	return false
}

// builder collects blocks. Text goes into rich_text blocks: their elements are structured, so
// that nothing in a model's output is read as markup or as a mention.
type builder struct {
	rendering
	blocks []slack.Block
	rich   []slack.RichTextElement
	inline []slack.RichTextSectionElement
}

func richBlocks(doc rich.Doc, r rendering) []slack.Block {
	b := &builder{rendering: r}
	for i, block := range doc {
		b.add(block, i == len(doc)-1)
	}
	b.endRich()
	if len(b.blocks) == 0 {
		b.inline = []slack.RichTextSectionElement{slack.NewRichTextSectionTextElement(nothing, nil)}
		b.endRich()
	}
	return b.blocks
}

func (b *builder) add(block rich.Block, last bool) {
	switch block.Kind {
	case rich.Paragraph:
		b.text(block.Spans, false)
	case rich.Heading:
		b.text(block.Spans, true)
	case rich.Code:
		b.code(block)
	case rich.Quote:
		if inline := flatten(block.Children); len(inline) > 0 {
			b.element(&slack.RichTextQuote{Type: slack.RTEQuote, Elements: inline})
		}
	case rich.List:
		b.list(block, 0)
	case rich.Table:
		if table := nativeTable(block); b.tables && last && table != nil {
			b.endRich()
			b.blocks = append(b.blocks, table)
			return
		}
		b.code(rich.Block{Text: rich.Text(rich.Doc{block})})
	case rich.Rule:
		b.endRich()
		b.blocks = append(b.blocks, slack.NewDividerBlock())
	case rich.Fold:
		b.endRich()
		if context := smallBlock(rich.Text(block.Children)); context != nil {
			b.blocks = append(b.blocks, context)
		}
	}
}

// text adds a paragraph to the running section, a blank line between it and the one before.
func (b *builder) text(spans []rich.Span, bold bool) {
	add := inlineSpans(spans, bold)
	if len(add) == 0 {
		return
	}
	if len(b.inline) > 0 {
		b.inline = append(b.inline, slack.NewRichTextSectionTextElement("\n\n", nil))
	}
	b.inline = append(b.inline, add...)
}

func (b *builder) code(block rich.Block) {
	text := strings.TrimRight(block.Text, "\n")
	if text == "" {
		text = " "
	}
	pre := &slack.RichTextPreformatted{Type: slack.RTEPreformatted, Elements: []slack.RichTextSectionElement{slack.NewRichTextSectionTextElement(text, nil)}}
	if b.languages {
		pre.Language = block.Lang
	}
	b.element(pre)
}

// element closes the running section and adds another element.
func (b *builder) element(e slack.RichTextElement) {
	b.endSection()
	b.rich = append(b.rich, e)
}

func (b *builder) endSection() {
	if len(b.inline) > 0 {
		b.rich = append(b.rich, slack.NewRichTextSection(b.inline...))
		b.inline = nil
	}
}

func (b *builder) endRich() {
	b.endSection()
	if len(b.rich) > 0 {
		b.blocks = append(b.blocks, slack.NewRichTextBlock("", b.rich...))
		b.rich = nil
	}
}

// list adds a list. Slack's lists hold lines only: nested lists, code and quotes of an item
// follow it, and the list goes on after them with the right number.
func (b *builder) list(block rich.Block, indent int) {
	style := slack.RTEListBullet
	number := 0
	if block.Ordered {
		style = slack.RTEListOrdered
		number = max(block.Start-1, 0)
	}
	var items []slack.RichTextElement
	flush := func() {
		if len(items) == 0 {
			return
		}
		list := slack.NewRichTextList(style, min(indent, 8), items...)
		if block.Ordered {
			list.Offset = number - len(items)
		}
		b.element(list)
		items = nil
	}
	for _, item := range block.Items {
		var line []slack.RichTextSectionElement
		rest := item
		for len(rest) > 0 && (rest[0].Kind == rich.Paragraph || rest[0].Kind == rich.Heading) {
			if len(line) > 0 {
				line = append(line, slack.NewRichTextSectionTextElement("\n", nil))
			}
			line = append(line, inlineSpans(rest[0].Spans, rest[0].Kind == rich.Heading)...)
			rest = rest[1:]
		}
		if len(line) == 0 {
			line = append(line, slack.NewRichTextSectionTextElement(" ", nil))
		}
		items = append(items, slack.NewRichTextSection(line...))
		number++
		for _, child := range rest {
			flush()
			if child.Kind == rich.List {
				b.list(child, indent+1)
			} else {
				b.add(child, false)
			}
		}
	}
	flush()
}

// inlineSpans makes rich text elements of spans.
func inlineSpans(spans []rich.Span, bold bool) []slack.RichTextSectionElement {
	var out []slack.RichTextSectionElement
	for _, s := range spans {
		style := &slack.RichTextSectionTextStyle{Bold: s.Bold || bold, Italic: s.Italic, Strike: s.Strike, Code: s.Code}
		if *style == (slack.RichTextSectionTextStyle{}) {
			style = nil
		}
		switch {
		case s.URL != "" && linkable(s.URL):
			out = append(out, slack.NewRichTextSectionLinkElement(s.URL, s.Text, style))
		case s.Text != "":
			out = append(out, slack.NewRichTextSectionTextElement(s.Text, style))
		}
	}
	return out
}

func linkable(url string) bool {
	return len(url) <= maxURL && (strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "mailto:"))
}

// flatten makes lines of blocks, for quotes, which hold nothing else.
func flatten(blocks []rich.Block) []slack.RichTextSectionElement {
	var out []slack.RichTextSectionElement
	line := func(add ...slack.RichTextSectionElement) {
		if len(add) == 0 {
			return
		}
		if len(out) > 0 {
			out = append(out, slack.NewRichTextSectionTextElement("\n", nil))
		}
		out = append(out, add...)
	}
	for _, b := range blocks {
		switch b.Kind {
		case rich.Paragraph, rich.Heading:
			line(inlineSpans(b.Spans, b.Kind == rich.Heading)...)
		case rich.List:
			for i, item := range b.Items {
				mark := "• "
				if b.Ordered {
					mark = fmt.Sprintf("%d. ", max(b.Start, 1)+i)
				}
				line(append([]slack.RichTextSectionElement{slack.NewRichTextSectionTextElement(mark, nil)}, flatten(item)...)...)
			}
		case rich.Code, rich.Table:
			if text := strings.TrimRight(rich.Text(rich.Doc{b}), "\n"); text != "" {
				line(slack.NewRichTextSectionTextElement(text, &slack.RichTextSectionTextStyle{Code: true}))
			}
		case rich.Quote, rich.Fold:
			if inner := flatten(b.Children); len(inner) > 0 {
				line(append([]slack.RichTextSectionElement{slack.NewRichTextSectionTextElement("> ", nil)}, inner...)...)
			}
		case rich.Rule:
			line(slack.NewRichTextSectionTextElement("───", nil))
		}
	}
	return out
}
