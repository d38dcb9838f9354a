package discord

import (
	"html"
	"regexp"
	"strings"
)

// inlineRule is one construct inside a line, in the order Discord tries them.
type inlineRule struct {
	match *regexp.Regexp
	tag   string // wraps what group 1 holds; "" = literal handling by name
	name  string
}

var inlineRules = []inlineRule{
	{match: regexp.MustCompile(`^\\([^0-9A-Za-z\s])`), name: "escape"},
	{match: regexp.MustCompile(`^(<@[!&]?\d+>)`), name: "mention"},
	{match: regexp.MustCompile(`^<(https?://[^\s<>]+)>`), name: "url"},
	{match: regexp.MustCompile(`^\[((?:\\.|[^\]\\])+)\]\(<?(https?://[^\s<>]+?)>?\)`), name: "link"},
	{match: regexp.MustCompile(`^(https?://[^\s<]+[^\s<.,:;"')\]])`), name: "url"},
	{match: regexp.MustCompile(`^\*\*\*((?:\\.|[^\\*])+?)\*\*\*`), tag: "bi"},
	{match: regexp.MustCompile(`^\*\*((?:\\.|\*[^*]+\*|[^\\*])+?)\*\*`), tag: "b"},
	{match: regexp.MustCompile(`^__((?:\\.|_[^_]+_|[^\\_])+?)__`), tag: "u"},
	{match: regexp.MustCompile(`^\*((?:\\.|\*\*[^*]+\*\*|[^\\*\s])(?:(?:\\.|\*\*[^*]+\*\*|[^\\*])*?(?:\\.|[^\\*\s]))?)\*`), tag: "i"},
	{match: regexp.MustCompile(`^_((?:\\.|[^\\_])+?)_(?:\W|$)`), tag: "i"},
	{match: regexp.MustCompile(`^~~((?:\\.|[^\\~]|~[^~])+?)~~`), tag: "s"},
	{match: regexp.MustCompile(`^\|\|((?:\\.|[^\\|]|\|[^|])+?)\|\|`), tag: "details"},
}

// inline reads the markup inside a line.
func (s names) inline(line string) (text, markup string) {
	var plain, out strings.Builder
	literal := func(t string) {
		plain.WriteString(t)
		out.WriteString(html.EscapeString(t))
	}
	for len(line) > 0 {
		if code, n := codeSpan(line); n > 0 {
			plain.WriteString(code)
			out.WriteString("<code>" + html.EscapeString(code) + "</code>")
			line = line[n:]
			continue
		}
		if strings.IndexByte("\\`<[h*_~|", line[0]) < 0 {
			next := strings.IndexAny(line, "\\`<[h*_~|")
			if next < 0 {
				next = len(line)
			}
			literal(line[:next])
			line = line[next:]
			continue
		}
		taken := 0
		for _, rule := range inlineRules {
			hit := rule.match.FindStringSubmatch(line)
			if hit == nil {
				continue
			}
			taken = len(hit[0])
			switch rule.name {
			case "escape":
				literal(hit[1])
			case "mention":
				literal(s(hit[1]))
			case "url":
				plain.WriteString(hit[1])
				out.WriteString(anchor(hit[1], html.EscapeString(hit[1])))
			case "link":
				t, h := s.inline(hit[1])
				plain.WriteString(t)
				out.WriteString(anchor(hit[2], h))
			default:
				if strings.HasSuffix(rule.match.String(), `(?:\W|$)`) { // the character behind does not belong to it
					taken = len(hit[1]) + 2
				}
				t, h := s.inline(hit[1])
				plain.WriteString(t)
				out.WriteString(wrap(rule.tag, h))
			}
			break
		}
		if taken == 0 {
			literal(line[:1])
			taken = 1
		}
		line = line[taken:]
	}
	return plain.String(), out.String()
}

// codeSpan reads code at the beginning of line: between one or two backticks.
func codeSpan(line string) (code string, taken int) {
	marks := len(line) - len(strings.TrimLeft(line, "`"))
	if marks < 1 || marks > 2 {
		return "", 0
	}
	fence := line[:marks]
	for at := marks; at < len(line); {
		hit := strings.Index(line[at:], fence)
		if hit < 0 {
			return "", 0
		}
		hit += at
		run := len(line[hit:]) - len(strings.TrimLeft(line[hit:], "`"))
		if run == marks && hit > marks {
			code = line[marks:hit]
			if marks == 2 {
				code = strings.TrimSpace(code)
			}
			return code, hit + marks
		}
		at = hit + run
	}
	return "", 0
}

func wrap(tag, inner string) string {
	switch tag {
	case "bi":
		return "<b><i>" + inner + "</i></b>"
	case "details":
		return "<details><summary>spoiler</summary>" + inner + "</details>"
	}
	return "<" + tag + ">" + inner + "</" + tag + ">"
}

func anchor(target, inner string) string {
	return `<a href="` + html.EscapeString(target) + `" rel="noopener noreferrer">` + inner + "</a>"
}
