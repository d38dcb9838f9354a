package rich

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// The Markdown library takes quadratic time over some texts: marks that nothing closes, quotes and
// lists in each other without end, a table of many columns whose rows are short. Here such text
// is recognised while its blocks are read, and stays what it is, plain text.
const (
	// maxOpen is how many lists and quotes may be open in each other; more than maxDepth, which is
	// what is shown.
	maxOpen = 2 * maxDepth
	// The cost of a text is its marks times its bytes; a million takes 1 to 4 ms. What costs up to
	// costFree is not counted: a paragraph of 1,000 bytes with 100 marks.
	costFree = 100_000
	costMost = 5_000_000  // of one paragraph
	costAll  = 20_000_000 // of a document's
)

// marks begin what a parser looks for the end of.
var marks = func() (is [256]bool) {
	for _, c := range []byte("[]*_~<`") {
		is[c] = true
	}
	return is
}()

var costKey = parser.NewContextKey()

// affordable reports whether a text may be read as Markdown, and counts its cost.
func affordable(pc parser.Context, count, size int) bool {
	cost := count * size
	if cost <= costFree {
		return true
	}
	spent, _ := pc.Get(costKey).(int)
	if cost > costMost || spent+cost > costAll {
		return false
	}
	pc.Set(costKey, spent+cost)
	return true
}

func countMarks(line []byte) (n int) {
	for _, c := range line {
		if marks[c] {
			n++
		}
	}
	return n
}

// verbatim is a paragraph in which nothing is markup.
type verbatim struct{ ast.BaseBlock }

var kindVerbatim = ast.NewNodeKind("Verbatim")

func (*verbatim) Kind() ast.NodeKind              { return kindVerbatim }
func (*verbatim) IsRaw() bool                     { return true }
func (v *verbatim) Dump(source []byte, level int) { ast.DumpHelper(v, source, level, nil, nil) }

func replace(node *ast.Paragraph) {
	v := &verbatim{}
	v.SetLines(node.Lines())
	node.Parent().ReplaceChild(node.Parent(), node, v)
}

// costlyDefinitions makes verbatim what begins as a definition of links and is much too long for
// some: each one that is taken off moves the lines behind it.
type costlyDefinitions struct{}

const maxDefinitions = 2000

func (costlyDefinitions) Transform(node *ast.Paragraph, reader text.Reader, _ parser.Context) {
	lines := node.Lines()
	if lines.Len() <= maxDefinitions {
		return
	}
	first := lines.At(0)
	if bytes.HasPrefix(bytes.TrimLeft(first.Value(reader.Source()), " "), []byte("[")) {
		replace(node)
	}
}

// costlyTable makes verbatim what would be a costly table; it runs before tables are read, where
// every cell is a text of its own.
type costlyTable struct{}

func (costlyTable) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines, size, columns := node.Lines(), 0, 0
	if !mayBeTable(lines, reader.Source()) {
		return
	}
	for i := range lines.Len() {
		line := lines.At(i)
		value := line.Value(reader.Source())
		size += len(value)
		columns = max(columns, bytes.Count(value, []byte("|"))+1)
		if !affordable(pc, countMarks(value), len(value)) {
			replace(node)
			return
		}
	}
	if columns > 1 && columns*lines.Len() > size { // every row gets all cells, also those that it leaves out
		replace(node)
	}
}

// mayBeTable reports whether any line but the first can be the one under a table's head.
func mayBeTable(lines *text.Segments, source []byte) bool {
	for i := 1; i < lines.Len(); i++ {
		line := lines.At(i)
		if len(bytes.Trim(line.Value(source), "|:- \t\n")) == 0 {
			return true
		}
	}
	return false
}

// costlyText makes verbatim what is left of a paragraph when definitions and tables are out of it.
type costlyText struct{}

func (costlyText) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines, size, count := node.Lines(), 0, 0
	for i := range lines.Len() {
		line := lines.At(i)
		size += line.Len()
		count += countMarks(line.Value(reader.Source()))
	}
	if !affordable(pc, count, size) {
		replace(node)
	}
}

// bounded opens a paragraph where a list or a quote would be one too many, and where a heading
// would be costly.
type bounded struct{ parser.BlockParser }

func newBounded() parser.BlockParser { return bounded{parser.NewParagraphParser()} }

// Trigger is what lists, quotes and headings begin with.
func (bounded) Trigger() []byte { return []byte(">-+*0123456789#") }

func (b bounded) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	if at := pc.BlockOffset(); at >= 0 && at < len(line) && line[at] == '#' {
		if affordable(pc, countMarks(line), len(line)) {
			return nil, parser.NoChildren
		}
		return b.BlockParser.Open(parent, reader, pc)
	}
	if parent.Kind() == ast.KindList {
		return nil, parser.NoChildren
	}
	open := 0
	for n := parent; n != nil; n = n.Parent() {
		if n.Kind() == ast.KindList || n.Kind() == ast.KindBlockquote {
			open++
		}
	}
	if open < maxOpen {
		return nil, parser.NoChildren
	}
	return b.BlockParser.Open(parent, reader, pc)
}

// CanInterruptParagraph: as lists and quotes can.
func (bounded) CanInterruptParagraph() bool { return true }
