package agent

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func transcript(evs ...Event) *Transcript {
	var t Transcript
	for _, ev := range evs {
		t.Apply(ev)
	}
	return &t
}

func wantMessages(t *testing.T, got []Message, want ...Message) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		a, _ := json.MarshalIndent(got, "", " ")
		b, _ := json.MarshalIndent(want, "", " ")
		t.Errorf("got %s\nwant %s", a, b)
	}
}

func TestP8_TranscriptOrdersThinkingTextCalls(t *testing.T) {
	// The model thinks on after its first call: the order of P8 holds all the same.
	got := transcript(
		ModelRequest{ID: "m1"},
		ToolCallStarted{ID: "c1", Request: "m1", Name: "Bash"}, ToolCallArgs{ID: "c1", Delta: `{"command":`}, ToolCallArgs{ID: "c1", Delta: `"ls"}`},
		TextStarted{ID: "t1", Request: "m1"}, TextContent{ID: "t1", Delta: "Let me "}, ReasoningStarted{ID: "r1", Request: "m1"},
		ReasoningContent{ID: "r1", Delta: "hm"}, TextContent{ID: "t1", Delta: "see."}, ReasoningEnded{ID: "r1", Signature: "sig"}, TextEnded{ID: "t1"},
		ToolCallEnded{ID: "c1"}, ToolCallStarted{ID: "c2", Request: "m1", Name: "Now"}, ToolCallEnded{ID: "c2"},
		ToolCallResult{ID: "c2", Content: "noon"}, ToolCallResult{ID: "c1", Content: "a.go", IsError: true},
		ModelRequest{ID: "m2"}, TextStarted{ID: "t2", Request: "m2"}, TextContent{ID: "t2", Delta: "Done."}, TextEnded{ID: "t2"},
	)
	wantMessages(t, got.Messages(),
		Message{Assistant, []Part{
			{Kind: PartReasoning, ID: "r1", Request: "m1", Text: "hm", Signature: "sig"},
			{Kind: PartText, ID: "t1", Request: "m1", Text: "Let me see."},
			{Kind: PartToolCall, ID: "c1", Request: "m1", Name: "Bash", Args: ToolArgs(`{"command":"ls"}`)},
			{Kind: PartToolCall, ID: "c2", Request: "m1", Name: "Now", Args: ToolArgs(`{}`)},
		}},
		Message{ToolRole, []Part{
			{Kind: PartResult, ID: "c1", Request: "m1", Text: "a.go", IsError: true},
			{Kind: PartResult, ID: "c2", Request: "m1", Text: "noon"},
		}},
		Message{Assistant, []Part{{Kind: PartText, ID: "t2", Request: "m2", Text: "Done."}}})
	if got.Text() != "Done." || got.Open() != nil {
		t.Errorf("Text %q, Open %v", got.Text(), got.Open())
	}
}

func TestP5_TextIsTheLastThatIsNotEmpty(t *testing.T) {
	got := transcript(
		TextStarted{ID: "a"}, TextContent{ID: "a", Delta: "answer"}, TextEnded{ID: "a"},
		TextStarted{ID: "b"}, TextContent{ID: "b", Delta: " \n"}, TextEnded{ID: "b"}, TextStarted{ID: "c"},
		SubagentStarted{Sub: Sub{"s"}}, TextContent{Sub: Sub{"s"}, ID: "d", Delta: "not mine"},
	)
	if got.Text() != "answer" {
		t.Errorf("%q", got.Text())
	}
}

