// Package anthropic talks to Anthropic's Messages API, and to servers that offer the same (A2).
package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"typist/agent"
	"typist/agent/backend/loop"
	"typist/agent/backend/sse"
)

// version is the API version of every request.
const version = "2023-06-01"

// Config names a server and a model.
type Config struct {
	BaseURL   string // with or without its version; "" = Anthropic's own
	APIKey    string
	Model     string
	Reasoning string            // effort where a request names none: low, medium, high, max; "" or none = no thinking (A6)
	MaxTokens int               // of one answer; 0 = 8192, which all current models take
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
	c.MaxTokens = cmp.Or(c.MaxTokens, 8192)
	c.BaseURL = strings.TrimRight(cmp.Or(c.BaseURL, "https://api.anthropic.com"), "/")
	if !strings.HasSuffix(c.BaseURL, "/v1") {
		c.BaseURL += "/v1"
	}
	m := &model{config: c, header: http.Header{"Anthropic-Version": {version}}}
	if c.APIKey != "" {
		m.header.Set("X-Api-Key", c.APIKey)
	}
	for name, value := range c.Headers {
		m.header.Set(name, value)
	}
	return &Backend{Loop: loop.New(m), model: m}
}

// model is the loop.Model of a Backend.
type model struct {
	config   Config
	header   http.Header
	thinking atomic.Uint32 // the newest way of thinking that the model has not refused
}

// Stream implements loop.Model.
func (m *model) Stream(ctx context.Context, req loop.ModelRequest, out *loop.Writer) error {
	way := thinkingWay(m.thinking.Load())
	for {
		body, thinks, err := m.body(req, way)
		if err != nil {
			return err
		}
		stream, err := sse.Post(ctx, m.config.HTTPClient, m.config.BaseURL+"/messages", m.header, body)
		if err != nil {
			if !thinks || !blamesThinking(err) {
				return err
			}
			way++
			continue
		}
		if thinks || way == without {
			m.thinking.Store(uint32(way)) // it was accepted
		}
		return read(stream, out)
	}
}

// Probe implements agent.Prober: it asks about the model.
func (b *Backend) Probe(ctx context.Context) (string, error) {
	c := b.model.config
	data, err := sse.Get(ctx, c.HTTPClient, c.BaseURL+"/models/"+url.PathEscape(c.Model), b.model.header)
	if err != nil {
		if f := agent.Classify(err); f != nil {
			return "", f
		}
		return "", err
	}
	var about struct {
		Name string `json:"display_name"`
	}
	if err := json.Unmarshal(data, &about); err != nil {
		return "", &agent.ProtocolError{Detail: "what it says about the model is no JSON; is the base URL right?", Err: err}
	}
	found := cmp.Or(about.Name, c.Model)
	if c.APIKey == "" {
		return found + "; no key set, none asked for", nil
	}
	return found + "; key accepted", nil
}
