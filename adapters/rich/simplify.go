package rich

import "slices"

// simplify makes a leaf that fits nowhere one step simpler; false: it is as simple as can be.
func (l *leaf) simplify() bool {
	switch {
	case l.block == nil:
		return false
	case l.block.Kind == Table:
		rows := l.block.Rows[l.row : l.row+1]
		if l.row == 1 {
			rows = l.block.Rows[:2] // nothing else shows the header
		}
		*l = textLeaf(l.path, rowsAsText(rows))
	case l.loosenLink() || l.unlink():
	case len(l.path) > 0:
		l.path = nil
	case l.block.Kind == Rule:
		return false
	case l.block.Lang != "":
		b := *l.block
		b.Lang = ""
		l.block = &b
	case l.lo < len(l.text) && (l.block.Kind != Paragraph || l.styled()):
		*l = textLeaf(nil, &Plain(l.text[l.lo:])[0])
	default:
		return false
	}
	return true
}

// rowsAsText are rows that are too long to be a table.
func rowsAsText(rows [][][]Span) *Block {
	var text runs
	for i, row := range rows {
		if i > 0 {
			text.add(Span{}, "\n")
		}
		for j, cell := range row {
			if j > 0 {
				text.add(Span{}, " | ")
			}
			for _, s := range cell {
				text.add(s, s.Text)
			}
		}
	}
	return &Block{Kind: Paragraph, Spans: text.spans()}
}

// loosenLink lets the link at the front be cut, each piece a link of its own.
func (l *leaf) loosenLink() bool {
	if !l.linkAtFront() || l.loose > l.lo {
		return false
	}
	l.loose = l.lo + 1
	return true
}

// linkAtFront reports whether what is left begins with a link.
func (l *leaf) linkAtFront() bool {
	return len(l.starts) > 0 && l.lo < len(l.text) && l.block.Spans[l.span(l.lo)].URL != ""
}

// unlink makes the link at the front text, with its target behind it.
func (l *leaf) unlink() bool {
	if !l.linkAtFront() {
		return false
	}
	rest := *l
	rest.hi = len(l.text)
	spans := rest.cutSpans()
	end := linkEnd(spans, 0)
	target := spans[0].URL
	label := content(spans[:end])
	var text runs
	for _, s := range spans[:end] {
		s.URL = ""
		text.add(s, s.Text)
	}
	if !says(label, target) {
		text.add(Span{}, " ("+target+")")
	}
	b := *l.block
	b.Spans = slices.Concat(text.spans(), spans[end:])
	*l = textLeaf(l.path, &b)
	return true
}

// styled reports whether any span is more than text.
func (l *leaf) styled() bool {
	return slices.ContainsFunc(l.block.Spans, func(s Span) bool { return s != Span{Text: s.Text} })
}
