package rich

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

// header marks the cells of table headers, which are repeated: the properties leave it out.
const header = "\ue000"

var words = []string{
	"a", "word", "longerword", "Donaudampfschifffahrt", "日本語の文章", "、", "👩‍👩‍👧‍👦", "🇩🇪🇫🇷", "e\u0301\u0302", "नमस्ते",
	"x\u200dy", "a\u00a0b", "-", "https://example.org/a/b", "한국어", "\u0301", "1.", "…",
}

func drawText(t *rapid.T, separators []string) string {
	var b strings.Builder
	for range rapid.IntRange(1, 12).Draw(t, "words") {
		b.WriteString(rapid.SampledFrom(words).Draw(t, "word"))
		b.WriteString(rapid.SampledFrom(separators).Draw(t, "separator"))
	}
	return b.String()
}

func drawSpans(t *rapid.T) []Span {
	var out runs
	for range rapid.IntRange(1, 4).Draw(t, "spans") {
		look := Span{
			Bold: rapid.Bool().Draw(t, "bold"),
			Code: rapid.IntRange(0, 4).Draw(t, "code") == 0,
			URL:  rapid.SampledFrom([]string{"", "", "", "https://x.y/1", "https://x.y/2"}).Draw(t, "url"),
		}
		if look.URL != "" {
			out.add(look, rapid.SampledFrom(words).Draw(t, "link")+rapid.SampledFrom([]string{"", " of words"}).Draw(t, "more"))
			continue
		}
		out.add(look, drawText(t, []string{" ", " ", "", "\n", "  "}))
	}
	return out.spans()
}

func drawBlocks(t *rapid.T, depth int) []Block {
	var out []Block
	for range rapid.IntRange(1, 4).Draw(t, "blocks") {
		kinds := []BlockKind{Paragraph, Paragraph, Heading, Code, Table, Rule}
		if depth < 3 {
			kinds = append(kinds, Quote, List, Fold)
		}
		b := Block{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
		switch b.Kind {
		case Paragraph:
			b.Spans = drawSpans(t)
		case Heading:
			b.Spans, b.Level = drawSpans(t), 2
		case Code:
			b.Text, b.Lang = drawText(t, []string{" ", "\n", "\n\n", "\n    ", ""}), rapid.SampledFrom([]string{"", "go"}).Draw(t, "lang")
		case Quote, Fold:
			b.Children = drawBlocks(t, depth+1)
		case List:
			b.Ordered = rapid.Bool().Draw(t, "ordered")
			if b.Ordered {
				b.Start = rapid.IntRange(0, 99).Draw(t, "start")
			}
			for range rapid.IntRange(1, 4).Draw(t, "items") {
				b.Items = append(b.Items, drawBlocks(t, depth+1))
			}
		case Table:
			b.Rows = [][][]Span{{{{Text: header}}, {{Text: header}}}}
			for range rapid.IntRange(0, 5).Draw(t, "rows") {
				b.Rows = append(b.Rows, [][]Span{drawSpans(t), drawSpans(t)})
			}
		case Rule:
		}
		out = append(out, b)
	}
	return out
}

// graphemes lists all that can be read in a document, in order, without white space and headers.
// Each text is cut into graphemes by itself, so that a cut inside of one shows.
func graphemes(blocks []Block) []string {
	var out []string
	text := func(s string) {
		g := uniseg.NewGraphemes(s)
		for g.Next() {
			if c := strings.TrimFunc(g.Str(), unicode.IsSpace); c != "" && c != header {
				out = append(out, c)
			}
		}
	}
	for _, b := range blocks {
		text(b.Text)
		text(content(b.Spans))
		out = append(out, graphemes(b.Children)...)
		for _, item := range b.Items {
			out = append(out, graphemes(item)...)
		}
		for _, row := range b.Rows {
			for _, cell := range row {
				text(content(cell))
			}
		}
	}
	return out
}

// links lists the texts of all links.
func links(blocks []Block, out map[string]bool) map[string]bool {
	spans := func(spans []Span) {
		for i := 0; i < len(spans); {
			end := linkEnd(spans, i)
			if spans[i].URL != "" {
				out[spans[i].URL+" "+content(spans[i:end])] = true
			}
			i = end
		}
	}
	for _, b := range blocks {
		spans(b.Spans)
		links(b.Children, out)
		for _, item := range b.Items {
			links(item, out)
		}
		for _, row := range b.Rows {
			for _, cell := range row {
				spans(cell)
			}
		}
	}
	return out
}

var measures = map[string]func(Doc) int{"utf16": utf16s, "runes": runes, "html": htmlLen, "json": jsonLen, "bytes": cheap}

func drawMeasure(t *rapid.T) func(Doc) int {
	return measures[rapid.SampledFrom([]string{"utf16", "runes", "html", "json", "bytes"}).Draw(t, "measure")]
}

func TestP13_SplitKeepsAllTextWithinTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := Doc(drawBlocks(t, 0))
		before := jsonLen(doc)
		measure := drawMeasure(t)
		limit := rapid.IntRange(1200, 4000).Draw(t, "limit") // every row and link fits
		parts := Split(doc, limit, measure)
		var read []string
		whole := links(doc, map[string]bool{})
		for _, p := range parts {
			if n := measure(p); n > limit {
				t.Fatalf("a part measures %d > %d", n, limit)
			}
			read = append(read, graphemes(p)...)
			for l := range links(p, map[string]bool{}) {
				if !whole[l] {
					t.Fatalf("link %q is a piece of one", l)
				}
			}
		}
		if want := graphemes(doc); !slices.Equal(read, want) {
			t.Fatalf("parts read\n%q\nwant\n%q", read, want)
		}
		if jsonLen(doc) != before {
			t.Fatal("the document was changed")
		}
	})
}

