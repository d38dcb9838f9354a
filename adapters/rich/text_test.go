package rich

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestP13_Text(t *testing.T) {
	for _, c := range []struct{ name, markdown, want string }{
		{"paragraphs", "**a** b\nc\n\n# d", "a b\nc\n\nd"},
		{"links", "[a](https://x.y/z) https://x.y [x.y](https://x.y/) me@x.y", "a (https://x.y/z) https://x.y x.y me@x.y"},
		{"lists", "- a\n  - b\n- c\n\n9. d\n10. e\n\n    f", "• a\n  • b\n• c\n\n9. d\n10. e\n    f"},
		{"quotes", "> a\nb\n>\n> - c\n>\n>   d", "> a\n> b\n> \n> • c\n>   d"},
		{"code and rule", "```\nx\n  y\n```\n\n---", "x\n  y\n\n———"},
		{"table", "|a|long head|\n|-|-|\n|日本|x|\n|wide cell|\n", "a          long head\n─────────  ─────────\n日本       x\nwide cell"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Text(Parse(c.markdown)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	fold := Doc{{Kind: Fold, Children: []Block{para(Span{Text: "a"}), para(Span{Text: "b"})}}}
	if got := Text(fold); got != "a\nb" {
		t.Errorf("fold: %q", got)
	}
}

func TestP13_ALongCellDoesNotWidenItsColumnWithoutEnd(t *testing.T) {
	got := Text(Parse("|a|b|\n|-|-|\n|" + strings.Repeat("x", 500) + "|y|\n|c|d|"))
	for i, line := range strings.Split(got, "\n") {
		if i != 2 && len([]rune(line)) > maxColumn+10 {
			t.Errorf("line %d is %d wide", i, len([]rune(line)))
		}
	}
}

func TestP13_HTML(t *testing.T) {
	for _, c := range []struct{ name, markdown, want string }{
		{"looks", "**a** *b* ~~c~~ `d` ***e***\nf", "<p><b>a</b> <i>b</i> <s>c</s> <code>d</code> <b><i>e</i></b><br>f</p>"},
		{"escaped", "a<b>&\"'", "<p>a&lt;b&gt;&amp;&#34;&#39;</p>"},
		{"link", "[a **b**](https://x.y/?a&b)", `<p><a href="https://x.y/?a&amp;b" target="_blank" rel="noopener noreferrer">a <b>b</b></a></p>`},
		{"blocks", "# a\n\n> b\n\n---\n\n```go\nx<y\n```", `<h1>a</h1><blockquote><p>b</p></blockquote><hr><pre><code class="language-go">x&lt;y</code></pre>`},
		{"lists", "- a\n  1. b\n\n3. c\n\n   d", `<ul><li>a<ol><li>b</li></ol></li></ul><ol start="3"><li>c<p>d</p></li></ol>`},
		{"table", "|a|\n|-|\n|b|", "<table><tr><th>a</th></tr><tr><td>b</td></tr></table>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := HTML(Parse(c.markdown))
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			checkHTML(t, got)
		})
	}
	fold := Block{Kind: Fold, Children: []Block{para(Span{Text: "a"}), para(Span{Text: "b"})}}
	if got, want := HTML(Doc{fold}), "<details><summary>a</summary><p>b</p></details>"; got != want {
		t.Errorf("fold: %s", got)
	}
	fold.Children = []Block{{Kind: Rule}}
	if got, want := HTML(Doc{fold}), "<details><summary>…</summary><hr></details>"; got != want {
		t.Errorf("fold without text: %s", got)
	}
}

func TestP13_HTMLIsSafeForAnyDocument(t *testing.T) {
	evil := `"><script>alert(1)</script>`
	doc := Doc{
		para(Span{Text: evil, URL: "javascript:alert(1)"}, Span{Text: evil, URL: "https://x.y/" + evil}, Span{Text: "d", URL: "data:text/html,x"}, Span{Text: "e", URL: "javascript://x.y/%0aalert(1)"}),
		{Kind: Code, Lang: evil, Text: evil}, {Kind: Heading, Level: 99, Spans: []Span{{Text: evil}}},
	}
	got := HTML(doc)
	checkHTML(t, got)
	if strings.Contains(got, "<script") || strings.Contains(got, "javascript:") || strings.Contains(got, "data:") {
		t.Errorf("unsafe: %s", got)
	}
}

// checkHTML holds HTML against the tags and attributes that are allowed, and their nesting.
func checkHTML(t *testing.T, s string) {
	t.Helper()
	tags := " p b i s code pre a ul ol li blockquote h1 h2 h3 h4 h5 h6 table tr th td details summary br hr "
	attributes := map[string]string{"a": " href target rel ", "ol": " start ", "code": " class "}
	var open []string
	z := html.NewTokenizer(strings.NewReader(s))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if len(open) > 0 {
				t.Fatalf("%v left open in %s", open, s)
			}
			return
		case html.StartTagToken:
			token := z.Token()
			if !strings.Contains(tags, " "+token.Data+" ") {
				t.Fatalf("tag %q in %s", token.Data, s)
			}
			for _, a := range token.Attr {
				if !strings.Contains(attributes[token.Data], " "+a.Key+" ") {
					t.Fatalf("attribute %q in %s", a.Key, s)
				}
				if a.Key == "href" && !reachable(a.Val) {
					t.Fatalf("a link to %q", a.Val)
				}
			}
			if token.Data != "br" && token.Data != "hr" {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			tag := z.Token().Data
			if len(open) == 0 || open[len(open)-1] != tag {
				t.Fatalf("</%s> closes %v in %s", tag, open, s)
			}
			open = open[:len(open)-1]
		case html.TextToken:
		case html.SelfClosingTagToken, html.CommentToken, html.DoctypeToken:
			t.Fatalf("unexpected token in %s", s)
		}
	}
}

func TestP13_UTF16Len(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "ä日": 2, "😀": 2, "👩‍👩‍👧": 8, "\xff": 1} {
		if got := UTF16Len(s); got != want {
			t.Errorf("UTF16Len(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestP11_Equal(t *testing.T) {
	md := "# a\n\n**b** [c](https://x.y)\n\n- d\n  - e\n\n> f\n\n|g|\n|-|\n|h|\n\n```go\ni\n```"
	doc := Parse(md)
	if !Equal(doc, Parse(md)) || !Equal(nil, Doc{}) {
		t.Error("the same is not equal")
	}
	if !Equal(Doc{{Kind: Quote, Children: []Block{}}}, Doc{{Kind: Quote}}) {
		t.Error("nil and empty differ")
	}
	for _, letter := range "abcdefghi" {
		other := Parse(strings.Replace(md, string(letter), string(letter)+"!", 1))
		if Equal(doc, other) {
			t.Errorf("a change at %q is not seen", letter)
		}
	}
	for _, other := range []string{"## a", "1. d", "2. d", "```js\ni\n```", "*b*"} {
		if Equal(Parse(other), Parse(strings.NewReplacer("##", "#", "1.", "-", "2.", "1.", "js", "go", "*b*", "**b**").Replace(other))) {
			t.Errorf("%q equals something else", other)
		}
	}
}
