// Package agent is the vocabulary between the turn code and whatever answers: run events (A1),
// the Backend interface, requests and history, tools, approvals and failures. It knows neither
// chat platforms nor model APIs.
package agent

import (
	"encoding/json"
	"time"
)

// Event is one event of a run, named after AG-UI's where AG-UI has one (A1). The set is sealed;
// switches over it are exhaustive. Everything merges by id: message ids, tool call ids and
// subagent run ids (P10), never by order.
//
//sumtype:decl
type Event interface {
	// Area is the subagent run id that the event belongs to; "" is the run itself.
	Area() string
	isEvent()
}

// Sub is embedded by events that can come from a subagent.
type Sub struct {
	Subagent string `json:"subagent,omitempty"`
}

// Area is what Event.Area returns.
func (s Sub) Area() string { return s.Subagent }

// top is embedded by events that belong to the whole run.
type top struct{}

func (top) Area() string { return "" }

// The events. The comment names the AG-UI type; "ours" marks what AG-UI lacks.
type (
	// RunStarted is RUN_STARTED; the normaliser makes it.
	RunStarted struct {
		top
		RunID string `json:"runId"`
	}
	// RunFinished is RUN_FINISHED, terminal; the normaliser makes it.
	RunFinished struct {
		top
		RunID   string  `json:"runId"`
		Outcome Outcome `json:"outcome"`
	}
	// RunError is RUN_ERROR, terminal; the normaliser makes it.
	RunError struct {
		top
		RunID   string  `json:"runId"`
		Failure Failure `json:"failure"`
	}
	// ModelRequest is ours: a call of the model begins. ID names it; what it yields carries it as Request.
	ModelRequest struct {
		Sub
		ID string `json:"id"`
	}
	// StepStarted is STEP_STARTED.
	StepStarted struct {
		Sub
		Name string `json:"name"`
	}
	// StepFinished is STEP_FINISHED.
	StepFinished struct {
		Sub
		Name string `json:"name"`
	}
	// ReasoningStarted is REASONING_MESSAGE_START: a thinking block begins. A block without text
	// is legal.
	ReasoningStarted struct {
		Sub
		ID      string `json:"id"`
		Request string `json:"request,omitempty"`
	}
	// ReasoningContent is REASONING_MESSAGE_CONTENT.
	ReasoningContent struct {
		Sub
		ID    string `json:"id"`
		Delta string `json:"delta"`
	}
	// ReasoningEnded is REASONING_MESSAGE_END. Signature is what the model's API wants back.
	ReasoningEnded struct {
		Sub
		ID         string `json:"id"`
		Signature  string `json:"signature,omitempty"`
		Incomplete bool   `json:"incomplete,omitempty"` // the run ended first
	}
	// TextStarted is TEXT_MESSAGE_START.
	TextStarted struct {
		Sub
		ID      string `json:"id"`
		Request string `json:"request,omitempty"`
	}
	// TextContent is TEXT_MESSAGE_CONTENT.
	TextContent struct {
		Sub
		ID    string `json:"id"`
		Delta string `json:"delta"`
	}
	// TextEnded is TEXT_MESSAGE_END.
	TextEnded struct {
		Sub
		ID         string `json:"id"`
		Incomplete bool   `json:"incomplete,omitempty"`
		Silent     bool   `json:"silent,omitempty"` // ours: it was a silent token and shows nowhere (T5)
	}
	// ToolCallStarted is TOOL_CALL_START: the model begins to write a call.
	ToolCallStarted struct {
		Sub
		ID      string `json:"id"`
		Request string `json:"request,omitempty"`
		Name    string `json:"name"`
		Title   string `json:"title,omitempty"` // for people, where the tool has one
	}
	// ToolCallArgs is TOOL_CALL_ARGS: a piece of the arguments' JSON text.
	ToolCallArgs struct {
		Sub
		ID    string `json:"id"`
		Delta string `json:"delta"`
	}
	// ToolCallEnded is TOOL_CALL_END: the arguments are complete and the call begins to execute
	// (the execution activity of T1). Backends send it when execution begins, not earlier.
	ToolCallEnded struct {
		Sub
		ID string `json:"id"`
	}
	// ToolCallResult is TOOL_CALL_RESULT. Incomplete: the run ended before a result came.
	ToolCallResult struct {
		Sub
		ID         string `json:"id"`
		Content    string `json:"content"`
		IsError    bool   `json:"isError,omitempty"`
		Incomplete bool   `json:"incomplete,omitempty"`
	}
	// SubagentStarted is SUBAGENT_STARTED. Subagent (Sub) is the new subagent's run id.
	SubagentStarted struct {
		Sub
		Name     string `json:"name"`
		Parent   string `json:"parent,omitempty"`   // the area that started it
		ToolCall string `json:"toolCall,omitempty"` // the call that started it
	}
	// SubagentFinished is SUBAGENT_FINISHED.
	SubagentFinished struct {
		Sub
		IsError    bool `json:"isError,omitempty"`
		Incomplete bool `json:"incomplete,omitempty"`
	}
	// ApprovalRequested is ours: the call waits for a person (A4).
	ApprovalRequested struct {
		Sub
		Approval Approval `json:"approval"`
	}
	// ApprovalResolved is ours. Option is the chosen option's id; "" when nobody decided.
	ApprovalResolved struct {
		Sub
		ID     string `json:"id"`
		Option string `json:"option,omitempty"`
	}
	// Retrying is ours: a model request failed and is sent again after Wait (S3).
	Retrying struct {
		Sub
		Kind FailureKind   `json:"kind"`
		Wait time.Duration `json:"wait"`
	}
	// Usage is ours: tokens used by one model request. Never shown (P6), only measured.
	Usage struct {
		Sub
		Request string `json:"request,omitempty"`
		Input   int64  `json:"input"`
		Output  int64  `json:"output"`
	}
	// FileProduced is ours: a file for the chat (C7).
	FileProduced struct {
		Sub
		Name string `json:"name"`
		MIME string `json:"mime,omitempty"`
		Data []byte `json:"data"`
	}
)

