package openai

import "strings"

// thinkFilter takes thoughts out of a content that writes them between tags at its beginning, as
// models do whose server does not parse them: <think>…</think>. Tags may be cut by chunk borders.
// Later in the text the tags are words like any other, but for a closing one without an opening:
// some templates open the thought themselves, so that all before it was thinking.
type thinkFilter struct {
	held  string
	state thinkState
	tag   string // the name of the open tag
}

type thinkState uint8

const (
	before thinkState = iota // only white space so far
	inside
	after     // text; no thought was closed yet
	afterTags // text after a thought
)

type thinkPiece struct {
	text     string
	thinking bool
	closed   bool // the thought ended
	stray    bool // all text so far was the thought
}

var thinkTags = []string{"think", "thinking", "thought", "reasoning"}

// push takes the next piece of content and returns what is certain by now.
func (f *thinkFilter) push(s string) []thinkPiece {
	f.held += s
	var out []thinkPiece
	for {
		piece, more := f.step()
		if piece != (thinkPiece{}) {
			out = append(out, piece)
		}
		if !more {
			return out
		}
	}
}

// step takes one piece from what is held. false: the rest is a possible beginning of a tag, or
// nothing.
func (f *thinkFilter) step() (thinkPiece, bool) {
	switch f.state {
	case before:
		return f.beginning()
	case inside:
		text, found := f.until("</" + f.tag + ">")
		if found {
			if text != "" {
				f.held = "</" + f.tag + ">" + f.held // next step finds it at once
				return thinkPiece{text: text, thinking: true}, true
			}
			f.state = before // a second thought may follow at once
			return thinkPiece{closed: true}, true
		}
		return thinkPiece{text: text, thinking: true}.unlessEmpty(), false
	case after:
		text, found := f.until("</think>")
		if found {
			if text != "" {
				f.held = "</think>" + f.held
				return thinkPiece{text: text}, true
			}
			f.state = afterTags
			return thinkPiece{stray: true}, true
		}
		return thinkPiece{text: text}.unlessEmpty(), false
	default:
		text := f.held
		f.held = ""
		return thinkPiece{text: text}, false
	}
}

func (p thinkPiece) unlessEmpty() thinkPiece {
	if p.text == "" {
		return thinkPiece{}
	}
	return p
}

// beginning decides whether the content begins with a tag.
func (f *thinkFilter) beginning() (thinkPiece, bool) {
	rest := strings.TrimLeft(f.held, " \t\r\n")
	if rest == "" {
		return thinkPiece{}, false
	}
	possible := false
	for _, tag := range thinkTags {
		open := "<" + tag + ">"
		if strings.HasPrefix(rest, open) {
			f.held, f.tag, f.state = rest[len(open):], tag, inside
			return thinkPiece{}, true
		}
		possible = possible || strings.HasPrefix(open, rest)
	}
	if possible {
		return thinkPiece{}, false
	}
	f.state = after
	if f.tag != "" {
		f.state = afterTags
	}
	return thinkPiece{}, true
}

// until returns what stands before end, and takes it and end from what is held. Without end it
// returns what can't belong to it.
func (f *thinkFilter) until(end string) (string, bool) {
	if i := strings.Index(f.held, end); i >= 0 {
		text := f.held[:i]
		f.held = f.held[i+len(end):]
		return text, true
	}
	keep := 0
	for n := min(len(end)-1, len(f.held)); n > 0; n-- {
		if strings.HasSuffix(f.held, end[:n]) {
			keep = n
			break
		}
	}
	text := f.held[:len(f.held)-keep]
	f.held = f.held[len(f.held)-keep:]
	return text, false
}

// end returns what was still held: it was no tag.
func (f *thinkFilter) end() []thinkPiece {
	text := f.held
	f.held = ""
	if text == "" {
		return nil
	}
	return []thinkPiece{{text: text, thinking: f.state == inside}}
}
