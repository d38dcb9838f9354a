package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"typist/agent"
)

// maxName is the longest name of a tool that all model APIs take.
const maxName = 64

// Toolbox is an agent.Toolbox of the tools of several servers. Use New; safe for concurrent use.
type Toolbox struct {
	servers []*Server
	mu      sync.Mutex
	named   map[string]target // as last listed
}

// target is the tool that a name stands for.
type target struct {
	server *Server
	name   string // the server's own
}

// New joins servers; they may be shared with other toolboxes, and the caller closes them.
func New(servers ...*Server) *Toolbox { return &Toolbox{servers: servers} }

// List implements agent.Toolbox. A server that can't be reached is left out, and logged: the
// others' tools are still of use.
func (b *Toolbox) List(ctx context.Context) ([]agent.Tool, error) {
	lists := make([][]*mcp.Tool, len(b.servers))
	var wg sync.WaitGroup
	for i, s := range b.servers {
		wg.Go(func() {
			list, err := s.list(ctx)
			if err != nil && ctx.Err() == nil {
				s.log.Warn("the tools of an MCP server are not available", "error", errorText(err))
			}
			lists[i] = list
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var out []agent.Tool
	named := map[string]target{}
	for i, s := range b.servers {
		for _, t := range lists[i] {
			name := modelName(s.config.Name, t.Name, func(n string) bool { _, taken := named[n]; return taken })
			named[name] = target{s, t.Name}
			out = append(out, agent.Tool{Name: name, Title: title(t), Description: t.Description, InputSchema: schema(t), Approve: s.config.Approve})
		}
	}
	b.mu.Lock()
	b.named = named
	b.mu.Unlock()
	return out, nil
}

// Call implements agent.Toolbox. What a server refuses is a result with IsError. An error means
// that it is unknown whether the call was executed, unless it was never connected.
func (b *Toolbox) Call(ctx context.Context, call agent.ToolCall) (agent.ToolResult, error) {
	to, ok := b.find(call.Name)
	if !ok { // called before it was listed, as in a resumed run
		if _, err := b.List(ctx); err != nil {
			return agent.ToolResult{}, err
		}
		if to, ok = b.find(call.Name); !ok {
			return agent.ToolResult{Content: fmt.Sprintf("There is no tool %q.", call.Name), IsError: true}, nil
		}
	}
	s, err := to.server.connected(ctx)
	if err != nil {
		return agent.ToolResult{}, err
	}
	args := call.Args
	if len(args) == 0 {
		args = agent.ToolArgs("{}")
	}
	result, err := s.CallTool(ctx, &mcp.CallToolParams{Name: to.name, Arguments: args})
	var refused *jsonrpc.Error
	switch {
	case ctx.Err() != nil:
		return agent.ToolResult{}, ctx.Err()
	case errors.As(err, &refused):
		return agent.ToolResult{Content: refused.Message, IsError: true}, nil
	case err != nil:
		return agent.ToolResult{}, fmt.Errorf("MCP server %s: call %s: %w", to.server.config.Name, to.name, err)
	}
	return convert(to.name, result), nil
}

func (b *Toolbox) find(name string) (target, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	to, ok := b.named[name]
	return to, ok
}

// modelName makes server__tool a name that model APIs take: letters, digits, _ and -, at most 64,
// and none twice.
func modelName(server, tool string, taken func(string) bool) string {
	whole := server + "__" + tool
	name := []byte(whole)
	for i, c := range name {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
			name[i] = '_'
		}
	}
	if len(name) <= maxName && !taken(string(name)) {
		return string(name)
	}
	// Cut, or the same as another: told apart by a sum of the whole name.
	for salt := 0; ; salt++ {
		sum := fnv.New32a()
		_, _ = fmt.Fprintf(sum, "%s %d", whole, salt)
		short := fmt.Sprintf("%s_%08x", name[:min(len(name), maxName-9)], sum.Sum32())
		if !taken(short) {
			return short
		}
	}
}

// title is what people see instead of the name.
func title(t *mcp.Tool) string {
	switch {
	case t.Title != "":
		return t.Title
	case t.Annotations != nil && t.Annotations.Title != "":
		return t.Annotations.Title
	}
	return t.Name
}

// schema is the input schema. Model APIs want an object with properties, even if there are none.
func schema(t *mcp.Tool) json.RawMessage {
	object, _ := t.InputSchema.(map[string]any)
	whole := map[string]any{"type": "object"}
	for k, v := range object {
		whole[k] = v
	}
	if whole["properties"] == nil {
		whole["properties"] = map[string]any{}
	}
	b, err := json.Marshal(whole)
	if err != nil { // it came as JSON
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return b
}
