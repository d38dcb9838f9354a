package consumer

import (
	"testing"

	"typist/agent"
)

// TestS6_ByNumber: with numbers only they decide, never the content.
func TestS6_ByNumber(t *testing.T) {
	c := After(10)
	delta := agent.TextContent{ID: "t", Delta: "ha"}
	for i, step := range []struct {
		seq   int64
		ev    agent.Event
		fresh bool
	}{
		{10, delta, false}, // replayed
		{11, delta, true},
		{12, delta, true}, // equal, and both are kept
		{11, delta, false},
		{12, agent.TextContent{ID: "t", Delta: "other"}, false},
		{15, delta, true}, // retention may leave gaps
		{14, delta, false},
		{16, agent.TextStarted{ID: "t"}, true},
		{17, agent.TextStarted{ID: "t"}, true},
	} {
		if got := c.Fresh(step.seq, step.ev); got != step.fresh {
			t.Errorf("%d: %d fresh %v", i, step.seq, got)
		}
	}
	if c.Last() != 17 {
		t.Errorf("last is %d", c.Last())
	}
}

// TestS6_WithoutNumber: start, end and result by id; deltas pass.
func TestS6_WithoutNumber(t *testing.T) {
	once := []agent.Event{
		agent.RunStarted{RunID: "r"}, agent.ModelRequest{ID: "q"},
		agent.ReasoningStarted{ID: "1"}, agent.ReasoningEnded{ID: "1"}, agent.TextStarted{ID: "1"}, agent.TextEnded{ID: "1"},
		agent.ToolCallStarted{ID: "1"}, agent.ToolCallEnded{ID: "1"}, agent.ToolCallResult{ID: "1", Content: "x"},
		agent.SubagentStarted{Sub: agent.Sub{Subagent: "s"}}, agent.TextStarted{Sub: agent.Sub{Subagent: "s"}, ID: "1"},
		agent.SubagentFinished{Sub: agent.Sub{Subagent: "s"}},
		agent.ApprovalRequested{Approval: agent.Approval{ID: "p"}}, agent.ApprovalResolved{ID: "p"},
		agent.Usage{Request: "q"}, agent.RunFinished{RunID: "r"},
	}
	always := []agent.Event{
		agent.TextContent{ID: "1", Delta: "x"}, agent.ReasoningContent{ID: "1", Delta: "x"}, agent.ToolCallArgs{ID: "1", Delta: "x"},
		agent.StepStarted{Name: "s"}, agent.StepFinished{Name: "s"},
	}
	var c Consumer
	for round := range 2 {
		for _, ev := range once {
			if got := c.Fresh(0, ev); got != (round == 0) {
				t.Errorf("round %d: %T fresh %v", round, ev, got)
			}
		}
		for _, ev := range always {
			if !c.Fresh(0, ev) {
				t.Errorf("round %d: %T dropped", round, ev)
			}
		}
	}
	if c.Fresh(0, agent.RunError{RunID: "r"}) {
		t.Error("a run ended twice")
	}
	if !c.Fresh(0, agent.RunStarted{RunID: "r2"}) || !c.Fresh(0, agent.TextStarted{ID: "1"}) {
		t.Error("ids of another run count as seen")
	}
}
