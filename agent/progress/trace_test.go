package progress

import (
	"fmt"
	"strings"
	"testing"

	"typist/adapters/rich"
	"typist/agent"
)

// previews are the collapsed lines of a trace.
func previews(doc rich.Doc) (out []string) {
	for _, b := range doc {
		if b.Kind == rich.Fold {
			b = b.Children[0]
		}
		var line strings.Builder
		for _, span := range b.Spans {
			line.WriteString(span.Text)
		}
		out = append(out, line.String())
	}
	return out
}

func (s *stage) wantTrace(lines ...string) {
	s.t.Helper()
	if got := previews(s.Trace(s.now)); strings.Join(got, "\n") != strings.Join(lines, "\n") {
		s.t.Errorf("trace after %s\n got %q\nwant %q", s.now.Sub(s.start), got, lines)
	}
}

func TestP8_OrderIsThinkingTextTools(t *testing.T) {
	s := onStage(t, Options{})
	s.at(0, request("m1"))
	// Everything of the first request comes in the wrong order, the thinking last.
	s.at(1, agent.ToolCallStarted{ID: "c1", Request: "m1", Name: "Bash"}, args("c1", `{"description":"Build with tests"}`), executes("c1"))
	s.at(2, replies("t1", "m1"), say("t1", "I build."), begins("r1", "m1"), think("r1", "The user wants a build"))
	s.at(4, result("c1", "ok"), thought("r1"))
	s.at(5, request("m2"), agent.ToolCallStarted{ID: "c2", Request: "m2", Name: "Read"}, executes("c2"))
	s.at(6, agent.ToolCallStarted{ID: "c3", Request: "m1", Name: "Late"}, executes("c3")) // of the first request still
	s.at(8, agent.ToolCallResult{ID: "c2", IsError: true}, replies("t2", "m2"), say("t2", "Answer"))
	s.wantTrace("Thought for 2s: The user wants a build", "I build.", "Bash: Build with tests ✓ 3s", "Late ▸", "Read ✗ 3s")
	s.at(9, result("c3", ""))
	s.wantTrace("Thought for 2s: The user wants a build", "I build.", "Bash: Build with tests ✓ 3s", "Late ✓ 3s", "Read ✗ 3s")
}

func TestP8_SubagentsPartsStandBehindTheirCall(t *testing.T) {
	s := onStage(t, Options{})
	s.at(0, request("m1"))
	s.at(0, called("c1", "Task", `{"description":"Research"}`)...)
	s.at(0, called("c2", "Bash", `{"description":"Build"}`)...)
	s.at(1, agent.SubagentStarted{Sub: in("a"), Name: "Anna", ToolCall: "c1"}, agent.SubagentStarted{Sub: in("b"), Name: "Ben", ToolCall: "c1"})
	s.at(2, agent.ReasoningContent{Sub: in("b"), ID: "r", Delta: "b thinks"}, agent.TextContent{Sub: in("a"), ID: "t", Delta: "a says"})
	s.at(3, agent.ReasoningEnded{Sub: in("b"), ID: "r"}, agent.ToolCallStarted{Sub: in("b"), ID: "c1", Name: "Read"}, agent.ToolCallEnded{Sub: in("b"), ID: "c1"})
	s.at(4, agent.SubagentFinished{Sub: in("a")})
	s.wantTrace("Task: Research ▸", "Anna ✓ 3s", "Anna › a says", "Ben ▸", "Ben › Thought for 1s: b thinks", "Ben › Read ▸", "Bash: Build ▸")
}

func TestP8_EntriesFoldTheirContent(t *testing.T) {
	s := onStage(t, Options{})
	long := "First I look.\n\nThen I " + strings.Repeat("think ", 400)
	s.at(0, begins("r", ""), think("r", long))
	s.at(2, thought("r"))
	s.at(3, called("c", "Bash", `{"command":"login --password hunter2","timeout":5}`)...)
	s.at(4, result("c", "API_KEY=abcdef\nwelcome "+strings.Repeat("x", 3000)))
	s.at(5, called("d", "Ping", `{"host":"h.example"}`)...)
	s.at(6, result("d", ""))
	doc := s.Trace(s.now)
	if len(doc) != 3 || doc[0].Kind != rich.Fold || doc[1].Kind != rich.Fold || doc[2].Kind != rich.Paragraph {
		t.Fatalf("got %+v", doc)
	}
	if got := doc[0].Children; len(got) != 3 || got[1].Spans[0].Text != "First I look." {
		t.Errorf("thought: %+v", got)
	}
	tool := doc[1].Children
	if len(tool) != 3 || tool[1].Kind != rich.Code || tool[1].Text != `{"command":"login --password ***","timeout":5}` {
		t.Errorf("arguments: %+v", tool)
	}
	if got := tool[2].Text; !strings.HasPrefix(got, "API_KEY=***\nwelcome") || !strings.HasSuffix(got, "…") || len([]rune(got)) > bodyChars {
		t.Errorf("result: %q", got)
	}
	s.at(7, agent.ReasoningContent{ID: "r2", Delta: "see https://a:secret99@h.example/"}, thought("r2"))
	if text := rich.Text(s.Trace(s.now)); strings.Contains(text, "hunter2") || strings.Contains(text, "abcdef") || strings.Contains(text, "secret99") {
		t.Errorf("a secret shows in %s", text)
	}
}

