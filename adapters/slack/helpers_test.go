package slack

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/rich"
	"typist/adapters/sim"
	"typist/adapters/sim/simnet"
	simslack "typist/adapters/sim/slack"
)

// rig is an adapter against a miniature Slack in memory; use it in a bubble.
type rig struct {
	t    *testing.T
	sim  *simslack.Server
	a    *Adapter
	sink *sink
	logs *logs
	mem  *memory
	ln   *simnet.Listener

	stop context.CancelFunc
	done chan error
}

func newRig(t *testing.T, opts simslack.Options, change ...func(*Config)) *rig {
	t.Helper()
	r := &rig{t: t, sink: &sink{}, logs: &logs{}, mem: &memory{values: map[string]string{}}, ln: simnet.Listen()}
	opts.Listener = r.ln
	var err error
	if r.sim, err = simslack.New(opts); err != nil {
		t.Fatal(err)
	}
	r.a = r.adapter(change...)
	t.Cleanup(r.close)
	return r
}

func (r *rig) adapter(change ...func(*Config)) *Adapter {
	r.t.Helper()
	cfg := Config{BotToken: r.sim.Credentials()["botToken"], AppToken: r.sim.Credentials()["appToken"], APIURL: r.sim.URL()}
	for _, f := range change {
		f(&cfg)
	}
	a, err := New(cfg, Deps{Log: slog.New(slog.NewTextHandler(r.logs, nil)), Memory: r.mem, Dial: r.ln.Dial})
	if err != nil {
		r.t.Fatal(err)
	}
	return a
}

// run starts receiving and waits until it is connected.
func (r *rig) run() {
	r.t.Helper()
	ctx, stop := context.WithCancel(r.t.Context())
	r.stop, r.done = stop, make(chan error, 1)
	go func() { r.done <- r.a.Run(ctx, r.sink) }()
	synctest.Wait()
	if !r.sink.connected() {
		r.t.Fatalf("not connected; log:\n%s", r.logs)
	}
}

func (r *rig) close() {
	if r.stop != nil {
		r.stop()
		<-r.done
	}
	r.a.http.CloseIdleConnections()
	r.sim.Close()
}

// tick lets a moment pass, enough for everything that is under way.
func (r *rig) tick() {
	<-time.After(time.Millisecond)
	synctest.Wait()
}

func (r *rig) say(say sim.Say) string {
	r.t.Helper()
	id, err := r.sim.Say(say)
	if err != nil {
		r.t.Fatal(err)
	}
	r.tick()
	return id
}

func (r *rig) send(chat adapters.Chat, markdown string) adapters.Ref {
	r.t.Helper()
	ref, err := r.a.Send(r.t.Context(), chat, adapters.Post{Doc: rich.Parse(markdown)})
	if err != nil {
		r.t.Fatal(err)
	}
	return ref
}

func (r *rig) calls(op sim.Op) int { return len(r.sim.World().Calls(op)) }

func in(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

var (
	direct  = adapters.Chat{Channel: channelName, ID: simslack.DM}
	channel = adapters.Chat{Channel: channelName, ID: simslack.General}
)

// sink collects events.
type sink struct {
	mu     sync.Mutex
	events []adapters.Event
	states []adapters.Status
	fail   func(adapters.Event) error
	delay  time.Duration
}

func (s *sink) Deliver(ctx context.Context, ev adapters.Event) error {
	s.mu.Lock()
	delay := s.delay
	s.mu.Unlock()
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		if err := s.fail(ev); err != nil {
			return err
		}
	}
	s.events = append(s.events, ev)
	return nil
}

func (s *sink) Status(_ string, st adapters.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states = append(s.states, st)
}

func (s *sink) connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.states) > 0 && s.states[len(s.states)-1].Connected
}

func (s *sink) slow(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = d
}

func (s *sink) reported() []adapters.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]adapters.Status(nil), s.states...)
}

// take gives what came since the last time, without duplicates by event id.
func (s *sink) take() []adapters.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := map[string]bool{}
	var out []adapters.Event
	for _, ev := range s.events {
		if id := ev.About().EventID; !seen[id] {
			seen[id] = true
			out = append(out, ev)
		}
	}
	s.events = nil
	return out
}

func (s *sink) all() []adapters.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.events
	s.events = nil
	return out
}

// one gives the only event, as T.
func one[T adapters.Event](r *rig) T {
	r.t.Helper()
	events := r.sink.take()
	if len(events) != 1 {
		r.t.Fatalf("got %d events, want one: %+v\nlog:\n%s", len(events), events, r.logs)
	}
	ev, ok := events[0].(T)
	if !ok {
		r.t.Fatalf("got %T: %+v", events[0], events[0])
	}
	return ev
}

type logs struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

type memory struct {
	mu     sync.Mutex
	values map[string]string
}

func (m *memory) Load(_ context.Context, key string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[key], nil
}

func (m *memory) Save(_ context.Context, key, value string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[key] = value
	return nil
}

// contextDone is a context that has ended, so that no look-up is tried.
func contextDone() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx, cancel
}
