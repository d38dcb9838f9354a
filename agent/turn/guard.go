package turn

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"typist/agent"
	"typist/agent/progress"
)

// guard is the toolbox that a backend is given: it asks people where a tool needs that (A4), and
// never executes a call twice (S4): the intent is stored before the execution, the result before
// it is used.
type guard struct {
	run   *run
	box   agent.Toolbox
	scope string // session and node: calls of other turns have other keys

	mu    sync.Mutex
	tools map[string]agent.Tool
	used  map[string]int // some models number their calls anew in every request
}

// List implements agent.Toolbox.
func (g *guard) List(ctx context.Context) ([]agent.Tool, error) {
	list, err := g.box.List(ctx)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tools = make(map[string]agent.Tool, len(list))
	for _, t := range list {
		g.tools[t.Name] = t
	}
	return list, nil
}

// Call implements agent.Toolbox.
func (g *guard) Call(ctx context.Context, call agent.ToolCall) (agent.ToolResult, error) {
	if !g.listed() {
		// Which tools need an approval is not known yet: never call one without (A4).
		if _, err := g.List(ctx); err != nil {
			return agent.ToolResult{}, fmt.Errorf("%s was not called: the tools could not be listed: %w", call.Name, err)
		}
	}
	key, tool := g.key(call)
	if tool.Approve {
		if result, ok, err := g.allowed(ctx, call, tool); !ok {
			return result, err
		}
	}
	st := g.run.lane.hub.store
	durable := context.WithoutCancel(ctx)
	g.run.flush(ctx)
	key, prior, err := g.intend(ctx, key, call)
	if prior != nil || err != nil {
		return *cmp.Or(prior, &agent.ToolResult{}), err
	}
	if err := ctx.Err(); err != nil {
		return agent.ToolResult{}, err
	}
	result, err := g.box.Call(ctx, call)
	if err != nil {
		// Whether it was carried out is not known: the intent stays without a result.
		return result, err
	}
	if err := st.ToolFinished(durable, key, result); err != nil {
		return agent.ToolResult{}, fmt.Errorf("the result of %s could not be stored, so it is not used: %w", call.Name, err)
	}
	for _, f := range result.Files {
		f.Subagent = call.Subagent
		g.run.feed.emit(f)
	}
	return result, nil
}

// intend stores that the call is about to be executed under key, or gives the result that it has
// already. An intent that has none may have taken effect: a person decides whether the call is made
// again, under a key of its own.
func (g *guard) intend(ctx context.Context, key string, call agent.ToolCall) (string, *agent.ToolResult, error) {
	for {
		prior, known, err := g.run.lane.hub.store.ToolIntent(context.WithoutCancel(ctx), key, g.run.id, call.ID, call.Args)
		switch {
		case err != nil:
			return key, nil, fmt.Errorf("the call of %s could not be stored, so it was not made: %w", call.Name, err)
		case !known:
			return key, nil, nil
		case prior.Finished:
			return key, &prior.Result, nil
		}
		words := g.run.lane.words()
		ask := agent.Approval{ID: "again-" + call.ID, ToolCall: call.ID, Title: words.OutcomeUnknown(call.Name),
			Options: []agent.Option{{ID: "again", Name: words.RunAgain, Allow: true}, {ID: "skip", Name: words.Skip}}}
		option, err := g.run.approve(ctx, call.Subagent, ask)
		if err != nil {
			return key, nil, err
		}
		if refuses(ask, option) {
			unknown := unknownResult(call.Name)
			return key, &unknown, nil
		}
		key += "/again"
	}
}

func (g *guard) listed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tools != nil
}

func (g *guard) key(call agent.ToolCall) (string, agent.Tool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.used == nil {
		g.used = map[string]int{}
	}
	key := g.scope + "/" + call.Subagent + "/" + call.ID
	g.used[key]++
	if n := g.used[key]; n > 1 {
		key += "~" + strconv.Itoa(n)
	}
	return key, g.tools[call.Name]
}

// allowed asks the chat. A refusal is an ordinary answer to the model, not an error (A4).
func (g *guard) allowed(ctx context.Context, call agent.ToolCall, tool agent.Tool) (agent.ToolResult, bool, error) {
	title := tool.Title
	if title == "" {
		title = call.Name
	}
	if preview := progress.Preview(call.Args); preview != "" {
		title += ": " + preview
	}
	ask := agent.Approval{ID: "approve-" + call.ID, ToolCall: call.ID, Title: title, Detail: everything(call.Args),
		Options: []agent.Option{{ID: "allow", Allow: true}, {ID: "deny"}}}
	option, err := g.run.ask(ctx, call.Subagent, ask)
	if errors.Is(err, errUnasked) {
		return agent.ToolResult{IsError: true, Content: "This call needs a person's approval, and the question could not be posted to the chat. It was not executed. Tell the person so."}, false, nil
	}
	if err != nil {
		return agent.ToolResult{}, false, err
	}
	if refuses(ask, option) {
		return agent.ToolResult{Content: "The person did not allow this call. It was not executed. Do not try it again; ask what to do instead if you need to."}, false, nil
	}
	return agent.ToolResult{}, true, nil
}

// everything is a call's arguments, all of them: a preview could show the harmless one.
func everything(args agent.ToolArgs) string {
	var out bytes.Buffer
	if json.Indent(&out, args, "", "  ") != nil {
		return agent.Mask(string(args))
	}
	if s := out.String(); s != "{}" {
		return agent.Mask(s)
	}
	return ""
}

// unknownResult tells the model about a call of which nobody knows whether it was carried out (S4).
func unknownResult(name string) agent.ToolResult {
	return agent.ToolResult{IsError: true, Content: fmt.Sprintf("The outcome of this call of %s is unknown: the program ended while it was being executed, so it may or may not have taken effect. "+
		"Do not repeat it by yourself. Tell the person that its outcome is unknown, and ask whether to check or to repeat it.", name)}
}
