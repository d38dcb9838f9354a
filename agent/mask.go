package agent

import (
	"strings"
	"unicode/utf8"
)

// Masked stands where a secret stood.
const Masked = "***"

// Mask replaces secrets in s by Masked (P4): tokens of known shapes, passwords and keys in
// commands, URLs, headers, assignments and JSON, private keys. Names, hosts and users stay, so
// that a person still sees what a command does. Masking twice is masking once.
func Mask(s string) string { return mask(s, false) }

// MaskPartial is Mask for a text that is still growing: what may become a secret at its end is
// masked before it is complete.
func MaskPartial(s string) string { return mask(s, true) }

func mask(s string, growing bool) string {
	s = maskPEM(s)
	s = maskTokens(s, growing)
	s = maskUserinfo(s, growing)
	s = maskNamed(s)
	return maskFlags(s)
}

// edit collects the replaced parts of a text. Without any the text itself comes back.
type edit struct {
	src  string
	b    strings.Builder
	done int // what of src is in b
}

// replace puts text in place of src[from:to]. Calls come in rising order; what overlaps an
// earlier replacement is ignored.
func (e *edit) replace(from, to int, text string) {
	if from < e.done || from >= to {
		return
	}
	e.b.WriteString(e.src[e.done:from])
	e.b.WriteString(text)
	e.done = to
}

func (e *edit) String() string {
	if e.done == 0 {
		return e.src
	}
	e.b.WriteString(e.src[e.done:])
	return e.b.String()
}

// maskPEM empties private keys, also one whose end is missing.
func maskPEM(s string) string {
	const begin, end, dashes = "-----BEGIN ", "-----END ", "-----"
	e := edit{src: s}
	for at := 0; ; {
		i := strings.Index(s[at:], begin)
		if i < 0 {
			return e.String()
		}
		label := at + i + len(begin)
		n := strings.Index(s[label:], dashes)
		if n < 0 || n > 40 {
			at = label
			continue
		}
		body := label + n + len(dashes)
		at = body
		if !strings.Contains(s[label:label+n], "PRIVATE KEY") {
			continue
		}
		if n := strings.Index(s[body:], end); n >= 0 {
			e.replace(body, body+n, Masked)
			at = body + n
			continue
		}
		e.replace(body, len(s), Masked+end+s[label:body-len(dashes)]+dashes)
		return e.String()
	}
}

// maskUserinfo masks the password in scheme://user:password@host, and a user that is itself a
// token.
func maskUserinfo(s string, growing bool) string {
	e := edit{src: s}
	for at := 0; ; {
		i := strings.Index(s[at:], "://")
		if i < 0 {
			return e.String()
		}
		from := at + i + 3
		end := from
		for end < len(s) && !strings.ContainsRune("/?#\"'`<> \t\r\n\\,", rune(s[end])) {
			end++
		}
		at = end
		host := strings.LastIndexByte(s[from:end], '@')
		colon := strings.IndexByte(s[from:end], ':')
		switch {
		case host >= 0 && colon >= 0 && colon < host:
			if !reference(s[from+colon+1 : from+host]) {
				e.replace(from+colon+1, from+host, Masked)
			}
		case host >= 20 && colon < 0 && opaque(s[from:from+host]):
			e.replace(from, from+host, Masked)
		case growing && end == len(s) && host < 0 && colon >= 0 && !port(s[from+colon+1:]):
			e.replace(from+colon+1, end, Masked)
		}
	}
}

// port reports digits that are a port so far.
func port(s string) bool { return len(s) <= 5 && strings.Trim(s, "0123456789") == "" }

// opaque reports a word with both letters and digits: more likely a token than a name.
func opaque(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.ContainsFunc(s, func(r rune) bool {
		return r|0x20 >= 'a' && r|0x20 <= 'z'
	})
}

// reference reports a value that names a secret instead of being one: a variable, a
// placeholder, a call, something masked already.
func reference(v string) bool {
	switch {
	case v == "", strings.Trim(v, "*•xX.…") == "":
		return true
	case v[0] == '<' || v[0] == '%' && strings.HasSuffix(v, "%") || strings.HasPrefix(v, "{{") || v[0] == '{':
		return true
	case v[0] == '$':
		return len(v) == 1 || v[1] == '{' || v[1] == '(' || v[1] == '_' || strings.HasPrefix(v, "$env:") ||
			!strings.Contains(v[1:], "$") && letter(v[1])
	}
	if n := strings.IndexAny(v, ".[("); n > 0 {
		head := v[:n]
		if v[n] == '(' {
			return identifier(head)
		}
		if codeRoots[strings.ToLower(head)] {
			return true
		}
		if call := strings.IndexByte(v, '('); call > 0 && identifier(v[:call]) {
			return true
		}
	}
	return neutral[strings.ToLower(strings.TrimRight(v, ".;!?"))]
}

// codeRoots begin expressions of program text that lead to a secret.
var codeRoots = set("process os env environ self this config cfg secrets vars var args opts options settings " +
	"req request ctx context params import meta app user data local std")

// neutral are values that are no secrets.
var neutral = set("true false null nil none undefined string str bool boolean bytes int number required optional " +
	"redacted [redacted] masked hidden empty missing unset default yes no on off read write any text inherit")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }
func wordByte(c byte) bool {
	return letter(c) || digit(c) || c == '_'
}

func identifier(s string) bool {
	for i := 0; i < len(s); i++ {
		if !wordByte(s[i]) && s[i] != '.' {
			return false
		}
	}
	return s != "" && !digit(s[0])
}

// lastRune is the end of the character that begins at i.
func lastRune(s string, i int) int {
	_, n := utf8.DecodeRuneInString(s[i:])
	return i + n
}
