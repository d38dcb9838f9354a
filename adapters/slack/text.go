package slack

import (
	"strings"
)

var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// escape writes text so that mrkdwn neither links, pings nor swallows anything in angle brackets.
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// readMrkdwn makes plain text of a person's mrkdwn: escapes resolved, names and links written
// out, the bot's own mention (id self) taken away. name gives the name of a user's id, "" if it
// is not known.
func readMrkdwn(text, self string, name func(user string) string) (plain string, mentioned bool) {
	var b strings.Builder
	for text != "" {
		open := strings.IndexByte(text, '<')
		end := -1
		if open >= 0 {
			end = strings.IndexByte(text[open:], '>')
		}
		if end < 0 {
			b.WriteString(unescape.Replace(text))
			break
		}
		b.WriteString(unescape.Replace(text[:open]))
		inner := text[open+1 : open+end]
		text = text[open+end+1:]
		target, label, _ := strings.Cut(inner, "|")
		if self != "" && target == "@"+self {
			mentioned = true
			text = joinAround(&b, text)
			continue
		}
		b.WriteString(readToken(target, unescape.Replace(label), name))
	}
	return strings.TrimSpace(b.String()), mentioned
}

// joinAround closes the gap that a removed mention leaves, and drops the colon or comma after
// one that headed the text ("@bot: stop").
func joinAround(before *strings.Builder, after string) string {
	so := before.String()
	if strings.TrimSpace(so) == "" {
		return strings.TrimLeft(after, ":, ")
	}
	if strings.HasSuffix(so, " ") {
		return strings.TrimLeft(after, " ")
	}
	return after
}

// readToken writes out what stood in angle brackets (docs.slack.dev/messaging/formatting-message-text).
func readToken(target, label string, name func(string) string) string {
	if target == "" {
		return "<>"
	}
	switch rest := target[1:]; target[0] {
	case '@':
		if n := name(rest); n != "" {
			return "@" + n
		}
		if label != "" {
			return "@" + strings.TrimPrefix(label, "@")
		}
		return "@" + rest
	case '#':
		if label != "" {
			return "#" + label
		}
		return "#" + rest
	case '!':
		if label != "" { // a date's fallback, a user group's handle
			return label
		}
		word, _, _ := strings.Cut(rest, "^")
		return "@" + word
	}
	link := unescape.Replace(target)
	bare := link
	for _, scheme := range []string{"mailto:", "tel:", "https://", "http://"} {
		bare = strings.TrimPrefix(bare, scheme)
	}
	switch {
	case label == "" && strings.HasPrefix(link, "mailto:"), label == "" && strings.HasPrefix(link, "tel:"):
		return bare
	case label == "":
		return link
	case label == link || label == bare || label == strings.TrimSuffix(bare, "/"):
		if strings.HasPrefix(link, "http") {
			return link
		}
		return bare
	}
	return label + " (" + link + ")"
}
