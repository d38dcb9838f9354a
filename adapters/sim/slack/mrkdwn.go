package slack

import (
	"html"
	"regexp"
	"strings"
)

// token is a piece of mrkdwn: plain text, or what stands in angle brackets.
type token struct {
	kind   byte // 0 text, '@' person, '#' channel, '!' special, 'l' link
	target string
	label  string
	text   string // of kind 0, escapes resolved
}

var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// Escape writes text so that mrkdwn shows it as it is.
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// tokens cuts mrkdwn at its angle brackets.
func tokens(mrkdwn string) []token {
	var out []token
	for mrkdwn != "" {
		open := strings.IndexByte(mrkdwn, '<')
		end := -1
		if open >= 0 {
			end = strings.IndexByte(mrkdwn[open:], '>')
		}
		if end < 0 {
			return append(out, token{text: unescape.Replace(mrkdwn)})
		}
		if open > 0 {
			out = append(out, token{text: unescape.Replace(mrkdwn[:open])})
		}
		inner := mrkdwn[open+1 : open+end]
		mrkdwn = mrkdwn[open+end+1:]
		target, label, _ := strings.Cut(inner, "|")
		part := token{kind: 'l', target: unescape.Replace(target), label: unescape.Replace(label)}
		if inner != "" && strings.IndexByte("@#!", inner[0]) >= 0 {
			part.kind, part.target = inner[0], target[1:]
		}
		out = append(out, part)
	}
	return out
}

// shown is a token as people read it.
func (t token) shown(names func(string) string) string {
	switch t.kind {
	case 0:
		return t.text
	case '@', '#':
		if name := names(t.target); name != "" {
			return name
		}
		return string(t.kind) + t.target
	case '!':
		if t.label != "" {
			return t.label
		}
		return "@" + t.target
	}
	if t.label != "" {
		return t.label
	}
	return t.target
}

func plainMrkdwn(names func(string) string, mrkdwn string) string {
	var b strings.Builder
	for _, t := range tokens(mrkdwn) {
		b.WriteString(t.shown(names))
	}
	return b.String()
}

// The marks of mrkdwn, on escaped text.
var marks = []struct {
	find *regexp.Regexp
	with string
}{
	{regexp.MustCompile("(?s)```\n?(.+?)```"), "<pre><code>$1</code></pre>"},
	{regexp.MustCompile("`([^`\n]+)`"), "<code>$1</code>"},
	{regexp.MustCompile(`(^|[\s(])\*([^*\n]+)\*`), "$1<b>$2</b>"},
	{regexp.MustCompile(`(^|[\s(])_([^_\n]+)_`), "$1<i>$2</i>"},
	{regexp.MustCompile(`(^|[\s(])~([^~\n]+)~`), "$1<s>$2</s>"},
}

func htmlMrkdwn(names func(string) string, mrkdwn string) string {
	var b strings.Builder
	for _, t := range tokens(mrkdwn) {
		shown := html.EscapeString(t.shown(names))
		switch {
		case t.kind == 0:
			for _, m := range marks {
				shown = m.find.ReplaceAllString(shown, m.with)
			}
			b.WriteString(lines(shown))
		case t.kind == 'l' && goodURL(t.target):
			b.WriteString(`<a href="` + html.EscapeString(t.target) + `">` + shown + "</a>")
		default:
			b.WriteString("<b>" + shown + "</b>")
		}
	}
	return "<p>" + b.String() + "</p>"
}
