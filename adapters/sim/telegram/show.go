package telegram

import (
	"html"
	"slices"
	"strings"
	"unicode/utf16"
)

// showTags are the tags of sim.Message.HTML.
var showTags = map[string]string{
	"bold": "b", "italic": "i", "underline": "u", "strikethrough": "s", "code": "code", "pre": "pre",
	"blockquote": "blockquote", "expandable_blockquote": "details", "text_link": "a", "url": "a",
	"mention": "b", "text_mention": "b",
}

// show renders a text as people see it.
func show(text string, entities []Entity) string {
	units := utf16.Encode([]rune(text))
	cuts := []int{0, len(units)}
	for _, e := range entities {
		cuts = append(cuts, e.Offset, e.Offset+e.Length)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var b strings.Builder
	var open []Entity
	for i, at := range cuts {
		for n := len(open); n > 0 && open[n-1].Offset+open[n-1].Length <= at; n-- {
			b.WriteString(tail(open[n-1]))
			open = open[:n-1]
		}
		for _, e := range entities {
			if e.Offset == at && e.Length > 0 && showTags[e.Type] != "" {
				b.WriteString(head(e, slice(text, e.Offset, e.Length)))
				open = append(open, e)
			}
		}
		if i+1 < len(cuts) {
			part := html.EscapeString(string(utf16.Decode(units[at:cuts[i+1]])))
			if !slices.ContainsFunc(open, func(e Entity) bool { return e.Type == "pre" }) {
				part = strings.ReplaceAll(part, "\n", "<br>")
			}
			b.WriteString(part)
		}
	}
	for n := len(open); n > 0; n-- { // overlapping ones that did not nest
		b.WriteString(tail(open[n-1]))
	}
	return b.String()
}

func head(e Entity, text string) string {
	switch e.Type {
	case "text_link":
		return `<a href="` + html.EscapeString(e.URL) + `">`
	case "url":
		return `<a href="` + html.EscapeString(text) + `">`
	case "expandable_blockquote":
		first, _, _ := strings.Cut(text, "\n")
		return "<details><summary>" + html.EscapeString(first) + "</summary><blockquote>"
	case "pre":
		if e.Language != "" {
			return `<pre><code class="language-` + html.EscapeString(e.Language) + `">`
		}
		return "<pre><code>"
	}
	return "<" + showTags[e.Type] + ">"
}

func tail(e Entity) string {
	switch e.Type {
	case "expandable_blockquote":
		return "</blockquote></details>"
	case "pre":
		return "</code></pre>"
	}
	return "</" + showTags[e.Type] + ">"
}
