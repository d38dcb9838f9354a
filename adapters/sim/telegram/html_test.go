package telegram

import (
	"reflect"
	"strings"
	"testing"
)

func TestHTMLErrorsAreTelegrams(t *testing.T) {
	for src, want := range map[string]string{
		"<h1>x</h1>":                    `Unsupported start tag "h1" at byte offset 0`,
		"a <b>x":                        `Can't find end tag corresponding to start tag "b"`,
		"a</b>":                         `Unexpected end tag at byte offset 1`,
		"é<b>x</i>":                     `Unmatched end tag at byte offset 6, expected "</b>", found "</i>"`,
		"<b":                            `Unclosed start tag at byte offset 0`,
		`<a href="x`:                    `Unclosed start tag at byte offset 0`,
		"<b>x</b":                       `Unclosed end tag at byte offset 4`,
		"1 < 2":                         `Unsupported start tag "" at byte offset 2`,
		"<span>x</span>":                `Tag "span" must have class "tg-spoiler" at byte offset 0`,
		`<a ="x">y</a>`:                 `Empty attribute name in the tag "a" at byte offset 3`,
		"<p>one</p>":                    `Unsupported start tag "p" at byte offset 0`,
		"<details><b>x</b></details>":   `Unsupported start tag "details" at byte offset 0`,
		"<b><i>x</b></i>":               `Unmatched end tag at byte offset 7, expected "</i>", found "</b>"`,
		"<blockquote expandable>x</b>y": `Unmatched end tag at byte offset 24, expected "</blockquote>", found "</b>"`,
	} {
		_, _, err := parseHTML(src)
		if err == nil || err.Error() != "Bad Request: can't parse entities: "+want {
			t.Errorf("%q: got %v, want %s", src, err, want)
		}
	}
}

func TestHTMLBecomesTextAndEntities(t *testing.T) {
	for src, want := range map[string]struct {
		text     string
		entities []Entity
	}{
		"&lt;b&gt; &amp;amp; &quot;&#128578;&#x41;&nbsp;":             {"<b> &amp; \"🙂A&nbsp;", nil},
		"🙂<b>b<i>i</i></b>":                                           {"🙂bi", []Entity{{Type: "bold", Offset: 2, Length: 2}, {Type: "italic", Offset: 3, Length: 1}}},
		`<pre><code class="language-go">x</code></pre>`:               {"x", []Entity{{Type: "pre", Length: 1, Language: "go"}}},
		`<a href="https://example.com/?a=1&amp;b=2">l</a>`:            {"l", []Entity{{Type: "text_link", Length: 1, URL: "https://example.com/?a=1&b=2"}}},
		`<a href="javascript:alert(1)">l</a>`:                         {"l", nil},
		"<blockquote expandable>q</blockquote>":                       {"q", []Entity{{Type: "expandable_blockquote", Length: 1}}},
		"<B>x</B><b></b>":                                             {"x", []Entity{{Type: "bold", Length: 1}}},
		`<span class="tg-spoiler">s</span><tg-spoiler>t</tg-spoiler>`: {"st", []Entity{{Type: "spoiler", Length: 1}, {Type: "spoiler", Offset: 1, Length: 1}}},
	} {
		text, entities, err := parseHTML(src)
		if err != nil || text != want.text || !reflect.DeepEqual(entities, want.entities) {
			t.Errorf("%q: got %q %+v %v", src, text, entities, err)
		}
	}
}

func FuzzHTML(f *testing.F) {
	for _, s := range []string{"<b>x</b>", "<a href='x'>", "&#x1F642;<i>", "<pre><code class=language-go>x</code></pre>", "</", "<", "&"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		text, entities, err := parseHTML(src)
		if err != nil {
			if !strings.Contains(err.Error(), "can't parse entities") {
				t.Errorf("%q: %v", src, err)
			}
			return
		}
		for _, e := range entities {
			if e.Offset < 0 || e.Length <= 0 || e.Offset+e.Length > utf16Len(text) {
				t.Errorf("%q: %+v lies outside of %q", src, e, text)
			}
		}
		if out := show(trim(clean(text), nest(entities))); strings.Count(out, "<b>") != strings.Count(out, "</b>") {
			t.Errorf("%q is shown as %q", src, out)
		}
	})
}
