package progress

import (
	"strings"
	"testing"

	"typist/agent"
)

func TestP2_RunLine(t *testing.T) {
	s := onStage(t, Options{})
	s.runLine("Working…")
	s.at(5)
	s.runLine("Working… (5s)")

	s.at(10, request("m1"), begins("r1", "m1"))
	s.at(20.9)
	s.runLine("Thinking… (10s)")

	s.at(21, enter("Build"))
	s.runLine("Thinking… (11s)") // thinking goes before the step

	s.at(22, replies("t1", "m1"), say("t1", " \n"))
	s.runLine("Thinking… (12s)") // blank text does not end it
	s.at(23, say("t1", "I'll look."))
	s.runLine("Build") // text of the same request does, without the block's end
	s.at(24, think("r1", "wait"))
	s.runLine("Thinking… (13s)") // it goes on: the second with the text is no thinking
	s.at(25, thought("r1"))
	s.runLine("Build")

	s.at(26, tool("c1", "Bash"))
	s.runLine("Bash")
	s.at(26, args("c1", `{"command":"go build ./...","descr`))
	s.runLine("Bash: go build ./...")
	s.at(26, args("c1", `iption":"Build with tests"}`), executes("c1"))
	s.runLine("Bash: Build with tests")

	s.at(27, called("c2", "Read", `{"path":"a.go"}`)...)
	s.runLine("Read: a.go") // the newest that runs
	s.at(28, called("c3", "Read", `{"path":"b.go"}`)...)
	s.at(29, result("c3", ""))
	s.runLine("Read: a.go") // the newest that still runs

	s.at(30, request("m2"), begins("r2", "m2"))
	s.at(33)
	s.runLine("Thinking… (3s)") // a newer request thinks while tools run
	s.at(34, thought("r2"), result("c2", ""))
	s.runLine("Bash: Build with tests")
	s.at(35, result("c1", ""))
	s.runLine("Build")
	s.at(36, enter("Unit"))
	s.runLine("Unit") // the innermost step
	s.at(37, leave("Unit"), leave("Build"))
	s.runLine("Working… (37s)")
	s.at(605)
	s.runLine("Working… (10m 5s)")
	s.at(3605)
	s.runLine("Working… (1h 0m 5s)")
}

func TestP2_ToolOfTheSameRequestEndsThinking(t *testing.T) {
	s := onStage(t, Options{})
	s.at(0, request("m1"), begins("r1", "m1"), think("r1", "x"))
	s.at(4, agent.ToolCallStarted{ID: "c1", Request: "m1", Name: "bash", Title: "Shell"})
	s.runLine("Shell") // the name for people
	s.at(9, result("c1", ""), thought("r1"))
	s.want(Detail, "Working… (9s)", "Thought for 4s: x", "Shell ✓ <1s", "…")
}

func TestP2_TextOfAnotherAreaDoesNotEndThinking(t *testing.T) {
	s := onStage(t, Options{})
	s.at(0, request("m1"), begins("r1", "m1"), subagent("a", "Anna"))
	s.at(2, agent.TextContent{Sub: in("a"), ID: "t", Delta: "hi"})
	s.runLine("Thinking… (2s)")
}

func TestP2_LateTextOfAnOlderRequestDoesNotEndThinking(t *testing.T) {
	s := onStage(t, Options{})
	s.at(0, request("m1"), replies("t1", "m1"), say("t1", "First"))
	s.at(1, request("m2"), begins("r2", "m2"))
	s.at(3, say("t1", " words"))
	s.runLine("Thinking… (2s)")
}

func TestP2_Notes(t *testing.T) {
	s := onStage(t, Options{})
	s.at(1, called("c1", "Bash", `{"description":"Build"}`)...)
	s.Note(NoteStopping)
	s.runLine("Stopping…")
	if _, ok := s.NextTick(s.now); ok {
		t.Error("no clock while stopping")
	}
	s.Note(NoteRetrying(s.now.Add(8200 * 1e6)))
	s.runLine("Trying again in 9s…")
	s.Note(Note{Kind: WaitingApproval, Title: "Delete a --token secret"})
	s.runLine("Waiting for approval: Delete a --token ***")
	s.Note(NoteNone)
	s.runLine("Bash: Build")
}

