package agent

import (
	"context"
	"encoding/json"
)

// Backend answers requests: a model with tools, an external agent, a script (A2).
// Implementations are safe for concurrent runs.
type Backend interface {
	// Run executes one run and returns when everything it started has ended. It passes events to
	// emit, which is safe for concurrent use and never blocks for long; RunStarted and the
	// terminal event are the normaliser's. nil means success; ctx's end means the run was
	// stopped: streams, processes and tools are ended before Run returns. Failures are *Failure
	// where the backend can tell (S3).
	Run(ctx context.Context, req Request, emit func(Event)) error
}

// Steerer can hand a message to a run in progress (S10 steer). false: this run can't take it now.
type Steerer interface {
	Steer(ctx context.Context, runID string, msg Message) (bool, error)
}

// Prober reaches the backend once for `typist check` (O4) and says what it found.
type Prober interface {
	Probe(ctx context.Context) (found string, err error)
}

// Request is what a backend is given for a run.
type Request struct {
	RunID   string
	Session string // stable id of the session, for backends that keep state of their own
	System  string // system prompt
	// History is the path root → active leaf (S1): it ends with the user's message, or on a
	// resume with the assistant's partial message and its tool results (S5).
	History []Message
	Resume  bool
	// Reasoning is the wanted effort ("" = the model's default) (A6).
	Reasoning string
	Tools     Toolbox // nil: no tools
	// Approve asks the chat's people and blocks for the decision; it emits the approval events
	// itself. It returns the chosen option's id, or ctx's error.
	Approve func(ctx context.Context, area string, a Approval) (option string, err error)
}

// Toolbox lists and executes tools. The turn code wraps it with idempotency (S4) and approvals (A4).
type Toolbox interface {
	List(ctx context.Context) ([]Tool, error)
	// Call executes one call. A tool's own failure is a ToolResult with IsError; error means that
	// the call could not be made or ctx ended.
	Call(ctx context.Context, call ToolCall) (ToolResult, error)
}

// Tool describes one tool to a model.
type Tool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Approve     bool            `json:"approve,omitempty"` // needs a person's approval (A4)
}

// ToolCall is one call of a tool.
type ToolCall struct {
	ID       string   `json:"id"`
	Subagent string   `json:"subagent,omitempty"`
	Name     string   `json:"name"`
	Args     ToolArgs `json:"args"`
}

// ToolResult is what a call came to.
type ToolResult struct {
	Content string         `json:"content"`
	IsError bool           `json:"isError,omitempty"`
	Files   []FileProduced `json:"files,omitempty"`
}
