package progress

import (
	"slices"
	"strings"
	"testing"
	"time"

	"typist/adapters/rich"
	"typist/agent"
)

// stage drives a board with a clock of its own.
type stage struct {
	*Board
	t     *testing.T
	start time.Time
	now   time.Time
	seen  []Stamped
}

func onStage(t *testing.T, o Options) *stage {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	o.StartedAt = start
	return &stage{Board: NewBoard(o), t: t, start: start, now: start}
}

// at moves the clock to so many seconds after the start and applies the events there.
func (s *stage) at(seconds float64, evs ...agent.Event) {
	s.now = s.start.Add(time.Duration(seconds * float64(time.Second)))
	for _, ev := range evs {
		s.Apply(ev, s.now)
		s.seen = append(s.seen, Stamped{s.now, ev})
	}
}

// lines is a view as plain text, without blank lines.
func (s *stage) lines(level Level) []string { return linesOf(s.View(level, s.now)) }

func linesOf(doc rich.Doc) (out []string) {
	for l := range strings.SplitSeq(rich.Text(doc), "\n") {
		if strings.TrimSpace(l) != "" {
			out = append(out, l)
		}
	}
	return out
}

func (s *stage) want(level Level, lines ...string) {
	s.t.Helper()
	if got := s.lines(level); !slices.Equal(got, lines) {
		s.t.Errorf("%s after %s\n got %q\nwant %q", level, s.now.Sub(s.start), got, lines)
	}
}

// runLine checks the first line of every view.
func (s *stage) runLine(want string) {
	s.t.Helper()
	for _, level := range Levels() {
		if got := s.lines(level)[0]; got != want {
			s.t.Errorf("%s after %s: run line %q, want %q", level, s.now.Sub(s.start), got, want)
		}
	}
}

func in(area string) agent.Sub { return agent.Sub{Subagent: area} }

func request(id string) agent.Event        { return agent.ModelRequest{ID: id} }
func think(id, text string) agent.Event    { return agent.ReasoningContent{ID: id, Delta: text} }
func thought(id string) agent.Event        { return agent.ReasoningEnded{ID: id} }
func say(id, text string) agent.Event      { return agent.TextContent{ID: id, Delta: text} }
func tool(id, name string) agent.Event     { return agent.ToolCallStarted{ID: id, Name: name} }
func args(id, text string) agent.Event     { return agent.ToolCallArgs{ID: id, Delta: text} }
func executes(id string) agent.Event       { return agent.ToolCallEnded{ID: id} }
func result(id, text string) agent.Event   { return agent.ToolCallResult{ID: id, Content: text} }
func enter(name string) agent.Event        { return agent.StepStarted{Name: name} }
func leave(name string) agent.Event        { return agent.StepFinished{Name: name} }
func subagent(id, name string) agent.Event { return agent.SubagentStarted{Sub: in(id), Name: name} }
func called(id, n, a string) []agent.Event {
	return []agent.Event{tool(id, n), args(id, a), executes(id)}
}
func begins(id, request string) agent.Event  { return agent.ReasoningStarted{ID: id, Request: request} }
func replies(id, request string) agent.Event { return agent.TextStarted{ID: id, Request: request} }

func TestP10_SubagentsNeverCross(t *testing.T) {
	s := onStage(t, Options{})
	s.at(0, request("m1"))
	s.at(1, called("c1", "Task", `{"description":"Research"}`)...)
	s.at(2, subagent("a", "Anna"), subagent("b", "Ben"))
	// The same ids in both and in the run itself, interleaved.
	for i := range 40 {
		x, y := string(rune('a'+i%26)), string(rune('A'+i%26))
		s.at(3,
			agent.ReasoningContent{Sub: in("a"), ID: "1", Delta: x},
			agent.ToolCallArgs{Sub: in("b"), ID: "1", Delta: map[int]string{0: `{"path":"`}[i] + y},
			agent.TextContent{ID: "1", Delta: map[int]string{0: "Run "}[i] + "."},
			agent.TextContent{Sub: in("a"), ID: "1", Delta: "-"})
	}
	s.at(3, agent.ReasoningContent{Sub: in("a"), ID: "1", Delta: " end"})
	s.want(Summary, "Task: Research",
		"> Anna", "> Thinking…", "> abcdefghijklmnopqrstuvwxyzabcdefghijklmn end",
		"> Ben", "> Tool: ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMN",
		"Run "+strings.Repeat(".", 40))
	if got := s.Text(); got != "Run "+strings.Repeat(".", 40) {
		t.Errorf("the run's text is %q", got)
	}
	s.at(5, agent.ToolCallResult{Sub: in("b"), ID: "1", Content: "b's"})
	s.at(6, agent.SubagentFinished{Sub: in("b")})
	s.at(7, agent.StepStarted{Sub: in("a"), Name: "Sum up"}, agent.ReasoningEnded{Sub: in("a"), ID: "1"})
	s.want(Summary, "Task: Research", "> Ben ✓ 4s", "> Anna", "> Sum up", "Run "+strings.Repeat(".", 40))
	s.at(8, result("c1", "found"))
	s.at(9, agent.SubagentFinished{Sub: in("a"), IsError: true})
	s.want(Summary, "Working… (9s)", "> Anna ✗ 7s", "> Ben ✓ 4s", "Run "+strings.Repeat(".", 40))
}

