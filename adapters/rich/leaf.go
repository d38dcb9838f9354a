package rich

import (
	"slices"
	"sort"

	"github.com/rivo/uniseg"
)

// leaf is the smallest whole that splitting knows: a block without blocks in it, or a table's row,
// with the containers around it. A document is a list of leaves, a part is a run of them.
type leaf struct {
	path  []step
	block *Block // Paragraph, Heading, Code, Rule or, with row, Table; nil: an empty container
	row   int    // index in the table's rows; 0 is a table that is all header

	text   string // of a paragraph, heading or code block; lo and hi are offsets in it
	starts []int  // where each span begins in text
	lo, hi int    // the piece that is wanted
	bounds []int  // ends of text's graphemes, ascending; nil: not known yet, or every byte is one
	ascii  bool   // every byte is one
	loose  int    // links that begin before this offset may be cut: they fit nowhere
}

// step is one container on the way to a leaf.
type step struct {
	block *Block // Quote, Fold or List
	item  int    // which item of the list
}

// flatten lists a document's leaves in order.
func flatten(blocks []Block, path []step, out []leaf) []leaf {
	for i := range blocks {
		b := &blocks[i]
		switch b.Kind {
		case Quote, Fold:
			out = flattenInto(b.Children, append(slices.Clip(path), step{block: b}), out)
		case List:
			for item := range b.Items {
				out = flattenInto(b.Items[item], append(slices.Clip(path), step{block: b, item: item}), out)
			}
		case Table:
			for row := range b.Rows {
				if row > 0 || len(b.Rows) == 1 {
					out = append(out, leaf{path: path, block: b, row: row})
				}
			}
		case Paragraph, Heading, Code:
			out = append(out, textLeaf(path, b))
		case Rule:
			out = append(out, leaf{path: path, block: b})
		}
	}
	return out
}

// flattenInto is flatten for a container, which is kept when it is empty.
func flattenInto(blocks []Block, path []step, out []leaf) []leaf {
	before := len(out)
	out = flatten(blocks, path, out)
	if len(out) == before {
		out = append(out, leaf{path: path})
	}
	return out
}

func textLeaf(path []step, b *Block) leaf {
	l := leaf{path: path, block: b, text: b.Text}
	if b.Kind != Code {
		l.text = content(b.Spans)
		at := 0
		for _, s := range b.Spans {
			l.starts = append(l.starts, at)
			at += len(s.Text)
		}
	}
	l.hi = len(l.text)
	return l
}

// size is how far the leaf moves a position: its bytes, and one for itself.
func (l *leaf) size() int {
	if l.divisible() {
		return len(l.text) - l.lo + 1
	}
	if l.block == nil || l.block.Kind == Rule {
		return 1
	}
	n := 1
	for _, cell := range l.block.Rows[l.row] {
		for _, s := range cell {
			n += len(s.Text)
		}
	}
	return n
}

// divisible reports whether the leaf can be cut inside.
func (l *leaf) divisible() bool {
	return l.block != nil && l.block.Kind != Rule && l.block.Kind != Table
}

// learn finds the graphemes of the text, once.
func (l *leaf) learn() {
	if l.ascii || l.bounds != nil {
		return
	}
	l.ascii = true
	for i := range len(l.text) {
		if l.text[i] >= 0x80 || l.text[i] == '\r' {
			l.ascii = false
			break
		}
	}
	if l.ascii {
		return
	}
	l.bounds = make([]int, 0, len(l.text)/2)
	state, rest, at := -1, l.text, 0
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		at += len(cluster)
		l.bounds = append(l.bounds, at)
	}
}

// floor is the last offset ≤ at where the text may be cut, not less than lo: the end of a grapheme,
// and not inside a link.
func (l *leaf) floor(at int) int {
	at = l.graphemeFloor(at)
	if begin := l.linkAround(at); begin >= 0 {
		at = l.graphemeFloor(begin)
	}
	return max(at, l.lo)
}

