package discord_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/discord"
	"typist/adapters/rich"
	"typist/adapters/sim"
	simdiscord "typist/adapters/sim/discord"
	"typist/adapters/sim/simnet"
)

// rig is an adapter against its miniature platform, inside a bubble.
type rig struct {
	*testing.T
	server *simdiscord.Server
	a      *discord.Adapter
	sink   *sink
	memory *memory
	cfg    discord.Config
	listen *simnet.Listener
	stop   func() error
}

// inBubble runs a test with a connected adapter.
func inBubble(t *testing.T, opts simdiscord.Options, run func(r *rig)) {
	t.Helper()
	setUp(t, opts, func(r *rig) {
		r.start()
		run(r)
	})
}

// setUp runs a test with an adapter that is not started.
func setUp(t *testing.T, opts simdiscord.Options, run func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		opts.Listener = simnet.Listen()
		server, err := simdiscord.New(opts)
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{T: t, server: server, memory: newMemory(), listen: opts.Listener,
			cfg: discord.Config{Token: simdiscord.Token, APIURL: server.URL(), MessageContent: !opts.NoContentIntent}}
		t.Cleanup(func() { server.Close() })
		r.renew()
		t.Cleanup(func() { r.end() })
		run(r)
	})
}

// renew makes a fresh adapter, as after a restart of the process.
func (r *rig) renew() {
	r.Helper()
	client := r.listen.HTTPClient()
	r.Cleanup(client.CloseIdleConnections)
	a, err := discord.New(r.cfg, discord.Deps{HTTP: client.Transport, Dial: r.listen.Dial, Memory: r.memory})
	if err != nil {
		r.Fatal(err)
	}
	r.a, r.sink = a, &sink{}
}

// start runs the adapter until it is connected.
func (r *rig) start() {
	r.Helper()
	r.begin()
	r.until("the connection", r.sink.connected)
}

func (r *rig) begin() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	a, s := r.a, r.sink
	go func() { done <- a.Run(ctx, s) }()
	r.stop = func() error {
		cancel()
		r.stop = nil
		return <-done
	}
}

func (r *rig) end() {
	if r.stop != nil {
		if err := r.stop(); err != nil {
			r.Errorf("Run ended with %v", err)
		}
	}
}

// until lets the bubble's time pass until ok holds, five minutes at most.
func (r *rig) until(what string, ok func() bool) {
	r.Helper()
	for range 30000 {
		synctest.Wait()
		if ok() {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	r.Fatalf("waited in vain for %s; got %v", what, r.sink.texts())
}

// settle lets everything that is due in a stretch of time happen.
func (r *rig) settle(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (r *rig) say(s sim.Say) string {
	r.Helper()
	if s.Person == "" {
		s.Person = simdiscord.Ann
	}
	id, err := r.server.Say(s)
	if err != nil {
		r.Fatal(err)
	}
	return id
}

func (r *rig) heard(text string) bool {
	for _, t := range r.sink.texts() {
		if t == text {
			return true
		}
	}
	return false
}

func (r *rig) send(chat adapters.Chat, post adapters.Post) adapters.Ref {
	r.Helper()
	ref, err := r.a.Send(r.Context(), chat, post)
	if err != nil {
		r.Fatal(err)
	}
	return ref
}

func (r *rig) shown(ref adapters.Ref) sim.Message {
	r.Helper()
	m, ok := r.server.World().Message(ref.Chat.ID, ref.ID)
	if !ok {
		r.Fatalf("nobody sees message %s", ref.ID)
	}
	return m
}

var (
	directChat = adapters.Chat{Channel: "discord", ID: simdiscord.DM}
	groupChat  = adapters.Chat{Channel: "discord", ID: simdiscord.General}
	threadChat = adapters.Chat{Channel: "discord", ID: simdiscord.General, Thread: simdiscord.Thread}
)

func text(s string) adapters.Post { return adapters.Post{Doc: rich.Plain(s)} }

// sink keeps what is delivered.
type sink struct {
	mu     sync.Mutex
	events []adapters.Event
	status adapters.Status
	states []adapters.Status
	refuse bool
	block  chan struct{} // deliveries wait for it
	moved  chan struct{} // signalled after each event and status, if set
}

// move signals; callers hold mu.
func (s *sink) move() {
	select {
	case s.moved <- struct{}{}:
	default:
	}
}

func (s *sink) Deliver(ctx context.Context, ev adapters.Event) error {
	s.mu.Lock()
	block := s.block
	s.mu.Unlock()
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse {
		return errors.New("the store is not there")
	}
	s.events = append(s.events, ev)
	s.move()
	return nil
}

func (s *sink) Status(_ string, st adapters.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = st
	s.states = append(s.states, st)
	s.move()
}

func (s *sink) connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status.Connected
}

func (s *sink) list() []adapters.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]adapters.Event(nil), s.events...)
}

// texts are the texts of the messages that came.
func (s *sink) texts() []string {
	var out []string
	for _, ev := range s.list() {
		if m, ok := ev.(adapters.Message); ok {
			out = append(out, m.Text)
		}
	}
	return out
}

// last is the newest event of a type.
func last[E adapters.Event](r *rig) E {
	r.Helper()
	var found E
	r.until("an event", func() bool {
		list := r.sink.list()
		for i := len(list) - 1; i >= 0; i-- {
			if e, ok := list[i].(E); ok {
				found = e
				return true
			}
		}
		return false
	})
	return found
}
