// Package backendtest has what the tests of native backends share: a short form of a run's
// events, a server with prepared answers, and aimock, a model server that is not ours.
package backendtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"typist/agent"
)

// Run drives a request and returns its events, deltas merged, in short words: "thought hm",
// "text Hi", "call c1 Bash", "failed: …". Calls are named c1, c2 … in the order they appear. A
// request without history says "hello".
func Run(ctx context.Context, b agent.Backend, req agent.Request) []string {
	if req.History == nil {
		req.History = []agent.Message{agent.UserText("hello")}
	}
	if req.RunID == "" {
		req.RunID = "r"
	}
	c := agent.NewCoalescer()
	agent.Drive(ctx, b, req, c.Add)
	var out []string
	names := map[string]string{}
	for _, ev := range c.Take() {
		if s := short(ev, names); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func short(ev agent.Event, names map[string]string) string {
	name := func(id string) string {
		if names[id] == "" {
			names[id] = fmt.Sprintf("c%d", len(names)+1)
		}
		return names[id]
	}
	cut := func(incomplete bool) string {
		if incomplete {
			return " cut"
		}
		return "."
	}
	switch ev := ev.(type) {
	case agent.ReasoningStarted:
		return "think"
	case agent.ReasoningContent:
		return "thought " + ev.Delta
	case agent.ReasoningEnded:
		return strings.TrimSpace("thought" + cut(ev.Incomplete) + " " + ev.Signature)
	case agent.TextContent:
		return "text " + ev.Delta
	case agent.TextEnded:
		return "text" + cut(ev.Incomplete)
	case agent.ToolCallStarted:
		return "call " + name(ev.ID) + " " + ev.Name
	case agent.ToolCallArgs:
		return "args " + name(ev.ID) + " " + ev.Delta
	case agent.ToolCallResult:
		if ev.Incomplete {
			return "result " + name(ev.ID) + " cut"
		}
		return "result " + name(ev.ID) + " " + ev.Content
	case agent.Usage:
		return fmt.Sprintf("usage %d %d", ev.Input, ev.Output)
	case agent.RunFinished:
		return string(ev.Outcome)
	case agent.RunError:
		return "failed: " + ev.Failure.Error()
	default:
		return ""
	}
}

// SortResults puts the results of parallel calls, which come in any order, in theirs.
func SortResults(events []string) []string {
	isResult := func(s string) bool { return strings.HasPrefix(s, "result ") }
	var results []string
	for _, s := range events {
		if isResult(s) {
			results = append(results, s)
		}
	}
	slices.Sort(results)
	for i, s := range events {
		if isResult(s) {
			events[i], results = results[0], results[1:]
		}
	}
	return events
}

// Want compares the events of a run.
func Want(t testing.TB, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// Echo is a toolbox with the tool Bash, whose result is "ran " and its arguments.
type Echo struct{}

// List implements agent.Toolbox.
func (Echo) List(context.Context) ([]agent.Tool, error) {
	return []agent.Tool{{Name: "Bash", Description: "run", InputSchema: json.RawMessage(`{"type":"object"}`)}}, nil
}

// Call implements agent.Toolbox.
func (Echo) Call(_ context.Context, c agent.ToolCall) (agent.ToolResult, error) {
	return agent.ToolResult{Content: "ran " + string(c.Args)}, nil
}
