package adaptertest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"typist/adapters"
)

// recorder is a sink that keeps everything.
type recorder struct {
	mu      sync.Mutex
	events  []adapters.Event
	status  adapters.Status
	refuse  int // how many deliveries to refuse
	changed chan struct{}
}

func newRecorder() *recorder { return &recorder{changed: make(chan struct{})} }

func (r *recorder) touch() {
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *recorder) Deliver(_ context.Context, ev adapters.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse > 0 {
		r.refuse--
		r.touch()
		return errors.New("the store is not there")
	}
	r.events = append(r.events, ev)
	r.touch()
	return nil
}

func (r *recorder) Status(_ string, s adapters.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = s
	r.touch()
}

func (r *recorder) refuseNext(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuse = n
}

func (r *recorder) connected() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status.Connected
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.events)
}

func (r *recorder) since(from int) []adapters.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]adapters.Event(nil), r.events[from:]...)
}

// messages lists the messages among the events since from.
func (r *recorder) messages(from int) []adapters.Message {
	var out []adapters.Message
	for _, ev := range r.since(from) {
		if m, ok := ev.(adapters.Message); ok {
			out = append(out, m)
		}
	}
	return out
}

// wait blocks until ok holds, looking again after each event and status.
func (r *recorder) wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		r.mu.Lock()
		changed := r.changed
		r.mu.Unlock()
		if ok() {
			return
		}
		select {
		case <-changed:
		case <-deadline.C:
			t.Fatalf("waited in vain for %s; got %d events: %+v", what, r.count(), r.since(max(0, r.count()-3)))
		}
	}
}

// statusError is what the last status complains about.
func (r *recorder) statusError() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status.Connected || r.status.Err == nil {
		return ""
	}
	return r.status.Err.Error()
}
