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
