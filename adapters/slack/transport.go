package slack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"typist/adapters"
)

const (
	maxAnswer    = 32 << 20 // bytes of an API answer that are read
	defaultRetry = "1"      // seconds, where a 429 does not say
	// noErrorGiven stands in for the error of an answer that has none.
	noErrorGiven = "no_error_given"
)

// caller carries slack-go's requests. It says whether a request that failed had left, and evens
// out the answers on which slack-go stumbles: a 429 without a usable Retry-After, ok false
// without an error (which it takes for success), and messages with blocks that it can't decode,
// which would turn a successful call into a failure.
type caller struct {
	http *http.Client
}

// Do sends one request, once.
func (c *caller) Do(req *http.Request) (*http.Response, error) {
	var left atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { left.Store(true) }}
	resp, err := c.http.Do(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err != nil {
		return nil, lost(left.Load(), err)
	}
	if resp.StatusCode == http.StatusTooManyRequests {
		resp.Header.Set("Retry-After", retryAfter(resp.Header.Get("Retry-After")))
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		return resp, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	resp.Body.Close()
	if err != nil {
		return nil, lost(true, err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(evenOut(req.URL.Path, body)))
	return resp, nil
}

// lost says what is known of a request without an answer.
func lost(left bool, err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // the URL may be a secret (response_url)
	}
	if left {
		return fmt.Errorf("%w: %w", adapters.ErrUnknownOutcome, err)
	}
	return fmt.Errorf("%w: %w", adapters.ErrNeverSent, err)
}

// retryAfter makes whole seconds, at least 1, of a Retry-After header.
func retryAfter(header string) string {
	header = strings.TrimSpace(header)
	if n, err := strconv.ParseFloat(header, 64); err == nil && n >= 0 && n < 1e6 {
		return strconv.Itoa(max(1, int(math.Ceil(n))))
	}
	if at, err := http.ParseTime(header); err == nil {
		return strconv.Itoa(max(1, int(math.Ceil(time.Until(at).Seconds()))))
	}
	return defaultRetry
}

// evenOut changes an API answer so that slack-go reads it right.
func evenOut(path string, body []byte) []byte {
	method := path[strings.LastIndexByte(path, '/')+1:]
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return body
	}
	var state struct {
		OK    *bool  `json:"ok"`
		Error string `json:"error"`
	}
	_ = json.Unmarshal(body, &state) // an error that is no string counts as none
	changed := false
	if state.OK != nil && !*state.OK && strings.TrimSpace(state.Error) == "" {
		fields["error"] = json.RawMessage(strconv.Quote(noErrorGiven))
		changed = true
	}
	if _, has := fields["message"]; has && strings.HasPrefix(method, "chat.") {
		delete(fields, "message")
		changed = true
	}
	if list, has := fields["messages"]; has && strings.HasPrefix(method, "conversations.") {
		fields["messages"] = slim(list)
		changed = true
	}
	if !changed {
		return body
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return body
	}
	return out
}

// slim leaves in a list of messages only what the adapter reads.
func slim(list json.RawMessage) json.RawMessage {
	var messages []map[string]json.RawMessage
	if json.Unmarshal(list, &messages) != nil {
		return list
	}
	for i, m := range messages {
		small := map[string]json.RawMessage{}
		for _, k := range []string{"type", "ts", "thread_ts", "user", "bot_id"} {
			var text string
			if json.Unmarshal(m[k], &text) == nil {
				small[k] = m[k]
			}
		}
		var meta struct {
			Type    string         `json:"event_type"`
			Payload map[string]any `json:"event_payload"`
		}
		if json.Unmarshal(m["metadata"], &meta) == nil && meta.Type == metadataType {
			small["metadata"] = m["metadata"]
		}
		messages[i] = small
	}
	out, err := json.Marshal(messages)
	if err != nil {
		return list
	}
	return out
}