func TestS5_CutPartsAreMarkedAndOpenCallsListed(t *testing.T) {
	got := transcript(
		ModelRequest{ID: "m"}, TextStarted{ID: "t", Request: "m"}, TextContent{ID: "t", Delta: "I will"}, TextEnded{ID: "t", Incomplete: true},
		ToolCallStarted{ID: "runs", Request: "m", Name: "Bash"}, ToolCallArgs{ID: "runs", Delta: `{"a":1}`}, ToolCallEnded{ID: "runs"},
		ToolCallStarted{ID: "written", Request: "m", Name: "Edit"}, ToolCallArgs{ID: "written", Delta: `{"path":"x`},
		ToolCallStarted{ID: "done", Request: "m", Name: "Now"}, ToolCallEnded{ID: "done"}, ToolCallResult{ID: "done", Content: "noon"},
		ToolCallResult{ID: "written", Incomplete: true}, ToolCallResult{ID: "runs", Incomplete: true},
		RunFinished{Outcome: Cancelled},
	)
	wantMessages(t, got.Messages(),
		Message{Assistant, []Part{
			{Kind: PartText, ID: "t", Request: "m", Text: "I will", Incomplete: true},
			{Kind: PartToolCall, ID: "runs", Request: "m", Name: "Bash", Args: ToolArgs(`{"a":1}`)},
			{Kind: PartToolCall, ID: "written", Request: "m", Name: "Edit", Text: `{"path":"x`, Incomplete: true},
			{Kind: PartToolCall, ID: "done", Request: "m", Name: "Now", Args: ToolArgs(`{}`)},
		}},
		Message{ToolRole, []Part{{Kind: PartResult, ID: "done", Request: "m", Text: "noon"}}})
	if want := []ToolCall{{ID: "runs", Name: "Bash", Args: ToolArgs(`{"a":1}`)}, {ID: "written", Name: "Edit"}}; !reflect.DeepEqual(got.Open(), want) {
		t.Errorf("Open = %v", got.Open())
	}
	if _, err := json.Marshal(got.Messages()); err != nil {
		t.Errorf("cut arguments can't be stored: %v", err)
	}
}

func TestS3_AResentRequestStandsInThePlaceOfTheCutOne(t *testing.T) {
	got := transcript(
		ModelRequest{ID: "m1"}, TextStarted{ID: "t1", Request: "m1"}, TextContent{ID: "t1", Delta: "The ans"}, TextEnded{ID: "t1", Incomplete: true},
		ToolCallStarted{ID: "c", Request: "m1"}, ToolCallResult{ID: "c", Incomplete: true},
		ModelRequest{ID: "m2"}, TextStarted{ID: "t2", Request: "m2"}, TextContent{ID: "t2", Delta: "The answer."}, TextEnded{ID: "t2"},
	)
	wantMessages(t, got.Messages(), Message{Assistant, []Part{{Kind: PartText, ID: "t2", Request: "m2", Text: "The answer."}}})
	if got.Text() != "The answer." || got.Open() != nil {
		t.Errorf("Text %q, Open %v", got.Text(), got.Open())
	}
	// A request whose calls were executed is never forgotten.
	got = transcript(
		ModelRequest{ID: "m1"}, TextStarted{ID: "t1", Request: "m1"}, TextContent{ID: "t1", Delta: "Look"}, TextEnded{ID: "t1", Incomplete: true},
		ToolCallStarted{ID: "c", Request: "m1"}, ToolCallEnded{ID: "c"}, ToolCallResult{ID: "c", Content: "ok"},
		ModelRequest{ID: "m2"},
	)
	if len(got.Messages()) != 2 {
		t.Errorf("%+v", got.Messages())
	}
}

func TestP8_WithoutModelRequestsResultsSeparateThem(t *testing.T) {
	got := transcript(
		TextContent{ID: "t1", Delta: "a"}, TextEnded{ID: "t1"}, ToolCallStarted{ID: "c", Name: "X"}, ToolCallEnded{ID: "c"}, ToolCallResult{ID: "c", Content: "r"},
		TextContent{ID: "t2", Delta: "b"}, TextEnded{ID: "t2"},
	)
	wantMessages(t, got.Messages(),
		Message{Assistant, []Part{{Kind: PartText, ID: "t1", Text: "a"}, {Kind: PartToolCall, ID: "c", Name: "X", Args: ToolArgs("{}")}}},
		Message{ToolRole, []Part{{Kind: PartResult, ID: "c", Text: "r"}}},
		Message{Assistant, []Part{{Kind: PartText, ID: "t2", Text: "b"}}})
}

