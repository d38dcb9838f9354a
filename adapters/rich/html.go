package rich

import (
	"html"
	"strconv"
	"strings"
)

// HTML is the document as safe HTML: all text escaped, links only to where reachable says, and no
// tags but p b i s code pre a ul ol li blockquote h1–h6 table tr th td details summary br hr.
func HTML(doc Doc) string {
	var b strings.Builder
	writeBlocks(&b, doc)
	return b.String()
}

func writeBlocks(b *strings.Builder, blocks []Block) {
	for _, block := range blocks {
		writeBlock(b, block)
	}
}

func writeBlock(b *strings.Builder, block Block) {
	switch block.Kind {
	case Paragraph:
		wrap(b, "p", func() { writeSpans(b, block.Spans) })
	case Heading:
		wrap(b, "h"+strconv.Itoa(min(max(block.Level, 1), 6)), func() { writeSpans(b, block.Spans) })
	case Code:
		b.WriteString("<pre><code")
		if block.Lang != "" {
			b.WriteString(` class="language-` + html.EscapeString(block.Lang) + `"`)
		}
		b.WriteString(">" + html.EscapeString(block.Text) + "</code></pre>")
	case Quote:
		wrap(b, "blockquote", func() { writeBlocks(b, block.Children) })
	case List:
		writeList(b, block)
	case Table:
		wrap(b, "table", func() {
			for i, row := range block.Rows {
				cell := "td"
				if i == 0 {
					cell = "th"
				}
				wrap(b, "tr", func() {
					for _, spans := range row {
						wrap(b, cell, func() { writeSpans(b, spans) })
					}
				})
			}
		})
	case Rule:
		b.WriteString("<hr>")
	case Fold:
		wrap(b, "details", func() { writeFold(b, block.Children) })
	}
}

func writeList(b *strings.Builder, list Block) {
	tag, end := "<ul>", "</ul>"
	if list.Ordered {
		tag, end = "<ol>", "</ol>"
		if list.Start != 1 {
			tag = `<ol start="` + strconv.Itoa(list.Start) + `">`
		}
	}
	b.WriteString(tag)
	for _, item := range list.Items {
		wrap(b, "li", func() {
			// A line of its own needs no paragraph around it.
			if len(item) > 0 && item[0].Kind == Paragraph {
				writeSpans(b, item[0].Spans)
				item = item[1:]
			}
			writeBlocks(b, item)
		})
	}
	b.WriteString(end)
}

// writeFold makes a first line of text the line that shows while it is folded.
func writeFold(b *strings.Builder, children []Block) {
	wrap(b, "summary", func() {
		if len(children) > 0 && (children[0].Kind == Paragraph || children[0].Kind == Heading) {
			writeSpans(b, children[0].Spans)
			children = children[1:]
			return
		}
		b.WriteString("…")
	})
	writeBlocks(b, children)
}

func writeSpans(b *strings.Builder, spans []Span) {
	for i := 0; i < len(spans); {
		end := linkEnd(spans, i)
		link := reachable(spans[i].URL)
		if link {
			b.WriteString(`<a href="` + html.EscapeString(spans[i].URL) + `" target="_blank" rel="noopener noreferrer">`)
		}
		for _, s := range spans[i:end] {
			writeSpan(b, s)
		}
		if link {
			b.WriteString("</a>")
		}
		i = end
	}
}

func writeSpan(b *strings.Builder, s Span) {
	var closing string
	for _, look := range []struct {
		on  bool
		tag string
	}{{s.Bold, "b"}, {s.Italic, "i"}, {s.Strike, "s"}, {s.Code, "code"}} {
		if look.on {
			b.WriteString("<" + look.tag + ">")
			closing = "</" + look.tag + ">" + closing
		}
	}
	b.WriteString(strings.ReplaceAll(html.EscapeString(s.Text), "\n", "<br>"))
	b.WriteString(closing)
}

func wrap(b *strings.Builder, tag string, inside func()) {
	b.WriteString("<" + tag + ">")
	inside()
	b.WriteString("</" + tag + ">")
}
