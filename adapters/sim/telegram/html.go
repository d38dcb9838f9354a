package telegram

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// entityTags maps the tags of HTML style to entity types.
// https://core.telegram.org/bots/api#html-style
var entityTags = map[string]string{
	"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline",
	"s": "strikethrough", "strike": "strikethrough", "del": "strikethrough", "tg-spoiler": "spoiler",
	"span": "spoiler", "a": "text_link", "code": "code", "pre": "pre", "blockquote": "blockquote",
	"tg-emoji": "custom_emoji",
}

type openTag struct {
	name   string
	entity Entity
	start  int // byte offset, for errors
}

func cantParse(format string, args ...any) error {
	return bad("can't parse entities: "+format, args...)
}

// parseHTML reads parse_mode HTML, with the errors of the real server.
func parseHTML(src string) (string, []Entity, error) {
	var out strings.Builder
	units := 0 // UTF-16 length of out
	var open []openTag
	var entities []Entity
	for i := 0; i < len(src); {
		c := src[i]
		if c == '&' {
			if r, n := decodeReference(src[i:]); n > 0 {
				out.WriteRune(r)
				units += utf16.RuneLen(r)
				i += n
				continue
			}
		}
		if c != '<' {
			r, n := utf8.DecodeRuneInString(src[i:])
			out.WriteString(src[i : i+n])
			units += max(1, utf16.RuneLen(r))
			i += n
			continue
		}
		begin := i
		i++
		if i < len(src) && src[i] == '/' {
			end := strings.IndexByte(src[i:], '>')
			if len(open) == 0 {
				return "", nil, cantParse("Unexpected end tag at byte offset %d", begin)
			}
			if end < 0 {
				return "", nil, cantParse("Unclosed end tag at byte offset %d", begin)
			}
			name := strings.ToLower(strings.TrimSpace(src[i+1 : i+end]))
			i += end + 1
			top := open[len(open)-1]
			if name != "" && name != top.name {
				return "", nil, cantParse("Unmatched end tag at byte offset %d, expected \"</%s>\", found \"</%s>\"", begin, top.name, name)
			}
			open = open[:len(open)-1]
			if e, ok := closeTag(top, units, out.String(), entities); ok {
				entities = e
			}
			continue
		}
		tag, n, err := startTag(src, begin)
		if err != nil {
			return "", nil, err
		}
		i = n
		tag.entity.Offset = units
		open = append(open, tag)
	}
	if len(open) > 0 {
		return "", nil, cantParse("Can't find end tag corresponding to start tag \"%s\"", open[len(open)-1].name)
	}
	sortEntities(entities)
	return out.String(), entities, nil
}

// startTag reads "<name attr=value …>" that begins at byte offset begin.
func startTag(src string, begin int) (openTag, int, error) {
	i := begin + 1
	nameEnd := i
	for nameEnd < len(src) && !isSpace(src[nameEnd]) && src[nameEnd] != '>' {
		nameEnd++
	}
	if nameEnd == len(src) {
		return openTag{}, 0, cantParse("Unclosed start tag at byte offset %d", begin)
	}
	name := strings.ToLower(src[i:nameEnd])
	kind, known := entityTags[name]
	if !known {
		return openTag{}, 0, cantParse("Unsupported start tag \"%s\" at byte offset %d", name, begin)
	}
	tag := openTag{name: name, entity: Entity{Type: kind}, start: begin}
	i = nameEnd
	class := ""
	for {
		for i < len(src) && isSpace(src[i]) {
			i++
		}
		if i == len(src) {
			return tag, 0, cantParse("Unclosed start tag at byte offset %d", begin)
		}
		if src[i] == '>' {
			break
		}
		from := i
		for i < len(src) && !isSpace(src[i]) && src[i] != '=' && src[i] != '>' {
			i++
		}
		attr := strings.ToLower(src[from:i])
		if attr == "" {
			return tag, 0, cantParse("Empty attribute name in the tag \"%s\" at byte offset %d", name, from)
		}
		for i < len(src) && isSpace(src[i]) {
			i++
		}
		value := ""
		if i < len(src) && src[i] == '=' {
			i++
			for i < len(src) && isSpace(src[i]) {
				i++
			}
			if i == len(src) {
				return tag, 0, cantParse("Unclosed start tag at byte offset %d", begin)
			}
			if quote := src[i]; quote == '"' || quote == '\'' {
				end := strings.IndexByte(src[i+1:], quote)
				if end < 0 {
					return tag, 0, cantParse("Unclosed start tag at byte offset %d", begin)
				}
				value = unescape(src[i+1 : i+1+end])
				i += end + 2
			} else {
				from := i
				for i < len(src) && !isSpace(src[i]) && src[i] != '>' {
					i++
				}
				value = unescape(src[from:i])
			}
		}
		switch {
		case name == "a" && attr == "href":
			tag.entity.URL = value
		case name == "blockquote" && attr == "expandable":
			tag.entity.Type = "expandable_blockquote"
		case attr == "class":
			class = value
		}
	}
	switch name {
	case "code":
		if lang, ok := strings.CutPrefix(class, "language-"); ok {
			tag.entity.Language = lang
		}
	case "span":
		if class != "tg-spoiler" {
			return tag, 0, cantParse("Tag \"span\" must have class \"tg-spoiler\" at byte offset %d", begin)
		}
	}
	return tag, i + 1, nil
}

