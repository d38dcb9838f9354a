package telegram

import (
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"typist/adapters/rich"
)

// rendered is a document in Telegram's HTML style and as plain text; units is the length of what
// stays after parsing, in UTF-16 units (#html-style).
type rendered struct {
	html, plain string
	units       int
}

// Fit splits at 4096 UTF-16 units after parsing (P13).
func (a *Adapter) Fit(doc rich.Doc) []rich.Doc {
	return rich.Split(doc, maxText, func(d rich.Doc) int { return render(d).units })
}

func render(doc rich.Doc) rendered {
	var w writer
	w.blocks(doc, "")
	return rendered{html: w.html.String(), plain: w.plain.String(), units: w.units}
}

// writer writes both forms at once.
type writer struct {
	html, plain strings.Builder
	units       int
	quoted      bool // inside a quote: Telegram nests none
	bold        bool // inside a heading
}

// tag writes markup, which is no text.
func (w *writer) tag(s string) { w.html.WriteString(s) }

// text writes text as it is.
func (w *writer) text(s string) {
	w.html.WriteString(html.EscapeString(s))
	w.plain.WriteString(s)
	w.units += rich.UTF16Len(s)
}

// blocks writes blocks one under the other; indent goes before every line but the first.
func (w *writer) blocks(list []rich.Block, indent string) {
	for i, b := range list {
		if i > 0 {
			gap := "\n\n"
			if boxed(list[i-1]) || boxed(b) || indent != "" {
				gap = "\n"
			}
			w.text(gap + indent)
		}
		w.block(b, indent)
	}
}

// boxed blocks are shown in a box of their own and need no empty line around.
func boxed(b rich.Block) bool {
	return b.Kind == rich.Code || b.Kind == rich.Table || b.Kind == rich.Quote || b.Kind == rich.Fold
}

func (w *writer) block(b rich.Block, indent string) {
	switch b.Kind {
	case rich.Heading:
		w.tag("<b>")
		w.bold = true
		w.spans(b.Spans, indent)
		w.bold = false
		w.tag("</b>")
	case rich.Code:
		w.pre(b.Text, b.Lang)
	case rich.Table:
		w.pre(rich.Text(rich.Doc{b}), "")
	case rich.Quote:
		w.quote("<blockquote>", b.Children, indent)
	case rich.Fold:
		w.quote("<blockquote expandable>", b.Children, indent)
	case rich.List:
		w.list(b, indent)
	case rich.Rule:
		w.text("———")
	default:
		w.spans(b.Spans, indent)
	}
}

func (w *writer) pre(text, lang string) {
	text = strings.Trim(text, "\n")
	if strings.TrimSpace(text) == "" {
		return
	}
	if lang != "" {
		w.tag(`<pre><code class="language-` + html.EscapeString(lang) + `">`)
		w.text(text)
		w.tag("</code></pre>")
		return
	}
	w.tag("<pre>")
	w.text(text)
	w.tag("</pre>")
}

func (w *writer) quote(tag string, children []rich.Block, indent string) {
	if w.quoted {
		w.blocks(children, indent)
		return
	}
	w.quoted = true
	w.tag(tag)
	w.blocks(children, indent)
	w.tag("</blockquote>")
	w.quoted = false
}

func (w *writer) list(b rich.Block, indent string) {
	for i, item := range b.Items {
		if i > 0 {
			w.text("\n" + indent)
		}
		mark := "• "
		if b.Ordered {
			mark = strconv.Itoa(b.Start+i) + ". "
		}
		w.text(mark)
		w.blocks(item, indent+strings.Repeat(" ", utf8.RuneCountInString(mark)))
	}
}

func (w *writer) spans(list []rich.Span, indent string) {
	for _, s := range list {
		w.span(s, indent)
	}
}

func (w *writer) span(s rich.Span, indent string) {
	if s.Text == "" {
		return
	}
	text := s.Text
	if indent != "" {
		text = strings.ReplaceAll(text, "\n", "\n"+indent)
	}
	link := s.URL != "" && linkable(s.URL)
	if s.URL != "" && !link && s.URL != s.Text {
		text += " (" + s.URL + ")"
	}
	if s.Code && !link {
		if w.bold { // code is never part of another entity
			w.tag("</b>")
			defer w.tag("<b>")
		}
		w.tag("<code>")
		w.text(text)
		w.tag("</code>")
		return
	}
	var closing string
	open := func(cond bool, name string) {
		if cond {
			w.tag("<" + name + ">")
			closing = "</" + name + ">" + closing
		}
	}
	open(s.Bold && !w.bold, "b")
	open(s.Italic, "i")
	open(s.Strike, "s")
	if link {
		w.tag(`<a href="` + html.EscapeString(s.URL) + `">`)
		w.text(text)
		w.tag("</a>")
	} else {
		w.text(quiet(text))
	}
	w.tag(closing)
}

// linkable targets become links. tg:// is none: tg://user would notify the person.
func linkable(url string) bool {
	lower := strings.ToLower(url)
	for _, scheme := range []string{"http://", "https://", "mailto:", "tel:"} {
		if strings.HasPrefix(lower, scheme) && len(url) > len(scheme) {
			return !strings.ContainsFunc(url, unicode.IsSpace)
		}
	}
	return false
}

// wordJoiner between "@" and a name keeps Telegram from making a mention that notifies (P13).
const wordJoiner = "\u2060"

// quiet breaks what Telegram would read as a mention.
func quiet(text string) string {
	if !strings.Contains(text, "@") {
		return text
	}
	var b strings.Builder
	before := ' '
	for i, r := range text {
		b.WriteRune(r)
		if r == '@' && !wordRune(before) {
			if next, _ := utf8.DecodeRuneInString(text[i+1:]); wordRune(next) {
				b.WriteString(wordJoiner)
			}
		}
		before = r
	}
	return b.String()
}

func wordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// units is text as Telegram counts it.
func units(text string) []uint16 { return utf16.Encode([]rune(text)) }
