package rich

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func para(spans ...Span) Block { return Block{Kind: Paragraph, Spans: spans} }

func TestP13_Parse(t *testing.T) {
	plain := func(text string) Block { return para(Span{Text: text}) }
	link := func(text, url string) Span { return Span{Text: text, URL: url} }
	for _, c := range []struct {
		name, markdown string
		want           Doc
	}{
		{"nothing", " \n\n ", nil},
		{"paragraphs and line breaks", "a\nb  \nc\\\nd\n\ne", Doc{plain("a\nb\nc\nd"), plain("e")}},
		{"looks", "**b** *i* ~~s~~ `c` **b*bi***", Doc{para(
			Span{Text: "b", Bold: true}, Span{Text: " "}, Span{Text: "i", Italic: true}, Span{Text: " "},
			Span{Text: "s", Strike: true}, Span{Text: " "}, Span{Text: "c", Code: true}, Span{Text: " "},
			Span{Text: "b", Bold: true}, Span{Text: "bi", Bold: true, Italic: true})}},
		{"code span over two lines", "`a\nb`", Doc{para(Span{Text: "a b", Code: true})}},
		{"entities and escapes in one pass", `\&amp; &amp;lt; \* &#42; &#x1F600; &#010; &#0; &notit; &#x; a & b &`, Doc{plain("&amp; &lt; * * 😀 \n \uFFFD &notit; &#x; a & b &")}},
		{"headings", "# One\n\nTwo\n---\n\n#", Doc{{Kind: Heading, Level: 1, Spans: []Span{{Text: "One"}}}, {Kind: Heading, Level: 2, Spans: []Span{{Text: "Two"}}}}},
		{"code", "```go title=x\na\n\n  b\n```\n\n    indented", Doc{{Kind: Code, Lang: "go", Text: "a\n\n  b"}, {Kind: Code, Text: "indented"}}},
		{"an open fence, as it streams", "```go\na", Doc{{Kind: Code, Lang: "go", Text: "a"}}},
		{"an empty fence is nothing", "a\n```go", Doc{plain("a")}},
		{"quotes", "> a\n>> b", Doc{{Kind: Quote, Children: []Block{plain("a"), {Kind: Quote, Children: []Block{plain("b")}}}}}},
		{"lists", "- a\n  1. b\n- \n\n3) c\n4) d", Doc{
			{Kind: List, Items: [][]Block{{plain("a"), {Kind: List, Ordered: true, Start: 1, Items: [][]Block{{plain("b")}}}}, nil}},
			{Kind: List, Ordered: true, Start: 3, Items: [][]Block{{plain("c")}, {plain("d")}}}}},
		{"tasks", "- [ ] open\n- [x] done", Doc{{Kind: List, Items: [][]Block{{plain("☐ open")}, {plain("☑ done")}}}}},
		{"table", "|a|b|\n|-|-:|\n|x\\|y<br>z|`q`|", Doc{{Kind: Table, Rows: [][][]Span{
			{{{Text: "a"}}, {{Text: "b"}}}, {{{Text: "x|y\nz"}}, {{Text: "q", Code: true}}}}}}},
		{"rule", "a\n\n***", Doc{plain("a"), {Kind: Rule}}},
		{"links", "[a *b*](https://x.y/?a=1&amp;b \"t\") <https://x.y> https://x.y/z. www.x.y me@x.y [r]\n\n[r]: https://r.s", Doc{para(
			link("a ", "https://x.y/?a=1&b"), Span{Text: "b", Italic: true, URL: "https://x.y/?a=1&b"}, Span{Text: " "},
			link("https://x.y", "https://x.y"), Span{Text: " "}, link("https://x.y/z", "https://x.y/z"), Span{Text: ". "},
			link("www.x.y", "http://www.x.y"), Span{Text: " "}, link("me@x.y", "mailto:me@x.y"), Span{Text: " "}, link("r", "https://r.s"))}},
		{"images", "![alt](https://x.y/i.png) ![](https://x.y/j.png) [![badge](https://x.y/b.svg)](https://x.y)", Doc{para(
			link("alt", "https://x.y/i.png"), Span{Text: " "}, link("https://x.y/j.png", "https://x.y/j.png"), Span{Text: " "}, link("badge", "https://x.y"))}},
		{"links to nowhere keep their target as text", "[main](src/main.go) [x](javascript:alert(1)) [#a](#a) [](b.md) [c]()", Doc{plain("main (src/main.go) x (javascript:alert(1)) #a b.md c")}},
		{"emphasis between unspaced words", "これは**「重要」**です、*強*調。**“重点”**是 **a**b", Doc{para(
			Span{Text: "これは"}, Span{Text: "「重要」", Bold: true}, Span{Text: "です、"}, Span{Text: "強", Italic: true}, Span{Text: "調。"},
			Span{Text: "“重点”", Bold: true}, Span{Text: "是 "}, Span{Text: "a", Bold: true}, Span{Text: "b"})}},
		{"asterisks that are none", "3 * 4 * 5, 甲 * 乙, a * b*", Doc{plain("3 * 4 * 5, 甲 * 乙, a * b*")}},
		{"raw HTML is text", "a <b>x</b><br/>b\n\n<div>\n*c*\n</div>", Doc{plain("a <b>x</b>\nb"), plain("<div>\n*c*\n</div>")}},
		{"an HTML block with its end", "<!-- a\n\nb -->\nc", Doc{plain("<!-- a\n\nb -->"), plain("c")}},
		{"only a link definition", "[a]: b", Doc{plain("[a]: b")}},
		{"line ends, NUL and bad bytes", "a\r\nb\rc\x00\xff", Doc{plain("a\nb\nc\uFFFD\uFFFD")}},
		{"mentions are text", "@everyone <!channel> <@U1>", Doc{plain("@everyone <!channel> <@U1>")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Parse(c.markdown); !Equal(got, c.want) {
				t.Errorf("got\n%+v\nwant\n%+v", got, c.want)
			}
		})
	}
}

