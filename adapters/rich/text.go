package rich

import (
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
)

// Text is the document as plain text: what is sent where a platform refuses its markup (P13).
// Nothing is lost: a link's target follows its text, a table is aligned columns, list items and
// quotes keep their marks.
func Text(doc Doc) string {
	var w textWriter
	w.blocks(doc, "", "\n\n")
	return w.String()
}

// textWriter writes blocks line by line, each with the prefix of the quotes and lists around it.
type textWriter struct{ strings.Builder }

// blocks writes blocks with sep between them. The first line's prefix has been written already.
func (w *textWriter) blocks(blocks []Block, prefix, sep string) {
	for i, b := range blocks {
		if i > 0 {
			for range len(sep) {
				w.newLine(prefix)
			}
		}
		w.block(b, prefix)
	}
}

func (w *textWriter) newLine(prefix string) {
	w.WriteByte('\n')
	w.WriteString(prefix)
}

// lines writes text whose line breaks get the prefix.
func (w *textWriter) lines(text, prefix string) {
	if prefix != "" {
		text = strings.ReplaceAll(text, "\n", "\n"+prefix)
	}
	w.WriteString(text)
}

func (w *textWriter) block(b Block, prefix string) {
	switch b.Kind {
	case Paragraph, Heading:
		w.lines(spansText(b.Spans), prefix)
	case Code:
		w.lines(b.Text, prefix)
	case Rule:
		w.WriteString("———")
	case Fold:
		w.blocks(b.Children, prefix, "\n")
	case Quote:
		w.WriteString("> ")
		w.blocks(b.Children, prefix+"> ", "\n\n")
	case List:
		for i, item := range b.Items {
			if i > 0 {
				w.newLine(prefix)
			}
			mark := "• "
			if b.Ordered {
				mark = strconv.Itoa(b.Start+i) + ". "
			}
			w.WriteString(mark)
			w.blocks(item, prefix+strings.Repeat(" ", uniseg.StringWidth(mark)), "\n")
		}
	case Table:
		for i, line := range alignedTable(b.Rows) {
			if i > 0 {
				w.newLine(prefix)
			}
			w.WriteString(line)
		}
	}
}

// spansText is the spans' text, with the target behind each link that does not say it itself.
func spansText(spans []Span) string {
	if len(spans) == 1 && spans[0].URL == "" {
		return spans[0].Text
	}
	var b strings.Builder
	for i := 0; i < len(spans); {
		end := linkEnd(spans, i)
		label := content(spans[i:end])
		b.WriteString(label)
		if target := spans[i].URL; target != "" && !says(label, target) {
			b.WriteString(" (" + target + ")")
		}
		i = end
	}
	return b.String()
}

// linkEnd is the index behind the link, or the one span without link, that begins at spans[i].
func linkEnd(spans []Span, i int) int {
	end := i + 1
	for spans[i].URL != "" && end < len(spans) && spans[end].URL == spans[i].URL {
		end++
	}
	return end
}

// says reports whether a link's text is its target already.
func says(label, target string) bool {
	for _, scheme := range []string{"", "https://", "http://", "mailto:"} {
		if rest, ok := strings.CutPrefix(target, scheme); ok && strings.TrimSuffix(rest, "/") == strings.TrimSuffix(label, "/") {
			return true
		}
	}
	return false
}

// maxColumn is the width up to which a table's columns are padded; a longer cell runs over.
const maxColumn = 40

// alignedTable is a table in lines of monospaced text, a line of dashes under its header.
func alignedTable(rows [][][]Span) []string {
	var cells [][]string
	var widths []int
	for _, row := range rows {
		var line []string
		for i, cell := range row {
			text := strings.ReplaceAll(spansText(cell), "\n", " ")
			line = append(line, text)
			if i == len(widths) {
				widths = append(widths, 1)
			}
			widths[i] = max(widths[i], min(uniseg.StringWidth(text), maxColumn))
		}
		cells = append(cells, line)
	}
	var lines []string
	for i, row := range cells {
		var b strings.Builder
		for j, text := range row {
			if j > 0 {
				b.WriteString("  ")
			}
			b.WriteString(text)
			if j < len(row)-1 {
				b.WriteString(strings.Repeat(" ", max(0, widths[j]-uniseg.StringWidth(text))))
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
		if i == 0 {
			var dashes []string
			for _, w := range widths {
				dashes = append(dashes, strings.Repeat("─", w))
			}
			lines = append(lines, strings.Join(dashes, "  "))
		}
	}
	return lines
}
