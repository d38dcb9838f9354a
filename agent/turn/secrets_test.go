package turn

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
)

const testSecret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"

// An agent's own question can hold a command with a key: neither the question nor its buttons nor
// what is left of it shows that.
func TestP4_SecretsInQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			ask := agent.Approval{ID: "a1", Title: "curl -H 'Authorization: Bearer " + testSecret + "'", Detail: "K=" + testSecret,
				Options: []agent.Option{{ID: "y", Name: "Always allow " + testSecret, Allow: true}}}
			if option, err := req.Approve(ctx, "", ask); err != nil || option != "y" {
				return err
			}
			say(emit, "1", "Called.")
			return nil
		})})
		b.write("dm", "one")
		after(5 * time.Second)
		if got := b.text("dm"); strings.Contains(got, testSecret) || !strings.Contains(got, "Authorization") {
			t.Errorf("the question:\n%s", got)
		}
		b.press("dm", "Always allow ***")
		after(5 * time.Second)
		if got := b.text("dm"); strings.Contains(got, testSecret) || !strings.Contains(got, "Called.") {
			t.Errorf("what is left of it:\n%s", got)
		}
	})
}

// The name of a produced file stands where a run has no text.
func TestP4_SecretInFileName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(func(_ context.Context, _ agent.Request, emit func(agent.Event)) error {
			emit(agent.FileProduced{Name: testSecret + ".txt", Data: []byte("x")})
			return nil
		})})
		b.write("dm", "one")
		after(5 * time.Second)
		if got := b.bot("dm"); len(got) != 1 || strings.Contains(got[0], testSecret) {
			t.Errorf("%q", got)
		}
	})
}

// A question that the platform refuses must not hold the run up: nobody could answer it.
func TestA4_QuestionRefusedByThePlatform(t *testing.T) {
	f := func() *fake {
		f := newFake("telegram")
		f.fail = func(op sim.Op, _ adapters.Chat, text string) (error, bool) {
			if op == sim.OpSend && strings.HasPrefix(text, "Waiting for approval\n") {
				return adapters.ErrInvalid, false
			}
			return nil, false
		}
		return f
	}
	synctest.Test(t, func(t *testing.T) {
		var got string
		b := start(t, setup{fake: f(), backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			option, err := req.Approve(ctx, "", agent.Approval{ID: "a1", Title: "Bash: x", Options: []agent.Option{{ID: "y", Allow: true}, {ID: "n"}}})
			got = option
			say(emit, "1", "Not done.")
			return err
		})})
		b.write("dm", "one")
		after(time.Minute)
		if text := b.text("dm"); got != "n" || !strings.Contains(text, "could not ask you") || !strings.Contains(text, "Not done.") {
			t.Errorf("option %q:\n%s", got, text)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		box := &fakeTools{approve: true}
		var got agent.ToolResult
		b := start(t, setup{fake: f(), tools: box, backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			result, err := req.Tools.Call(ctx, agent.ToolCall{ID: "1", Name: "mail", Args: []byte(`{}`)})
			got = result
			say(emit, "1", "Not done.")
			return err
		})})
		b.write("dm", "one")
		after(time.Minute)
		if box.calls > 0 || !got.IsError || !strings.Contains(got.Content, "could not be posted") {
			t.Errorf("the model reads %+v:\n%s", got, b.text("dm"))
		}
	})
}

// A call's arguments reach the log in one piece, so that a reader can be spared the secret in them
// however they were streamed, and stay with the others that are written at the same time.
func TestP4_SecretInStreamedArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
			emit(agent.ToolCallStarted{ID: "1", Name: "Bash"})
			emit(agent.ToolCallStarted{ID: "2", Name: "Read"})
			for _, c := range `{"command":"export K=` + testSecret + ` && x"}` {
				emit(agent.ToolCallArgs{ID: "1", Delta: string(c)})
				emit(agent.ToolCallArgs{ID: "2", Delta: " "})
				waitFor(ctx, 100*time.Millisecond)
			}
			emit(agent.ToolCallEnded{ID: "1"})
			emit(agent.ToolCallResult{ID: "1", Content: "ok"})
			return nil // the second call is never completed
		})})
		sub := b.hub.events.Subscribe("telegram/dm", 0)
		defer sub.Close()
		b.write("dm", "one")
		after(time.Minute)
		args := map[string][]string{}
		ended := map[string]bool{}
		for {
			evs, err := sub.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range evs {
				switch e := e.Event.(type) {
				case agent.ToolCallArgs:
					if ended[e.ID] {
						t.Errorf("arguments of %s after its end", e.ID)
					}
					args[e.ID] = append(args[e.ID], e.Delta)
				case agent.ToolCallEnded:
					ended[e.ID] = true
				case agent.RunFinished, agent.RunError:
					if len(args["1"]) != 1 || args["1"][0] != `{"command":"export K=*** && x"}` || len(args["2"]) != 1 {
						t.Errorf("%q", args)
					}
					return
				default: // nothing is secret in the others
				}
			}
		}
	})
}
