package turn

import (
	"strings"
	"unicode"

	"typist/adapters/rich"
)

// visible reports whether people see anything of a text: platforms refuse one of nothing but white
// space, format characters and blanks that Unicode counts as letters, and there is nothing to read.
func visible(doc rich.Doc) bool {
	return strings.ContainsFunc(rich.Text(doc), func(c rune) bool {
		switch c {
		case '\u115f', '\u1160', '\u2800', '\u3164', '\uffa0': // Hangul fillers, the blank of Braille
			return false
		}
		return unicode.IsGraphic(c) && !unicode.IsSpace(c) && !unicode.Is(unicode.M, c)
	})
}
