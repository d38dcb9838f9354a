package backendtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"typist/agent/backend/sse"
)

// Server answers requests to one path with prepared answers, one after the other, and keeps what
// it was asked.
type Server struct {
	*httptest.Server
	Asked   []map[string]any
	Headers []http.Header
	mu      sync.Mutex
}

// Serve starts a Server; more requests than answers, and other paths, are refused.
func Serve(t testing.TB, path string, answers ...http.HandlerFunc) *Server {
	t.Helper()
	s := &Server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var asked map[string]any
		if err := json.Unmarshal(body, &asked); err != nil {
			t.Errorf("request %s: %v", body, err)
		}
		s.mu.Lock()
		n := len(s.Asked)
		s.Asked = append(s.Asked, asked)
		s.Headers = append(s.Headers, r.Header)
		s.mu.Unlock()
		if r.URL.Path != path || n >= len(answers) {
			http.Error(w, "unexpected request", http.StatusTeapot)
			return
		}
		answers[n](w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// Stream answers with events, each flushed for itself, named as their JSON's type if that is set.
func Stream(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, ev := range events {
			var e struct{ Type string }
			if json.Unmarshal([]byte(ev), &e) == nil && e.Type != "" {
				_, _ = fmt.Fprintf(w, "event: %s\n", e.Type)
			}
			_, _ = fmt.Fprintf(w, "data: %s\n\n", ev)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// JSON answers with one document.
func JSON(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_, _ = io.WriteString(w, body)
	}
}

// Refuse answers with a status.
func Refuse(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Client is a backend's HTTP client that leaves nothing behind.
func Client(t testing.TB) *http.Client {
	c := sse.NewClient()
	t.Cleanup(c.CloseIdleConnections)
	return c
}
