package discord

import (
	"strings"
	"testing"

	"typist/adapters/rich"
	simdiscord "typist/adapters/sim/discord"
)

func TestP13_RenderDiscordsMarkdown(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"marks", "**b** *i* ~~s~~ ***bi*** `c`", "**b** *i* ~~s~~ ***bi*** `c`"},
		{"escapes", `a_b a*b [x] <y> 1|2`, `a\_b a\*b \[x\] \<y\> 1\|2`},
		{"headings", "# one\n\n#### four", "# one\n**four**"},
		{"list", "- a\n- b\n  1. c\n  2. d", "- a\n- b\n  1. c\n  2. d"},
		{"quote", "> a\n>\n> > b", "> a\n> \n> b"},
		{"code", "```go\nx := 1\n```", "```go\nx := 1\n```"},
		{"code in a quote", "> ```\n> x\n> ```", "> ```\n> x\n> ```"},
		{"link", "[text](https://a.example/x_y)", "[text](<https://a.example/x_y>)"},
		{"bare link", "see https://a.example/x_y.", "see <https://a.example/x_y>."},
		{"link that names another", "[https://bank.example](https://evil.example)", "https\u200b://bank.example (<https://evil.example>)"},
		{"scripts are no links", "[x](javascript:alert)", "x (javascript:alert)"},
		{"table", "| a | b |\n|---|---|\n| 1 | 22 |", "```\na  b\n─  ──\n1  22\n```"},
		{"everyone", "@everyone @here", "@\u200beveryone @\u200bhere"},
		{"line starts", "\\# no heading\n\\- no list\n1\\. no number\n\\> no quote", "\\# no heading\n\\- no list\n1\\. no number\n\\> no quote"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Render(rich.Parse(c.in))
			if c.name == "table" { // the rule under the header is rich's
				if !strings.HasPrefix(got, "```\na  b\n") || !strings.HasSuffix(got, "\n1  22\n```") {
					t.Errorf("got %q", got)
				}
				return
			}
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestP13_FoldsAreSubtext(t *testing.T) {
	doc := rich.Doc{{Kind: rich.Fold, Children: []rich.Block{
		rich.Plain("Thought for 12s\nabout it")[0],
		{Kind: rich.List, Items: [][]rich.Block{{rich.Plain("one")[0]}, {rich.Plain("two")[0]}}},
		{Kind: rich.Heading, Level: 2, Spans: []rich.Span{{Text: "Head"}}},
	}}}
	if got, want := Render(doc), "-# Thought for 12s\n-# about it\n-# • one\n-# • two\n-# Head"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestP13_MarksOfNeighboursStayApart(t *testing.T) {
	for _, c := range []struct {
		spans []rich.Span
		want  string
	}{
		{[]rich.Span{{Text: "a", Bold: true}, {Text: "b", Italic: true}}, "**a**\u200b*b*"},
		{[]rich.Span{{Text: " a ", Bold: true}, {Text: "b"}}, " **a** b"},
		{[]rich.Span{{Text: "a`b``c", Code: true}}, "`` a`b`\u200b`c ``"},
		{[]rich.Span{{Text: "a*"}, {Text: "b", Italic: true}}, `a\**b*`},
		{[]rich.Span{{Text: "   ", Bold: true}}, ""},
	} {
		if got := Render(rich.Doc{{Kind: rich.Paragraph, Spans: c.spans}}); strings.TrimRight(got, " ") != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestP13_FencesInsideCodeDoNotEndIt(t *testing.T) {
	got := Render(rich.Doc{{Kind: rich.Code, Text: "a\n```\nb`"}})
	if strings.Count(got, "```") != 2 {
		t.Errorf("got %q", got)
	}
}

// unseen are characters that nobody sees.
var unseen = strings.NewReplacer("\u200b", "", "<http", "http")

func readable(s string) string {
	lines := strings.Split(unseen.Replace(s), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// FuzzP13_PlainTextIsReadAsItIs writes any text and reads it as Discord's clients do.
func FuzzP13_PlainTextIsReadAsItIs(f *testing.F) {
	for _, s := range []string{
		"plain", "*a* _b_ ~~c~~ `d` ||e||", "# x\n- y\n> z\n-# w\n1. v", "https://a.example/b_c?d=*e*", "<@123> @everyone", `\*a\*`, "```\ncode\n```",
		"a\\", "[x](https://y.example)", ">>> all", "__u__", "a`b", "``", "* list", "+ plus", "1) one", "<https://z.example>", "\\", "~", "***", "#",
		"https://x", "https://", "(https://a.example/b)", "*https://a.example*", "_https://a.example/_",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "")
		if strings.ContainsAny(s, "\r\x00\u200b\u2028\u2029\v\f\u0085\u00a0") || len(s) > 3000 {
			return
		}
		got, _ := simdiscord.Look(Render(rich.Plain(s)))
		if readable(got) != readable(s) {
			t.Errorf("%q is written as %q and read as %q", s, Render(rich.Plain(s)), got)
		}
	})
}

// FuzzP13_EveryPartFits splits any Markdown.
func FuzzP13_EveryPartFits(f *testing.F) {
	f.Add("# a\n\n```go\n"+strings.Repeat("x\n", 1500)+"```\n\n> q", 3)
	f.Add(strings.Repeat("**bold** [l](https://a.example) ", 200), 1)
	f.Fuzz(func(t *testing.T, s string, n int) {
		a := &Adapter{}
		for _, part := range a.Fit(rich.Parse(strings.Repeat(s, 1+max(0, n)%20))) {
			if got := rich.UTF16Len(Render(part)); got > maxLength {
				t.Errorf("a part of %d units", got)
			}
		}
	})
}
