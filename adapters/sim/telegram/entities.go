package telegram

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"typist/adapters/sim"
)

// Limits in UTF-16 units after parsing. https://core.telegram.org/bots/api#sendmessage
const (
	maxText    = 4096
	maxCaption = 1024
)

// utf16Len counts UTF-16 units.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// slice cuts UTF-16 units out of a text.
func slice(text string, offset, length int) string {
	units := utf16.Encode([]rune(text))
	offset = min(max(0, offset), len(units))
	return string(utf16.Decode(units[offset:min(len(units), offset+length)]))
}

// formatted reads a text or caption of a request: parse_mode or entities, cleaned and trimmed.
func (s *Server) formatted(text, mode, list string, limit int, what string) (string, []Entity, error) {
	if !utf8.ValidString(text) {
		return "", nil, bad("strings must be encoded in UTF-8")
	}
	if (mode != "" || list != "") && s.refused() {
		return "", nil, cantParse("Unsupported start tag \"x\" at byte offset 0")
	}
	var entities []Entity
	switch strings.ToLower(mode) {
	case "":
		p := params{text: map[string]string{"entities": list}}
		if _, err := p.object("entities", &entities); err != nil {
			return "", nil, err
		}
		if err := checkEntities(entities, utf16Len(text)); err != nil {
			return "", nil, err
		}
	case "html":
		var err error
		if text, entities, err = parseHTML(text); err != nil {
			return "", nil, err
		}
	default:
		return "", nil, bad("unsupported parse_mode")
	}
	text, entities = trim(clean(text), entities)
	if utf16Len(text) > limit {
		if what == "caption" {
			return "", nil, bad("message caption is too long")
		}
		return "", nil, bad("message is too long")
	}
	entities, err := s.resolveMentions(nest(entities))
	if err != nil {
		return "", nil, err
	}
	return text, entities, nil
}

func (s *Server) refused() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusal == 0 {
		return false
	}
	s.refusal--
	return true
}

func checkEntities(entities []Entity, length int) error {
	for _, e := range entities {
		if e.Offset < 0 || e.Length < 0 || e.Offset+e.Length > length {
			return bad("entity begins or ends outside of the text")
		}
	}
	sortEntities(entities)
	return nil
}

// sortEntities puts the outer one before the inner one.
func sortEntities(entities []Entity) {
	slices.SortStableFunc(entities, func(a, b Entity) int {
		if a.Offset != b.Offset {
			return a.Offset - b.Offset
		}
		return b.Length - a.Length
	})
}

// clean replaces control characters and drops the separators that Telegram drops. Nothing that is
// replaced changes its UTF-16 length; what is dropped is rare enough to keep its place as a space.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' || r == 0x7f || r >= 0x2028 && r <= 0x202e {
			return ' '
		}
		return r
	}, text)
}

// trim cuts white space at both ends and moves the entities along.
func trim(text string, entities []Entity) (string, []Entity) {
	left := strings.TrimLeftFunc(text, invisible)
	cut := utf16Len(text) - utf16Len(left)
	text = strings.TrimRightFunc(left, invisible)
	length := utf16Len(text)
	out := entities[:0:0]
	for _, e := range entities {
		from, to := max(0, e.Offset-cut), min(length, e.Offset+e.Length-cut)
		if to > from {
			e.Offset, e.Length = from, to-from
			out = append(out, e)
		}
	}
	return text, out
}

// invisible characters at the ends are cut, so that a text of them alone is empty.
func invisible(r rune) bool {
	return unicode.IsSpace(r) || r == 0x200b || r == 0x2060 || r == 0xfeff
}

// nest drops what can't be nested: anything in code or pre, a quote in a quote.
// https://core.telegram.org/bots/api#formatting-options
func nest(entities []Entity) []Entity {
	sortEntities(entities)
	var out, stack []Entity
	for _, e := range entities {
		for len(stack) > 0 && stack[len(stack)-1].Offset+stack[len(stack)-1].Length <= e.Offset {
			stack = stack[:len(stack)-1]
		}
		if slices.ContainsFunc(stack, func(outer Entity) bool {
			return outer.Type == "code" || outer.Type == "pre" || isQuote(outer) && isQuote(e) ||
				outer.Type == "text_link" && e.Type == "code"
		}) {
			continue
		}
		stack = append(stack, e)
		out = append(out, e)
	}
	return out
}

func isQuote(e Entity) bool { return e.Type == "blockquote" || e.Type == "expandable_blockquote" }

// resolveMentions turns links to people into text mentions.
func (s *Server) resolveMentions(entities []Entity) ([]Entity, error) {
	out := entities[:0:0]
	for _, e := range entities {
		if id, ok := strings.CutPrefix(e.URL, "tg://user?id="); ok && e.Type == "text_link" {
			person, known := s.world.Person(id)
			if !known {
				continue
			}
			s.mu.Lock()
			u := s.user(person)
			s.mu.Unlock()
			e = Entity{Type: "text_mention", Offset: e.Offset, Length: e.Length, User: &u}
		}
		if e.Type == "code" {
			e.Language = ""
		}
		out = append(out, e)
	}
	return out, nil
}

var (
	mentionPattern = regexp.MustCompile(`@[A-Za-z0-9_]{3,32}`)
	commandPattern = regexp.MustCompile(`/[A-Za-z0-9_]{1,32}(@[A-Za-z0-9_]{3,32})?`)
	urlPattern     = regexp.MustCompile(`https?://[^\s<>"]+`)
)

// detect adds the entities that Telegram finds by itself in a text.
func detect(text string, entities []Entity) []Entity {
	out := slices.Clone(entities)
	add := func(kind string, re *regexp.Regexp, before func(rune) bool) {
		for _, at := range re.FindAllStringIndex(text, -1) {
			prev, _ := utf8.DecodeLastRuneInString(text[:at[0]])
			if at[0] > 0 && !before(prev) {
				continue
			}
			e := Entity{Type: kind, Offset: utf16Len(text[:at[0]]), Length: utf16Len(text[at[0]:at[1]])}
			if slices.ContainsFunc(out, func(x Entity) bool {
				flat := x.Type == "code" || x.Type == "pre" || x.Type == "text_link" || x.Type == "text_mention" ||
					x.Type == "url" || x.Type == "mention" || x.Type == "bot_command"
				return flat && x.Offset < e.Offset+e.Length && e.Offset < x.Offset+x.Length
			}) {
				continue
			}
			out = append(out, e)
		}
	}
	add("url", urlPattern, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	add("mention", mentionPattern, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
	add("bot_command", commandPattern, unicode.IsSpace)
	sortEntities(out)
	return out
}

// pings lists the people whom a text notifies by name.
func (s *Server) pings(chat sim.Chat, text string, entities []Entity) []string {
	var out []string
	add := func(id string) {
		if !slices.Contains(out, id) && slices.Contains(chat.Members, id) {
			out = append(out, id)
		}
	}
	for _, e := range entities {
		switch e.Type {
		case "text_mention":
			add(strconv.FormatInt(e.User.ID, 10))
		case "mention":
			name := strings.TrimPrefix(slice(text, e.Offset, e.Length), "@")
			for _, id := range chat.Members {
				if p, ok := s.world.Person(id); ok && p.Username != "" && strings.EqualFold(p.Username, name) {
					add(id)
				}
			}
		}
	}
	return out
}
