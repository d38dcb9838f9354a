package rich

import "slices"

// Split cuts a document into parts that measure at most limit each (P13), in whatever unit measure
// counts; measure must not shrink when a document grows. Cuts are at the end of a paragraph, else
// of a line, else of a word, else of a grapheme, and never inside a link. Code blocks, quotes,
// folds and lists are closed and opened again, lists with their numbers, tables with their header.
//
// There is always at least one part. What fits nowhere as it is, is simplified until it fits: a
// table row becomes text, a link text with its target, containers are left out. A single grapheme
// above the limit still becomes a part. All but white space at the cuts is kept.
func Split(doc Doc, limit int, measure func(Doc) int) []Doc {
	if measure(doc) <= limit {
		return []Doc{doc}
	}
	s := splitter{leaves: flatten(doc, nil, nil), fits: func(d Doc) bool { return measure(d) <= limit }, guess: max(limit, 1)}
	var parts []Doc
	for len(s.leaves) > 0 {
		if part := s.next(); !hollow(part) {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return []Doc{nil}
	}
	return parts
}

// splitter takes parts off the front of a list of leaves.
type splitter struct {
	leaves []leaf
	fits   func(Doc) bool
	guess  int  // how far the next part may reach
	tight  bool // rather a full part than a nice end
}

// position is a place in the list of leaves: inside leaf, before offset at; or before leaf, where
// at is that leaf's lo.
type position struct{ leaf, at int }

// next takes one part off. It may be empty where what was taken has nothing to show.
func (s *splitter) next() Doc {
	for {
		reach := s.furthest()
		end := s.place(reach)
		if end.leaf == len(s.leaves) {
			return s.take(end, end)
		}
		if !s.moves(end) {
			if s.leaves[0].simplify() {
				continue
			}
			if l := &s.leaves[0]; !l.divisible() || l.lo == len(l.text) {
				s.leaves = s.leaves[1:] // a rule or something empty that fits nowhere has no text
				return nil
			}
			end = position{0, s.leaves[0].first()}
			return s.take(end, s.skip(end))
		}
		s.guess = reach + reach/4
		if nicer := s.nicer(end, reach); s.fits(s.upTo(nicer)) {
			end = nicer
		}
		return s.take(end, s.skip(end))
	}
}

// moves reports whether a part up to there holds anything.
func (s *splitter) moves(p position) bool { return p.leaf > 0 || p.at > s.leaves[0].lo }

// furthest is the greatest distance from the front that fits. Looking for it measures little more
// than the part itself, however long the document is.
func (s *splitter) furthest() int {
	fit, over := 0, 0
	for try := max(s.guess, 1); ; try *= 2 {
		p := s.place(try)
		if !s.fits(s.upTo(p)) {
			over = try
			break
		}
		fit = try
		if p.leaf == len(s.leaves) {
			return fit
		}
	}
	for over-fit > 1 {
		middle := fit + (over-fit)/2
		switch p := s.place(middle); {
		case p == s.place(fit): // nowhere between them may a part end
			fit = middle
		case p == s.place(over):
			over = middle
		case s.fits(s.upTo(p)):
			fit = middle
		default:
			over = middle
		}
	}
	return fit
}

// place is the last position within a distance from the front where a part may end.
func (s *splitter) place(distance int) position {
	for i := range s.leaves {
		l := &s.leaves[i]
		size := l.size()
		if distance >= size {
			distance -= size
			continue
		}
		if !l.divisible() {
			return position{i, 0}
		}
		return position{i, l.floor(l.lo + distance)}
	}
	return position{len(s.leaves), 0}
}

// distance is how far from the front a position is.
func (s *splitter) distance(p position) int {
	n := 0
	for i := range s.leaves[:p.leaf] {
		n += s.leaves[i].size()
	}
	if p.leaf < len(s.leaves) && s.leaves[p.leaf].divisible() {
		n += p.at - s.leaves[p.leaf].lo
	}
	return n
}

// upTo is the part that ends at p.
func (s *splitter) upTo(p position) Doc {
	if p.leaf == len(s.leaves) || !s.leaves[p.leaf].divisible() || p.at <= s.leaves[p.leaf].lo {
		return assemble(s.leaves[:p.leaf], 0)
	}
	l := &s.leaves[p.leaf]
	whole := l.hi
	l.hi = l.trimEnd(p.at)
	part := assemble(s.leaves[:p.leaf+1], 0)
	l.hi = whole
	return part
}

// take cuts the part that ends at end off, and goes on at from.
func (s *splitter) take(end, from position) Doc {
	part := s.upTo(end)
	s.leaves = s.leaves[from.leaf:]
	if len(s.leaves) > 0 && s.leaves[0].divisible() {
		s.leaves[0].lo = from.at
	}
	return part
}

// skip passes over the white space that a cut replaces.
func (s *splitter) skip(p position) position {
	l := &s.leaves[p.leaf]
	if !l.divisible() || p.at <= l.lo {
		return p
	}
	p.at = l.trimStart(p.at)
	if p.at >= len(l.text) {
		return s.before(p.leaf + 1)
	}
	return p
}

// before is the position in front of a leaf.
func (s *splitter) before(leaf int) position {
	if leaf < len(s.leaves) {
		return position{leaf, s.leaves[leaf].lo}
	}
	return position{leaf, 0}
}

// hollow reports whether blocks show nothing.
func hollow(blocks []Block) bool {
	for _, b := range blocks {
		switch b.Kind {
		case Table, Rule:
			return false
		case Paragraph, Heading, Code, Quote, Fold, List:
			if b.Text != "" || len(b.Spans) > 0 || !hollow(b.Children) || !hollow(slices.Concat(b.Items...)) {
				return false
			}
		}
	}
	return true
}
