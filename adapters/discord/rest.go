package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
)

const (
	callTimeout = 30 * time.Second // where the caller sets none
	maxReply    = 16 << 20
	maxRefusal  = 64 << 10
)

// rehost sends every call to another server, path kept (a Discord proxy).
type rehost struct {
	base http.RoundTripper
	to   *url.URL
}

func (t rehost) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host, out.Host = t.to.Scheme, t.to.Host, ""
	return t.base.RoundTrip(out)
}

// seen is what became of one call, as far as the transport could tell.
type seen struct {
	base      http.RoundTripper
	connected bool
	status    int
	header    http.Header
	body      []byte // of a refusal
}

// RoundTrip keeps the answer's facts, and its rate limit headers from discordgo: its buckets
// sleep without a context, while waiting is the caller's here.
func (s *seen) RoundTrip(r *http.Request) (*http.Response, error) {
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { s.connected = true }}
	resp, err := s.base.RoundTrip(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	if err != nil {
		return nil, err
	}
	s.status, s.header = resp.StatusCode, resp.Header.Clone()
	for name := range resp.Header {
		if strings.HasPrefix(name, "X-Ratelimit-") {
			delete(resp.Header, name)
		}
	}
	body := resp.Body
	if s.status >= 300 {
		s.body, _ = io.ReadAll(io.LimitReader(body, maxRefusal))
		body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(s.body))
		return resp, nil
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(body, maxReply), body}
	return resp, nil
}

// call makes one attempt of a REST call; path begins below /api/vN/. into may be nil.
func (a *Adapter) call(ctx context.Context, method, path string, body, into any) error {
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return invalid(err)
		}
	}
	return a.raw(ctx, method, path, "application/json", data, into)
}

func (a *Adapter) raw(ctx context.Context, method, path, contentType string, data []byte, into any) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, callTimeout)
		defer cancel()
	}
	s := &seen{base: a.transport}
	// A bucket of its own: discordgo's shared ones serialise calls and sleep without a context.
	bucket := discordgo.NewRatelimiter().LockBucket(path)
	out, err := a.api.RequestWithLockedBucket(method, discordgo.EndpointAPI+path, contentType, data, bucket, 0,
		discordgo.WithContext(ctx),
		discordgo.WithClient(&http.Client{Transport: s}),
		discordgo.WithRetryOnRatelimit(false),
		discordgo.WithRestRetries(0))
	if err == nil && s.status >= 300 {
		err = errUnexpected
	}
	if err != nil {
		return explain(method+" /"+hideTokens(path), s, err)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(out, into); err != nil {
		return unclear(method+" /"+hideTokens(path), err)
	}
	return nil
}

// hideTokens takes the secret part out of interaction and webhook paths.
func hideTokens(path string) string {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	if len(parts) > 2 && (parts[0] == "interactions" || parts[0] == "webhooks") {
		parts[2] = "…"
	}
	return strings.Join(parts, "/")
}
