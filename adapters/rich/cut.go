package rich

import "slices"

// ellipsis stands where Cut has cut.
const ellipsis = "…"

// Cut is the first part of a document with "…" at its end, so that both together measure at most
// limit; a document that fits is left as it is. Where not even "…" fits it is empty.
func Cut(doc Doc, limit int, measure func(Doc) int) Doc {
	if measure(doc) <= limit {
		return doc
	}
	s := splitter{
		leaves: flatten(doc, nil, nil),
		fits:   func(d Doc) bool { return measure(withEllipsis(d)) <= limit },
		guess:  max(limit, 1),
		tight:  true,
	}
	for len(s.leaves) > 0 {
		if part := withEllipsis(s.next()); measure(part) <= limit {
			return part
		} else if len(part) > 0 {
			break
		}
	}
	if part := Plain(ellipsis); measure(part) <= limit {
		return part
	}
	return nil
}

// withEllipsis is the document with "…" behind its last text. The original is not changed.
func withEllipsis(doc Doc) Doc {
	if len(doc) == 0 {
		return Plain(ellipsis)
	}
	last := doc[len(doc)-1]
	switch last.Kind {
	case Paragraph, Heading:
		last.Spans = spansWithEllipsis(last.Spans)
	case Code:
		last.Text += ellipsis
	case Quote, Fold:
		last.Children = withEllipsis(last.Children)
	case List:
		if len(last.Items) == 0 {
			return append(slices.Clip(doc), Plain(ellipsis)...)
		}
		last.Items = slices.Clone(last.Items)
		end := len(last.Items) - 1
		last.Items[end] = withEllipsis(last.Items[end])
	case Table, Rule:
		return append(slices.Clip(doc), Plain(ellipsis)...)
	}
	doc = slices.Clone(doc)
	doc[len(doc)-1] = last
	return doc
}

func spansWithEllipsis(spans []Span) []Span {
	spans = slices.Clone(spans)
	if n := len(spans); n > 0 && spans[n-1].URL == "" && !spans[n-1].Code {
		spans[n-1].Text += ellipsis
		return spans
	}
	return append(spans, Span{Text: ellipsis})
}
