package rich

import (
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// emphasis is goldmark's parser of * and _, made to work in scripts that put no space between
// words. By CommonMark's rule for what opens and what closes, the asterisks in これは**「重要」**です
// do neither, because punctuation is inside and a letter outside, and would be shown.
type emphasis struct{ parser.InlineParser }

func newEmphasis() parser.InlineParser { return emphasis{parser.NewEmphasisParser()} }

// Parse lets asterisks beside a character of those scripts open before anything but white space,
// and close behind it.
func (e emphasis) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	n := e.InlineParser.Parse(parent, block, pc)
	d, ok := n.(*parser.Delimiter)
	if !ok || d.Char != '*' {
		return n
	}
	after := '\n'
	if line, _ := block.PeekLine(); len(line) > 0 {
		after, _ = utf8.DecodeRune(line)
	}
	if unspaced(before) || unspaced(after) {
		d.CanOpen = !unicode.IsSpace(after)
		d.CanClose = !unicode.IsSpace(before)
	}
	return n
}

// unspaced reports whether r is a letter or mark of Chinese, Japanese or Korean text.
func unspaced(r rune) bool {
	const punctuation, punctuationEnd, fullWidth, fullWidthEnd = 0x3000, 0x303F, 0xFF00, 0xFFEF
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo) ||
		r > punctuation && r <= punctuationEnd || r >= fullWidth && r <= fullWidthEnd
}