func TestP8_SubagentsStandAfterTheirCall(t *testing.T) {
	a, b := Sub{"a"}, Sub{"b"}
	got := transcript(
		ModelRequest{ID: "m"}, ToolCallStarted{ID: "c1", Request: "m", Name: "Task"}, ToolCallEnded{ID: "c1"}, ToolCallStarted{ID: "c2", Request: "m", Name: "Task"}, ToolCallEnded{ID: "c2"},
		SubagentStarted{Sub: b, Name: "Second", ToolCall: "c2"}, SubagentStarted{Sub: a, Name: "First", ToolCall: "c1"},
		TextContent{Sub: b, ID: "tb", Delta: "bb"}, TextContent{Sub: a, ID: "ta", Delta: "aa"}, TextEnded{Sub: a, ID: "ta"}, TextEnded{Sub: b, ID: "tb"},
		ToolCallStarted{Sub: a, ID: "ca", Name: "Read"}, ToolCallEnded{Sub: a, ID: "ca"}, ToolCallResult{Sub: a, ID: "ca", Content: "ra"},
		SubagentStarted{Sub: Sub{"x"}, Parent: "x", Name: "its own parent"}, SubagentFinished{Sub: Sub{"x"}, IsError: true},
		SubagentFinished{Sub: a}, SubagentFinished{Sub: b}, ToolCallResult{ID: "c1", Content: "r1"}, ToolCallResult{ID: "c2", Content: "r2"},
		FileProduced{Name: "plot.png", MIME: "image/png", Data: []byte("x")},
	)
	wantMessages(t, got.Messages(),
		Message{Assistant, []Part{
			{Kind: PartToolCall, ID: "c1", Request: "m", Name: "Task", Args: ToolArgs("{}")},
			{Kind: PartSubagent, ID: "a", Request: "m", Name: "First"},
			{Kind: PartText, ID: "ta", Subagent: "a", Text: "aa"},
			{Kind: PartToolCall, ID: "ca", Subagent: "a", Name: "Read", Args: ToolArgs("{}")},
			{Kind: PartToolCall, ID: "c2", Request: "m", Name: "Task", Args: ToolArgs("{}")},
			{Kind: PartSubagent, ID: "b", Request: "m", Name: "Second"},
			{Kind: PartText, ID: "tb", Subagent: "b", Text: "bb"},
			{Kind: PartSubagent, ID: "x", Request: "m", Name: "its own parent", IsError: true},
			{Kind: PartFile, Request: "m", Name: "plot.png", MIME: "image/png"},
		}},
		Message{ToolRole, []Part{
			{Kind: PartResult, ID: "c1", Request: "m", Text: "r1"},
			{Kind: PartResult, ID: "ca", Subagent: "a", Text: "ra"},
			{Kind: PartResult, ID: "c2", Request: "m", Text: "r2"},
		}})
}

// TestS5_TranscriptTakesAnything: whatever comes, every message can be stored, and every call is
// answered or open.
func TestS5_TranscriptTakesAnything(t *testing.T) {
	gen := anyEvent()
	rapid.Check(t, func(t *rapid.T) {
		var tr Transcript
		for _, ev := range rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Event { return fewIDs(t, gen.Draw(t, "e")) }), 0, 40).Draw(t, "events") {
			tr.Apply(ev)
		}
		answered := map[string]bool{}
		for _, m := range tr.Messages() {
			if len(m.Blocks) == 0 {
				t.Fatal("an empty message")
			}
			if _, err := json.Marshal(m); err != nil {
				t.Fatal(err)
			}
			for _, p := range m.Blocks {
				if p.Kind == PartResult {
					answered[p.Subagent+"/"+p.ID] = true
				}
			}
		}
		for _, c := range tr.Open() {
			if answered[c.Subagent+"/"+c.ID] {
				t.Fatalf("call %+v is open and answered", c)
			}
		}
	})
}
