package progress

import (
	"strings"

	"typist/agent"
)

const (
	liveGraphemes = 80 // P3
	liveBytes     = 2048
)

// live follows a thought while it streams and keeps the two places that a live line can show
// (P3), in constant memory.
type live struct {
	para    []byte // the beginning of the newest paragraph
	line    []byte // the end of the newest line that is not blank
	lineCut bool   // line lost its beginning
	breaks  int    // line breaks since the last visible text
}

func (l *live) add(delta string) {
	for {
		n := strings.IndexByte(delta, '\n')
		if n < 0 {
			l.piece(delta)
			return
		}
		l.piece(delta[:n])
		l.breaks++
		delta = delta[n+1:]
	}
}

// piece adds text without a line break. Blank lines only count once text follows them, so that a
// thought that pauses after a line break keeps showing its last words.
func (l *live) piece(s string) {
	if l.breaks > 0 || len(l.line) == 0 {
		if s = strings.TrimLeft(s, " \t\r"); s == "" {
			return
		}
		switch {
		case l.breaks >= 2:
			l.para = l.para[:0]
		case len(l.para) > 0 && len(l.para) < liveBytes:
			l.para = append(l.para, ' ')
		}
		l.line, l.lineCut, l.breaks = l.line[:0], false, 0
	}
	l.para, _ = appendCapped(l.para, s, liveBytes)
	if len(s) > liveBytes {
		s, l.line, l.lineCut = s[len(s)-liveBytes:], l.line[:0], true
	}
	if len(l.line)+len(s) > 2*liveBytes {
		l.line = append(l.line[:0], l.line[len(l.line)-liveBytes:]...)
		l.lineCut = true
	}
	l.line = append(l.line, s...)
}

// show is the live line of a view, "" while there is nothing to show. A line that is too long
// shows its newest words.
func (l *live) show(level Level) string {
	if level != Detail {
		return cutHead(clean(agent.MaskPartial(string(l.para))), liveGraphemes)
	}
	line := string(l.line)
	if l.lineCut { // the first word is perhaps only half of one
		if n := strings.IndexByte(line, ' '); n >= 0 {
			line = line[n+1:]
		}
		line = ellipsis + " " + line
	}
	return cutTail(clean(agent.MaskPartial(line)), liveGraphemes)
}
