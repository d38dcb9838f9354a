package turn

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/agent"
	"typist/agent/store"
)

// TestS4_AFinishedCallIsNotExecutedAgain: a key that has finished returns the stored result.
func TestS4_AFinishedCallIsNotExecutedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools := &fakeTools{}
		runs := 0
		b := start(t, setup{tools: tools, backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			if runs++; runs == 1 {
				r, err := req.Tools.Call(ctx, agent.ToolCall{ID: "c", Name: "mail", Args: []byte(`{}`)})
				if err != nil || r.Content != "sent" {
					t.Errorf("first call: %v, %v", r, err)
				}
				return &agent.Failure{Kind: agent.CutEarly} // no event told of it
			}
			return mailer(ctx, req, emit)
		})})
		b.write("dm", "mail bob")
		after(5 * time.Second)
		b.press("dm", "Retry")
		after(5 * time.Second)
		b.want("dm", "Result: sent")
		if tools.calls != 1 {
			t.Errorf("%d executions", tools.calls)
		}
		b.write("dm", "mail bob again")
		after(5 * time.Second)
		if tools.calls != 2 {
			t.Errorf("another turn's call: %d executions", tools.calls)
		}
	})
}

// TestS4_TheIntentIsStoredFirst: at the moment of the execution it stands in the store, and the
// events before it do (S5).
func TestS4_TheIntentIsStoredFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b *bench
		tools := toolFunc(func(ctx context.Context, _ agent.ToolCall) (agent.ToolResult, error) {
			runs, err := b.store.RunsIn(ctx, store.RunRunning)
			if err != nil || len(runs) != 1 {
				t.Fatalf("%d runs, %v", len(runs), err)
			}
			records, err := b.store.ToolsOf(ctx, runs[0].ID)
			if err != nil || len(records) != 1 || records[0].Finished {
				t.Errorf("records %+v, %v", records, err)
			}
			events, err := b.store.RunEvents(ctx, runs[0].ID)
			found := false
			for _, e := range events {
				_, ok := e.Event.(agent.ToolCallEnded)
				found = found || ok
			}
			if !found || err != nil {
				t.Errorf("the call is not in the stored events: %v", err)
			}
			return agent.ToolResult{Content: "sent"}, nil
		})
		b = start(t, setup{tools: tools, backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			say(emit, "0", "I mail them.") // a batch that is stored just before
			waitFor(ctx, 20*time.Millisecond)
			return mailer(ctx, req, emit)
		})})
		b.write("dm", "mail bob")
		after(5 * time.Second)
		b.want("dm", "Result: sent")
	})
}

// TestS4_AnUnknownOutcomeIsAskedAbout: a call of which nobody knows whether it took effect is never
// executed again by itself; the person decides, and without them the model is told.
func TestS4_AnUnknownOutcomeIsAskedAbout(t *testing.T) {
	for _, choice := range []string{"Run again", "Skip"} {
		synctest.Test(t, func(t *testing.T) {
			calls, runs := 0, 0
			tools := toolFunc(func(context.Context, agent.ToolCall) (agent.ToolResult, error) {
				if calls++; calls == 1 {
					return agent.ToolResult{}, errors.New("the connection was cut")
				}
				return agent.ToolResult{Content: "sent"}, nil
			})
			b := start(t, setup{tools: tools, backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
				if runs++; runs == 1 {
					_, _ = req.Tools.Call(ctx, agent.ToolCall{ID: "c", Name: "mail", Args: []byte(`{}`)})
					return &agent.Failure{Kind: agent.Crashed} // no event told of it
				}
				return mailer(ctx, req, emit)
			})})
			b.write("dm", "mail bob")
			after(5 * time.Second)
			b.press("dm", "Retry")
			after(5 * time.Second)
			b.want("dm", "mail was cut off while it ran", "[Run again] [Skip]")
			if calls != 1 {
				t.Fatal("executed again by itself")
			}
			b.press("dm", choice)
			after(5 * time.Second)
			want := 1
			if choice == "Skip" {
				b.want("dm", "Result: The outcome of this call of mail is unknown")
			} else {
				want = 2
				b.want("dm", "Result: sent")
			}
			if calls != want {
				t.Errorf("%s: executed %d times", choice, calls)
			}
		})
	}
}

// TestS4_S5_ACrashInACallLeavesItUnknown: the resumed model is told so in its history, and nothing
// is executed.
func TestS4_S5_ACrashInACallLeavesItUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f := newFake("telegram")
		b := start(t, setup{fake: f, tools: &fakeTools{take: time.Hour}, backend: backendFunc(mailer), store: openStore(t, dir)})
		b.write("dm", "mail bob")
		after(5 * time.Second)
		b.crash()

		next := &fakeTools{}
		var history []agent.Message
		b = start(t, setup{fake: f.again(), tools: next, store: openStore(t, dir), backend: backendFunc(func(_ context.Context, req agent.Request, emit func(agent.Event)) error {
			history = req.History
			say(emit, "1", "I don't know whether the mail was sent. Shall I look?")
			return nil
		})})
		after(5 * time.Second)
		b.press("dm", "Resume")
		after(5 * time.Second)
		if len(history) == 0 {
			t.Fatal("not resumed")
		}
		last := history[len(history)-1]
		if last.Role != agent.ToolRole || !last.Blocks[0].IsError || !strings.Contains(last.Blocks[0].Text, "unknown") {
			t.Errorf("the model was told %+v", last)
		}
		if next.calls != 0 {
			t.Errorf("executed %d times after the crash", next.calls)
		}
		b.want("dm", "Shall I look?")
	})
}
