package turn

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/agent"
)

// byText answers after as many seconds as the message's first digit says, with a tool before.
func byText(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
	text := textOf(req.History[len(req.History)-1])
	return working(time.Duration(text[0]-'0')*time.Second, "Answer to "+text)(ctx, req, emit)
}

// TestT9_AnotherTopicNeitherStopsNorKeepsIt: topics of one chat have indicators of their own.
func TestT9_AnotherTopicNeitherStopsNorKeepsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(byText)})
		b.write("room", "9 long", mentioned, inThread("A"))
		b.write("room", "4 short", mentioned, inThread("B"))
		for range 3 {
			after(time.Second)
			for _, thread := range []string{"A", "B"} {
				if on, _ := b.chat.world.Typing("room", thread); !on {
					t.Errorf("no indicator in topic %s", thread)
				}
			}
		}
		if b.typing("room") {
			t.Error("the indicator shows outside of the topics (C6)")
		}
		after(3 * time.Second)
		if on, _ := b.chat.world.Typing("room", "B"); on {
			t.Error("topic B's indicator outlives its answer")
		}
		if on, _ := b.chat.world.Typing("room", "A"); !on {
			t.Error("topic B's end took topic A's indicator")
		}
		after(time.Minute)
		for _, m := range b.chat.world.Messages("room", "*") {
			if m.From.Bot && (m.Thread == "A") != (m.Text == "Answer to 9 long") {
				t.Errorf("in topic %q: %q (C6)", m.Thread, m.Text)
			}
		}
	})
}

// TestT9_AFollowUpStartsItsOwn: it shows while it runs, and the wait before neither keeps nor
// stops the first one's.
func TestT9_AFollowUpStartsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(byText)})
		b.write("dm", "6 first")
		after(time.Second)
		b.write("dm", "6 second")
		after(4 * time.Second)
		if !b.typing("dm") {
			t.Error("the queued message stopped the indicator")
		}
		after(6 * time.Second) // the second one runs since the sixth second
		b.want("dm", "Answer to 6 first")
		if !b.typing("dm") {
			t.Error("the follow-up runs without indicator")
		}
		after(10 * time.Second)
		b.want("dm", "Answer to 6 second")
		if b.typing("dm") {
			t.Error("the indicator shows after the last answer")
		}
		b.noGhost(t, "dm")
	})
}

// TestT9_ASubagentNeitherStopsNorKeepsIt.
func TestT9_ASubagentNeitherStopsNorKeepsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
			emit(agent.SubagentStarted{Sub: agent.Sub{Subagent: "s"}, Name: "scout"})
			waitFor(ctx, 5*time.Second)
			emit(agent.SubagentFinished{Sub: agent.Sub{Subagent: "s"}})
			waitFor(ctx, 10*time.Second)
			emit(agent.SubagentStarted{Sub: agent.Sub{Subagent: "u"}, Name: "never ends"})
			say(emit, "1", "Done.")
			return nil
		})})
		b.write("dm", "hi")
		after(12 * time.Second)
		if !b.typing("dm") {
			t.Error("the subagent's end stopped the indicator")
		}
		after(10 * time.Second)
		b.want("dm", "Done.")
		if b.typing("dm") {
			t.Error("a subagent without an end keeps the indicator")
		}
	})
}

// TestT9_TwoChatsInParallel: neither waits for the other (S10), each has its own.
func TestT9_TwoChatsInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(byText)})
		b.write("dm", "9 long")
		b.write("room", "2 short", mentioned)
		after(3500 * time.Millisecond)
		b.want("room", "Answer to 2 short")
		if !b.typing("dm") || b.typing("room") {
			t.Errorf("dm %t, room %t", b.typing("dm"), b.typing("room"))
		}
	})
}

// TestC6_AnswersStayInTheThread with everything that belongs to them: progress, notes, buttons,
// commands; a stop in one topic leaves the other one alone.
func TestC6_AnswersStayInTheThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: working(time.Hour, "")})
		for _, topic := range []string{"A", "B"} {
			b.write("room", "go", mentioned, inThread(topic))
		}
		after(5 * time.Second)
		b.write("room", "/stop", mentioned, inThread("A"))
		after(5 * time.Second)
		b.write("room", "/status", mentioned, inThread("A"))
		after(5 * time.Second)
		for _, m := range b.chat.world.Messages("room", "") {
			t.Errorf("outside of the topics: %q", m.Text)
		}
		if got := b.threadText("room", "A"); !strings.Contains(got, "Stopped after") || !strings.Contains(got, "Idle.") {
			t.Errorf("topic A:\n%s", got)
		}
		if got := b.threadText("room", "B"); !strings.Contains(got, "[Stop]") || strings.Contains(got, "Stopp…") {
			t.Errorf("topic B:\n%s", got)
		}
	})
}
