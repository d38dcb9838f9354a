package rich

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxDepth of nested quotes and lists; what is nested deeper joins the block around it. No
// platform shows as many, and recursion over a document stays bounded.
const maxDepth = 12

var markdownParser = goldmark.New(
	goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify, extension.TaskList),
	goldmark.WithParserOptions(
		parser.WithInlineParsers(util.Prioritized(newEmphasis(), beforeEmphasis)),
		parser.WithBlockParsers(util.Prioritized(newBounded(), beforeBlocks)),
		parser.WithParagraphTransformers(util.Prioritized(costlyDefinitions{}, beforeBlocks),
			util.Prioritized(costlyTable{}, beforeTables), util.Prioritized(costlyText{}, afterTables))),
).Parser()

// Where our parsers come among goldmark's: emphasis has the priority 500, the first parser of
// blocks 100, link definitions 100 and tables 200.
const (
	beforeEmphasis = 499
	beforeBlocks   = 99 // and definitions
	beforeTables   = 199
	afterTables    = 201
)

// Parse reads CommonMark with GitHub's tables, strikethrough, bare links and task lists (☐ and ☑).
// Line breaks stay line breaks, as people write in chats. Raw HTML is text, images become links,
// and a link that leads nowhere from a chat, such as a relative one, is text followed by its
// target. It takes any input, and of what is there to be read nothing is lost.
func Parse(markdown string) (doc Doc) {
	markdown = clean(markdown)
	// A defect of the Markdown library must not cost an answer.
	defer func() {
		if recover() != nil {
			doc = Plain(strings.TrimSpace(markdown))
		}
	}()
	source := []byte(markdown)
	root := markdownParser.Parse(text.NewReader(source), parser.WithContext(parser.NewContext()))
	c := converter{source: source}
	doc = c.blocks(root, 0)
	if len(doc) == 0 {
		// Nothing but link definitions and the like: rather raw than nothing.
		return Plain(strings.TrimSpace(markdown))
	}
	return doc
}

// clean makes valid UTF-8 with plain line ends and without NUL.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.ContainsAny(s, "\r\x00") {
		s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\uFFFD").Replace(s)
	}
	return s
}

// converter turns goldmark's tree into blocks.
type converter struct{ source []byte }

func (c *converter) blocks(parent ast.Node, depth int) []Block {
	var out []Block
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		out = append(out, c.block(n, depth)...)
	}
	return out
}

// block is what one node becomes: no block, one, or, where nesting ends, several.
func (c *converter) block(n ast.Node, depth int) []Block {
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock:
		return paragraph(c.spans(n))
	case *ast.Heading:
		if spans := trim(c.spans(n)); len(spans) > 0 {
			return []Block{{Kind: Heading, Level: n.Level, Spans: spans}}
		}
		return nil
	case *ast.FencedCodeBlock:
		return code(c.lines(n), string(n.Language(c.source)))
	case *ast.CodeBlock:
		return code(c.lines(n), "")
	case *verbatim:
		return paragraph([]Span{{Text: c.unindented(n)}})
	case *ast.HTMLBlock:
		raw := c.lines(n)
		if n.HasClosure() {
			raw += string(n.ClosureLine.Value(c.source))
		}
		return paragraph([]Span{{Text: strings.Trim(raw, "\n")}})
	case *ast.ThematicBreak:
		return []Block{{Kind: Rule}}
	case *ast.Blockquote:
		children := c.blocks(n, depth+1)
		if depth >= maxDepth || len(children) == 0 {
			return children
		}
		return []Block{{Kind: Quote, Children: children}}
	case *ast.List:
		return c.list(n, depth)
	case *east.Table:
		return c.table(n)
	case *ast.LinkReferenceDefinition:
		return nil
	}
	return c.blocks(n, depth)
}

func paragraph(spans []Span) []Block {
	spans = trim(spans)
	if len(spans) == 0 {
		return nil
	}
	return []Block{{Kind: Paragraph, Spans: spans}}
}

func code(content, lang string) []Block {
	content = strings.TrimSuffix(content, "\n")
	if strings.TrimSpace(content) == "" {
		return nil
	}
	return []Block{{Kind: Code, Text: content, Lang: lang}}
}

func (c *converter) lines(n ast.Node) string {
	var b strings.Builder
	lines := n.Lines()
	for i := range lines.Len() {
		line := lines.At(i)
		b.Write(line.Value(c.source))
	}
	return b.String()
}

// unindented are the lines without the white space in front of them.
func (c *converter) unindented(n ast.Node) string {
	var b strings.Builder
	lines := n.Lines()
	for i := range lines.Len() {
		line := lines.At(i)
		b.WriteString(strings.TrimLeft(string(line.Value(c.source)), " \t"))
	}
	return b.String()
}

func (c *converter) list(n *ast.List, depth int) []Block {
	if depth >= maxDepth {
		var out []Block
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			out = append(out, c.blocks(item, depth+1)...)
		}
		return out
	}
	list := Block{Kind: List, Ordered: n.IsOrdered()}
	if list.Ordered {
		list.Start = n.Start
	}
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		list.Items = append(list.Items, c.blocks(item, depth+1))
	}
	return []Block{list}
}

func (c *converter) table(n *east.Table) []Block {
	table := Block{Kind: Table}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells [][]Span
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, trim(c.spans(cell)))
		}
		table.Rows = append(table.Rows, cells)
	}
	return []Block{table}
}
