package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// model is a small chat completions server that keeps what it was asked.
type model struct {
	url string

	mu       sync.Mutex
	asked    []request
	troubled map[string]bool // questions that came before
}

// request is what a model was asked, as far as the tests look at it.
type request struct {
	Messages []struct {
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"` // a string, or parts
		ToolCalls []struct {
			Function struct{ Name, Arguments string } `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Function struct{ Name string } `json:"function"`
	} `json:"tools"`
}

// String is the conversation.
func (r request) String() string {
	var b strings.Builder
	for i := range r.Messages {
		b.WriteString(r.message(i) + "\n")
	}
	return b.String()
}

func (r request) last() string { return r.message(len(r.Messages) - 1) }

func (r request) message(i int) string {
	m := r.Messages[i]
	var text string
	if json.Unmarshal(m.Content, &text) != nil {
		text = string(m.Content)
	}
	out := m.Role + ": " + text
	for _, c := range m.ToolCalls {
		out += fmt.Sprintf(" [%s %s]", c.Function.Name, c.Function.Arguments)
	}
	return out
}

// startModel serves until the test ends. To a question with "remove PATH" it calls the first tool, and
// one with "slow" is answered slowly. "limited", "dropped", "locked" and "endless" are failures; the first two
// pass.
func startModel(t *testing.T) *model {
	m := &model{troubled: map[string]bool{}}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	m.url = server.URL
	return m
}

// backend configures the model as "main".
func (m *model) backend(more string) string {
	return fmt.Sprintf("  main: {type: openai, baseURL: %q, model: tiny, apiKey: sk-e2e-0123456789abcdefghij%s}", m.url+"/v1", more)
}

// requests is what was asked so far.
func (m *model) requests() []request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]request(nil), m.asked...)
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var req request
	if err != nil || json.Unmarshal(body, &req) != nil || len(req.Messages) == 0 {
		http.Error(w, `{"error":{"message":"no request"}}`, http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	m.asked = append(m.asked, req)
	n := len(m.asked)
	last := req.last()
	first := !m.troubled[last]
	m.troubled[last] = true
	m.mu.Unlock()
	switch {
	case strings.Contains(last, "limited") && first:
		w.Header().Set("Retry-After", "2")
		http.Error(w, `{"error":{"message":"too many requests","type":"rate_limit"}}`, http.StatusTooManyRequests)
		return
	case strings.Contains(last, "endless"):
		http.Error(w, `{"error":{"message":"This model's maximum context length is 4096 tokens.","code":"context_length_exceeded"}}`, http.StatusBadRequest)
		return
	case strings.Contains(last, "locked"):
		http.Error(w, `{"error":{"message":"Incorrect API key provided: sk-e2e-0123456789abcdefghij"}}`, http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta any, finish string) {
		choice := map[string]any{"index": 0, "delta": delta}
		if finish != "" {
			choice["finish_reason"] = finish
		}
		data, _ := json.Marshal(map[string]any{"id": "c", "object": "chat.completion.chunk", "choices": []any{choice}})
		fmt.Fprintf(w, "data: %s\n\n", data)
		_ = http.NewResponseController(w).Flush() // an error means that the caller has gone
	}
	if strings.Contains(last, "dropped") && first {
		send(map[string]any{"content": "This half must not be "}, "")
		panic(http.ErrAbortHandler) // the connection breaks
	}
	_, path, remove := strings.Cut(last, "remove ")
	if remove && strings.HasPrefix(last, "user:") && len(req.Tools) > 0 {
		args, _ := json.Marshal(map[string]string{"path": path})
		send(map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"index": 0, "id": fmt.Sprintf("call%d", n), "type": "function",
			"function": map[string]any{"name": req.Tools[0].Function.Name, "arguments": string(args)}}}}, "")
		send(map[string]any{}, "tool_calls")
	} else {
		if strings.Contains(last, "slow") {
			for range 10 {
				send(map[string]any{"content": "word "}, "")
				select {
				case <-time.After(150 * time.Millisecond):
				case <-r.Context().Done():
					return
				}
			}
		}
		send(map[string]any{"role": "assistant", "content": fmt.Sprintf("Answer %d.", n)}, "")
		send(map[string]any{}, "stop")
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}
