package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"typist/agent"
	"typist/agent/backend/loop"
)

// option is a set of parameters that some servers refuse.
type option uint32

const (
	usage           option = 1 << iota // stream_options
	effort                             // reasoning_effort
	maxTokens                          // max_tokens: OpenAI's newer models want max_completion_tokens
	maxCompletion                      // max_completion_tokens
	returnedThought                    // reasoning sent back with the calls it led to
)

// words are what a refusal of an option says.
var words = []struct {
	option option
	words  []string
}{
	{usage, []string{"stream_options", "include_usage"}},
	{effort, []string{"reasoning_effort"}},
	{maxTokens, []string{"max_tokens"}},
	{maxCompletion, []string{"max_completion_tokens"}},
	{returnedThought, []string{"reasoning_content", "reasoning_details", "'reasoning'", `"reasoning"`, "extra_content"}},
}

type request struct {
	Model         string         `json:"model"`
	Messages      []message      `json:"messages"`
	Stream        bool           `json:"stream"`
	StreamOptions *streamOptions `json:"stream_options,omitempty"`
	Tools         []tool         `json:"tools,omitempty"`
	Effort        string         `json:"reasoning_effort,omitempty"`
	MaxTokens     int            `json:"max_tokens,omitempty"`
	MaxCompletion int            `json:"max_completion_tokens,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type message struct {
	Role       string     `json:"role"`
	Content    any        `json:"content"` // string, []contentPart, or nil beside tool calls
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	// What came with the calls, given back as it came.
	ReasoningContent string          `json:"reasoning_content,omitempty"`
	Reasoning        string          `json:"reasoning,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
}

