package loop

import (
	"reflect"
	"testing"

	"typist/agent"
)

func text(s string) agent.Part { return agent.Part{Kind: agent.PartText, Text: s} }
func call(id string) agent.Part {
	return agent.Part{Kind: agent.PartToolCall, ID: id, Name: "Bash", Args: agent.ToolArgs("{}")}
}
func result(id, s string) agent.Part { return agent.Part{Kind: agent.PartResult, ID: id, Text: s} }
func assistant(parts ...agent.Part) agent.Message {
	return agent.Message{Role: agent.Assistant, Blocks: parts}
}
func tool(parts ...agent.Part) agent.Message {
	return agent.Message{Role: agent.ToolRole, Blocks: parts}
}

func TestS5_PrepareMakesAHistoryThatModelsAccept(t *testing.T) {
	q := agent.UserText("question")
	unknown := agent.Part{Kind: agent.PartResult, ID: "1", Text: noResult, IsError: true}
	cutCall := agent.Part{Kind: agent.PartToolCall, ID: "1", Name: "Bash", Text: `{"comm`, Incomplete: true}
	cutCallMended := cutCall
	cutCallMended.Args = agent.ToolArgs("{}")
	thought := agent.Part{Kind: agent.PartReasoning, Text: "hm", Incomplete: true}
	for name, c := range map[string]struct{ in, want []agent.Message }{
		"plain":             {[]agent.Message{q}, []agent.Message{q}},
		"answered":          {[]agent.Message{q, assistant(call("1")), tool(result("1", "r")), assistant(text("a")), q}, []agent.Message{q, assistant(call("1")), tool(result("1", "r")), assistant(text("a")), q}},
		"partial text":      {[]agent.Message{q, assistant(text("half"))}, []agent.Message{q, assistant(text("half")), agent.UserText(goOn)}},
		"half a thought":    {[]agent.Message{q, assistant(thought)}, []agent.Message{q}},
		"ends with results": {[]agent.Message{q, assistant(call("1")), tool(result("1", "r"))}, []agent.Message{q, assistant(call("1")), tool(result("1", "r"))}},
		"unanswered":        {[]agent.Message{q, assistant(call("1")), q}, []agent.Message{q, assistant(call("1")), tool(unknown), q}},
		"cut call":          {[]agent.Message{q, assistant(cutCall)}, []agent.Message{q, assistant(cutCallMended), tool(agent.Part{Kind: agent.PartResult, ID: "1", Text: notFinished, IsError: true})}},
		"results in two messages, one of another call": {
			[]agent.Message{q, assistant(call("1"), call("2")), tool(result("2", "b")), tool(result("1", "a"), result("9", "x"))},
			[]agent.Message{q, assistant(call("1"), call("2")), tool(result("1", "a"), result("2", "b"))}},
		"empty messages": {[]agent.Message{q, assistant(), tool(), {Role: agent.User}}, []agent.Message{q}},
		"subagents are told": {
			[]agent.Message{q, assistant(call("1"), agent.Part{Kind: agent.PartSubagent, ID: "s", Name: "Explore"},
				agent.Part{Kind: agent.PartText, Subagent: "s", Text: "looking"}, agent.Part{Kind: agent.PartToolCall, Subagent: "s", ID: "2", Name: "Read", Args: agent.ToolArgs(`{"p":1}`)},
				agent.Part{Kind: agent.PartFile, Name: "a.png"}), tool(result("1", "r"), result("2", "content")), q},
			[]agent.Message{q, assistant(text("[Subagent Explore]\nlooking\n[It called Read {\"p\":1}]\ncontent\n[The file a.png was sent to the chat.]"), call("1")), tool(result("1", "r")), q}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Prepare(c.in); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestS4_CallIDsAreNeverUsedTwice(t *testing.T) {
	for _, model := range []string{"", "call_0", "functions.Bash:0", "a~b"} {
		a, b := callID(model), callID(model)
		if a == b {
			t.Errorf("%q twice", a)
		}
		if got := ModelID(a); model != "" && got != model || model == "" && got != a {
			t.Errorf("ModelID(%q) = %q", a, got)
		}
	}
}
