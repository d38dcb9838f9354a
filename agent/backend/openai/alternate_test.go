package openai

import (
	"encoding/json"
	"testing"

	"typist/agent"
	"typist/agent/backend/loop"
)

func said(role agent.Role, parts ...agent.Part) agent.Message {
	return agent.Message{Role: role, Blocks: parts}
}
func text(s string) agent.Part { return agent.Part{Kind: agent.PartText, Text: s} }

func TestA2_RolesAlternate(t *testing.T) {
	half := agent.Part{Kind: agent.PartText, Text: "half", Incomplete: true}
	call := agent.Part{Kind: agent.PartToolCall, ID: "1", Name: "Bash", Args: agent.ToolArgs("{}")}
	result := agent.Part{Kind: agent.PartResult, ID: "1", Text: "r"}
	png := agent.Part{Kind: agent.PartFile, Name: "a.png", MIME: "image/png", Data: []byte("png")}
	const image = `{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}}`
	const calls = `"tool_calls":[{"id":"1","type":"function","function":{"name":"Bash","arguments":"{}"}}]`
	for name, c := range map[string]struct {
		history []agent.Message
		want    string
	}{
		"alternating": {[]agent.Message{said(agent.User, text("q")), said(agent.Assistant, text("a")), said(agent.User, text("r"))},
			`[{"role":"user","content":"q"},{"role":"assistant","content":"a"},{"role":"user","content":"r"}]`},
		"stopped, resumed, and the next message": {[]agent.Message{said(agent.User, text("q")), said(agent.Assistant, half), said(agent.Assistant, text("rest")), said(agent.User, text("next"))},
			`[{"role":"user","content":"q"},{"role":"assistant","content":"half\n\nrest"},{"role":"user","content":"next"}]`},
		"stopped before a word, and the next message": {[]agent.Message{said(agent.User, text("q")), said(agent.User, text("next"))},
			`[{"role":"user","content":"q\n\nnext"}]`},
		"a picture": {[]agent.Message{said(agent.User, text("q")), said(agent.User, text("see"), png), said(agent.User, text("next"))},
			`[{"role":"user","content":[{"type":"text","text":"q"},{"type":"text","text":"see"},` + image + `,{"type":"text","text":"next"}]}]`},
		"an empty message": {[]agent.Message{said(agent.User, text("")), said(agent.User, text("next"))},
			`[{"role":"user","content":"next"}]`},
		"resumed with a tool": {[]agent.Message{said(agent.User, text("q")), said(agent.Assistant, half), said(agent.Assistant, call), said(agent.ToolRole, result), said(agent.Assistant, text("a")), said(agent.Assistant, text("b")), said(agent.User, text("next"))},
			`[{"role":"user","content":"q"},{"role":"assistant","content":"half",` + calls + `},{"role":"tool","content":"r","tool_call_id":"1"},{"role":"assistant","content":"a\n\nb"},{"role":"user","content":"next"}]`},
		"calls keep their results": {[]agent.Message{said(agent.User, text("q")), said(agent.Assistant, call), said(agent.ToolRole, result), said(agent.User, text("next")), said(agent.User, text("more"))},
			`[{"role":"user","content":"q"},{"role":"assistant","content":null,` + calls + `},{"role":"tool","content":"r","tool_call_id":"1"},{"role":"user","content":"next\n\nmore"}]`},
		"two requests with calls": {[]agent.Message{said(agent.User, text("q")), said(agent.Assistant, call), said(agent.Assistant, call)},
			`[{"role":"user","content":"q"},{"role":"assistant","content":null,` + calls + `},{"role":"assistant","content":null,` + calls + `}]`},
	} {
		m := &model{}
		body, err := m.body(loop.ModelRequest{Messages: c.history}, 0)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Messages json.RawMessage }
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
		if string(got.Messages) != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got.Messages, c.want)
		}
	}
}