// closeTag turns a closed tag into an entity.
func closeTag(tag openTag, units int, text string, entities []Entity) ([]Entity, bool) {
	e := tag.entity
	e.Length = units - e.Offset
	if e.Length == 0 {
		return nil, false
	}
	switch e.Type {
	case "text_link":
		if e.URL == "" { // the text itself is the link
			e.URL = string(utf16.Decode(utf16.Encode([]rune(text))[e.Offset:units]))
		}
		url, ok := checkURL(e.URL)
		if !ok {
			return nil, false // Telegram drops links that it does not like
		}
		e.URL = url
	case "pre": // <pre><code class="language-x">…</code></pre> is one entity
		if n := len(entities); n > 0 {
			if in := entities[n-1]; in.Type == "code" && in.Offset == e.Offset && in.Length == e.Length {
				e.Language = in.Language
				entities = entities[:n-1]
			}
		}
	case "code":
		// the language matters inside <pre> only; it is kept until then
	case "custom_emoji":
		return nil, false
	}
	return append(entities, e), true
}

// checkURL says whether Telegram keeps a link's target.
func checkURL(url string) (string, bool) {
	lower := strings.ToLower(url)
	for _, scheme := range []string{"http://", "https://", "tg://", "mailto:", "tel:", "tonsite://", "ton://"} {
		if strings.HasPrefix(lower, scheme) && len(url) > len(scheme) {
			return url, !strings.ContainsAny(url, " \n\t")
		}
	}
	if host, _, _ := strings.Cut(lower, "/"); strings.Contains(host, ".") && !strings.ContainsAny(url, " \n\t:") {
		return "http://" + url, true
	}
	return "", false
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'
}

// decodeReference reads a character reference at the start of s; n = 0 = there is none.
func decodeReference(s string) (r rune, n int) {
	end := strings.IndexByte(s, ';')
	if end < 0 || end > 11 {
		return 0, 0
	}
	switch name := s[1:end]; {
	case name == "lt":
		return '<', end + 1
	case name == "gt":
		return '>', end + 1
	case name == "amp":
		return '&', end + 1
	case name == "quot":
		return '"', end + 1
	case strings.HasPrefix(name, "#"):
		digits, base := name[1:], 10
		if strings.HasPrefix(digits, "x") {
			digits, base = digits[1:], 16
		}
		v, err := strconv.ParseUint(digits, base, 32)
		if err != nil || v == 0 || v > utf8.MaxRune || !utf8.ValidRune(rune(v)) {
			return 0, 0
		}
		return rune(v), end + 1
	}
	return 0, 0
}

func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == '&' {
			if r, n := decodeReference(s[i:]); n > 0 {
				b.WriteRune(r)
				i += n
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}
