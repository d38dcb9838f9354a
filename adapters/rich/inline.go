package rich

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// lineBreakTag is the one piece of HTML that is not shown as text: models write it in table cells.
var lineBreakTag = regexp.MustCompile(`(?i)^<br\s*/?>$`)

// spans are the runs of text in a block node.
func (c *converter) spans(n ast.Node) []Span {
	var out runs
	c.inline(n, Span{}, &out)
	return out.spans()
}

// inline appends the runs below n; look is what the nodes around them say.
func (c *converter) inline(parent ast.Node, look Span, out *runs) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		in := look
		switch n := n.(type) {
		case *ast.Text:
			value := string(n.Segment.Value(c.source))
			if !n.IsRaw() {
				value = unescape(value)
			}
			if n.SoftLineBreak() || n.HardLineBreak() {
				value += "\n"
			}
			out.add(look, value)
		case *ast.String:
			value := string(n.Value)
			if !n.IsRaw() && !n.IsCode() {
				value = unescape(value)
			}
			out.add(look, value)
		case *ast.CodeSpan:
			in.Code = true
			out.add(in, c.codeSpan(n))
		case *ast.Emphasis:
			in.Bold = in.Bold || n.Level == 2
			in.Italic = in.Italic || n.Level != 2
			c.inline(n, in, out)
		case *east.Strikethrough:
			in.Strike = true
			c.inline(n, in, out)
		case *east.TaskCheckBox:
			box := "☐ "
			if n.IsChecked {
				box = "☑ "
			}
			out.add(look, box)
		case *ast.Link:
			c.link(n, n.Destination, look, out)
		case *ast.Image:
			c.link(n, n.Destination, look, out)
		case *ast.AutoLink:
			label, target := string(n.Label(c.source)), string(n.URL(c.source))
			if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(target), "mailto:") {
				target = "mailto:" + target
			}
			if in.URL == "" && reachable(target) {
				in.URL = target
			}
			out.add(in, label)
		case *ast.RawHTML:
			raw := string(n.Segments.Value(c.source))
			if lineBreakTag.MatchString(raw) {
				raw = "\n"
			}
			out.add(look, raw)
		default:
			c.inline(n, look, out)
		}
	}
}

func (c *converter) codeSpan(n *ast.CodeSpan) string {
	var b strings.Builder
	for t := n.FirstChild(); t != nil; t = t.NextSibling() {
		switch t := t.(type) {
		case *ast.Text:
			b.Write(t.Segment.Value(c.source))
		case *ast.String:
			b.Write(t.Value)
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// link appends a link or an image. Within another link it is only its text.
func (c *converter) link(n ast.Node, destination []byte, look Span, out *runs) {
	target := strings.TrimSpace(unescape(string(destination)))
	inside := look
	linked := look.URL == "" && reachable(target)
	if linked {
		inside.URL = target
	}
	var own runs
	c.inline(n, inside, &own)
	spans := own.spans()
	for _, s := range spans {
		out.add(s, s.Text)
	}
	switch label := content(spans); {
	case strings.TrimSpace(label) == "":
		out.add(inside, target)
	case !linked && look.URL == "" && target != "" && label != target:
		out.add(look, " ("+target+")")
	}
}

// reachable reports whether a target leads anywhere from a chat.
func reachable(target string) bool {
	u, err := url.Parse(target)
	if err != nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.Host != ""
	case "mailto", "tel":
		return u.Opaque != ""
	case "tg":
		return true
	}
	return false
}

// runs collects text and joins neighbours that look the same.
type runs struct {
	done []Span
	look Span
	text []byte // of the run being collected
}

func (r *runs) add(look Span, text string) {
	if text == "" {
		return
	}
	look.Text = ""
	if look != r.look {
		r.flush()
		r.look = look
	}
	r.text = append(r.text, text...)
}

func (r *runs) flush() {
	if len(r.text) == 0 {
		return
	}
	span := r.look
	span.Text = string(r.text)
	r.done = append(r.done, span)
	r.text = r.text[:0]
}

func (r *runs) spans() []Span {
	r.flush()
	return r.done
}

// content is the spans' text.
func content(spans []Span) string {
	if len(spans) == 1 {
		return spans[0].Text
	}
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// trim removes white space at both ends, and runs that are empty then.
func trim(spans []Span) []Span {
	for len(spans) > 0 {
		spans[0].Text = strings.TrimLeft(spans[0].Text, " \t\n")
		if spans[0].Text != "" {
			break
		}
		spans = spans[1:]
	}
	for len(spans) > 0 {
		last := &spans[len(spans)-1]
		last.Text = strings.TrimRight(last.Text, " \t\n")
		if last.Text != "" {
			break
		}
		spans = spans[:len(spans)-1]
	}
	if len(spans) == 0 {
		return nil
	}
	return spans
}

// unescape resolves backslash escapes and entities in one pass, so that neither sees what the
// other has made.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]):
			i++
			b.WriteByte(s[i])
		case s[i] == '&':
			text, size := entity(s[i:])
			b.WriteString(text)
			i += size - 1
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// maxEntity is longer than any entity's name.
const maxEntity = 40

// entity reads the entity that s, which starts with '&', begins with; "&" itself if it is none.
func entity(s string) (text string, size int) {
	end := strings.IndexByte(s[:min(len(s), maxEntity)], ';')
	if end < 2 {
		return "&", 1
	}
	if s[1] != '#' {
		if e, ok := util.LookUpHTML5EntityByName(s[1:end]); ok {
			return string(e.Characters), end + 1
		}
		return "&", 1
	}
	digits, base := s[2:end], 10
	if digits != "" && (digits[0] == 'x' || digits[0] == 'X') {
		digits, base = digits[1:], 16
	}
	value, err := strconv.ParseUint(digits, base, 32)
	if err != nil {
		return "&", 1
	}
	r := rune(value)
	if value == 0 || value > utf8.MaxRune || !utf8.ValidRune(r) {
		r = utf8.RuneError
	}
	return string(r), end + 1
}
