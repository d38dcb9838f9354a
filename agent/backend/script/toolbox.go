package script

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"typist/agent"
)

// Toolbox executes the tool directives of scripts. Give it, wrapped as the turn code does, to the
// request of a script backend made with it, and scripted tools are guarded as real ones are (S4).
// Rest is asked for all other tools. Use NewToolbox; safe for concurrent use.
type Toolbox struct {
	record string
	rest   agent.Toolbox

	mu    sync.Mutex
	plans map[string]execution
}

// NewToolbox makes a toolbox. rest, if not nil, has the tools that are no script's (MCP).
// record, if not "", is a file to which every execution is appended before it has its effect, as
// one line of JSON with id, name and args: a test counts side effects by it.
func NewToolbox(rest agent.Toolbox, record string) *Toolbox {
	return &Toolbox{rest: rest, record: record, plans: map[string]execution{}}
}

// plan says what the call of that id will do; the returned function forgets it.
func (t *Toolbox) plan(id string, e execution) func() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.plans[id] = e
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.plans, id)
	}
}

// List implements agent.Toolbox. Scripted tools need not be listed: no model asks for them.
func (t *Toolbox) List(ctx context.Context) ([]agent.Tool, error) {
	if t.rest == nil {
		return nil, nil
	}
	return t.rest.List(ctx)
}

// Call implements agent.Toolbox.
func (t *Toolbox) Call(ctx context.Context, call agent.ToolCall) (agent.ToolResult, error) {
	t.mu.Lock()
	planned, ok := t.plans[call.ID]
	t.mu.Unlock()
	if !ok {
		if t.rest == nil {
			return agent.ToolResult{}, fmt.Errorf("no tool %s", call.Name)
		}
		return t.rest.Call(ctx, call)
	}
	if err := t.write(call); err != nil {
		return agent.ToolResult{}, err
	}
	return planned.run(ctx)
}

// write appends one line in one call, so that lines of several processes don't mix.
func (t *Toolbox) write(call agent.ToolCall) error {
	if t.record == "" {
		return nil
	}
	line, err := json.Marshal(struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	}{call.ID, call.Name, call.Args})
	if err != nil {
		return fmt.Errorf("record a call: %w", err)
	}
	f, err := os.OpenFile(t.record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("record a call: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
