package sse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"typist/agent"
)

// maxBody bounds what is read of an answer that is no stream.
const maxBody = 16 << 20

// NewClient makes the HTTP client of a native backend. A model may think for minutes before its
// first byte, so nothing but connecting has a time limit: a run's context ends it. TCP and HTTP/2
// probes find a peer that is gone.
func NewClient() *http.Client {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 15 * time.Second, Count: 4}}
	return &http.Client{Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: 15 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		MaxIdleConnsPerHost: 16,
		ForceAttemptHTTP2:   true,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		DisableCompression:  true, // a compressed stream comes in lumps
	}}
}

// Stream is a server's answer to Post.
type Stream struct {
	body   io.ReadCloser
	events *Reader // nil: the answer is one JSON document
	read   bool
}

// Post sends a JSON body and returns the answer once its head is there. A refusal is an
// *agent.HTTPError; what never left this machine an *agent.UnsentError. ctx bounds the whole
// stream: its end closes the connection at once. The caller closes the Stream.
func Post(ctx context.Context, client *http.Client, url string, header http.Header, body []byte) (*Stream, error) {
	resp, err := do(ctx, client, http.MethodPost, url, header, body)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch kind {
	case "application/json": // a server that does not stream
		return &Stream{body: resp.Body}, nil
	case "text/event-stream", "":
		return &Stream{body: resp.Body, events: NewReader(resp.Body, MaxEvent)}, nil
	}
	_ = resp.Body.Close()
	return nil, &agent.ProtocolError{Detail: fmt.Sprintf("answered %q where an event stream was due", kind)}
}

// Get fetches a JSON document; errors are those of Post.
func Get(ctx context.Context, client *http.Client, url string, header http.Header) ([]byte, error) {
	resp, err := do(ctx, client, http.MethodGet, url, header, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(io.LimitReader(resp.Body, maxBody))
}

// do sends a request and turns away every answer but a good one.
func do(ctx context.Context, client *http.Client, method, url string, header http.Header, body []byte) (*http.Response, error) {
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	var content io.Reader
	if body != nil {
		content = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, content)
	if err != nil {
		return nil, &agent.UnsentError{Err: err}
	}
	for name, values := range header {
		req.Header[name] = values
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "text/event-stream, application/json")
	}
	resp, err := client.Do(req)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && !connected.Load():
		return nil, &agent.UnsentError{Err: err}
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusOK:
		return resp, nil
	}
	defer resp.Body.Close()
	words, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // a body cut short says enough
	return nil, &agent.HTTPError{Status: resp.StatusCode, Header: resp.Header, Body: words}
}

// Next returns the next event; a JSON document is one event. io.EOF is the regular end.
func (s *Stream) Next() (Event, error) {
	if s.events != nil {
		return s.events.Next()
	}
	if s.read {
		return Event{}, io.EOF
	}
	s.read = true
	data, err := io.ReadAll(io.LimitReader(s.body, maxBody+1))
	switch {
	case err != nil:
		return Event{}, err
	case len(data) > maxBody:
		return Event{}, tooLarge(maxBody)
	}
	return Event{Data: data}, nil
}

// Close ends the stream; the server sees it if it was still sending. Safe to call at any time and
// from any goroutine.
func (s *Stream) Close() error {
	if err := s.body.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close the stream: %w", err)
	}
	return nil
}
