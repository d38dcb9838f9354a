package progress

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const ellipsis = "…"

// clean makes a text safe to show on one line: white space collapsed, control characters and
// those that turn the direction of other text dropped, invalid UTF-8 replaced.
func clean(s string) string {
	plain := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' && (c != ' ' || i == 0 || s[i-1] == ' ') || c >= 0x7f {
			plain = false
			break
		}
	}
	if plain && !strings.HasSuffix(s, " ") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case hidden(r):
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// hidden reports characters that show nothing themselves and could disturb what stands around
// them. Joiners and variation selectors stay: emoji need them.
func hidden(r rune) bool {
	switch {
	case unicode.IsControl(r):
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
		return true
	case r == 0xfeff, r == 0x200b, r == 0x2060:
		return true
	}
	return false
}

// cutHead keeps the beginning of s, at most n graphemes, the "…" of a cut included.
func cutHead(s string, n int) string {
	if len(s) <= n {
		return s
	}
	rest, state, keep := s, -1, 0
	for count := 0; rest != ""; count++ {
		if count == n {
			return strings.TrimRight(s[:keep], " ") + ellipsis
		}
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if count < n-1 {
			keep += len(cluster)
		}
	}
	return s
}

// cutTail keeps the end of s, at most n graphemes, the "…" of a cut included.
func cutTail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	var starts []int
	rest, state := s, -1
	for at := 0; rest != ""; {
		starts = append(starts, at)
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		at += len(cluster)
	}
	if len(starts) <= n {
		return s
	}
	return ellipsis + strings.TrimLeft(s[starts[len(starts)-n+1]:], " ")
}

// cutRunes is cutHead where a platform counts characters instead of graphemes.
func cutRunes(s string, n int) string {
	for g := n; ; g-- {
		if c := cutHead(s, g); utf8.RuneCountInString(c) <= n || g <= 1 {
			return c
		}
	}
}

// appendCapped appends s to dst until dst holds limit bytes; cut tells that something was left
// out. No character is cut in two.
func appendCapped(dst []byte, s string, limit int) (out []byte, cut bool) {
	room := limit - len(dst)
	if len(s) <= room {
		return append(dst, s...), false
	}
	if room <= 0 {
		return dst, s != ""
	}
	for room > 0 && !utf8.RuneStart(s[room]) {
		room--
	}
	return append(dst, s[:room]...), true
}

// oneLine is how any short text from outside shows: clean, and at most n graphemes.
func oneLine(s string, n int) string { return cutHead(clean(s), n) }
