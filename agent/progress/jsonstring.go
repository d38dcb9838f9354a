package progress

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// decodeString reads a JSON string that begins with its quote and may lack its end: an escape
// that is not complete yet is left out. rest is what follows the closing quote.
func decodeString(raw string) (text, rest string) {
	s := raw[1:]
	if i := strings.IndexAny(s, `"\`); i < 0 {
		return s, ""
	} else if s[i] == '"' {
		return s[:i], s[i+1:]
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '"':
			return b.String(), s[i+1:]
		case c != '\\':
			b.WriteByte(c)
			i++
		case i+1 == len(s):
			return b.String(), ""
		case s[i+1] == 'u':
			r, n := decodeUnicode(s[i:])
			if n == 0 {
				return b.String(), ""
			}
			b.WriteRune(r)
			i += n
		default:
			b.WriteByte(unescape(s[i+1]))
			i += 2
		}
	}
	return b.String(), ""
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b', 'f':
		return ' '
	}
	return c
}

// decodeUnicode reads \uXXXX, with its second half where it is one of a pair. n = 0: not
// complete yet.
func decodeUnicode(s string) (r rune, n int) {
	one, ok := hex4(s)
	if !ok {
		if len(s) < 6 {
			return 0, 0
		}
		return '\uFFFD', 2
	}
	if !utf16.IsSurrogate(one) {
		return one, 6
	}
	tail := s[6:]
	if two, ok := hex4(tail); ok {
		if r := utf16.DecodeRune(one, two); r != '\uFFFD' {
			return r, 12
		}
	} else if len(tail) < 6 && strings.HasPrefix(`\u`, tail[:min(2, len(tail))]) {
		return 0, 0
	}
	return '\uFFFD', 6
}

func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(v), err == nil
}