func TestP8_ReplacedTextsAreShownAsPlainPreview(t *testing.T) {
	s := onStage(t, Options{})
	s.at(0, request("m1"), say("a", "**Bold** first\n\n- x\n- y"), request("m2"), say("b", "Second"))
	doc := s.Trace(s.now)
	if len(doc) != 1 || doc[0].Kind != rich.Fold || !strings.HasPrefix(previews(doc)[0], "Bold first") {
		t.Errorf("got %+v", doc)
	}
	if doc[0].Children[len(doc[0].Children)-1].Kind != rich.List {
		t.Errorf("its content is Markdown: %+v", doc[0].Children)
	}
}

func TestP8_LongTracesAreBounded(t *testing.T) {
	s := onStage(t, Options{})
	for i := range 3000 {
		id := fmt.Sprint("c", i)
		s.at(float64(i), request(fmt.Sprint("m", i)), think("r"+id, strings.Repeat("hm ", 500)), thought("r"+id))
		s.at(float64(i), called(id, "Bash", `{"description":"Call `+id+`"}`)...)
		s.at(float64(i), result(id, strings.Repeat("out ", 500)))
	}
	doc := s.Trace(s.now)
	text := rich.Text(doc)
	if n := len([]rune(text)); n > traceChars*11/10 {
		t.Errorf("%d characters", n)
	}
	lines := previews(doc)
	if !strings.HasPrefix(lines[0], "… 59") || lines[len(lines)-1] != "Bash: Call c2999 ✓ <1s" {
		t.Errorf("from %q to %q", lines[0], lines[len(lines)-1])
	}
	if n := len(s.index); n > maxEntries+10 {
		t.Errorf("%d ids kept", n)
	}
	kept := 0
	for _, e := range s.run.entries {
		kept += len(e.body)
		if e.call != nil {
			kept += len(e.call.args.raw)
		}
	}
	if kept > 2*maxBodies*thoughtBytes {
		t.Errorf("%d bytes kept", kept)
	}
	if s.Steps() != 3000 {
		t.Errorf("%d steps", s.Steps())
	}
}

func TestP6_ThinkingBlocks(t *testing.T) {
	s := onStage(t, Options{})
	s.at(0, request("m1"), begins("r1", "m1"))
	s.at(2, begins("r2", "m1"), think("r2", "two"))
	s.at(3.2, thought("r2"))
	s.at(12.9, thought("r1"))                             // without text
	s.wantTrace("Thought for 12s", "Thought for 1s: two") // they stay separate
	s.want(Summary, "Working… (12s)", "Thought for 12s", "…")
	s.at(13, begins("r3", "m1"))
	s.at(13.4, thought("r3"))
	s.wantTrace("Thought for 12s", "Thought for 1s: two", "Thought for <1s")
	s.at(14, request("m2"))
	s.want(Summary, "Working… (14s)", "…") // a new request: the old header goes
}

func TestP6_TheRunsEndFreezesOpenBlocks(t *testing.T) {
	for name, end := range map[string]agent.Event{"finished": agent.RunFinished{Outcome: agent.Cancelled}, "failed": agent.RunError{}} {
		s := onStage(t, Options{})
		s.at(0, begins("r", ""), think("r", "hm"))
		s.at(0, called("c", "Bash", `{"description":"Build"}`)...)
		s.at(0, think("r", "…"), enter("Plan"))
		s.at(7, end)
		s.at(99, think("r", "late"), result("c", "late"), say("t", "late"))
		s.wantTrace("Thought for 7s (cut short): hm…", "Bash: Build – 7s (cut short)")
		if s.Text() != "" || s.Worked() != true {
			t.Errorf("%s: something came after the end", name)
		}
		s.want(Summary, "Working… (7s)", "Thought for 7s (cut short)", "– Plan", "…")
		if _, ok := s.NextTick(s.now); ok {
			t.Errorf("%s: the clock goes on", name)
		}
	}
}

func TestP6_IncompleteEventsMarkToo(t *testing.T) {
	s := onStage(t, Options{})
	s.at(0, begins("r", ""), tool("c", "Bash"), executes("c"), replies("t", ""), say("t", "Half"))
	s.at(3, agent.ReasoningEnded{ID: "r", Incomplete: true}, agent.ToolCallResult{ID: "c", Incomplete: true}, agent.TextEnded{ID: "t", Incomplete: true})
	s.at(4, request("m2"), say("u", "Whole"))
	s.wantTrace("Thought for <1s (cut short)", "cut short: Half", "Bash – 3s (cut short)")
}

func TestP6_WithoutTimes(t *testing.T) {
	b := Replay(Options{}, []Stamped{
		{Event: think("r", "x")}, {Event: thought("r")}, {Event: tool("c", "Bash")}, {Event: executes("c")}, {Event: result("c", "")},
		{Event: begins("q", "")},
	})
	now := onStage(t, Options{}).now
	if got := previews(b.Trace(now)); strings.Join(got, "|") != "Thought: x|Thinking…|Bash ✓" {
		t.Errorf("trace %q", got)
	}
	if got := linesOf(b.View(Overview, now)); got[0] != "Thinking…" {
		t.Errorf("view %q", got)
	}
}
