package progress

import (
	"strings"

	"typist/agent"
)

const (
	previewGraphemes = 80   // P4
	captureBytes     = 2048 // of one argument; 80 graphemes are far fewer
	argsBytes        = 2048 // of the arguments' text, kept for the trace
	keyBytes         = 64
)

// Preview is the preview of a tool call by P4, of complete or still streaming arguments:
// the description, else the first argument; white space collapsed, secrets masked, 80 characters.
func Preview(args []byte) string {
	var a argScan
	a.feed(string(args))
	return a.preview()
}

// argScan follows the JSON text of a tool call's arguments as it streams and keeps the two
// values that a preview can come from. It costs constant memory and never goes back.
type argScan struct {
	raw    []byte // the beginning, for the trace
	rawCut bool
	first  capture // the first argument
	desc   capture // the newest argument named description

	state    scanState
	escaped  bool
	quoted   bool // inside a string within a nested value
	depth    int
	kind     byte // the running value's first byte
	key      []byte
	inFirst  bool // the running value belongs to first
	inDesc   bool
	values   int // begun so far
	consumed int // bytes fed so far
}

// capture is the JSON text of one value, perhaps not all of it.
type capture struct {
	key  string
	raw  []byte
	seen bool
	done bool
	cut  bool
}

type scanState uint8

const (
	scanStart scanState = iota
	scanKeyOrEnd
	scanKey
	scanColon
	scanValue
	scanInValue
	scanOver
)

func (a *argScan) feed(s string) {
	a.consumed += len(s)
	if !a.rawCut {
		a.raw, a.rawCut = appendCapped(a.raw, s, argsBytes)
	}
	for i := 0; i < len(s); {
		switch a.state {
		case scanOver:
			return
		case scanInValue:
			n, over := a.valueLen(s[i:])
			a.take(s[i : i+n])
			i += n
			if over {
				a.endValue()
			}
		default:
			a.between(s[i])
			if a.state != scanInValue {
				i++
			}
		}
	}
}

// between handles a byte outside of values. A value's first byte is left to scanInValue.
func (a *argScan) between(c byte) {
	switch a.state {
	case scanStart:
		switch {
		case c == '{':
			a.state = scanKeyOrEnd
		case !blank(c):
			a.state = scanOver
		}
	case scanKeyOrEnd:
		switch {
		case c == '"':
			a.key, a.state = a.key[:0], scanKey
		case c != ',' && !blank(c):
			a.state = scanOver
		}
	case scanKey:
		switch {
		case a.escaped:
			a.escaped = false
		case c == '\\':
			a.escaped = true
		case c == '"':
			a.state = scanColon
			return
		}
		if len(a.key) < keyBytes {
			a.key = append(a.key, c)
		}
	case scanColon:
		if c == ':' {
			a.state = scanValue
		} else if !blank(c) {
			a.state = scanOver
		}
	case scanValue:
		if !blank(c) {
			a.beginValue(c)
		}
	case scanInValue, scanOver: // feed deals with both
	}
}

func (a *argScan) beginValue(c byte) {
	a.state, a.kind, a.depth, a.quoted, a.escaped = scanInValue, c, 0, false, false
	a.values++
	a.inFirst = !a.first.seen
	a.inDesc = string(a.key) == "description"
	if a.inFirst {
		a.first.seen, a.first.key = true, string(a.key)
	}
	if a.inDesc {
		a.desc = capture{seen: true, raw: a.desc.raw[:0]}
	}
}

func (a *argScan) endValue() {
	if a.inFirst {
		a.first.done = true
	}
	if a.inDesc {
		a.desc.done = true
	}
	a.state = scanKeyOrEnd
}

func (a *argScan) take(s string) {
	for _, c := range [...]struct {
		on bool
		to *capture
	}{{a.inFirst, &a.first}, {a.inDesc, &a.desc}} {
		if c.on && !c.to.cut {
			c.to.raw, c.to.cut = appendCapped(c.to.raw, s, captureBytes)
		}
	}
}

// valueLen says how many bytes of s still belong to the running value, and whether it ends there.
func (a *argScan) valueLen(s string) (n int, over bool) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case a.escaped:
			a.escaped = false
		case a.quoted:
			if c == '\\' {
				a.escaped = true
			} else if c == '"' {
				a.quoted = false
				if a.depth == 0 {
					return i + 1, true
				}
			}
		case c == '"':
			a.quoted = true
		case c == '{' || c == '[':
			a.depth++
		case c == '}' || c == ']':
			if a.depth == 0 { // the end of the arguments ends a number or a word
				return i, true
			}
			if a.depth--; a.depth == 0 {
				return i + 1, true
			}
		case a.depth == 0 && (c == ',' || blank(c)):
			return i, true
		}
	}
	return len(s), false
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// preview applies P4. A blank description says nothing and counts as none.
func (a *argScan) preview() string {
	if len(a.desc.raw) > 0 && a.desc.raw[0] == '"' {
		if p := a.desc.show(); p != "" {
			return p
		}
	}
	return a.first.show()
}

// told reports whether a preview that shows no cut says all that the arguments say.
func (a *argScan) told(preview string) bool {
	return a.values == 0 || a.values == 1 && !strings.HasSuffix(preview, ellipsis)
}

func (c *capture) show() string {
	if len(c.raw) == 0 {
		return ""
	}
	text := valueText(string(c.raw))
	if text != "" && agent.SecretName(c.key) {
		return agent.Masked
	}
	if c.done && !c.cut {
		text = agent.Mask(text)
	} else {
		text = agent.MaskPartial(text)
	}
	return oneLine(text, previewGraphemes)
}

// valueText is a value as people read it: strings as they are, lists of plain values joined by
// commas, everything else as its JSON text. The value may lack its end.
func valueText(raw string) string {
	switch raw[0] {
	case '"':
		text, _ := decodeString(raw)
		return text
	case '[':
		if text, plain := listText(raw[1:]); plain {
			return text
		}
	}
	return raw
}

// listText joins the plain values of a list whose "[" has been read; plain is false where it
// holds anything else.
func listText(raw string) (text string, plain bool) {
	var parts []string
	for {
		raw = strings.TrimLeft(raw, " \t\r\n,")
		if raw == "" || raw[0] == ']' {
			return strings.Join(parts, ", "), true
		}
		switch raw[0] {
		case '{', '[':
			return "", false
		case '"':
			var part string
			part, raw = decodeString(raw)
			parts = append(parts, part)
		default:
			end := strings.IndexAny(raw, " \t\r\n,]")
			if end < 0 {
				end = len(raw)
			}
			parts = append(parts, raw[:end])
			raw = raw[end:]
		}
	}
}