func TestP13_ParseBoundsNesting(t *testing.T) {
	depth := func(doc Doc) int {
		n := 0
		for len(doc) > 0 && doc[0].Kind == Quote {
			n, doc = n+1, doc[0].Children
		}
		return n
	}
	doc := Parse(strings.Repeat("> ", 500) + "deep")
	if n := depth(doc); n != maxDepth {
		t.Errorf("%d quotes deep", n)
	}
	if !strings.HasSuffix(Text(doc), "deep") {
		t.Errorf("text lost: %q", Text(doc))
	}
	if got := Text(Parse(strings.Repeat("- ", 500) + "deep")); !strings.HasSuffix(got, "deep") {
		t.Errorf("text lost: %q", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"# a\n\n**b** [c](d) ![e](https://f)\n\n- [ ] g\n\n|h|\n|-|\n|i|", "```go\nx\n```\n> q\n\n<div>&amp;\\&", "~~a~~ https://x.y _b_ `c`\n\n1. x\n\n   y",
		"[a]: b\n\n[a]", "<!--", "\x00\xff", "a\u0301\r\n\u200d",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, markdown string) {
		doc := Parse(markdown)
		for name, s := range map[string]string{"text": Text(doc), "HTML": HTML(doc)} {
			if !utf8.ValidString(s) {
				t.Fatalf("%s of %q is not UTF-8", name, markdown)
			}
		}
		if len(doc) == 0 && strings.TrimSpace(markdown) != "" {
			t.Fatalf("nothing left of %q", markdown)
		}
		checkHTML(t, HTML(doc))
	})
}

func FuzzSplit(f *testing.F) {
	f.Add("# a\n\nb c d\n\n```go\nx\ny\n```\n\n> q\n\n1. x\n2. y\n\n|h|\n|-|\n|i|", 9)
	f.Add("[link text](https://x.y) 👩‍👩‍👧‍👦 日本語", 3)
	f.Fuzz(func(t *testing.T, markdown string, limit int) {
		if len(markdown) > 4000 {
			return
		}
		limit %= 4000
		doc := Parse(markdown)
		parts := Split(doc, limit, utf16s)
		if len(parts) == 0 {
			t.Fatal("no part")
		}
		var read strings.Builder
		for _, p := range parts {
			g := graphemes(p)
			if n := utf16s(p); n > limit && len(g) > 1 {
				t.Fatalf("a part of %d graphemes measures %d > %d", len(g), n, limit)
			}
			read.WriteString(strings.Join(g, ""))
		}
		rest := read.String()
		for _, want := range strings.Join(graphemes(doc), "") {
			_, after, found := strings.Cut(rest, string(want))
			if !found {
				t.Fatalf("%q is lost from %q", want, markdown)
			}
			rest = after
		}
		if cut := Cut(doc, limit, utf16s); utf16s(cut) > max(limit, 0) {
			t.Fatalf("cut to %d measures %d", limit, utf16s(cut))
		}
	})
}