func TestP10_UnknownAndNestedSubagents(t *testing.T) {
	s := onStage(t, Options{})
	s.at(1, agent.TextContent{Sub: in("x"), ID: "1", Delta: "hi"})
	s.want(Overview, "Working… (1s)")
	s.want(Summary, "Working… (1s)", "> Subagent", "> Working…", "…")
	s.at(2, agent.SubagentStarted{Sub: in("x"), Name: "Xenia"}, agent.SubagentStarted{Sub: in("y"), Name: "Yuri", Parent: "x"})
	s.at(3)
	s.want(Summary, "Working… (3s)", "> Xenia", "> Working… (2s)", "> Xenia › Yuri", "> Working… (1s)", "…")
	if s.Text() != "" {
		t.Error("a subagent's text is not the run's")
	}
	for i := range 20 {
		s.at(4, subagent(strings.Repeat("z", i+1), "Zoe"))
	}
	if got := s.lines(Summary); got[len(got)-2] != "… 16 more subagents" {
		t.Errorf("too many subagents: %q", got)
	}
}

func TestP10_ReusedIDsAreNewEntries(t *testing.T) {
	s := onStage(t, Options{})
	for i, m := range []string{"m1", "m2", "m3"} {
		s.at(float64(i), request(m), agent.ToolCallStarted{ID: "0", Request: m, Name: "Step" + m}, executes("0"), result("0", ""))
		s.at(float64(i), agent.ToolCallStarted{ID: "0", Request: m, Name: "again"}) // repeated, not new
	}
	s.want(Detail, "Working… (2s)", "Stepm1 ✓ <1s", "Stepm2 ✓ <1s", "Stepm3 ✓ <1s", "…")
	if s.Steps() != 3 {
		t.Errorf("%d steps", s.Steps())
	}
}

func TestP1_Worked(t *testing.T) {
	for name, evs := range map[string][]agent.Event{
		"tool":     {tool("c", "Bash"), executes("c")},
		"result":   {tool("c", "Bash"), result("c", "x")},
		"step":     {enter("Plan")},
		"subagent": {subagent("a", "Anna")},
	} {
		s := onStage(t, Options{})
		s.at(0, request("m"), begins("r", "m"), think("r", "x"), say("t", "y"), tool("c", "Bash"), args("c", "{}"))
		if s.Worked() {
			t.Fatal("thinking, text and a call that is still written are no work")
		}
		s.at(1, evs...)
		if !s.Worked() {
			t.Errorf("%s: not seen as work", name)
		}
		if s.Steps() != 1 {
			t.Errorf("%s: %d steps", name, s.Steps())
		}
	}
}

func TestP1_Running(t *testing.T) {
	s := onStage(t, Options{})
	s.at(0, tool("1", "A"), tool("2", "B"), executes("2"), executes("1"), subagent("a", "Anna"), agent.ToolCallStarted{Sub: in("a"), ID: "3"})
	if got := s.Running(); !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("running: %q", got)
	}
	s.at(1, result("2", ""), agent.RunFinished{})
	if got := s.Running(); got != nil {
		t.Errorf("running after the end: %q", got)
	}
}

func TestP8_ReplayGivesTheSameBoard(t *testing.T) {
	s := onStage(t, Options{})
	s.at(0, agent.RunStarted{}, request("m1"), begins("r", "m1"))
	s.at(2, think("r", "Let me see.\n\nFirst the tests."))
	s.at(12, thought("r"), replies("t", "m1"), say("t", "I look."), enter("Build"))
	s.at(13, called("c", "Bash", `{"command":"go test ./..."}`)...)
	s.at(16, result("c", "ok"), subagent("a", "Anna"), agent.TextContent{Sub: in("a"), ID: "t", Delta: "found"})
	s.at(20, request("m2"), replies("t2", "m2"), say("t2", "Done."), leave("Build"))
	again := Replay(Options{}, s.seen)
	for _, level := range Levels() {
		if got, want := again.View(level, s.now), s.View(level, s.now); !rich.Equal(got, want) {
			t.Errorf("%s after a reload\n got %q\nwant %q", level, linesOf(got), linesOf(want))
		}
	}
	if got, want := again.Trace(s.now), s.Trace(s.now); !rich.Equal(got, want) {
		t.Errorf("trace after a reload\n got %q\nwant %q", linesOf(got), linesOf(want))
	}
}
