package discord

import (
	"regexp"
	"strings"

	"typist/adapters/rich"
)

// spans writes the runs of a paragraph.
func spans(list []rich.Span) string {
	var b strings.Builder
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[end].URL == list[i].URL && list[i].URL != "" {
			end++
		}
		piece := ""
		if list[i].URL != "" {
			piece = maskedLink(list[i:end])
		} else {
			piece = run(list[i])
		}
		glue(&b, piece)
		i = end
	}
	return lineStarts(b.String())
}

// glue appends a piece; a zero-width space keeps marks apart that would be read as one.
func glue(b *strings.Builder, piece string) {
	text := b.String()
	if text != "" && piece != "" {
		last, first := text[len(text)-1], piece[0]
		if last == first && strings.IndexByte("*_~`|", first) >= 0 && !escapedEnd(text) {
			b.WriteString("\u200b")
		}
	}
	b.WriteString(piece)
}

// escapedEnd reports whether the last character is escaped.
func escapedEnd(text string) bool {
	n := 0
	for i := len(text) - 2; i >= 0 && text[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

// run writes one span without link.
func run(s rich.Span) string {
	if s.Code {
		return marked(inlineCode(s.Text), s)
	}
	if strings.TrimSpace(s.Text) == "" {
		return s.Text
	}
	// Marks must touch the text: white space at the edges stands outside of them.
	core := strings.TrimLeft(s.Text, " \t\n")
	lead := s.Text[:len(s.Text)-len(core)]
	core = strings.TrimRight(core, " \t\n")
	tail := s.Text[len(lead)+len(core):]
	if !s.Bold && !s.Italic && !s.Strike {
		return lead + escape(core) + tail
	}
	return lead + marked(escape(core), s) + tail
}

func marked(text string, s rich.Span) string {
	if text == "" {
		return ""
	}
	open, shut := "", ""
	if s.Strike {
		open, shut = "~~", "~~"
	}
	if s.Bold {
		open, shut = open+"**", "**"+shut
	}
	if s.Italic {
		open, shut = open+"*", "*"+shut
	}
	return open + text + shut
}

// inlineCode wraps text in one backtick, or two where it holds one.
func inlineCode(text string) string {
	text = strings.ReplaceAll(text, "\n", " ")
	if strings.TrimSpace(text) == "" {
		return text
	}
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	text = strings.ReplaceAll(text, "``", "`\u200b`")
	return "`` " + text + " ``"
}

var (
	webAddress = regexp.MustCompile(`https?://[^\s<>]+`)
	addressEnd = ".,:;!?\"')]}*_~|`"
)

// maskedLink writes a masked link. Its target stands in angle brackets, so that no preview unfolds.
func maskedLink(list []rich.Span) string {
	target := list[0].URL
	plain, label := "", ""
	for _, s := range list {
		plain += s.Text
		s.URL = ""
		var b strings.Builder
		b.WriteString(label)
		glue(&b, runWithoutLinks(s))
		label = b.String()
	}
	if !strings.HasPrefix(target, "http://") && !strings.HasPrefix(target, "https://") || strings.ContainsAny(target, " \t\n<>") {
		if plain == target || "mailto:"+plain == target {
			return escape(plain)
		}
		return label + " (" + escape(target) + ")"
	}
	if plain == target || strings.TrimSpace(plain) == "" {
		return "<" + target + ">"
	}
	if webAddress.MatchString(plain) || strings.Contains(target, ")") || strings.Contains(plain, "\n") { // Discord does not mask these
		if webAddress.MatchString(plain) {
			label = escapeMarks(plain)
		}
		return label + " (<" + target + ">)"
	}
	return "[" + label + "](<" + target + ">)"
}

func runWithoutLinks(s rich.Span) string {
	if s.Code || s.Text == "" {
		return run(s)
	}
	return marked(escapeMarks(s.Text), s)
}

// escape makes text show as it is. Addresses stay whole, in angle brackets against previews.
func escape(text string) string {
	var b strings.Builder
	at := 0
	for _, hit := range webAddress.FindAllStringIndex(text, -1) {
		end := hit[1]
		for end > hit[0] && strings.IndexByte(addressEnd, text[end-1]) >= 0 && !(text[end-1] == ')' && strings.Contains(text[hit[0]:end], "(")) {
			end--
		}
		if address := text[hit[0]:end]; strings.HasSuffix(address, "//") {
			continue
		}
		b.WriteString(escapeMarks(text[at:hit[0]]))
		b.WriteString("<" + text[hit[0]:end] + ">")
		at = end
	}
	b.WriteString(escapeMarks(text[at:]))
	return b.String()
}

var marks = strings.NewReplacer(
	`\`, `\\`, `*`, `\*`, `_`, `\_`, `~`, `\~`, "`", "\\`", `|`, `\|`, `<`, `\<`, `>`, `\>`, `[`, `\[`, `]`, `\]`,
	// A zero-width space keeps names from being read as mentions, in clients and in what is copied.
	"@everyone", "@\u200beveryone", "@here", "@\u200bhere",
	// Nor does Discord find an address where it is not meant as one.
	"http://", "http\u200b://", "https://", "https\u200b://",
)

func escapeMarks(text string) string { return marks.Replace(text) }

// lineStarts escapes what would be markup only at the beginning of a line: headings, subtext,
// lists and numbers.
func lineStarts(text string) string {
	var b strings.Builder
	for i, line := range strings.SplitAfter(text, "\n") {
		body := strings.TrimLeft(line, " \t")
		at := lineMark(body)
		if at < 0 {
			if i == 0 && len(line) == len(text) {
				return text
			}
			b.WriteString(line)
			continue
		}
		b.WriteString(line[:len(line)-len(body)+at])
		b.WriteByte('\\')
		b.WriteString(body[at:])
	}
	return b.String()
}

// lineMark is where a line's mark has to be escaped; -1 = it begins with none.
func lineMark(line string) int {
	mark, at := 0, 0
	switch {
	case line == "":
		return -1
	case line[0] == '#':
		mark = len(line) - len(strings.TrimLeft(line, "#"))
		if mark > 3 {
			return -1
		}
	case strings.HasPrefix(line, "-#"):
		mark = 2
	case line[0] == '-', line[0] == '+':
		mark = 1
	case line[0] >= '0' && line[0] <= '9':
		at = len(line) - len(strings.TrimLeft(line, "0123456789"))
		if at == len(line) || line[at] != '.' && line[at] != ')' {
			return -1
		}
		mark = at + 1
	default:
		return -1
	}
	if mark < len(line) && line[mark] != ' ' && line[mark] != '\t' {
		return -1
	}
	return at
}