func TestT12_ApprovalIsTheCurrentStep(t *testing.T) {
	ask := func(id, call string) agent.Event {
		return agent.ApprovalRequested{Approval: agent.Approval{ID: id, ToolCall: call, Title: "Run " + call}}
	}
	s := onStage(t, Options{})
	s.at(1, tool("c1", "Bash"), tool("c2", "Read"), executes("c2"))
	s.at(2, ask("p1", "c1"))
	s.runLine("Read")
	if s.OnlyWaiting() {
		t.Error("a tool runs meanwhile")
	}
	s.at(3, result("c2", ""))
	s.runLine("Waiting for approval: Run c1")
	if !s.OnlyWaiting() {
		t.Error("all it does is wait")
	}
	if got := s.Status(s.now); got != "is waiting for approval…" {
		t.Errorf("status %q", got)
	}
	s.at(4, agent.ApprovalResolved{ID: "p1", Option: "yes"})
	s.runLine("Bash")
	if s.OnlyWaiting() {
		t.Error("it was decided")
	}
}

func TestT12_ApprovalInsideASubagent(t *testing.T) {
	s := onStage(t, Options{})
	s.at(0, called("c1", "Task", `{"description":"Research"}`)...)
	s.at(1, agent.SubagentStarted{Sub: in("a"), Name: "Anna", ToolCall: "c1"}, agent.ToolCallStarted{Sub: in("a"), ID: "x", Name: "Bash"})
	s.at(2, agent.ApprovalRequested{Sub: in("a"), Approval: agent.Approval{ID: "p", ToolCall: "x", Title: "Run it"}})
	if !s.OnlyWaiting() {
		t.Error("the call that started the subagent does nothing itself")
	}
	s.want(Summary, "Task: Research", "> Anna", "> Waiting for approval: Run it", "…")
	s.at(3, called("c2", "Read", "{}")...)
	if s.OnlyWaiting() {
		t.Error("another tool runs")
	}
	// The older of two calls works, the newer one waits for its subagent.
	s.at(4, called("c3", "Task", "{}")...)
	s.at(4, agent.SubagentStarted{Sub: in("b"), Name: "Ben", ToolCall: "c3"})
	if s.OnlyWaiting() {
		t.Error("another tool still runs")
	}
	s.at(5, result("c2", ""))
	if s.OnlyWaiting() {
		t.Error("Ben's model is at work")
	}
	s.at(6, agent.ApprovalRequested{Sub: in("b"), Approval: agent.Approval{ID: "q", Title: "Really"}})
	if !s.OnlyWaiting() {
		t.Error("all that is left waits")
	}
	for _, r := range Reasonings() { // hidden thinking is work too
		b := Replay(Options{Reasoning: r}, append(s.seen, Stamped{s.now, begins("r", "")}))
		if b.OnlyWaiting() {
			t.Errorf("reasoning %s: it thinks", r)
		}
	}
}

func TestP2_StatusLine(t *testing.T) {
	s := onStage(t, Options{})
	want := func(text string) {
		t.Helper()
		if got := s.Status(s.now); got != text {
			t.Errorf("status %q, want %q", got, text)
		}
	}
	want("is working…")
	s.at(1, begins("r", ""))
	want("is thinking…")
	s.at(2, thought("r"), enter("Plan, then build"))
	want("is working on Plan then build")
	s.at(3, tool("c", "Bash"), args("c", `{"command":"echo a, b"}`))
	want("is running Bash") // no text that changes with every delta: each change costs a call
	s.at(4, executes("c"))
	want("is running Bash: echo a b")
	s.at(5, result("c", ""))
	s.at(6, called("d", "Bash", `{"command":"`+strings.Repeat("длинный ", 30)+`"}`)...)
	for _, l := range Langs() {
		b := Replay(Options{Lang: l}, s.seen)
		if got := b.Status(s.now); len([]rune(got)) > 50 || strings.ContainsAny(got, ",，、\n") {
			t.Errorf("%s: status %q", l, got)
		}
	}
	s.Note(NoteStopping)
	want("is stopping…")
}
