package agui

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"typist/agent"
	"typist/agent/backend/loop"
)

// protocolVersion is the version of AG-UI that is spoken here.
const protocolVersion = "1.0"

// mark begins the signature of a thought that the agent wants back: the id of its message and a
// provider's artefact follow. None of another backend's is sent to it.
const mark = "agui:"

// input is a RunAgentInput. No list is left out: older servers want all of them.
type input struct {
	ThreadID        string          `json:"threadId"`
	RunID           string          `json:"runId"`
	ProtocolVersion string          `json:"protocolVersion"`
	State           json.RawMessage `json:"state"`
	Messages        []message       `json:"messages"`
	Tools           []tool          `json:"tools"`
	Context         []struct{}      `json:"context"`
	ForwardedProps  struct{}        `json:"forwardedProps"`
	Resume          []resumeEntry   `json:"resume,omitempty"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type message struct {
	ID             string     `json:"id"`
	Role           string     `json:"role"`
	Content        any        `json:"content,omitempty"` // string or []part
	ToolCalls      []toolCall `json:"toolCalls,omitempty"`
	ToolCallID     string     `json:"toolCallId,omitempty"`
	Error          string     `json:"error,omitempty"`
	EncryptedValue string     `json:"encryptedValue,omitempty"`
}

type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type part struct {
	Type   string  `json:"type"`
	Text   string  `json:"text,omitempty"`
	Source *source `json:"source,omitempty"`
}

type source struct {
	Type  string `json:"type"`
	Value string `json:"value"`
	MIME  string `json:"mimeType"`
}

func newInput(req agent.Request) *input {
	in := &input{ThreadID: thread(req), RunID: req.RunID, ProtocolVersion: protocolVersion, Tools: []tool{}, Context: []struct{}{}}
	if req.System != "" {
		in.Messages = append(in.Messages, message{ID: "system", Role: "system", Content: req.System})
	}
	for i, m := range loop.Prepare(req.History) {
		in.Messages = append(in.Messages, convert(m, fmt.Sprintf("m%d", i+1))...)
	}
	return in
}

// thread names the conversation: what a new one or another beginning is to the agent is another
// thread. The chat's own id is nothing that a remote agent needs to know.
func thread(req agent.Request) string {
	h := sha256.New()
	h.Write([]byte(req.Session))
	if len(req.History) > 0 {
		_ = json.NewEncoder(h).Encode(req.History[0]) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (in *input) offer(tools []agent.Tool) {
	for _, t := range tools {
		in.Tools = append(in.Tools, tool{Name: t.Name, Description: t.Description, Parameters: t.InputSchema})
	}
}

func (in *input) encode() ([]byte, error) {
	if in.State == nil {
		in.State = json.RawMessage("{}")
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(in)
	return buf.Bytes(), err
}

// convert writes a message of the history; id is for one that has none of its own.
func convert(m agent.Message, id string) []message {
	switch m.Role {
	case agent.Assistant:
		return assistant(m, id)
	case agent.ToolRole:
		return toolMessages(m)
	default:
		return []message{{ID: id, Role: "user", Content: userContent(m.Blocks)}}
	}
}

// userContent is a plain string where there is no image: small agents know nothing else.
func userContent(blocks []agent.Part) any {
	var parts []part
	var texts []string
	for _, p := range blocks {
		switch {
		case p.Kind == agent.PartText:
			parts = append(parts, part{Type: "text", Text: p.Text})
			texts = append(texts, p.Text)
		case p.Kind == agent.PartFile && strings.HasPrefix(p.MIME, "image/"):
			parts = append(parts, part{Type: "image", Source: &source{Type: "data", Value: base64.StdEncoding.EncodeToString(p.Data), MIME: p.MIME}})
		case p.Kind == agent.PartFile:
			parts = append(parts, part{Type: "text", Text: loop.InlineFile(p)})
			texts = append(texts, loop.InlineFile(p))
		}
	}
	if len(texts) == len(parts) {
		return strings.Join(texts, "\n\n")
	}
	return parts
}

// assistant writes the agent's own message, and its thoughts where they carry what it wants back.
func assistant(m agent.Message, id string) []message {
	var out []message
	own := message{Role: "assistant"}
	var texts []string
	for _, p := range m.Blocks {
		switch p.Kind {
		case agent.PartText:
			texts = append(texts, p.Text)
			if own.ID == "" {
				own.ID = p.ID
			}
		case agent.PartToolCall:
			call := toolCall{ID: p.ID, Type: "function", Function: function{Name: p.Name, Arguments: string(p.Args)}}
			own.ToolCalls = append(own.ToolCalls, call)
		case agent.PartReasoning:
			if kept, ok := strings.CutPrefix(p.Signature, mark); ok {
				id, value, _ := strings.Cut(kept, "\n")
				out = append(out, message{ID: id, Role: "reasoning", Content: p.Text, EncryptedValue: value})
			}
		case agent.PartFile, agent.PartResult, agent.PartSubagent:
		}
	}
	if own.ID == "" {
		own.ID = id
	}
	if len(texts) > 0 {
		own.Content = strings.Join(texts, "\n\n")
	}
	return append(out, own)
}

// toolMessages writes the results of calls, each as a message of its own.
func toolMessages(m agent.Message) []message {
	var out []message
	for _, p := range m.Blocks {
		t := message{ID: "result-" + p.ID, Role: "tool", Content: p.Text, ToolCallID: p.ID}
		if p.IsError {
			t.Error = p.Text
		}
		out = append(out, t)
	}
	return out
}
