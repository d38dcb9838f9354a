package progress

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"typist/adapters/rich"
	"typist/agent"
)

// busy is a run in which everything happens.
func busy(t *testing.T, o Options) *stage {
	s := onStage(t, o)
	s.at(0, agent.RunStarted{}, request("m1"), begins("r1", "m1"), think("r1", "The user wants a build.\n\nLook at the Makefile"))
	s.at(12, thought("r1"), replies("t1", "m1"), say("t1", "I **look** at it."), enter("Plan"), leave("Plan"), enter("Build"))
	s.at(12, called("c1", "Bash", `{"command":"make","description":"Build with tests"}`)...)
	s.at(16, result("c1", "ok"), request("m2"), subagent("a", "Anna"))
	s.at(17, agent.ReasoningContent{Sub: in("a"), ID: "r", Delta: "where is it"}, tool("c2", "Read"), args("c2", `{"path":"go.mod"`), say("t2", "Half *done*"))
	s.at(20)
	return s
}

func TestP7_Views(t *testing.T) {
	s := busy(t, Options{})
	s.want(Overview, "Read: go.mod")
	s.want(Summary, "Read: go.mod", "✓ Plan", "▸ Build", "> Anna", "> Thinking… (3s)", "> where is it", "Half done")
	s.want(Detail, "Read: go.mod", "✓ Plan", "▸ Build", "> Anna", "> Thinking… (3s)", "> where is it",
		"Thought for 12s: The user wants a build. Look at the Makefile", "The user wants a build.", "Look at the Makefile",
		"I look at it.", "Bash: Build with tests ✓ 4s", `{"command":"make","description":"Build with tests"}`, "ok",
		"Anna ▸", "Anna › Thinking… (3s): where is it", "Read: go.mod", "Half done")
	if doc := s.View(Overview, s.now); len(doc) != 1 || doc[0].Kind != rich.Paragraph {
		t.Errorf("the overview is one line: %+v", doc)
	}
}

func TestP7_OnlyTheAnswerIsMarkup(t *testing.T) {
	s := onStage(t, Options{})
	evil := "**x** [a](http://b) <b>c</b> `d` @everyone"
	s.at(0, begins("r", ""), think("r", evil), enter(evil), subagent("a", evil), agent.StepStarted{Sub: in("a"), Name: evil})
	s.at(1, thought("r"), tool("c", evil), args("c", `{"a":"`+evil+`"}`), executes("c"), result("c", evil), say("t", "*plain*"))
	var check func(blocks []rich.Block)
	check = func(blocks []rich.Block) {
		for _, b := range blocks {
			for _, span := range b.Spans {
				if span.URL != "" || span.Code || span.Text == "x" || span.Text == "c" {
					t.Errorf("interpreted: %+v", span)
				}
			}
			check(b.Children)
		}
	}
	all := strings.Join(append(s.lines(Detail), linesOf(s.Trace(s.now))...), "\n")
	for _, want := range []string{"▸ " + evil, "> " + evil, evil + ": " + evil + " ✓", "Thought for 1s: " + evil} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in %s", want, all)
		}
	}
	check(s.View(Detail, s.now))
	check(s.View(Summary, s.now))
	check(s.Trace(s.now))
}

func TestP7_ViewsFitTheirLimit(t *testing.T) {
	s := busy(t, Options{})
	for i := range 60 {
		id := fmt.Sprint(i)
		s.at(30, enter("A named step with a rather long name, number "+id), subagent("s"+id, "Subagent "+strings.Repeat("n", 50)),
			agent.ReasoningContent{Sub: in("s" + id), ID: "r", Delta: strings.Repeat("word ", 100)})
		s.at(30, called("x"+id, "Tool"+id, `{"a":"`+strings.Repeat("y", 200)+`"}`)...)
		s.at(31, think("r"+id, strings.Repeat("thought ", 200)), say("t2", strings.Repeat("answer ", 50)))
	}
	for _, level := range Levels() {
		if n := len([]rune(rich.Text(s.View(level, s.now)))); n > 3600 {
			t.Errorf("%s: %d characters", level, n)
		}
	}
}

func TestP9_Steps(t *testing.T) {
	s := onStage(t, Options{})
	s.at(0, enter("Plan"))
	s.want(Summary, "Plan", "▸ Plan", "…")
	s.at(1, leave("Plan"), enter("Build"), enter("Build"), enter("Test"))
	s.want(Summary, "Test", "✓ Plan", "▸ Build", "▸ Test", "…")
	s.at(2, leave("Build"), leave("Unknown"))
	s.want(Summary, "Test", "✓ Plan", "✓ Build", "▸ Test", "…")
	s.at(3, leave("Test"), enter("Build"))
	s.want(Summary, "Build", "✓ Plan", "✓ Build", "✓ Test", "▸ Build", "…")
	for i := range 300 {
		s.at(4, enter(fmt.Sprint("S", i)), leave(fmt.Sprint("S", i)))
	}
	got := s.lines(Summary)
	if got[1] != "✓ 296 earlier steps" || got[2] != "✓ S292" || got[9] != "✓ S299" {
		t.Errorf("many steps: %q", got)
	}
}

