package rich

import "slices"

// Equal reports whether two documents are the same. Nil and empty are.
func Equal(a, b Doc) bool { return slices.EqualFunc(a, b, equalBlocks) }

func equalBlocks(a, b Block) bool {
	return a.Kind == b.Kind && a.Text == b.Text && a.Lang == b.Lang && a.Level == b.Level &&
		a.Ordered == b.Ordered && a.Start == b.Start &&
		slices.Equal(a.Spans, b.Spans) &&
		slices.EqualFunc(a.Items, b.Items, func(x, y []Block) bool { return Equal(x, y) }) &&
		slices.EqualFunc(a.Rows, b.Rows, func(x, y [][]Span) bool { return slices.EqualFunc(x, y, slices.Equal[[]Span]) }) &&
		Equal(a.Children, b.Children)
}
