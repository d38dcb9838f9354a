package slack

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// fields a block or element may have; anything else is invalid_blocks.
var (
	blockFields = map[string][]string{
		"section":   {"text", "fields", "accessory", "expand"},
		"divider":   {},
		"header":    {"text", "level"},
		"context":   {"elements"},
		"actions":   {"elements"},
		"markdown":  {"text"},
		"rich_text": {"elements"},
		"table":     {"rows", "column_settings"},
		"image":     {"image_url", "alt_text", "title", "slack_file"},
	}
	richFields = map[string][]string{
		"rich_text_section":      {"elements"},
		"rich_text_list":         {"elements", "style", "indent", "offset", "border"},
		"rich_text_quote":        {"elements", "border"},
		"rich_text_preformatted": {"elements", "border", "language"},
	}
	spanFields = map[string][]string{
		"text": {"text", "style"}, "link": {"url", "text", "style", "unsafe"}, "emoji": {"name", "unicode", "style", "skin_tone"},
		"user": {"user_id", "style"}, "channel": {"channel_id", "style"}, "usergroup": {"usergroup_id", "style"},
		"broadcast": {"range", "style"}, "date": {"timestamp", "format", "url", "fallback", "style"}, "color": {"value", "style"},
	}
	buttonFields = []string{"text", "action_id", "url", "value", "style", "confirm", "accessibility_label"}
)

// checker collects what is wrong with a message's blocks.
type checker struct {
	wrong     []string
	ids       map[string]bool
	markdown  int
	tables    int
	tableText int
}

func (c *checker) bad(path, format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...)+" [json-pointer:"+path+"]")
}

func blockCount(raw json.RawMessage) int {
	var list []json.RawMessage
	_ = json.Unmarshal(raw, &list) // checkBlocks has looked at it
	return len(list)
}

// checkBlocks holds blocks against the platform's limits.
func checkBlocks(raw json.RawMessage, refused []string) *failure {
	if len(raw) == 0 {
		return nil
	}
	var list []map[string]any
	if err := json.Unmarshal(raw, &list); err != nil {
		return fail("invalid_blocks_format")
	}
	c := &checker{ids: map[string]bool{}}
	if len(list) > maxBlocks {
		c.bad("/blocks", "no more than %d items allowed", maxBlocks)
	}
	for i, b := range list {
		path := fmt.Sprintf("/blocks/%d", i)
		kind, _ := b["type"].(string)
		if slices.Contains(refused, kind) {
			c.bad(path, "unsupported type: %s", kind)
		}
		c.block(path, kind, b)
	}
	switch {
	case c.tables > 1:
		return fail("invalid_attachments", "only_one_table_allowed")
	case c.markdown > maxMarkdown:
		return fail("msg_blocks_too_long")
	case len(c.wrong) > 0:
		return fail("invalid_blocks", c.wrong...)
	case utf8.RuneCountInString(compact(raw)) > maxBlocksSize:
		return fail("msg_blocks_too_long")
	}
	return nil
}

func compact(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return string(raw)
	}
	return b.String()
}

func (c *checker) known(path string, b map[string]any, allowed []string) {
	for _, k := range slices.Sorted(maps.Keys(b)) {
		if k != "type" && k != "block_id" && !slices.Contains(allowed, k) {
			c.bad(path, "no more properties allowed: %s", k)
		}
	}
}

func (c *checker) block(path, kind string, b map[string]any) {
	allowed, ok := blockFields[kind]
	if !ok {
		c.bad(path, "unsupported type: %q", kind)
		return
	}
	c.known(path, b, allowed)
	if id, _ := b["block_id"].(string); id != "" {
		if len(id) > maxID || c.ids["block/"+id] {
			c.bad(path+"/block_id", "block_id is too long or not unique")
		}
		c.ids["block/"+id] = true
	}
	switch kind {
	case "section":
		if b["text"] == nil && b["fields"] == nil {
			c.bad(path, "missing required field: text")
		} else if b["text"] != nil {
			c.text(path+"/text", b["text"], maxSection, "mrkdwn", "plain_text")
		}
	case "header":
		c.text(path+"/text", b["text"], maxHeader, "plain_text")
	case "context":
		for i, e := range c.list(path, b["elements"], 1, maxContext) {
			c.text(fmt.Sprintf("%s/elements/%d", path, i), e, maxContextText, "mrkdwn", "plain_text", "image")
		}
	case "actions":
		for i, e := range c.list(path, b["elements"], 1, maxActions) {
			c.button(fmt.Sprintf("%s/elements/%d", path, i), e)
		}
	case "markdown":
		text, _ := b["text"].(string)
		if text == "" {
			c.bad(path+"/text", "must be more than 0 characters")
		}
		c.markdown += utf8.RuneCountInString(text)
	case "rich_text":
		c.rich(path, b["elements"])
	case "table":
		c.table(path, b)
	case "image":
		if u, _ := b["image_url"].(string); u == "" || len(u) > maxURL {
			c.bad(path+"/image_url", "missing or too long")
		}
	}
}

func (c *checker) list(path string, v any, least, most int) []any {
	list, _ := v.([]any)
	if len(list) < least || len(list) > most {
		c.bad(path+"/elements", "must have %d to %d items", least, most)
	}
	return list
}