func TestP13_SplitWithAnyLimitEndsAndLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := Doc(drawBlocks(t, 0))
		measure := drawMeasure(t)
		limit := rapid.IntRange(-1, 120).Draw(t, "limit")
		parts := Split(doc, limit, measure)
		if len(parts) == 0 {
			t.Fatal("no part")
		}
		var read strings.Builder
		for _, p := range parts {
			g := graphemes(p)
			if n := measure(p); n > limit && len(g) > 1 {
				t.Fatalf("a part of %d graphemes measures %d > %d: %s", len(g), n, limit, show([]Doc{p}))
			}
			read.WriteString(strings.Join(g, ""))
		}
		rest := read.String()
		for _, want := range strings.Join(graphemes(doc), "") {
			_, after, found := strings.Cut(rest, string(want))
			if !found {
				t.Fatalf("%q is lost", want)
			}
			rest = after // simplified tables and links add text, none goes
		}
	})
}

func TestP13_NeverInsideAGraphemeHoweverSmallTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := Plain(drawText(t, []string{" ", "", "\n"}))
		limit := rapid.IntRange(0, 30).Draw(t, "limit")
		var read []string
		for _, p := range Split(doc, limit, utf16s) {
			read = append(read, graphemes(p)...)
		}
		if want := graphemes(doc); !slices.Equal(read, want) {
			t.Fatalf("parts read\n%q\nwant\n%q", read, want)
		}
	})
}

func TestP13_PartsTakeTheirRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawText(t, []string{" "})
		limit := rapid.IntRange(30, 60).Draw(t, "limit")
		parts := Split(Plain(text), limit, utf16s)
		for i := 1; i < len(parts); i++ {
			if n := utf16s(parts[i-1]) + utf16s(parts[i]); n+1 <= limit/2 {
				t.Fatalf("parts %d and %d measure %d together, limit %d", i-1, i, n, limit)
			}
		}
	})
}

func TestP13_Cut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := Doc(drawBlocks(t, 0))
		measure := drawMeasure(t)
		limit := rapid.IntRange(0, 1500).Draw(t, "limit")
		before := jsonLen(doc)
		cut := Cut(doc, limit, measure)
		if jsonLen(doc) != before {
			t.Fatal("the document was changed")
		}
		if measure(doc) <= limit {
			if !Equal(cut, doc) {
				t.Fatal("a document that fits was changed")
			}
			return
		}
		if n := measure(cut); n > max(limit, measure(nil)) {
			t.Fatalf("measures %d > %d", n, limit)
		}
		if len(cut) > 0 && !strings.HasSuffix(strings.TrimSpace(content(lastSpans(cut))), "…") {
			t.Fatalf("does not end with …: %s", show([]Doc{cut}))
		}
		if limit >= 800 && measure(cut) < limit/8 {
			t.Fatalf("only %d of %d used: %s", measure(cut), limit, show([]Doc{cut}))
		}
	})
}

// lastSpans is the last text of a document, a code block's as one span.
func lastSpans(blocks []Block) []Span {
	last := blocks[len(blocks)-1]
	switch last.Kind {
	case Code:
		return []Span{{Text: last.Text}}
	case Quote, Fold:
		return lastSpans(last.Children)
	case List:
		return lastSpans(last.Items[len(last.Items)-1])
	case Paragraph, Heading, Table, Rule:
	}
	return last.Spans
}
