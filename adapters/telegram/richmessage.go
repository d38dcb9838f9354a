package telegram

import (
	"encoding/json"
	"strings"

	"github.com/go-telegram/bot/models"

	"typist/adapters/rich"
)

// flatten reads a rich message (#richmessage) as text and the entities that tell whom it speaks to.
// Its some sixty kinds of nodes all carry their content in the same few fields, so the JSON is
// walked instead of the kinds.
func flatten(m *models.RichMessage) (string, []models.MessageEntity) {
	raw, err := json.Marshal(m.Blocks)
	if err != nil {
		return "", nil
	}
	var blocks []any
	if json.Unmarshal(raw, &blocks) != nil {
		return "", nil
	}
	var f flattener
	f.blocks(blocks)
	return f.text.String(), f.entities
}

type flattener struct {
	text     strings.Builder
	units    int  // UTF-16 length of text
	label    bool // a list item's label stands there: its first block follows on the same line
	entities []models.MessageEntity
	depth    int
}

func (f *flattener) write(s string) {
	f.text.WriteString(s)
	f.units += rich.UTF16Len(s)
}

// maxDepth bounds nesting; Telegram's own limit lies far below.
const maxDepth = 64

func (f *flattener) blocks(list []any) {
	for _, b := range list {
		if f.text.Len() > 0 && !f.label && !strings.HasSuffix(f.text.String(), "\n") {
			f.write("\n")
		}
		f.label = false
		f.node(b)
	}
}

func (f *flattener) node(v any) {
	if f.depth++; f.depth > maxDepth {
		f.depth--
		return
	}
	defer func() { f.depth-- }()
	switch v := v.(type) {
	case string:
		f.write(v)
	case []any:
		for _, x := range v {
			f.node(x)
		}
	case map[string]any:
		f.object(v)
	}
}

func (f *flattener) object(o map[string]any) {
	kind, _ := o["type"].(string)
	from := f.units
	for _, field := range []string{"label", "summary", "text", "expression", "alternative_text"} {
		if v, ok := o[field]; ok {
			f.node(v)
			if field == "label" {
				f.write(" ")
				f.label = true
			}
		}
	}
	for _, field := range []string{"blocks", "items"} {
		if list, ok := o[field].([]any); ok {
			f.blocks(list)
		}
	}
	if rows, ok := o["cells"].([]any); ok {
		for _, row := range rows {
			cells, _ := row.([]any)
			for i, cell := range cells {
				if i > 0 {
					f.write(" | ")
				}
				f.node(cell)
			}
			f.write("\n")
		}
	}
	length := f.units - from
	switch models.MessageEntityType(kind) {
	case models.MessageEntityTypeMention, models.MessageEntityTypeBotCommand:
		f.entities = append(f.entities, models.MessageEntity{Type: models.MessageEntityType(kind), Offset: from, Length: length})
	case models.MessageEntityTypeTextMention:
		if u, ok := o["user"].(map[string]any); ok {
			if id, ok := u["id"].(float64); ok {
				f.entities = append(f.entities, models.MessageEntity{Type: models.MessageEntityTypeTextMention, Offset: from, Length: length,
					User: &models.User{ID: int64(id)}})
			}
		}
	}
}
