package anthropic

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"typist/agent"
	"typist/agent/backend/loop"
)

// thinkingWay is how a model is asked to think; which ways it knows depends on its age.
type thinkingWay uint32

const (
	adaptive thinkingWay = iota // since Claude 4.6, the only one since 4.7
	budgeted                    // until 4.6
	without
)

// budgets are the tokens of thought for an effort, for models that want a number.
var budgets = map[string]int{"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 24576, "max": 32768}

type request struct {
	Model     string        `json:"model"`
	MaxTokens int           `json:"max_tokens"`
	System    string        `json:"system,omitempty"`
	Messages  []message     `json:"messages"`
	Tools     []tool        `json:"tools,omitempty"`
	Thinking  *thinking     `json:"thinking,omitempty"`
	Output    *outputConfig `json:"output_config,omitempty"`
	Stream    bool          `json:"stream"`
}

type thinking struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens,omitempty"`
	Display string `json:"display,omitempty"` // newer models tell nothing of their thoughts unless asked
}

type outputConfig struct {
	Effort string `json:"effort"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"` // may be empty beside its signature
	Signature string          `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"` // redacted_thinking
	Source    *source         `json:"source,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

// body writes a request; thinks says whether it asks for thinking, in the given way or by giving
// thoughts back.
func (m *model) body(req loop.ModelRequest, way thinkingWay) (body []byte, thinks bool, err error) {
	r := request{Model: m.config.Model, MaxTokens: m.config.MaxTokens, System: req.System, Stream: true}
	effort := req.Reasoning
	if effort == "" {
		effort = m.config.Reasoning
	}
	if effort != "" && effort != "none" && effort != "off" && way != without {
		thinks = true
		r.think(effort, way)
	}
	for _, t := range req.Tools {
		r.Tools = append(r.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema})
	}
	turn := len(req.Messages) - 1
	for turn >= 0 && req.Messages[turn].Role != agent.User {
		turn--
	}
	for i, msg := range req.Messages {
		next := convert(msg, i > turn && way != without)
		thinks = thinks || slices.ContainsFunc(next.Content, func(b block) bool { return b.Type == "thinking" || b.Type == "redacted_thinking" })
		r.Messages = alternate(r.Messages, next)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err = enc.Encode(r)
	return buf.Bytes(), thinks, err
}

func (r *request) think(effort string, way thinkingWay) {
	if way == adaptive {
		r.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
		r.Output = &outputConfig{Effort: effort}
		return
	}
	budget, ok := budgets[effort]
	if !ok {
		budget = budgets["medium"]
	}
	r.Thinking = &thinking{Type: "enabled", Budget: budget}
	r.MaxTokens += budget // the API counts the thoughts too
}

// blamesThinking reports whether a request was refused for the way it asks for thinking.
func blamesThinking(err error) bool {
	var refusal *agent.HTTPError
	if !errors.As(err, &refusal) || refusal.Status != http.StatusBadRequest {
		return false
	}
	return slices.ContainsFunc([]string{"thinking", "output_config", "effort", "adaptive", "max_tokens"}, func(word string) bool {
		return bytes.Contains(refusal.Body, []byte(word))
	})
}

// convert writes one message of the history. Thoughts are given back only in the turn they belong
// to.
func convert(m agent.Message, thoughts bool) message {
	out := message{Role: "user"}
	if m.Role == agent.Assistant {
		out.Role = "assistant"
	}
	add := func(b block) { out.Content = append(out.Content, b) }
	for _, p := range m.Blocks {
		switch p.Kind {
		case agent.PartText:
			if strings.TrimSpace(p.Text) != "" { // the API refuses empty texts
				add(block{Type: "text", Text: p.Text})
			}
		case agent.PartReasoning:
			if b, ok := thought(p); ok && thoughts {
				add(b)
			}
		case agent.PartToolCall:
			input := json.RawMessage(p.Args)
			if input == nil {
				input = json.RawMessage("{}")
			}
			add(block{Type: "tool_use", ID: useID(p.ID), Name: p.Name, Input: input})
		case agent.PartResult:
			add(block{Type: "tool_result", ToolUseID: useID(p.ID), Content: p.Text, IsError: p.IsError})
		case agent.PartFile:
			add(file(p))
		case agent.PartSubagent:
		}
	}
	return out
}

// redactedMark stands before what a thought holds that the API has encrypted.
const redactedMark = "redacted:"

// thought gives a thought back, unless another API made it.
func thought(p agent.Part) (block, bool) {
	switch data, redacted := strings.CutPrefix(p.Signature, redactedMark); {
	case redacted:
		return block{Type: "redacted_thinking", Data: data}, true
	case p.Signature == "" || strings.HasPrefix(p.Signature, "{"):
		return block{}, false
	}
	return block{Type: "thinking", Thinking: &p.Text, Signature: p.Signature}, true
}

// file writes an image, or a text file as text.
func file(p agent.Part) block {
	switch p.MIME {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return block{Type: "image", Source: &source{Type: "base64", MediaType: p.MIME, Data: base64.StdEncoding.EncodeToString(p.Data)}}
	}
	if strings.HasPrefix(p.MIME, "image/") {
		return block{Type: "text", Text: "[The image " + p.Name + " is " + p.MIME + ", which you can't see.]"}
	}
	return block{Type: "text", Text: loop.InlineFile(p)}
}

// useID is a call's id in the letters that the API takes.
func useID(id string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, loop.ModelID(id))
}
