package telegram

import (
	"strings"
	"testing"

	"typist/adapters/rich"
)

func TestP13_MarkdownBecomesTelegramsHTML(t *testing.T) {
	for src, want := range map[string]string{
		"# A & B\n\nx":              "<b>A &amp; B</b>\n\nx",
		"**b** *i* ~~s~~ `c<`":      "<b>b</b> <i>i</i> <s>s</s> <code>c&lt;</code>",
		"***x***":                   "<b><i>x</i></b>",
		"**`c`** and `d`":           "<code>c</code> and <code>d</code>",
		"[l](https://e.org/?a&b)":   `<a href="https://e.org/?a&amp;b">l</a>`,
		"[`c`](https://e.org)":      `<a href="https://e.org">c</a>`,
		"[x](tg://user?id=1001)":    "x (tg://user?id=1001)",
		"[x](/relative)":            "x (/relative)",
		"> a\n> > b":                "<blockquote>a\nb</blockquote>",
		"- a\n- b\n  - c":           "• a\n• b\n  • c",
		"3. a\n4. b":                "3. a\n4. b",
		"```go\nif a < b {\n}\n```": "<pre><code class=\"language-go\">if a &lt; b {\n}</code></pre>",
		"a\n\n---\n\nb":             "a\n\n———\n\nb",
		"<b>raw</b>":                "&lt;b&gt;raw&lt;/b&gt;",
		"# with `code`":             "<b>with </b><code>code</code><b></b>",
	} {
		got := render(rich.Parse(src))
		if got.html != want {
			t.Errorf("%q: got %q, want %q", src, got.html, want)
		}
		if got.units != rich.UTF16Len(got.plain) {
			t.Errorf("%q: %d units, the text has %d", src, got.units, rich.UTF16Len(got.plain))
		}
	}
	fold := rich.Doc{{Kind: rich.Fold, Children: []rich.Block{{Kind: rich.Quote, Children: rich.Plain("in")}}}}
	if got := render(fold).html; got != "<blockquote expandable>in</blockquote>" {
		t.Errorf("a quote in a fold: %q", got)
	}
	table := render(rich.Parse("| a | bb |\n|---|---|\n| ccc | d |")).html
	if !strings.HasPrefix(table, "<pre>") || !strings.Contains(table, "ccc") || strings.Count(table, "\n") < 1 {
		t.Errorf("a table: %q", table)
	}
}

func TestP13_MentionsAreBroken(t *testing.T) {
	for src, want := range map[string]string{
		"@ann":              "@\u2060ann",
		"(@ann) @ben_jones": "(@\u2060ann) @\u2060ben_jones",
		"mail a@b.example":  "mail a@b.example",
		"a @ b @":           "a @ b @",
		"@@ann":             "@@\u2060ann",
		"é@ann":             "é@ann",
	} {
		if got := quiet(src); got != want {
			t.Errorf("%q: got %q", src, got)
		}
	}
	if got := render(rich.Parse("`@ann`")).plain; got != "@ann" {
		t.Errorf("code is left alone, got %q", got)
	}
}

func TestP13_PartsMeasureInUTF16Units(t *testing.T) {
	a, err := New(Config{Token: "1:x"}, Deps{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range a.Fit(rich.Parse(strings.Repeat("**🙂** & < > words and more words\n\n", 1000))) {
		if n := rich.UTF16Len(render(p).plain); n > maxText || n == 0 {
			t.Errorf("a part of %d units", n)
		}
	}
	if got := len(a.Fit(rich.Plain(strings.Repeat("&", maxText)))); got != 1 {
		t.Errorf("4096 units that markup makes longer are %d parts", got)
	}
	if got := len(a.Fit(nil)); got != 1 {
		t.Errorf("an empty document is %d parts", got)
	}
}
