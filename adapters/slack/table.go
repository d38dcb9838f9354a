package slack

import (
	"github.com/slack-go/slack"

	"typist/adapters/rich"
)

// nativeTable makes a table block; nil where Slack would not take it, or where aligned text is
// the smaller choice. Slack takes one per message and shows it below everything else.
func nativeTable(block rich.Block) *slack.TableBlock {
	width := tableWidth(block)
	if len(block.Rows) == 0 || len(block.Rows) > maxTableRows || width == 0 || width > maxTableCells {
		return nil
	}
	table := tableBlock(block)
	if jsonSize(table) > maxTableSize {
		return nil
	}
	return table
}

func tableWidth(block rich.Block) int {
	width := 0
	for _, row := range block.Rows {
		width = max(width, len(row))
	}
	return width
}

// tableBlock makes a table block of any size. Cells are rich text: reports say that raw_text
// cells fail, and an empty cell is refused.
func tableBlock(block rich.Block) *slack.TableBlock {
	width := tableWidth(block)
	table := slack.NewTableBlock("")
	for i, row := range block.Rows {
		cells := make([]slack.TableCell, width)
		for j := range cells {
			var inline []slack.RichTextSectionElement
			if j < len(row) {
				inline = inlineSpans(row[j], i == 0)
			}
			if len(inline) == 0 {
				inline = []slack.RichTextSectionElement{slack.NewRichTextSectionTextElement(" ", nil)}
			}
			cells[j] = slack.NewTableRichTextCell(slack.NewRichTextSection(inline...))
		}
		table.AddRow(cells...)
	}
	return table
}
