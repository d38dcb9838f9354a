package slack

import (
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"

	"typist/adapters/sim"
)

// block is what people see of a block; the checks have been made.
type block struct {
	Type     string          `json:"type"`
	Text     json.RawMessage `json:"text"`
	Elements []element       `json:"elements"`
	Rows     [][]element     `json:"rows"`
}

// element is any part of a block.
type element struct {
	Type     string          `json:"type"`
	Text     json.RawMessage `json:"text"` // a string, or a text object
	URL      string          `json:"url"`
	Value    string          `json:"value"`
	Style    json.RawMessage `json:"style"` // an object, or a word
	Indent   int             `json:"indent"`
	Offset   int             `json:"offset"`
	Name     string          `json:"name"`
	UserID   string          `json:"user_id"`
	Channel  string          `json:"channel_id"`
	Range    string          `json:"range"`
	Elements []element       `json:"elements"`
}

// wording reads a string or a text object, and says whether it is mrkdwn.
func wording(raw json.RawMessage) (text string, mrkdwn bool) {
	if json.Unmarshal(raw, &text) == nil {
		return text, false
	}
	var obj struct{ Type, Text string }
	_ = json.Unmarshal(raw, &obj) // nothing readable shows as nothing
	return obj.Text, obj.Type == "mrkdwn"
}

// look renders a message: as text, as safe HTML, its buttons, and whom it names.
func look(names func(string) string, text string, blocks json.RawMessage) (plain, page string, buttons [][]sim.Button, pings []string) {
	var list []block
	if len(blocks) > 0 {
		_ = json.Unmarshal(blocks, &list) // checked when it came in
	}
	pings = pinged(text, blocks, "", "")
	if len(list) == 0 {
		return plainMrkdwn(names, text), htmlMrkdwn(names, text), nil, pings
	}
	var texts, pages []string
	add := func(t, h string) {
		if t != "" {
			texts = append(texts, t)
		}
		pages = append(pages, h)
	}
	for _, b := range list {
		switch b.Type {
		case "section", "header", "markdown":
			t, isMrkdwn := wording(b.Text)
			h := "<p>" + lines(html.EscapeString(t)) + "</p>"
			if isMrkdwn {
				h, t = htmlMrkdwn(names, t), plainMrkdwn(names, t)
			}
			if b.Type == "header" {
				h = "<h3>" + html.EscapeString(t) + "</h3>"
			}
			add(t, h)
		case "divider":
			add("", "<hr>")
		case "context":
			for _, e := range b.Elements {
				t, isMrkdwn := wording(e.Text)
				if isMrkdwn {
					t = plainMrkdwn(names, t)
				}
				add(t, "<p>"+lines(html.EscapeString(t))+"</p>")
			}
		case "rich_text":
			for _, e := range b.Elements {
				add(richLook(names, e))
			}
		case "table":
			add(tableLook(names, b.Rows))
		case "actions":
			var row []sim.Button
			for _, e := range b.Elements {
				label, _ := wording(e.Text)
				var style string
				_ = json.Unmarshal(e.Style, &style) // no style is the default
				row = append(row, sim.Button{Text: label, Data: e.Value, Style: style})
			}
			buttons = append(buttons, row)
		}
	}
	return strings.Join(texts, "\n"), strings.Join(pages, ""), buttons, pings
}

func lines(escaped string) string { return strings.ReplaceAll(escaped, "\n", "<br>") }

// richLook renders an element of a rich_text block.
func richLook(names func(string) string, e element) (string, string) {
	text, page := spansLook(names, e.Elements)
	switch e.Type {
	case "rich_text_preformatted":
		raw, _ := spansLook(names, e.Elements)
		return raw, "<pre><code>" + html.EscapeString(raw) + "</code></pre>"
	case "rich_text_quote":
		return "> " + strings.ReplaceAll(text, "\n", "\n> "), "<blockquote>" + page + "</blockquote>"
	case "rich_text_list":
		var style string
		_ = json.Unmarshal(e.Style, &style) // bullet where nothing is said
		var t, h []string
		for i, item := range e.Elements {
			text, page := spansLook(names, item.Elements)
			mark := "• "
			if style == "ordered" {
				mark = fmt.Sprintf("%d. ", e.Offset+i+1)
			}
			t = append(t, strings.Repeat("  ", e.Indent)+mark+text)
			h = append(h, "<li>"+page+"</li>")
		}
		tag, start := "ul", ""
		if style == "ordered" {
			tag = "ol"
			if e.Offset > 0 {
				start = fmt.Sprintf(` start="%d"`, e.Offset+1)
			}
		}
		return strings.Join(t, "\n"), "<" + tag + start + ">" + strings.Join(h, "") + "</" + tag + ">"
	}
	return text, "<p>" + page + "</p>"
}