// The set of events. Each says so itself: what they embed is no event.
func (RunStarted) isEvent()        {}
func (RunFinished) isEvent()       {}
func (RunError) isEvent()          {}
func (ModelRequest) isEvent()      {}
func (StepStarted) isEvent()       {}
func (StepFinished) isEvent()      {}
func (ReasoningStarted) isEvent()  {}
func (ReasoningContent) isEvent()  {}
func (ReasoningEnded) isEvent()    {}
func (TextStarted) isEvent()       {}
func (TextContent) isEvent()       {}
func (TextEnded) isEvent()         {}
func (ToolCallStarted) isEvent()   {}
func (ToolCallArgs) isEvent()      {}
func (ToolCallEnded) isEvent()     {}
func (ToolCallResult) isEvent()    {}
func (SubagentStarted) isEvent()   {}
func (SubagentFinished) isEvent()  {}
func (ApprovalRequested) isEvent() {}
func (ApprovalResolved) isEvent()  {}
func (Retrying) isEvent()          {}
func (Usage) isEvent()             {}
func (FileProduced) isEvent()      {}

// Outcome is how a run ended that did not fail.
type Outcome string

// The outcomes.
const (
	Success   Outcome = "success"
	Interrupt Outcome = "interrupt" // shutdown or crash (S9, C5)
	Cancelled Outcome = "cancelled" // stopped by a person (S2)
)

// Approval asks a person to decide about a tool call (A4).
type Approval struct {
	ID       string   `json:"id"`
	ToolCall string   `json:"toolCall,omitempty"`
	Title    string   `json:"title"`            // what is to be allowed, one line
	Detail   string   `json:"detail,omitempty"` // all of it, such as the call's arguments; masked
	Options  []Option `json:"options"`
}

// Option is one choice of an approval. Allow tells allowing options from refusing ones.
type Option struct {
	ID    string `json:"id"`
	Name  string `json:"name"` // the agent's own words; "" = Approve or Deny in the chat's language
	Allow bool   `json:"allow"`
}

// Terminal reports whether ev ends a run.
func Terminal(ev Event) bool {
	switch ev.(type) {
	case RunFinished, RunError:
		return true
	default:
		return false
	}
}

// ToolArgs is a tool call's arguments as the model wrote them.
type ToolArgs = json.RawMessage
