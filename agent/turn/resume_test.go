package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/agent"
)

// roles are those of a history.
func roles(history []agent.Message) (out []string) {
	for _, m := range history {
		out = append(out, string(m.Role))
	}
	return out
}

// halfway does a tool call, says something and then waits or fails; resumed, it answers.
func halfway(requests *[]agent.Request, end func(ctx context.Context) error) backendFunc {
	return func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
		*requests = append(*requests, req)
		last := textOf(req.History[len(req.History)-1])
		switch {
		case req.Resume:
			say(emit, "r", "The rest.")
		case last == "go":
			say(emit, "0", "The beginning.")
			tool(ctx, emit, "t", "Bash", `{"command":"make"}`, time.Second)
			return end(ctx)
		default:
			say(emit, "1", "Answer to "+last)
		}
		return nil
	}
}

// TestS5_ResumeAfterEveryEnd: stop, cut stream, timeout, crash and shutdown; what was received is
// in the history and not repeated, finished tools are not run again.
func TestS5_ResumeAfterEveryEnd(t *testing.T) {
	for _, how := range []string{"stop", "cut", "timeout", "crash", "restart"} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			f := newFake("telegram")
			var requests []agent.Request
			end := forever
			if how == "cut" {
				end = func(context.Context) error { return &agent.Failure{Kind: agent.CutEarly} }
			}
			s := setup{fake: f, store: openStore(t, dir), backend: halfway(&requests, end), settings: func(s *Settings) {
				if a := s.Agents[""]; how == "timeout" {
					a.Timeout = 10 * time.Second
					s.Agents[""] = a
				}
			}}
			b := start(t, s)
			b.write("dm", "go")
			after(5 * time.Second)
			button := "Resume"
			switch how {
			case "stop":
				b.press("dm", "Stop")
			case "cut":
				button = "Retry" // after tool results it resumes (S3)
			case "timeout":
				after(10 * time.Second)
			case "crash", "restart":
				if how == "crash" {
					b.crash()
				} else {
					b.shut()
					_ = b.store.Close()
				}
				s.fake, s.store = f.again(), openStore(t, dir)
				b = start(t, s)
			}
			after(5 * time.Second)
			b.press("dm", button)
			b.press("dm", button) // twice, as people do
			after(10 * time.Second)
			if len(requests) != 2 || !requests[1].Resume {
				t.Fatalf("%s: %d requests", how, len(requests))
			}
			if got := roles(requests[1].History); got[0] != "user" || got[1] != "assistant" || got[len(got)-1] != "tool" {
				t.Errorf("%s: history %v", how, got)
			}
			text := b.text("dm")
			if strings.Count(text, "The rest.") != 1 || strings.Contains(text, "[Resume]") || strings.Contains(text, "[Retry]") {
				t.Errorf("%s:\n%s", how, text)
			}
		})
	}
}

// TestS5_ResumingAnOlderRunBranches: it goes on from the interrupted node, and that branch is the
// active one then.
func TestS5_ResumingAnOlderRunBranches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests []agent.Request
		b := start(t, setup{backend: halfway(&requests, forever)})
		b.write("dm", "go")
		after(5 * time.Second)
		b.press("dm", "Stop")
		after(3 * time.Second)
		b.write("dm", "newer")
		after(3 * time.Second)
		b.press("dm", "Resume")
		after(5 * time.Second)
		if len(requests) != 3 || !requests[2].Resume || slices.Contains(texts(requests[2].History), "newer") {
			t.Fatalf("%d requests, history %q", len(requests), texts(requests[2].History))
		}
		b.write("dm", "next")
		after(3 * time.Second)
		got := texts(requests[3].History)
		if !slices.Contains(got, "The rest.") || slices.Contains(got, "newer") {
			t.Errorf("the next message goes on from %q", got)
		}
	})
}

// texts are those of a history.
func texts(history []agent.Message) (out []string) {
	for _, m := range history {
		for _, p := range m.Blocks {
			if p.Kind == agent.PartText {
				out = append(out, p.Text)
			}
		}
	}
	return out
}

// TestS1_TheModelGetsThePath from the root to the active leaf, in order, and /new begins a root.
func TestS1_TheModelGetsThePath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		b := start(t, setup{backend: backendFunc(func(_ context.Context, req agent.Request, emit func(agent.Event)) error {
			got = texts(req.History)
			say(emit, "1", fmt.Sprint("A", len(got)))
			return nil
		})})
		for _, c := range []struct {
			text string
			want string
		}{{"one", "one"}, {"two", "one|A1|two"}, {"three", "one|A1|two|A3|three"}, {"/new", ""}, {"four", "four"}, {"five", "four|A1|five"}} {
			b.write("dm", c.text)
			after(5 * time.Second)
			if c.want != "" && strings.Join(got, "|") != c.want {
				t.Errorf("after %q the model was given %q", c.text, got)
			}
		}
	})
}

// TestS1_NewDuringARun holds from the next message on.
func TestS1_NewDuringARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			got = texts(req.History)
			return working(5*time.Second, "Answer.")(ctx, req, emit)
		})})
		b.write("dm", "one")
		after(2 * time.Second)
		b.write("dm", "/new")
		after(10 * time.Second)
		b.write("dm", "two")
		after(10 * time.Second)
		if len(got) != 1 || got[0] != "two" {
			t.Errorf("the model was given %q", got)
		}
	})
}

// TestS6_EventsAreStoredInOrder with numbers that only grow within the chat, over runs and kinds.
func TestS6_EventsAreStoredInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: working(3*time.Second, "Done.")})
		for range 3 {
			b.write("dm", "go")
			after(10 * time.Second)
		}
		events, err := b.store.Events(t.Context(), "telegram/dm", 0, 1000)
		if err != nil || len(events) < 15 {
			t.Fatalf("%d events, %v", len(events), err)
		}
		ends, last := 0, int64(0)
		for _, e := range events {
			if e.Seq <= last {
				t.Errorf("%d after %d", e.Seq, last)
			}
			last = e.Seq
			if agent.Terminal(e.Event) {
				ends++
			}
		}
		if ends != 3 {
			t.Errorf("%d terminal events", ends)
		}
		rest, err := b.store.Events(t.Context(), "telegram/dm", events[4].Seq, 1000)
		if err != nil || len(rest) != len(events)-5 {
			t.Errorf("%d events after the fifth of %d: %v", len(rest), len(events), err)
		}
	})
}

// TestS6_AtMostFourRowsASecond: deltas are merged before they are stored.
func TestS6_AtMostFourRowsASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: talking(1000, 10*time.Millisecond)})
		b.write("dm", "go")
		after(30 * time.Second)
		events, err := b.store.Events(t.Context(), "telegram/dm", 0, 2000)
		if err != nil || len(events) > 50 {
			t.Errorf("%d rows for 10 s, %v", len(events), err)
		}
	})
}

// TestS1_S2_AStopKeepsANewConversation that waited behind the run it ends.
func TestS1_S2_AStopKeepsANewConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			got = texts(req.History)
			return working(time.Minute, "Answer.")(ctx, req, emit)
		})})
		b.write("dm", "one")
		after(2 * time.Second)
		b.write("dm", "/new")
		after(2 * time.Second)
		b.write("dm", "/stop")
		after(5 * time.Second)
		b.want("dm", "Stopped after")
		b.wantNot("dm", "dropped")
		b.write("dm", "two")
		after(5 * time.Second)
		if len(got) != 1 || got[0] != "two" {
			t.Errorf("the model was given %q", got)
		}
	})
}