type contentPart struct {
	Type  string    `json:"type"`
	Text  string    `json:"text,omitempty"`
	Image *imageURL `json:"image_url,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type toolCall struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Function calledFunction  `json:"function"`
	Extra    json.RawMessage `json:"extra_content,omitempty"` // Gemini's signature
}

type calledFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// body writes a request without the options that the server refused.
func (m *model) body(req loop.ModelRequest, refused option) ([]byte, error) {
	r := request{Model: m.config.Model, Stream: true, Effort: req.Reasoning}
	if r.Effort == "" {
		r.Effort = m.config.Reasoning
	}
	if refused&effort != 0 {
		r.Effort = ""
	}
	if refused&usage == 0 {
		r.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	switch {
	case refused&maxTokens == 0:
		r.MaxTokens = m.config.MaxTokens
	case refused&maxCompletion == 0:
		r.MaxCompletion = m.config.MaxTokens
	}
	for _, t := range req.Tools {
		r.Tools = append(r.Tools, tool{Type: "function", Function: function{Name: t.Name, Description: t.Description, Parameters: t.InputSchema}})
	}
	if req.System != "" {
		r.Messages = append(r.Messages, message{Role: "system", Content: req.System})
	}
	turn := currentTurn(req.Messages)
	for i, msg := range req.Messages {
		for _, next := range convert(msg, i > turn && refused&returnedThought == 0) {
			r.Messages = alternate(r.Messages, next)
		}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(r)
	return buf.Bytes(), err
}

// currentTurn is the index of the last user message: thoughts are given back only after it.
func currentTurn(messages []agent.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == agent.User {
			return i
		}
	}
	return -1
}

// convert writes one message of the history; results of several calls are several messages.
func convert(m agent.Message, thoughts bool) []message {
	switch m.Role {
	case agent.Assistant:
		return []message{assistant(m, thoughts)}
	case agent.ToolRole:
		var out []message
		for _, p := range m.Blocks {
			content := p.Text
			if p.IsError {
				content = "Error: " + content
			}
			out = append(out, message{Role: "tool", ToolCallID: loop.ModelID(p.ID), Content: content})
		}
		return out
	default:
		return []message{{Role: "user", Content: userContent(m.Blocks)}}
	}
}

// userContent is a plain string where there is no image: small servers know nothing else.
func userContent(blocks []agent.Part) any {
	var parts []contentPart
	images := false
	for _, p := range blocks {
		switch {
		case p.Kind == agent.PartText:
			parts = append(parts, contentPart{Type: "text", Text: p.Text})
		case p.Kind == agent.PartFile && strings.HasPrefix(p.MIME, "image/"):
			images = true
			parts = append(parts, contentPart{Type: "image_url", Image: &imageURL{URL: "data:" + p.MIME + ";base64," + base64.StdEncoding.EncodeToString(p.Data)}})
		case p.Kind == agent.PartFile:
			parts = append(parts, contentPart{Type: "text", Text: loop.InlineFile(p)})
		}
	}
	if images {
		return parts
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n\n")
}

func assistant(m agent.Message, thoughts bool) message {
	out := message{Role: "assistant"}
	var texts []string
	for _, p := range m.Blocks {
		switch p.Kind {
		case agent.PartText:
			texts = append(texts, p.Text)
		case agent.PartToolCall:
			call := toolCall{ID: loop.ModelID(p.ID), Type: "function", Function: calledFunction{Name: p.Name, Arguments: string(p.Args)}}
			if p.Args == nil {
				call.Function.Arguments = "{}"
			}
			if sig, ok := readSignature(p.Signature); ok && thoughts {
				call.Extra = sig.Value
			}
			out.ToolCalls = append(out.ToolCalls, call)
		case agent.PartReasoning:
			if sig, ok := readSignature(p.Signature); ok && thoughts {
				out.giveBack(sig, p.Text)
			}
		case agent.PartFile, agent.PartResult, agent.PartSubagent:
		}
	}
	if len(texts) > 0 || len(out.ToolCalls) == 0 {
		out.Content = strings.Join(texts, "\n\n")
	}
	if len(out.ToolCalls) == 0 { // only calls need the thoughts that led to them
		out.Reasoning, out.ReasoningContent, out.ReasoningDetails = "", "", nil
	}
	return out
}

func (m *message) giveBack(sig signature, text string) {
	switch sig.Field {
	case "reasoning_content":
		m.ReasoningContent += text
	case "reasoning":
		m.Reasoning += text
	case "reasoning_details":
		m.ReasoningDetails = sig.Value
	}
}

// signature is what a thought or a call is kept with, so that it can be given back in the field
// it came in.
type signature struct {
	Field string          `json:"field"`
	Value json.RawMessage `json:"value,omitempty"`
}

func (s signature) String() string {
	b, err := json.Marshal(s)
	if err != nil { // Value is no JSON: it can't be given back
		return ""
	}
	return string(b)
}

// readSignature reads what String wrote; another API's signature is none of ours.
func readSignature(s string) (signature, bool) {
	var sig signature
	return sig, s != "" && json.Unmarshal([]byte(s), &sig) == nil && sig.Field != ""
}

// used are the options that a request made use of.
func used(body []byte, refused option) option {
	var have option
	for _, o := range []struct {
		option option
		member string
	}{{usage, `"stream_options":`}, {effort, `"reasoning_effort":`}, {maxTokens, `"max_tokens":`}, {maxCompletion, `"max_completion_tokens":`},
		{returnedThought, `"reasoning_content":`}, {returnedThought, `"reasoning":`}, {returnedThought, `"reasoning_details":`}, {returnedThought, `"extra_content":`}} {
		if refused&o.option == 0 && bytes.Contains(body, []byte(o.member)) {
			have |= o.option
		}
	}
	return have
}

// blame finds the option that made a server refuse a request: the one that its words name, or the
// one that most servers stumble over. 0: none of them.
func blame(err error, have option) option {
	var refusal *agent.HTTPError
	if !errors.As(err, &refusal) || refusal.Status != http.StatusBadRequest && refusal.Status != http.StatusUnprocessableEntity {
		return 0
	}
	for _, w := range words {
		for _, word := range w.words {
			if have&w.option != 0 && bytes.Contains(refusal.Body, []byte(word)) {
				return w.option
			}
		}
	}
	if f := agent.Classify(err); f.Kind == agent.Invalid {
		return have & usage
	}
	return 0
}
