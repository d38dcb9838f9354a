package typing

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SilentTokens are the replies that mean "say nothing" (T5), normalised by NewSilentTokens.
type SilentTokens []string

// NewSilentTokens normalises a configured list. What is empty without its marks is left out.
func NewSilentTokens(list []string) SilentTokens {
	var t SilentTokens
	for _, s := range list {
		s = strings.Map(foldRune, strings.TrimFunc(s, isEdge))
		if s != "" && !slices.Contains(t, s) {
			t = append(t, s)
		}
	}
	return t
}

// Match reports whether text is a silent token once white space, emphasis and code marks and edge
// punctuation are trimmed, in any case (T5).
func (t SilentTokens) Match(text string) bool {
	text = strings.TrimFunc(text, isEdge)
	for _, token := range t {
		if n, ok := foldPrefix(token, text); ok && n == len(token) {
			return true
		}
	}
	return false
}

// isEdge reports whether r is trimmed at a text's edges. Invisible format characters are: a reply
// that differs from a token by a byte order mark is not there to be read.
func isEdge(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsPunct(r) || strings.ContainsRune("`~^|<>+=", r) || unicode.Is(unicode.Cf, r)
}

// foldRune maps every rune of a case-folding orbit to the same one.
func foldRune(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}

// foldPrefix reports whether text is a prefix of token, which is folded already, and how many
// bytes of token it covers.
func foldPrefix(token, text string) (covered int, ok bool) {
	for _, r := range text {
		want, size := utf8.DecodeRuneInString(token[covered:])
		if size == 0 || foldRune(r) != want {
			return 0, false
		}
		covered += size
	}
	return covered, true
}

// SilentFilter holds a streamed text back while it may still turn out to be a silent token (T5).
// It is for one text message; work is linear in the text's length.
type SilentFilter struct {
	tokens  SilentTokens
	open    bool   // diverged: everything passes
	held    []byte // everything so far
	scanned int    // bytes of held that have been judged
	start   int    // where in held the text begins, its leading marks trimmed; -1: not yet
	prefix  bool   // held[start:scanned] is a prefix of a token
	whole   bool   // a token, and then nothing but marks
}

// NewSilentFilter makes the filter for one text.
func NewSilentFilter(t SilentTokens) SilentFilter {
	return SilentFilter{tokens: t, open: len(t) == 0, start: -1}
}

// Push takes the next piece of the text. It answers what may be shown: "" while all of the text so
// far is a silent token or a prefix of one; on divergence everything held at once; then each piece.
func (f *SilentFilter) Push(delta string) (release string) {
	if f.open {
		return delta
	}
	f.held = append(f.held, delta...)
	for f.scanned < len(f.held) {
		rest := f.held[f.scanned:]
		if !utf8.FullRune(rest) {
			break // its other bytes come with the next piece
		}
		r, size := utf8.DecodeRune(rest)
		if !f.admit(r, size) {
			return f.release()
		}
	}
	return ""
}

// admit judges the next rune; false is divergence.
func (f *SilentFilter) admit(r rune, size int) bool {
	at := f.scanned
	f.scanned += size
	edge := isEdge(r)
	if f.start < 0 {
		if edge {
			return true
		}
		f.start, f.prefix = at, true
	}
	// Both can hold at once: with the tokens NO and NO_REPLY, "NO_" is the first one with a mark.
	f.whole = f.whole && edge
	if f.prefix {
		if !f.whole && edge {
			f.whole = f.tokenAt(at)
		}
		f.prefix = f.prefixAt(f.scanned)
	}
	return f.prefix || f.whole
}

// prefixAt reports whether held[start:end] begins a token.
func (f *SilentFilter) prefixAt(end int) bool {
	return slices.ContainsFunc(f.tokens, func(token string) bool {
		_, ok := foldPrefix(token, string(f.held[f.start:end]))
		return ok
	})
}

// tokenAt reports whether held[start:end] is a token.
func (f *SilentFilter) tokenAt(end int) bool {
	return slices.ContainsFunc(f.tokens, func(token string) bool {
		n, ok := foldPrefix(token, string(f.held[f.start:end]))
		return ok && n == len(token)
	})
}

func (f *SilentFilter) release() string {
	f.open = true
	text := string(f.held)
	f.held = nil
	return text
}

// End is called when the text has ended. It answers what was held if that is no silent token after
// all, such as an unfinished "No"; silent: the whole text is a silent token.
func (f *SilentFilter) End() (release string, silent bool) {
	if f.open {
		return "", false
	}
	if f.tokens.Match(string(f.held)) {
		f.open, f.held = true, nil
		return "", true
	}
	return f.release(), false
}

// Held reports whether text is being held back.
func (f *SilentFilter) Held() bool { return len(f.held) > 0 }