func spansLook(names func(string) string, spans []element) (string, string) {
	var text, page strings.Builder
	for _, s := range spans {
		t, _ := wording(s.Text)
		switch s.Type {
		case "user":
			t = names(s.UserID)
		case "channel":
			t = names(s.Channel)
		case "broadcast":
			t = "@" + s.Range
		case "emoji":
			t = ":" + s.Name + ":"
		case "link":
			if t == "" {
				t = s.URL
			}
		}
		text.WriteString(t)
		h := lines(html.EscapeString(t))
		var style struct{ Bold, Italic, Strike, Code bool }
		_ = json.Unmarshal(s.Style, &style) // plain where nothing is said
		for _, mark := range []struct {
			on  bool
			tag string
		}{{style.Code, "code"}, {style.Strike, "s"}, {style.Italic, "i"}, {style.Bold, "b"}} {
			if mark.on {
				h = "<" + mark.tag + ">" + h + "</" + mark.tag + ">"
			}
		}
		if s.Type == "link" && goodURL(s.URL) {
			h = `<a href="` + html.EscapeString(s.URL) + `">` + h + "</a>"
		}
		page.WriteString(h)
	}
	return text.String(), page.String()
}

func tableLook(names func(string) string, rows [][]element) (string, string) {
	var text []string
	var page strings.Builder
	page.WriteString("<table>")
	for i, row := range rows {
		tag := "td"
		if i == 0 {
			tag = "th"
		}
		page.WriteString("<tr>")
		var cells []string
		for _, cell := range row {
			t, _ := wording(cell.Text)
			h := html.EscapeString(t)
			if cell.Type == "rich_text" {
				t, h = "", ""
				for _, e := range cell.Elements {
					a, b := spansLook(names, e.Elements)
					t, h = t+a, h+b
				}
			}
			cells = append(cells, t)
			page.WriteString("<" + tag + ">" + h + "</" + tag + ">")
		}
		text = append(text, strings.TrimRight(strings.Join(cells, " | "), " "))
		page.WriteString("</tr>")
	}
	page.WriteString("</table>")
	return strings.Join(text, "\n"), page.String()
}

// pinged lists whom a message would notify by name: in its text, in mrkdwn texts of its blocks,
// and in rich text elements. Bare names count where parse or link_names make links of them.
func pinged(text string, blocks json.RawMessage, parse, linkNames string) []string {
	var out []string
	add := func(id string) {
		if id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	scan := func(mrkdwn string) {
		for _, part := range tokens(mrkdwn) {
			if part.kind == '@' {
				add(part.target)
			}
			if part.kind == '!' && (part.target == "channel" || part.target == "here" || part.target == "everyone") {
				add("everyone")
			}
		}
	}
	scan(text)
	if parse == "full" || linkNames == "1" || linkNames == "true" {
		for _, word := range strings.Fields(text) {
			switch word {
			case "@everyone", "@channel", "@here":
				add("everyone")
			}
		}
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			kind, _ := v["type"].(string)
			t, _ := v["text"].(string)
			switch kind {
			case "mrkdwn", "markdown":
				scan(t)
			case "user":
				id, _ := v["user_id"].(string)
				add(id)
			case "broadcast", "usergroup":
				add("everyone")
			}
			for _, x := range v {
				walk(x)
			}
		}
	}
	var any any
	if len(blocks) > 0 && json.Unmarshal(blocks, &any) == nil {
		walk(any)
	}
	slices.Sort(out)
	return out
}
