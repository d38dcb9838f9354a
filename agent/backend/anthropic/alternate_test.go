package anthropic

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
	thought := agent.Part{Kind: agent.PartReasoning, Text: "hm", Signature: "S"}
	const use = `{"type":"tool_use","id":"1","name":"Bash","input":{}}`
	const used = `{"type":"tool_result","tool_use_id":"1","content":"r"}`
	for name, c := range map[string]struct {
		history []agent.Message
		want    string
	}{
		"alternating": {[]agent.Message{said(agent.User, text("q")), said(agent.Assistant, text("a")), said(agent.User, text("r"))},
			`[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"r"}]}]`},
		"stopped, resumed, and the next message": {[]agent.Message{said(agent.User, text("q")), said(agent.Assistant, half), said(agent.Assistant, text("rest")), said(agent.User, text("next"))},
			`[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[{"type":"text","text":"half\n\nrest"}]},{"role":"user","content":[{"type":"text","text":"next"}]}]`},
		"stopped before a word, and the next message": {[]agent.Message{said(agent.User, text("q")), said(agent.Assistant, thought, text(" ")), said(agent.User, text("next"))},
			`[{"role":"user","content":[{"type":"text","text":"q\n\nnext"}]}]`},
		"resumed with a tool": {[]agent.Message{said(agent.User, text("q")), said(agent.Assistant, half), said(agent.Assistant, thought, call), said(agent.ToolRole, result)},
			`[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[{"type":"text","text":"half"},{"type":"thinking","thinking":"hm","signature":"S"},` + use + `]},{"role":"user","content":[` + used + `]}]`},
		"results stand first": {[]agent.Message{said(agent.User, text("q")), said(agent.Assistant, call), said(agent.ToolRole, result), said(agent.User, text("next")), said(agent.User, text("more"))},
			`[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[` + use + `]},{"role":"user","content":[` + used + `,{"type":"text","text":"next\n\nmore"}]}]`},
	} {
		m := &model{}
		body, _, err := m.body(loop.ModelRequest{Messages: c.history}, adaptive)
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
