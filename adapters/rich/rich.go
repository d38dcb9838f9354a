// Package rich is text with structure, between Markdown and what each platform shows (P13).
package rich

// Doc is a sequence of blocks.
type Doc []Block

// BlockKind names a block.
type BlockKind string

// The blocks. Which fields of Block each uses stands beside it.
const (
	Paragraph BlockKind = "paragraph" // Spans; "\n" in a span's text is a line break
	Heading   BlockKind = "heading"   // Spans, Level 1–6
	Code      BlockKind = "code"      // Text, Lang
	Quote     BlockKind = "quote"     // Children
	List      BlockKind = "list"      // Items, Ordered, Start
	Table     BlockKind = "table"     // Rows; the first is the header
	Rule      BlockKind = "rule"
	Fold      BlockKind = "fold" // Children; collapsed where the platform can fold, else shown small
)

// Block is one block of a document.
type Block struct {
	Kind     BlockKind  `json:"kind"`
	Spans    []Span     `json:"spans,omitempty"`
	Text     string     `json:"text,omitempty"`
	Lang     string     `json:"lang,omitempty"`
	Level    int        `json:"level,omitempty"`
	Ordered  bool       `json:"ordered,omitempty"`
	Start    int        `json:"start,omitempty"`
	Items    [][]Block  `json:"items,omitempty"`
	Rows     [][][]Span `json:"rows,omitempty"` // rows → cells → spans
	Children []Block    `json:"children,omitempty"`
}

// Span is a run of text with one look.
type Span struct {
	Text   string `json:"text"`
	Bold   bool   `json:"bold,omitempty"`
	Italic bool   `json:"italic,omitempty"`
	Strike bool   `json:"strike,omitempty"`
	Code   bool   `json:"code,omitempty"`
	URL    string `json:"url,omitempty"` // link target
}

// Plain is a document of one paragraph with that text, nothing in it read as markup. "" is an empty document.
func Plain(text string) Doc {
	if text == "" {
		return nil
	}
	return Doc{{Kind: Paragraph, Spans: []Span{{Text: text}}}}
}
