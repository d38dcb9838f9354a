package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"typist/agent/metrics"
	"typist/config"
)

// fakeService is a service that does nothing but what a test wants.
type fakeService struct {
	mu      sync.Mutex
	health  Health
	updates []*config.Config
	refuse  error         // what Update says
	linger  chan struct{} // Run returns only after it; nil: at once
	runErr  error
	closed  bool
}

func (f *fakeService) Run(ctx context.Context) error {
	if f.runErr != nil {
		return f.runErr
	}
	<-ctx.Done()
	if f.linger != nil {
		<-f.linger
	}
	return nil
}

func (f *fakeService) Update(c *config.Config) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuse == nil {
		f.updates = append(f.updates, c)
	}
	return f.refuse
}

func (f *fakeService) updated() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.updates)
}

func (f *fakeService) Health(context.Context) Health { return f.health }

func (f *fakeService) Events() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "events of "+r.URL.Path) })
}

func (f *fakeService) Pair(_ context.Context, code string) (string, error) {
	if code != "123456" {
		return "", errors.New("nobody has this code")
	}
	return "ann may use the bot now", nil
}

func (f *fakeService) Paired(context.Context) (string, error) { return "nobody", nil }

func (f *fakeService) Revoke(_ context.Context, id string) (string, error) {
	return id + " is out", nil
}

func (f *fakeService) Heartbeat(_ context.Context, agent string) (string, error) {
	return "heartbeat of " + agent, nil
}

func (f *fakeService) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}

func building(f *fakeService) builder {
	return func(context.Context, *config.Config, *slog.Logger, *metrics.Metrics) (service, error) { return f, nil }
}

// record is a buffer that many goroutines may write to and one may wait on.
type record struct {
	mu   sync.Mutex
	b    bytes.Buffer
	more chan struct{} // closed by the next write
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.more != nil {
		close(r.more)
		r.more = nil
	}
	return r.b.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.String()
}

// next is what stands there, and a channel that closes when there is more.
func (r *record) next() (string, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.more == nil {
		r.more = make(chan struct{})
	}
	return r.b.String(), r.more
}

func (r *record) wants(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.String(), text) {
			t.Errorf("the log lacks %q:\n%s", text, r)
		}
	}
}
