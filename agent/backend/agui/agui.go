// Package agui runs remote agents that speak AG-UI over HTTP and server-sent events (A2):
// https://docs.ag-ui.com/spec.
//
// One of our runs can be several of theirs: the protocol has no way back within a run, so a call
// of one of our tools, and a question to people, end theirs, and the answer begins the next.
package agui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"typist/agent"
	"typist/agent/backend/loop"
	"typist/agent/backend/sse"
)

const (
	// maxRounds bounds the agent's runs in one of ours.
	maxRounds = 200
	// cancelTime bounds the call of the cancel endpoint: a stop takes less than 5 s (S2).
	cancelTime = 4 * time.Second
)

// Config names an agent's endpoint.
type Config struct {
	URL string // takes a RunAgentInput by POST
	// CancelURL is called when a run is stopped: POST with {"threadId","runId"}. {threadId} and
	// {runId} in it are replaced. "" = closing the stream has to do; the protocol has nothing else.
	CancelURL string
	Headers   map[string]string // added to every request
	// HTTPClient replaces sse.NewClient's; it must have no Timeout, which would cut long runs.
	HTTPClient *http.Client
	Log        *slog.Logger // nil: nothing is logged
}

// Backend is an agent.Backend and Prober. Use New.
type Backend struct {
	config Config
	header http.Header

	mu   sync.Mutex
	open map[string][]interrupt // questions that wait for a message of the person, by thread
}

// New makes a backend. It opens no connection.
func New(c Config) *Backend {
	if c.HTTPClient == nil {
		c.HTTPClient = sse.NewClient()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	b := &Backend{config: c, header: http.Header{}, open: map[string][]interrupt{}}
	for name, value := range c.Headers {
		b.header.Set(name, value)
	}
	return b
}

// Run implements agent.Backend. A stop closes the stream and calls the cancel endpoint (S2).
func (b *Backend) Run(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
	in := newInput(req)
	tools := map[string]agent.Tool{}
	if req.Tools != nil {
		list, err := req.Tools.List(ctx)
		if err != nil {
			return fmt.Errorf("list the tools: %w", err)
		}
		in.offer(list)
		for _, t := range list {
			tools[t.Name] = t
		}
	}
	in.Resume = b.answers(in.ThreadID, req.History)
	said := false
	for n := range maxRounds {
		if n > 0 {
			in.RunID = fmt.Sprintf("%s-%d", req.RunID, n+1)
		}
		r, err := b.round(ctx, in, tools, emit)
		if err != nil {
			return err
		}
		said = said || r.said()
		calls := r.pending(tools)
		if len(calls) == 0 && len(r.interrupts) == 0 {
			return r.ending(said)
		}
		in.Messages = append(in.Messages, r.messages()...)
		in.State, in.Resume = r.state, nil
		if len(calls) > 0 {
			results, err := loop.Execute(ctx, req.Tools, calls, within(calls, emit))
			if err != nil {
				return err
			}
			in.Messages = append(in.Messages, toolMessages(results)...)
		}
		if len(r.interrupts) > 0 {
			resume, ok, err := b.decide(ctx, req, r)
			if err != nil {
				return err
			}
			if !ok { // the person answers with the next message
				b.wait(in.ThreadID, r.interrupts)
				return r.asked(emit)
			}
			in.Resume = resume
		}
	}
	return &agent.Failure{Kind: agent.Malformed, Detail: fmt.Sprintf("the agent asked for tools in %d runs in a row", maxRounds)}
}

// round is one run of the agent's. Only what never began is silently sent again: what a run did
// before it was cut is not known.
func (b *Backend) round(ctx context.Context, in *input, tools map[string]agent.Tool, emit func(agent.Event)) (*translator, error) {
	body, err := in.encode()
	if err != nil {
		return nil, err
	}
	emit(agent.ModelRequest{ID: in.RunID})
	for try := 1; ; try++ {
		stream, err := sse.Post(ctx, b.config.HTTPClient, b.config.URL, b.header, body)
		if err == nil {
			t := newTranslator(in.RunID, tools, emit)
			err = stream.Read(t.step)
			if errors.Is(err, io.ErrUnexpectedEOF) && t.closed {
				err = nil // a server that has another name for the run
			}
			if err == nil {
				t.flush()
				return t, t.failure
			}
			if ctx.Err() != nil {
				b.cancel(ctx, in)
			}
			return nil, err
		}
		f := agent.Classify(err)
		switch {
		case ctx.Err() != nil:
			b.cancel(ctx, in) // it may have begun
			return nil, ctx.Err()
		case f == nil:
			return nil, err
		case f.Kind == agent.CutEarly || !loop.Again(ctx, f, try):
			return nil, f
		}
	}
}

// cancel calls the cancel endpoint with a context of its own.
func (b *Backend) cancel(stopped context.Context, in *input) {
	if b.config.CancelURL == "" {
		return
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(stopped), cancelTime)
	defer done()
	address := strings.NewReplacer("{threadId}", url.PathEscape(in.ThreadID), "{runId}", url.PathEscape(in.RunID)).Replace(b.config.CancelURL)
	body, err := json.Marshal(map[string]string{"threadId": in.ThreadID, "runId": in.RunID})
	if err == nil {
		err = b.post(ctx, address, body)
	}
	if err != nil {
		b.config.Log.Warn("the agent's run could not be cancelled there; its stream is closed", "error", agent.Mask(err.Error()))
	}
}

func (b *Backend) post(ctx context.Context, address string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = b.header.Clone()
	req.Header.Set("Content-Type", "application/json")
	resp, err := b.config.HTTPClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	words, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // a body cut short says enough
	if resp.StatusCode/100 != 2 {
		return &agent.HTTPError{Status: resp.StatusCode, Header: resp.Header, Body: words}
	}
	return nil
}

// Probe implements agent.Prober. The protocol has no question but a run, so it only looks whether
// a server answers, and lets us in.
func (b *Backend) Probe(ctx context.Context) (string, error) {
	_, err := sse.Get(ctx, b.config.HTTPClient, b.config.URL, b.header)
	f := agent.Classify(err)
	switch {
	case f == nil:
		return "answers", err
	case f.Status == 0 || f.Kind == agent.Unauthorized || f.Status >= 500:
		return "", f
	}
	return "answers", nil // most take nothing but POST
}
