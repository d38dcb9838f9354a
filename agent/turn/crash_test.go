package turn

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
)

// TestS9_CrashAtAnyPoint kills the process at random points of a conversation and starts it again
// on the same store: no message is lost or answered twice, no tool is executed twice, nothing that
// says "Working…" stays. The platform can be asked for posts by key, as Slack and Discord can.
func TestS9_CrashAtAnyPoint(t *testing.T) {
	for seed := range *seeds {
		synctest.Test(t, func(t *testing.T) { crashes(t, seed) })
		if t.Failed() {
			return
		}
	}
}

func crashes(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 2))
	dir := t.TempDir()
	executed := map[string]int{} // tool executions by message
	keys := map[string]string{}
	tools := toolFunc(func(ctx context.Context, c agent.ToolCall) (agent.ToolResult, error) {
		executed[string(c.Args)]++
		if !waitFor(ctx, 2*time.Second) {
			return agent.ToolResult{}, ctx.Err()
		}
		return agent.ToolResult{Content: "sent"}, nil
	})
	backend := backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
		var n string
		for _, m := range req.History {
			if m.Role == agent.User {
				n = textOf(m)
			}
		}
		args := fmt.Sprintf(`{"n":%q}`, n)
		if !waitFor(ctx, 300*time.Millisecond) {
			return ctx.Err()
		}
		if !req.Resume {
			say(emit, "0", "I send it.")
			emit(agent.ToolCallStarted{ID: "c", Name: "mail"})
			emit(agent.ToolCallArgs{ID: "c", Delta: args})
			emit(agent.ToolCallEnded{ID: "c"})
			r, err := req.Tools.Call(ctx, agent.ToolCall{ID: "c", Name: "mail", Args: []byte(args)})
			if err != nil {
				return err
			}
			emit(agent.ToolCallResult{ID: "c", Content: r.Content, IsError: r.IsError})
		}
		if !waitFor(ctx, 300*time.Millisecond) {
			return ctx.Err()
		}
		say(emit, "1", "Answer to "+n)
		return nil
	})
	f := newFake("slack")
	f.slow = 20 * time.Millisecond
	begin := func() *bench {
		return start(t, setup{fake: f, adapter: finding{f, keys}, backend: backend, tools: tools, store: openStore(t, dir)})
	}
	b := begin()
	const messages = 4
	for i := range messages {
		b.write("dm", fmt.Sprintf("m%d", i))
		after(time.Duration(rng.IntN(3500)) * time.Millisecond)
		if rng.IntN(2) == 0 {
			b.crash()
			f = f.again()
			f.slow = 20 * time.Millisecond
			b = begin()
			after(time.Duration(rng.IntN(500)) * time.Millisecond)
		}
	}
	after(2 * time.Minute)
	for i := 0; i < 20 && slices.ContainsFunc(b.bot("dm"), func(s string) bool { return strings.Contains(s, "Interrupted") }) && strings.Contains(b.text("dm"), "[Resume]"); i++ {
		b.press("dm", "Resume")
		after(20 * time.Second)
	}
	for i := range messages {
		n, want := 0, fmt.Sprintf("Answer to m%d", i)
		for _, text := range b.bot("dm") {
			if text == want {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d copies of %q", n, want)
		}
		if n := executed[fmt.Sprintf(`{"n":"m%d"}`, i)]; n != 1 {
			t.Errorf("the tool of m%d was executed %d times", i, n)
		}
	}
	for _, m := range sim.FromBot(b.chat.world.Messages("dm", "*")) {
		if strings.Contains(m.Text, "Working…") || strings.Contains(m.Text, "mail:") || len(m.Buttons) > 0 && m.Buttons[0][0].Text == "Stop" {
			t.Errorf("left behind: %q", m.Text)
		}
	}
	if t.Failed() {
		t.Logf("seed %d:\n%s", seed, b.text("dm"))
	}
}

// toolFunc is a toolbox of one function.
type toolFunc func(ctx context.Context, c agent.ToolCall) (agent.ToolResult, error)

func (f toolFunc) List(context.Context) ([]agent.Tool, error) { return nil, nil }

func (f toolFunc) Call(ctx context.Context, c agent.ToolCall) (agent.ToolResult, error) {
	return f(ctx, c)
}

var _ adapters.Finder = finding{}
