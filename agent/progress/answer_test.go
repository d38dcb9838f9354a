package progress

import (
	"strings"
	"testing"

	"typist/adapters/rich"
	"typist/agent"
)

func TestP5_LastTextStays(t *testing.T) {
	s := onStage(t, Options{})
	answer := func(want string) {
		t.Helper()
		lines := s.lines(Summary)
		if got := lines[len(lines)-1]; got != want {
			t.Errorf("after %s the text is %q, want %q", s.now.Sub(s.start), got, want)
		}
	}
	answer("…")
	s.at(1, request("m1"), replies("t1", "m1"))
	answer("…")
	s.at(2, say("t1", " \n "))
	answer("…")
	s.at(3, say("t1", "First."))
	answer("First.")
	if s.Text() != " \n First." {
		t.Errorf("text %q", s.Text())
	}
	s.at(4, agent.TextEnded{ID: "t1"}, request("m2"), replies("t2", "m2"), say("t2", ""))
	answer("First.") // an empty new request displaces nothing
	s.at(5, say("t2", "\n\n"), begins("r2", "m2"))
	answer("First.")
	s.at(6, say("t2", "Second"))
	answer("Second")
	s.at(7, say("t1", " Late words of the first.")) // by id, not by order of arrival
	answer("Second")
	s.at(8, request("m3"), replies("t3", "m3"), agent.RunFinished{})
	if got := s.Text(); got != "\n\nSecond" {
		t.Errorf("after the end the answer is %q", got)
	}
	if got := linesOf(s.Trace(s.now)); got[0] != "First. Late words of the first." {
		t.Errorf("the replaced text is not in the trace: %q", got)
	}
}

func TestP5_OlderTextThatComesLateIsNoNewerOne(t *testing.T) {
	s := onStage(t, Options{})
	s.at(0, request("m1"), replies("a", "m1"), replies("b", "m1"), say("b", "B"), say("a", "A"))
	if s.Text() != "B" {
		t.Errorf("text %q", s.Text())
	}
	s.at(1, request("m2"), replies("c", "m2"), say("c", "C"), agent.TextStarted{ID: "d", Request: "m1"}, say("d", "D"))
	if s.Text() != "C" {
		t.Errorf("text %q", s.Text())
	}
	if got := linesOf(s.Trace(s.now)); strings.Join(got, "|") != "A|B|D" {
		t.Errorf("trace %q", got)
	}
}

func TestP5_TextIsMarkdown(t *testing.T) {
	s := onStage(t, Options{})
	s.at(0, say("t", "**Hi**\n\n- a\n- b\n\n```go\nx := 1\n"))
	doc := s.View(Summary, s.now)
	if want := rich.Parse("**Hi**\n\n- a\n- b\n\n```go\nx := 1\n"); !rich.Equal(doc[1:], want) {
		t.Errorf("got %+v", doc[1:])
	}
}

func TestP5_LongTextShowsItsEnd(t *testing.T) {
	s := onStage(t, Options{Limit: 600})
	var b strings.Builder
	for i := range 200 {
		b.Reset()
		b.WriteString("Line ")
		b.WriteString(strings.Repeat("w", i%30))
		b.WriteString(" \n\n")
		s.at(float64(i), say("t", b.String()))
		got := rich.Text(s.View(Summary, s.now))
		if n := len([]rune(got)); n > 600 {
			t.Fatalf("%d characters after %d lines", n, i)
		}
		if !strings.Contains(got, strings.Repeat("w", i%30)) {
			t.Fatalf("the newest line is missing: %q", got)
		}
	}
	if doc := s.View(Summary, s.now); doc[1].Spans[0].Text != "…" {
		t.Errorf("the cut is not marked: %+v", doc[1])
	}
	if got := len(s.Text()); got < 2000 {
		t.Errorf("the answer itself was cut to %d", got)
	}
}

func TestP5_ACutInsideAFenceReopensIt(t *testing.T) {
	s := onStage(t, Options{Limit: 300})
	s.at(0, say("t", "Intro\n\n```go\n"))
	for range 100 {
		s.at(1, say("t", "fmt.Println(1) // *no markup*\n"))
	}
	doc := s.View(Summary, s.now)
	last := doc[len(doc)-1]
	if last.Kind != rich.Code || last.Lang != "go" || !strings.HasSuffix(strings.TrimSpace(last.Text), "*no markup*") {
		t.Errorf("got %+v", last)
	}
	s.at(2, say("t", "```\n\n"))
	for range 100 {
		s.at(3, say("t", "Prose.\n\n"))
	}
	doc = s.View(Summary, s.now)
	if last := doc[len(doc)-1]; last.Kind != rich.Paragraph {
		t.Errorf("after the fence: %+v", last)
	}
}

func TestP5_OneEndlessLine(t *testing.T) {
	s := onStage(t, Options{Limit: 300})
	for range 500 {
		s.at(1, say("t", "語 words "))
		if n := len([]rune(rich.Text(s.View(Summary, s.now)))); n > 300 {
			t.Fatalf("%d characters", n)
		}
	}
	if got := rich.Text(s.View(Summary, s.now)); !strings.HasSuffix(strings.TrimSpace(got), "語 words") {
		t.Errorf("got %q", got)
	}
}
