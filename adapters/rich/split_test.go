package rich

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func runes(d Doc) int   { return utf8.RuneCountInString(Text(d)) }
func utf16s(d Doc) int  { return UTF16Len(Text(d)) }
func htmlLen(d Doc) int { return len(HTML(d)) }

// show writes parts in short: one line a part, blocks between bars.
func show(parts []Doc) string {
	var out []string
	for _, p := range parts {
		out = append(out, strings.ReplaceAll(showBlocks(p), "\n", "⏎"))
	}
	return strings.Join(out, "\n")
}

func showBlocks(blocks []Block) string {
	var out []string
	for _, b := range blocks {
		text := b.Text
		for _, s := range b.Spans {
			t := s.Text
			if s.Bold {
				t = "*" + t + "*"
			}
			if s.URL != "" {
				t = "[" + t + "]"
			}
			text += t
		}
		switch b.Kind {
		case Paragraph:
		case Heading:
			text = strings.Repeat("#", b.Level) + text
		case Code:
			text = "```" + b.Lang + " " + text + "```"
		case Rule:
			text = "---"
		case Quote:
			text = "Q{" + showBlocks(b.Children) + "}"
		case Fold:
			text = "F{" + showBlocks(b.Children) + "}"
		case List:
			text = ""
			for i, item := range b.Items {
				mark := "-"
				if b.Ordered {
					mark = fmt.Sprint(b.Start + i)
				}
				text += mark + "{" + showBlocks(item) + "}"
			}
		case Table:
			for _, row := range b.Rows {
				for _, cell := range row {
					text += content(cell) + ","
				}
				text += ";"
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, " | ")
}

func TestP13_Split(t *testing.T) {
	for _, c := range []struct {
		name, markdown string
		limit          int
		want           string
	}{
		{"fits", "one two", 7, "one two"},
		{"empty", "", 5, ""},
		{"paragraph", "first one\n\nsecond one", 15, "first one\nsecond one"},
		{"line", "first line\nsecond line", 15, "first line\nsecond line"},
		{"line at the very limit", "aaa\nbbb\nccc", 7, "aaa⏎bbb\nccc"},
		{"code line at the very limit", "```\naaa\nbbb\nccc\n```", 7, "``` aaa⏎bbb```\n``` ccc```"},
		{"link too long for a part", "[aaa bbb ccc](http://x.y/z)", 20, "[aaa]\n[bbb]\n[ccc]"},
		{"link whose target is too long", "[aaa](http://x.y/z)", 10, "aaa\n(http://\nx.y/z)"},
		{"word", "aaa bbb ccc ddd", 8, "aaa bbb\nccc ddd"},
		{"word at the very limit", "aaa bbbb ccc", 8, "aaa bbbb\nccc"},
		{"a word that fits is whole even if little stands before it", "a bbbbbbbb", 8, "a\nbbbbbbbb"},
		{"a word that does not", "aaaaaaaaaa", 4, "aaaa\naaaa\naa"},
		{"grapheme", "👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧", 12, "👨‍👩‍👧👨‍👩‍👧\n👨‍👩‍👧"},
		{"combining", "e\u0301e\u0301e\u0301", 3, "e\u0301\ne\u0301\ne\u0301"},
		{"no spaces, and a comma never begins a line", "日本語、日本語", 3, "日本\n語、日\n本語"},
		{"heading stays with its text", "para graph text\n\n## head\n\nbody of it", 26, "para graph text\n##head | body of it"},
		{"style goes on", "**bold text that is long**", 12, "*bold text*\n*that is long*"},
		{"link is whole", "see [the whole link](http://x.y/z) now", 30, "see\n[the whole link]\nnow"},
		{"code with language", "```go\nline 1\nline 2\nline 3\n```", 13, "```go line 1⏎line 2```\n```go line 3```"},
		{"code at a word", "```\naaa bbb ccc\n```", 7, "``` aaa bbb```\n```  ccc```"},
		{"code keeps indents and blank lines", "```\na\n\n  b\nc\n```", 6, "``` a⏎⏎  b```\n``` c```"},
		{"ordered list goes on with its number", "3. aaa\n4. bbb\n5. ccc", 13, "3{aaa}4{bbb}\n5{ccc}"},
		{"an item in two parts keeps its number", "1. aaa\n2. bbb ccc ddd eee", 13, "1{aaa}\n2{bbb ccc}\n2{ddd eee}"},
		{"bullets", "- aaa\n- bbb\n- ccc", 11, "-{aaa}-{bbb}\n-{ccc}"},
		{"quote", "> aaa bbb\n>\n> ccc ddd", 12, "Q{aaa bbb}\nQ{ccc ddd}"},
		{"nested", "> 1. aaa bbb\n> 2. ccc ddd", 14, "Q{1{aaa bbb}}\nQ{2{ccc ddd}}"},
		{"table by rows under its header", "|h|i|\n|-|-|\n|a|b|\n|c|d|\n|e|f|", 20, "h,i,;a,b,;c,d,;\nh,i,;e,f,;"},
		{"a row too long", "|h|i|\n|-|-|\n|aaa bbb|ccc ddd|\n|c|d|", 14, "h | i⏎aaa bbb\n| ccc ddd\nh,i,;c,d,;"},
		{"rule", "aaaa\n\n---\n\nbbbb", 9, "aaaa | ---\nbbbb"},
		{"white space at the cut goes", "aaa  \n  bbb", 5, "aaa\nbbb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			parts := Split(Parse(c.markdown), c.limit, func(d Doc) int { return runes(d) })
			if got := show(parts); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			for _, p := range parts {
				if n := runes(p); n > c.limit {
					t.Errorf("%d > %d: %s", n, c.limit, show([]Doc{p}))
				}
			}
		})
	}
}

func TestP13_SplitMakesNoPartOfNothing(t *testing.T) {
	doc := Doc{
		{Kind: Quote, Children: []Block{para(Span{Text: strings.Repeat(" ", 50) + "a"})}},
		{Kind: List, Items: [][]Block{{para(Span{Text: "b"}, Span{Text: strings.Repeat("\n", 50)})}}},
	}
	if got := show(Split(doc, 10, utf16s)); got != "Q{a} | -{b}" {
		t.Errorf("got\n%s", got)
	}
	if got := Split(Plain("      "), 2, utf16s); len(got) != 1 || len(got[0]) != 0 {
		t.Errorf("of white space: %+v", got)
	}
}

func TestP13_CutTakesAllTheRoomThereIs(t *testing.T) {
	doc := Doc{{Kind: List, Items: [][]Block{{para(Span{Text: strings.Repeat("x", 50)})}, {para(Span{Text: strings.Repeat("y", 50)})}}}}
	for limit := range 100 {
		cut := Cut(doc, limit, runes)
		if n := runes(cut); n > limit || limit > 3 && n < limit-limit/8-3 {
			t.Errorf("limit %d: %d, %q", limit, n, Text(cut))
		}
	}
	if want := strings.Repeat("x", 50); doc[0].Items[0][0].Spans[0].Text != want {
		t.Errorf("the document was changed: %q", doc[0].Items[0][0].Spans[0].Text)
	}
}

func TestP13_EllipsisLeavesTheOriginal(t *testing.T) {
	for _, markdown := range []string{"a", "`a`", "[a](https://x.y)", "- a\n- b", "> a", "# a", "```\na\n```", "|a|\n|-|", "---"} {
		doc := Parse(markdown)
		cut := withEllipsis(doc)
		if !Equal(doc, Parse(markdown)) {
			t.Errorf("%q was changed", markdown)
		}
		if !strings.HasSuffix(Text(cut), "…") {
			t.Errorf("%q became %q", markdown, Text(cut))
		}
	}
}

func TestP13_SplitMeasuresLittleMoreThanTheDocument(t *testing.T) {
	for name, doc := range map[string]Doc{
		"paragraphs":    Parse(strings.Repeat("Some words and **more** of them.\n\n", 3000)),
		"one paragraph": Plain(strings.Repeat("Some words and more of them. ", 3000)),
		"code":          {{Kind: Code, Text: strings.Repeat("some code\n", 9000)}},
	} {
		measured := 0
		Split(doc, 2000, func(d Doc) int {
			n := cheap(d)
			measured += n
			return n
		})
		if times := measured / cheap(doc); times > 20 {
			t.Errorf("%s: measured %d times its size", name, times)
		}
	}
}

func BenchmarkSplit200kB(b *testing.B) {
	for name, unit := range map[string]string{
		"prose":     "Some **bold** words of [a link](https://example.org/x) and plain text, over and over again.\n\n",
		"one line":  "word and more ",
		"CJK":       "日本語の長い文章がここに続きます。",
		"emoji":     "👩‍👩‍👧‍👦🎉 ",
		"unbroken":  "xxxxxxxxxxxxxxxxxxxx",
		"code":      "    if err != nil { return err }\n",
		"list":      "1. item of a list\n",
		"table row": "| some cell | another cell |\n",
	} {
		md := strings.Repeat(unit, 200_000/len(unit))
		if name == "code" {
			md = "```go\n" + md + "```"
		}
		if name == "table row" {
			md = "| a | b |\n|---|---|\n" + md
		}
		doc := Parse(md)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n = len(Split(doc, 4096, cheap))
			}
			b.ReportMetric(float64(n), "parts")
		})
	}
	md := strings.Repeat("Some **bold** words of [a link](https://example.org/x) and plain text, over and over again.\n\n", 2000)
	b.Run("parse", func(b *testing.B) {
		for b.Loop() {
			Parse(md)
		}
	})
}

// cheap counts the bytes of text.
func cheap(d Doc) int {
	n := 0
	for _, b := range d {
		n += len(b.Text) + cheap(b.Children)
		for _, s := range b.Spans {
			n += len(s.Text)
		}
		for _, item := range b.Items {
			n += cheap(item)
		}
		for _, row := range b.Rows {
			for _, cell := range row {
				for _, s := range cell {
					n += len(s.Text)
				}
			}
		}
	}
	return n
}

func jsonLen(d Doc) int {
	b, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	return len(b)
}