func (l *leaf) graphemeFloor(at int) int {
	l.learn()
	if l.ascii {
		return at
	}
	i := sort.SearchInts(l.bounds, at+1)
	if i == 0 {
		return 0
	}
	return l.bounds[i-1]
}

// first is the end of the first grapheme behind lo.
func (l *leaf) first() int {
	l.learn()
	if l.ascii {
		return min(l.lo+1, len(l.text))
	}
	return l.bounds[sort.SearchInts(l.bounds, l.lo+1)]
}

// span is the index of the span that holds the byte at the offset.
func (l *leaf) span(at int) int { return sort.SearchInts(l.starts, at+1) - 1 }

// linkAround is where the link begins that at is strictly inside of; -1: none, or a loose one.
func (l *leaf) linkAround(at int) int {
	if l.block.Kind == Code || at <= 0 || at >= len(l.text) {
		return -1
	}
	spans := l.block.Spans
	i, j := l.span(at-1), l.span(at)
	if spans[i].URL == "" || spans[i].URL != spans[j].URL {
		return -1
	}
	for i > 0 && spans[i-1].URL == spans[i].URL {
		i--
	}
	if l.starts[i] < l.loose {
		return -1
	}
	return l.starts[i]
}

// piece is the leaf's block, cut to lo and hi.
func (l *leaf) piece() Block {
	b := *l.block
	if !l.divisible() || l.lo == 0 && l.hi == len(l.text) {
		return b
	}
	if b.Kind == Code {
		b.Text = l.text[l.lo:l.hi]
		return b
	}
	b.Spans = l.cutSpans()
	return b
}

func (l *leaf) cutSpans() []Span {
	if l.lo >= l.hi {
		return nil
	}
	i, j := l.span(l.lo), l.span(l.hi-1)
	spans := slices.Clone(l.block.Spans[i : j+1])
	for k := range spans {
		from := l.starts[i+k]
		spans[k].Text = l.text[max(from, l.lo):min(from+len(spans[k].Text), l.hi)]
	}
	return spans
}

// assemble makes blocks of leaves again: containers are opened anew, a list goes on with its
// numbers, a table's rows stand under its header. depth steps of each path are done already.
func assemble(leaves []leaf, depth int) []Block {
	var out []Block
	for i := 0; i < len(leaves); {
		l := &leaves[i]
		end := i + 1
		switch {
		case len(l.path) > depth:
			container := l.path[depth].block
			for end < len(leaves) && len(leaves[end].path) > depth && leaves[end].path[depth].block == container {
				end++
			}
			out = append(out, reopen(leaves[i:end], depth))
		case l.block == nil:
		case l.block.Kind == Table:
			for end < len(leaves) && len(leaves[end].path) == depth && leaves[end].block == l.block {
				end++
			}
			out = append(out, tableOf(leaves[i:end]))
		case l.divisible() && l.lo >= l.hi: // only white space was left of it
		default:
			out = append(out, l.piece())
		}
		i = end
	}
	return out
}

// reopen makes the container that all leaves have at depth.
func reopen(leaves []leaf, depth int) Block {
	b := *leaves[0].path[depth].block
	if b.Kind != List {
		b.Children = assemble(leaves, depth+1)
		return b
	}
	if b.Ordered {
		b.Start += leaves[0].path[depth].item
	}
	b.Items = make([][]Block, 0, min(len(leaves), len(b.Items)))
	for i := 0; i < len(leaves); {
		end := i + 1
		for end < len(leaves) && leaves[end].path[depth].item == leaves[i].path[depth].item {
			end++
		}
		b.Items = append(b.Items, assemble(leaves[i:end], depth+1))
		i = end
	}
	return b
}

func tableOf(leaves []leaf) Block {
	b := *leaves[0].block
	rows := make([][][]Span, 1, len(leaves)+1)
	rows[0] = b.Rows[0]
	for _, l := range leaves {
		if l.row > 0 {
			rows = append(rows, b.Rows[l.row])
		}
	}
	b.Rows = rows
	return b
}
