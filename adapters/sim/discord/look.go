package discord

import (
	"html"
	"regexp"
	"strings"
)

// look is what people read of a message's Markdown: as text, and as HTML. It knows Discord's own
// dialect: headings of three levels, subtext (-#), one level of quotes, lists, code, spoilers,
// masked links, <links>, and backslash escapes.
func (s *Server) look(content string) (text, markup string) { return look(content, s.readable) }

// Look is how a client shows Markdown, without names for mentions.
func Look(content string) (text, markup string) {
	return look(content, func(mention string) string { return mention })
}

// names is what stands in for mentions.
type names func(mention string) string

func look(content string, s names) (text, markup string) {
	lines := strings.Split(content, "\n")
	var plain, out []string
	quoted := false
	var quote []string
	endQuote := func() {
		if quoted {
			t, h := s.blocks(quote)
			plain = append(plain, t)
			out = append(out, "<blockquote>"+h+"</blockquote>")
			quote, quoted = nil, false
		}
	}
	var rest []string
	flush := func() {
		if len(rest) > 0 {
			t, h := s.blocks(rest)
			plain = append(plain, t)
			out = append(out, h)
			rest = nil
		}
	}
	fence := false
	for i, line := range lines {
		if !fence && strings.HasPrefix(line, ">>> ") {
			flush()
			quoted, quote = true, append([]string{line[4:]}, lines[i+1:]...)
			break
		}
		if body, ok := strings.CutPrefix(line, "> "); ok && !fence {
			flush()
			quoted = true
			quote = append(quote, body)
			continue
		}
		endQuote()
		if strings.Count(line, "```")%2 == 1 {
			fence = !fence
		}
		rest = append(rest, line)
	}
	endQuote()
	flush()
	return strings.Join(plain, "\n"), strings.Join(out, "")
}

var (
	heading  = regexp.MustCompile(`^(#{1,3}) +(.+)$`)
	subtext  = regexp.MustCompile(`^-# +(.+)$`)
	listItem = regexp.MustCompile(`^( *)([-*]|\d+\.) +(.*)$`)
	langLine = regexp.MustCompile(`^[A-Za-z0-9_+\-.#]+$`)
)

// blocks reads lines outside quotes.
func (s names) blocks(lines []string) (text, markup string) {
	var plain []string
	var out strings.Builder
	list := ""
	endList := func() {
		if list != "" {
			out.WriteString("</" + list + ">")
			list = ""
		}
	}
	open := false // a paragraph
	endPara := func() {
		if open {
			out.WriteString("</p>")
			open = false
		}
	}
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if before, after, ok := strings.Cut(line, "```"); ok {
			code, rest, end, closed := fenced(lines, i, after)
			if closed {
				endList()
				if before != "" {
					t, h := s.inline(before)
					plain = append(plain, t)
					endPara()
					out.WriteString("<p>" + h + "</p>")
				}
				endPara()
				plain = append(plain, code)
				out.WriteString("<pre><code>" + html.EscapeString(code) + "</code></pre>")
				i = end
				if rest != "" {
					t, h := s.inline(rest)
					plain = append(plain, t)
					out.WriteString("<p>" + h + "</p>")
				}
				continue
			}
		}
		switch {
		case heading.MatchString(line):
			endList()
			endPara()
			hit := heading.FindStringSubmatch(line)
			t, h := s.inline(hit[2])
			tag := "h" + string(rune('0'+len(hit[1])))
			plain = append(plain, t)
			out.WriteString("<" + tag + ">" + h + "</" + tag + ">")
		case subtext.MatchString(line):
			endList()
			endPara()
			t, h := s.inline(subtext.FindStringSubmatch(line)[1])
			plain = append(plain, t)
			out.WriteString("<p><i>" + h + "</i></p>")
		case listItem.MatchString(line):
			endPara()
			hit := listItem.FindStringSubmatch(line)
			want := "ul"
			mark := "• "
			if hit[2] != "-" && hit[2] != "*" {
				want, mark = "ol", hit[2]+" "
			}
			if list != want {
				endList()
				list = want
				start := ""
				if n, _ := strings.CutSuffix(hit[2], "."); want == "ol" && n != "1" {
					start = ` start="` + n + `"` // digits, by the pattern
				}
				out.WriteString("<" + list + start + ">")
			}
			t, h := s.inline(hit[3])
			plain = append(plain, hit[1]+mark+t)
			out.WriteString("<li>" + h + "</li>")
		case line == "":
			endList()
			endPara()
			plain = append(plain, "")
		default:
			endList()
			t, h := s.inline(line)
			plain = append(plain, t)
			if open {
				out.WriteString("<br>" + h)
			} else {
				out.WriteString("<p>" + h)
				open = true
			}
		}
	}
	endList()
	endPara()
	return strings.Join(plain, "\n"), out.String()
}

// fenced reads a code block that begins on line i behind its fence.
func fenced(lines []string, i int, after string) (code, rest string, end int, closed bool) {
	if body, tail, ok := strings.Cut(after, "```"); ok {
		return body, tail, i, true
	}
	var body []string
	if !langLine.MatchString(after) && after != "" {
		body = append(body, after)
	}
	for j := i + 1; j < len(lines); j++ {
		if before, tail, ok := strings.Cut(lines[j], "```"); ok {
			if before != "" {
				body = append(body, before)
			}
			return strings.Join(body, "\n"), tail, j, true
		}
		body = append(body, lines[j])
	}
	return "", "", i, false
}
