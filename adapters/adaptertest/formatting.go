package adaptertest

import (
	"fmt"
	"strings"

	"typist/adapters"
	"typist/adapters/rich"
)

var formatting = []check{
	{name: "P13_LongTextArrivesWhole", run: func(f *fixture) {
		chat, _ := f.anchor(f.h.Direct)
		var src strings.Builder
		for i := range 40 {
			fmt.Fprintf(&src, "## Part %d\n\n%s\n\n```go\n%s\n```\n\n- item one%d\n- item two%d\n\n", i,
				words(400, fmt.Sprintf("p%dw", i)), strings.ReplaceAll(words(300, fmt.Sprintf("c%dw", i)), " ", "\n"), i, i)
		}
		parts := f.a.Fit(rich.Parse(src.String()))
		if len(parts) < 2 {
			f.Fatalf("%d bytes fit into %d part", src.Len(), len(parts))
		}
		for _, p := range parts {
			f.send(chat, adapters.Post{Doc: p})
		}
		var seen strings.Builder
		for _, m := range f.fromBot(f.h.Direct.Chat) {
			seen.WriteString(readable(m.Text) + "\n")
		}
		f.inOrder(seen.String(), strings.FieldsFunc(src.String(), func(r rune) bool {
			return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
		}), "go")
	}},
	{name: "P13_OneWordLongerThanAMessage", run: func(f *fixture) {
		chat, _ := f.anchor(f.h.Direct)
		family := "👩‍👩‍👧‍👦" // one grapheme of eleven UTF-16 units
		text := strings.Repeat(family, 3000)
		n := 0
		for _, p := range f.a.Fit(rich.Plain(text)) {
			m := f.shown(f.send(chat, adapters.Post{Doc: p}))
			n += strings.Count(m.Text, family)
		}
		if n != 3000 {
			f.Errorf("%d of 3000 graphemes arrived whole", n)
		}
	}},
	{name: "P13_MarkdownIsShownAsMarkup", run: func(f *fixture) {
		chat, _ := f.anchor(f.h.Direct)
		src := "# Title\n\nSome **bold**, *italic*, ~~gone~~ and `code` with [a link](https://example.com/a?b=1&c=2).\n\n" +
			"> quoted\n> lines\n\n1. first\n2. second\n   - nested\n\n| a | b |\n|---|---|\n| one | two |\n\n" +
			"```python\nif a < b and c > d:\n    print(\"&\")\n```\n\n---\n\nThe end."
		var text, html strings.Builder
		for _, p := range f.a.Fit(rich.Parse(src)) {
			m := f.shown(f.send(chat, adapters.Post{Doc: p}))
			text.WriteString(readable(m.Text) + "\n")
			html.WriteString(m.HTML)
		}
		f.inOrder(text.String(), []string{"Title", "Some", "bold", "italic", "gone", "code", "a link", "quoted", "lines", "first", "second",
			"nested", "one", "two", "if a < b and c > d:", "print(\"&\")", "The end."})
		for _, raw := range []string{"**bold", "~~gone", "](https", "```"} {
			if strings.Contains(text.String(), raw) {
				f.Errorf("people see raw Markdown %q", raw)
			}
		}
		for _, want := range []string{"<b>", "<i>", "<code", "https://example.com/a?b=1&amp;c=2"} {
			if !strings.Contains(html.String(), want) {
				f.Errorf("no %s in what is shown: %s", want, html.String())
			}
		}
	}},
	{name: "P13_FoldsArrive", run: func(f *fixture) {
		chat, _ := f.anchor(f.h.Direct)
		doc := rich.Doc{
			rich.Plain("The answer.")[0],
			{Kind: rich.Fold, Children: []rich.Block{rich.Plain("Thought for 12s: about it")[0], {Kind: rich.Code, Text: "make test", Lang: "sh"}}},
		}
		m := f.shown(f.send(chat, adapters.Post{Doc: f.a.Fit(doc)[0]}))
		f.inOrder(readable(m.Text), []string{"The answer.", "Thought for 12s: about it", "make test"})
		if f.caps.Fold && !strings.Contains(m.HTML, "<details>") {
			f.Errorf("the fold is no folding element: %s", m.HTML)
		}
	}},
	{name: "P13_MentionsInOutputNeverPing", run: func(f *fixture) {
		chat, _ := f.anchor(f.h.Group)
		texts := append([]string{"@everyone @here <!channel> <!here> <!everyone>", "@" + f.h.Other, "<@" + f.h.Other + ">"}, f.h.Pings...)
		for _, id := range []string{f.h.Person, f.h.Other} {
			if p, ok := f.world.Person(id); ok && p.Username != "" {
				texts = append(texts, "@"+p.Username+" look", "(@"+p.Username+")", "**@"+p.Username+"**", "> @"+p.Username)
			}
		}
		for _, text := range texts {
			for _, doc := range []rich.Doc{rich.Parse(text), rich.Plain(text)} {
				m := f.shown(f.send(chat, adapters.Post{Doc: doc}))
				if len(m.Pings) > 0 {
					f.Errorf("%q pings %v: people see %q", text, m.Pings, m.Text)
				}
			}
		}
	}},
	{name: "P13_RefusedMarkupArrivesAsText", run: func(f *fixture) {
		if f.h.RefuseMarkup == nil {
			return
		}
		chat, _ := f.anchor(f.h.Direct)
		doc := rich.Parse("**important** and `code`")
		f.h.RefuseMarkup(1)
		ref := f.send(chat, adapters.Post{Doc: doc})
		f.inOrder(readable(f.shown(ref).Text), []string{"important", "code"})
		if e, ok := f.a.(adapters.Editor); ok {
			f.h.RefuseMarkup(1)
			if err := e.Edit(f.ctx(), ref, adapters.Post{Doc: rich.Parse("**newer** text")}); err != nil {
				f.Fatal(err)
			}
			f.inOrder(readable(f.shown(ref).Text), []string{"newer", "text"})
		}
		if n := len(f.fromBot(f.h.Direct.Chat)); n != 1 {
			f.Errorf("people see %d messages", n)
		}
	}},
}

// inOrder checks that a text holds all of these, one after the other; skip are those that markup
// swallows.
func (f *fixture) inOrder(text string, want []string, skip ...string) {
	f.Helper()
	at := 0
next:
	for _, w := range want {
		for _, s := range skip {
			if w == s {
				continue next
			}
		}
		i := strings.Index(text[at:], w)
		if i < 0 {
			f.Fatalf("%q is missing or out of order, after %q", w, clip(text[max(0, at-30):at]))
		}
		at += i + len(w)
	}
}
