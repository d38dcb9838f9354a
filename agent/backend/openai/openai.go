// Package openai talks to servers that offer OpenAI's chat completions: OpenAI, Ollama, llama.cpp,
// vLLM, OpenRouter and the many alike (A2).
package openai

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync/atomic"

	"typist/agent/backend/loop"
	"typist/agent/backend/sse"
)

// Config names a server and a model.
type Config struct {
	BaseURL   string // up to and with its version: http://127.0.0.1:11434/v1; "" = OpenAI's own
	APIKey    string // "" = none
	Model     string
	Reasoning string            // effort where a request names none; "" = the model's default (A6)
	MaxTokens int               // of one answer; 0 = the server's default
	Headers   map[string]string // added to every request
	// HTTPClient replaces sse.NewClient's; it must have no Timeout, which would cut long answers.
	HTTPClient *http.Client
}

// Backend is an agent.Backend, Steerer and Prober. Use New.
type Backend struct {
	*loop.Loop
	model *model
}

// New makes a backend. It opens no connection.
func New(c Config) *Backend {
	if c.HTTPClient == nil {
		c.HTTPClient = sse.NewClient()
	}
	c.BaseURL = strings.TrimRight(cmp.Or(c.BaseURL, "https://api.openai.com/v1"), "/")
	m := &model{config: c, header: http.Header{}}
	if c.APIKey != "" {
		m.header.Set("Authorization", "Bearer "+c.APIKey)
	}
	for name, value := range c.Headers {
		m.header.Set(name, value)
	}
	return &Backend{Loop: loop.New(m), model: m}
}

// model is the loop.Model of a Backend.
type model struct {
	config  Config
	header  http.Header
	refused atomic.Uint32 // optional parameters that the server does not know
}

// Stream implements loop.Model.
func (m *model) Stream(ctx context.Context, req loop.ModelRequest, out *loop.Writer) error {
	refused := option(m.refused.Load())
	for {
		body, err := m.body(req, refused)
		if err != nil {
			return err
		}
		stream, err := sse.Post(ctx, m.config.HTTPClient, m.config.BaseURL+"/chat/completions", m.header, body)
		if err != nil {
			culprit := blame(err, used(body, refused))
			if culprit == 0 {
				return err
			}
			refused |= culprit
			continue
		}
		m.refused.Store(uint32(refused)) // it was accepted without them
		return read(stream, out)
	}
}