func TestP6_Clock(t *testing.T) {
	s := onStage(t, Options{})
	tick := func(seconds, want float64) {
		t.Helper()
		s.at(seconds)
		at, ok := s.NextTick(s.now)
		if got := at.Sub(s.start).Seconds(); !ok || got != want {
			t.Errorf("after %gs the next tick is at %gs (%t), want %gs", seconds, got, ok, want)
		}
	}
	tick(0, 3)
	tick(2.9, 3)
	tick(3, 6)
	tick(59.9, 60)
	tick(60, 75)
	tick(80, 90)
	s.at(100, begins("r", ""))
	tick(101, 103) // the clock in the view is the thought's
	s.at(105, agent.SubagentStarted{Sub: in("a"), Name: "Anna"})
	s.at(106, called("c", "Bash", "{}")...)
	tick(106, 108) // the subagent's own clock
	s.at(107, agent.SubagentFinished{Sub: in("a")})
	if _, ok := s.NextTick(s.now); ok {
		t.Error("no clock in the view while a tool runs")
	}
	s.Note(NoteRetrying(s.start.Add(120 * time.Second)))
	tick(110, 111)
	tick(111, 114)
	tick(118, 120)
}

func TestP6_ClockAfterAPauseIsTheThinkingTime(t *testing.T) {
	s := onStage(t, Options{})
	s.at(0, begins("r", ""), think("r", "x"))
	s.at(4, say("t", "text"))
	s.at(9, think("r", "y"))
	s.at(10)
	s.runLine("Thinking… (5s)")
	if at, _ := s.NextTick(s.now); at.Sub(s.start) != 11*time.Second {
		t.Errorf("next tick at %s", at.Sub(s.start))
	}
}

func TestP12_Ended(t *testing.T) {
	s := busy(t, Options{})
	ended := func(end End, level Level, want ...string) {
		t.Helper()
		if got := linesOf(s.Ended(end, level, s.now)); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%+v\n got %q\nwant %q", end, got, want)
		}
	}
	s.at(42.9, agent.RunFinished{})
	s.at(60)
	ended(End{}, Summary, "Worked for 42s · 4 steps")
	ended(End{Kind: EndStopped}, Overview, "Stopped after 42s", "Half done")
	ended(End{Kind: EndStopped}, Summary, "Stopped after 42s", "✓ Plan", "– Build", "Half done")
	ended(End{Kind: EndInterrupted}, Overview, "Interrupted", "Half done")
	ended(End{Kind: EndFailed, Failure: &agent.Failure{Kind: agent.RateLimited, RetryAfter: 29500 * time.Millisecond, Detail: "secret detail"}}, Overview,
		"The model's rate limit is used up for now. Press Retry in 30s.", "Half done")
	for _, kind := range []EndKind{EndWorked, EndStopped, EndInterrupted, EndFailed} {
		text := rich.Text(s.Ended(End{Kind: kind}, Detail, s.now))
		if strings.Contains(text, "Working") || strings.Contains(text, "…") {
			t.Errorf("still at work: %q", text)
		}
	}
	quick := onStage(t, Options{})
	quick.at(0.5, say("t", "x"))
	if got := rich.Text(quick.Ended(End{}, Summary, quick.now)); got != "Worked for <1s" {
		t.Errorf("without steps: %q", got)
	}
}

func TestA6_ReasoningLevels(t *testing.T) {
	off := busy(t, Options{Reasoning: ReasoningOff})
	for _, doc := range []rich.Doc{off.View(Summary, off.now), off.View(Detail, off.now), off.Trace(off.now)} {
		if text := rich.Text(doc); strings.Contains(text, "hought") || strings.Contains(text, "hinking") || strings.Contains(text, "where is it") {
			t.Errorf("off shows %q", text)
		}
	}
	on := onStage(t, Options{Reasoning: ReasoningOn})
	on.at(0, request("m1"), begins("r", "m1"), think("r", "Secret plans"))
	on.at(5)
	on.want(Summary, "Working… (5s)", "…")
	on.want(Detail, "Working… (5s)", "…")
	on.at(6, thought("r"))
	on.want(Summary, "Working… (6s)", "Thought for 6s: Secret plans", "…")
	on.want(Detail, "Working… (6s)", "Thought for 6s: Secret plans", "…")
	stream := onStage(t, Options{})
	stream.at(0, begins("r", ""), think("r", "Open plans"))
	stream.at(5)
	stream.want(Summary, "Thinking… (5s)", "Open plans", "…")
}

func TestA6_ParseNames(t *testing.T) {
	if l, err := ParseLevel("Detail"); l != Detail || err != nil {
		t.Error(l, err)
	}
	for _, err := range []error{
		second(ParseLevel("x")), second(ParseReasoning("y")), second(ParseLang("fr")),
	} {
		if err == nil || !strings.Contains(err.Error(), "(allowed: ") {
			t.Errorf("error %v", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestS3_AWaitBeforeTheNextTryIsTold(t *testing.T) {
	at := time.Unix(1000, 0)
	b := NewBoard(Options{StartedAt: at})
	b.Apply(agent.ModelRequest{ID: "1"}, at)
	b.Apply(agent.Retrying{Kind: agent.RateLimited, Wait: 5 * time.Second}, at)
	if got := rich.Text(b.View(Overview, at.Add(time.Second))); got != "Trying again in 4s…" {
		t.Errorf("while it waits: %q", got)
	}
	b.Apply(agent.ModelRequest{ID: "2"}, at.Add(5*time.Second))
	if got := rich.Text(b.View(Overview, at.Add(6*time.Second))); strings.Contains(got, "again") {
		t.Errorf("after the wait: %q", got)
	}
}