func (c *checker) text(path string, v any, most int, kinds ...string) {
	obj, _ := v.(map[string]any)
	kind, _ := obj["type"].(string)
	text, _ := obj["text"].(string)
	n := utf8.RuneCountInString(text)
	switch {
	case !slices.Contains(kinds, kind):
		c.bad(path, "unsupported type: %q", kind)
	case kind == "image":
	case n == 0:
		c.bad(path+"/text", "must be more than 0 characters")
	case n > most:
		c.bad(path+"/text", "must be less than %d characters", most+1)
	}
}

func (c *checker) button(path string, v any) {
	b, _ := v.(map[string]any)
	if b["type"] != "button" {
		c.bad(path, "unsupported type: %v", b["type"])
		return
	}
	c.known(path, b, buttonFields)
	c.text(path+"/text", b["text"], maxButtonText, "plain_text")
	id, _ := b["action_id"].(string)
	if len(id) > maxID || id != "" && c.ids["action/"+id] {
		c.bad(path+"/action_id", "action_id is too long or not unique")
	}
	c.ids["action/"+id] = true
	if value, _ := b["value"].(string); utf8.RuneCountInString(value) > maxButtonValue {
		c.bad(path+"/value", "must be less than %d characters", maxButtonValue+1)
	}
	if style, has := b["style"]; has && style != "primary" && style != "danger" {
		c.bad(path+"/style", "must be a valid enum value")
	}
}

func (c *checker) rich(path string, v any) {
	for i, e := range c.list(path, v, 1, 10000) {
		obj, _ := e.(map[string]any)
		kind, _ := obj["type"].(string)
		at := fmt.Sprintf("%s/elements/%d", path, i)
		allowed, ok := richFields[kind]
		if !ok {
			c.bad(at, "unsupported type: %q", kind)
			continue
		}
		c.known(at, obj, allowed)
		if kind == "rich_text_list" {
			if obj["style"] != "bullet" && obj["style"] != "ordered" {
				c.bad(at+"/style", "must be a valid enum value")
			}
			if indent, _ := obj["indent"].(float64); indent < 0 || indent > 8 {
				c.bad(at+"/indent", "must be between 0 and 8")
			}
			for j, item := range c.list(at, obj["elements"], 1, 10000) {
				section, _ := item.(map[string]any)
				if section["type"] != "rich_text_section" {
					c.bad(at, "a list has sections only, not %v", section["type"])
				}
				c.spans(fmt.Sprintf("%s/elements/%d", at, j), section["elements"], "rich_text_section")
			}
			continue
		}
		c.spans(at, obj["elements"], kind)
	}
}

func (c *checker) spans(path string, v any, parent string) {
	for i, e := range c.list(path, v, 1, 10000) {
		obj, _ := e.(map[string]any)
		kind, _ := obj["type"].(string)
		at := fmt.Sprintf("%s/elements/%d", path, i)
		allowed, ok := spanFields[kind]
		if !ok || parent == "rich_text_preformatted" && kind != "text" && kind != "link" {
			c.bad(at, "unsupported type: %q", kind)
			continue
		}
		c.known(at, obj, allowed)
		if text, _ := obj["text"].(string); kind == "text" && text == "" {
			c.bad(at+"/text", "must be more than 0 characters")
		}
		if url, _ := obj["url"].(string); kind == "link" && (len(url) > maxURL || !goodURL(url)) {
			c.bad(at+"/url", "invalid url")
		}
	}
}

func goodURL(url string) bool {
	return strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "mailto:")
}

func (c *checker) table(path string, b map[string]any) {
	c.tables++
	rows, _ := b["rows"].([]any)
	if len(rows) < 1 || len(rows) > maxTableRows {
		c.bad(path+"/rows", "must have 1 to %d items", maxTableRows)
	}
	width := -1
	for i, r := range rows {
		cells, _ := r.([]any)
		at := fmt.Sprintf("%s/rows/%d", path, i)
		if len(cells) < 1 || len(cells) > maxTableCells || width >= 0 && len(cells) != width {
			c.bad(at, "must have 1 to %d cells, as many as the other rows", maxTableCells)
		}
		width = len(cells)
		for j, cell := range cells {
			obj, _ := cell.(map[string]any)
			here := fmt.Sprintf("%s/%d", at, j)
			switch obj["type"] {
			case "rich_text":
				c.rich(here, obj["elements"])
			case "raw_text":
				if text, _ := obj["text"].(string); text == "" {
					c.bad(here+"/text", "must be more than 0 characters")
				}
			default:
				c.bad(here, "unsupported type: %v", obj["type"])
			}
			c.tableText += utf8.RuneCountInString(cellText(obj))
		}
	}
	if c.tableText > maxTableText {
		c.bad(path, "tables of a message have %d characters together at most", maxTableText)
	}
}

func cellText(cell map[string]any) string {
	if text, ok := cell["text"].(string); ok {
		return text
	}
	var b strings.Builder
	elements, _ := cell["elements"].([]any)
	for _, e := range elements {
		obj, _ := e.(map[string]any)
		spans, _ := obj["elements"].([]any)
		for _, s := range spans {
			span, _ := s.(map[string]any)
			text, _ := span["text"].(string)
			b.WriteString(text)
		}
	}
	return b.String()
}
