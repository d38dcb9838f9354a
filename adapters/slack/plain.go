package slack

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"typist/adapters"
	"typist/adapters/rich"
)

// smallBlock shows text small, as plain text.
func smallBlock(text string) slack.Block {
	pieces := chop(strings.TrimSpace(text), maxContextText)
	if len(pieces) == 0 {
		return nil
	}
	var elements []slack.MixedElement
	for _, piece := range pieces[:min(len(pieces), maxContext)] {
		elements = append(elements, slack.NewTextBlockObject(slack.PlainTextType, piece, false, false))
	}
	return slack.NewContextBlock("", elements...)
}

// plainBlocks is a document as plain text in sections: nothing in it is markup.
func plainBlocks(doc rich.Doc) []slack.Block {
	text := strings.TrimSpace(rich.Text(doc))
	if text == "" {
		text = nothing
	}
	var out []slack.Block
	for _, piece := range chop(text, maxSection) {
		out = append(out, slack.NewSectionBlock(slack.NewTextBlockObject(slack.PlainTextType, piece, false, false), nil, nil))
	}
	return out[:min(len(out), maxBlocks)]
}

// chop cuts text into pieces of at most n characters, at line breaks where there are some.
func chop(text string, n int) []string {
	var out []string
	for text != "" {
		end := byteOffset(text, n)
		if end < len(text) {
			if nl := strings.LastIndexByte(text[:end], '\n'); nl > 0 {
				end = nl + 1
			}
		}
		if piece := strings.TrimRight(text[:end], "\n"); strings.TrimSpace(piece) != "" {
			out = append(out, piece)
		}
		text = text[end:]
	}
	return out
}

// byteOffset is where the first n UTF-16 units of text end.
func byteOffset(text string, n int) int {
	for i, r := range text {
		if n--; r > 0xFFFF {
			n--
		}
		if n < 0 {
			return i
		}
	}
	return len(text)
}

// fullText is a document as escaped text.
func fullText(doc rich.Doc) string {
	if text := escape(strings.TrimSpace(rich.Text(doc))); text != "" {
		return text
	}
	return nothing
}

// fallback is the text beside the blocks.
func fallback(doc rich.Doc) string {
	text := fullText(doc)
	if len(text) <= maxFallback {
		return text
	}
	cut := maxFallback - len(nothing)
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	if amp := strings.LastIndexByte(text[:cut], '&'); amp >= 0 && !strings.Contains(text[amp:cut], ";") {
		cut = amp // not within an escape
	}
	return text[:cut] + nothing
}

// buttonBlocks makes one actions block a row.
func buttonBlocks(rows [][]adapters.Button) []slack.Block {
	var out []slack.Block
	for i, row := range rows {
		var elements []slack.BlockElement
		for j, button := range row {
			label := button.Text
			if end := byteOffset(label, maxButtonText-1); end < len(label) {
				label = label[:end] + nothing
			}
			if strings.TrimSpace(label) == "" {
				label = nothing
			}
			e := slack.NewButtonBlockElement(fmt.Sprintf("typist:%d:%d", i, j), button.Data, slack.NewTextBlockObject(slack.PlainTextType, label, false, false))
			switch button.Style {
			case adapters.StylePrimary:
				e.Style = slack.StylePrimary
			case adapters.StyleDanger:
				e.Style = slack.StyleDanger
			case adapters.StyleDefault:
			}
			elements = append(elements, e)
		}
		if len(elements) > 0 {
			out = append(out, slack.NewActionBlock("", elements...))
		}
	}
	return out
}
