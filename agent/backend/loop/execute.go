package loop

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"

	"typist/agent"
)

const (
	// maxParallel bounds the calls of one answer that execute at the same time.
	maxParallel = 16
	// maxResult is how many bytes of a result a model is given: one careless `cat` would fill its
	// context.
	maxResult = 256 << 10
)

// execute runs the calls of one answer side by side and returns their results in the order of the
// calls. It returns when all of them have ended, and an error only if ctx has.
func (r *run) execute(ctx context.Context, calls []agent.Part) (agent.Message, error) {
	results := make([]agent.Part, len(calls))
	slots := make(chan struct{}, maxParallel)
	var wg sync.WaitGroup
	for i, call := range calls {
		wg.Go(func() {
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			case <-ctx.Done():
				return
			}
			result, ok := r.executeOne(ctx, call)
			if !ok {
				return // the normaliser marks it incomplete
			}
			r.emit(agent.ToolCallResult{ID: call.ID, Content: result.Content, IsError: result.IsError})
			results[i] = agent.Part{Kind: agent.PartResult, ID: call.ID, Request: call.Request, Text: result.Content, IsError: result.IsError}
		})
	}
	wg.Wait()
	return agent.Message{Role: agent.ToolRole, Blocks: results}, ctx.Err()
}

// executeOne makes one call. false: ctx ended before it had a result.
func (r *run) executeOne(ctx context.Context, call agent.Part) (result agent.ToolResult, ok bool) {
	if call.Args == nil {
		return refusal("The arguments are no valid JSON, so the call was not executed. Write the call again."), true
	}
	if r.toolbox == nil {
		return refusal("There are no tools here."), true
	}
	defer func() {
		if p := recover(); p != nil {
			slog.ErrorContext(ctx, "tool panicked", "tool", call.Name, "panic", agent.Mask(fmt.Sprint(p)), "stack", string(debug.Stack()))
			result, ok = refusal("The tool broke down; whether it did anything is unknown."), true
		}
	}()
	r.emit(agent.ToolCallEnded{ID: call.ID})
	result, err := r.toolbox.Call(ctx, agent.ToolCall{ID: call.ID, Name: call.Name, Args: call.Args})
	switch {
	case err != nil && ctx.Err() != nil:
		return result, false
	case err != nil:
		return refusal("The tool could not be called: " + agent.Mask(err.Error())), true
	}
	result.Content = cut(result.Content)
	return result, true
}

func refusal(words string) agent.ToolResult { return agent.ToolResult{Content: words, IsError: true} }

func cut(s string) string {
	if len(s) <= maxResult {
		return s
	}
	kept := strings.ToValidUTF8(s[:maxResult], "")
	return fmt.Sprintf("%s\n… (%d more bytes were cut)", kept, len(s)-len(kept))
}
