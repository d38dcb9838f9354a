package rich

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// nicer moves the end of a part back from the furthest position that fits to where a reader would
// cut: the end of a block or a line in the part's second half, else of a word. A tight splitter
// gives away an eighth at most, for the sake of the room.
func (s *splitter) nicer(end position, reach int) position {
	least := reach / 2
	if s.tight {
		least = reach - reach/8
	}
	edge := s.leafEdge(end.leaf)
	if s.moves(edge) && s.distance(edge) >= least {
		return edge
	}
	l := &s.leaves[end.leaf]
	if l.divisible() && end.at > l.lo {
		from := max(l.lo, end.at-(reach-least))
		if at := l.breakIn(from, end.at); at > l.lo {
			return position{end.leaf, at}
		}
		if s.tight {
			return end
		}
		if at := l.breakIn(l.lo, from); at > l.lo {
			return position{end.leaf, at}
		}
	}
	if s.moves(edge) {
		return edge
	}
	return end
}

// leafEdge is the position before a leaf, or before the headings that lead up to it: they go with
// what they head.
func (s *splitter) leafEdge(leaf int) position {
	i := leaf
	for i > 0 && s.leaves[i-1].block != nil && s.leaves[i-1].block.Kind == Heading {
		i--
	}
	if i == 0 {
		i = leaf
	}
	return s.before(i)
}

// breakIn is the best offset in (from, to] to cut the text at: behind the last line break, else the
// last white space, else where a line may break (between words of scripts that have no spaces).
// -1: there is none.
func (l *leaf) breakIn(from, to int) int {
	window := l.text[from:to]
	if at := l.lastBreak(window, from, func(r rune) bool { return r == '\n' }); at >= 0 {
		return at
	}
	if next, _ := utf8.DecodeRuneInString(l.text[to:]); isBreakingSpace(next) && l.floor(to) == to {
		return to
	}
	if at := l.lastBreak(window, from, isBreakingSpace); at >= 0 {
		return at
	}
	return l.lineSegment(from, to)
}

// lastBreak is the offset behind the last rune of the window that is one of those, and where the
// text may be cut.
func (l *leaf) lastBreak(window string, from int, is func(rune) bool) int {
	for window != "" {
		i := strings.LastIndexFunc(window, is)
		if i < 0 {
			return -1
		}
		_, size := utf8.DecodeRuneInString(window[i:])
		if at := from + i + size; l.floor(at) == at && at > l.lo {
			return at
		}
		window = window[:i]
	}
	return -1
}

// lineSegment is the last offset in (from, to] where Unicode lets a line break.
func (l *leaf) lineSegment(from, to int) int {
	from = l.graphemeFloor(from)
	best, at, state := -1, from, -1
	// One more character tells whether the line may break at to.
	rest := l.text[from:min(len(l.text), to+utf8.UTFMax)]
	for rest != "" {
		var segment string
		segment, rest, _, state = uniseg.FirstLineSegmentInString(rest, state)
		at += len(segment)
		if at > to || rest == "" {
			break
		}
		if at > l.lo && l.floor(at) == at {
			best = at
		}
	}
	return best
}

// isBreakingSpace reports whether r is white space that a line may break at.
func isBreakingSpace(r rune) bool {
	return unicode.IsSpace(r) && r != '\u00a0' && r != '\u2007' && r != '\u202f'
}

// trimEnd is at without the white space before it that a cut replaces: in code one line break.
func (l *leaf) trimEnd(at int) int {
	piece := l.text[l.lo:at]
	if at == len(l.text) {
		return at
	}
	if l.block.Kind == Code {
		return l.lo + len(strings.TrimSuffix(piece, "\n"))
	}
	return l.graphemeFloor(l.lo + len(strings.TrimRightFunc(piece, isBreakingSpace)))
}

// trimStart is at behind the white space that a cut replaces.
func (l *leaf) trimStart(at int) int {
	rest := l.text[at:]
	if l.block.Kind == Code {
		return at
	}
	return l.graphemeFloor(at + len(rest) - len(strings.TrimLeftFunc(rest, isBreakingSpace)))
}
