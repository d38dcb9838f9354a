package telegram_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/adaptertest"
	"typist/adapters/sim"
	"typist/adapters/sim/simnet"
	simtelegram "typist/adapters/sim/telegram"
	"typist/adapters/telegram"
)

// sink keeps what arrives, and when.
type sink struct {
	mu     sync.Mutex
	events []adapters.Event
	times  []time.Time
	status []adapters.Status
	accept func(adapters.Event) error // nil = everything
}

func (s *sink) Deliver(_ context.Context, ev adapters.Event) error {
	if s.accept != nil {
		if err := s.accept(ev); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events, s.times = append(s.events, ev), append(s.times, time.Now())
	return nil
}

func (s *sink) Status(_ string, st adapters.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = append(s.status, st)
}

// forget drops what came so far.
func (s *sink) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events, s.times = nil, nil
}

// got lists what came so far, and when.
func (s *sink) got() ([]adapters.Event, []time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events), slices.Clone(s.times)
}

// message is the i-th event, which must be a message.
func (s *sink) message(t *testing.T, i int) adapters.Message {
	t.Helper()
	events, _ := s.got()
	if i >= len(events) {
		t.Fatalf("%d events", len(events))
	}
	m, ok := events[i].(adapters.Message)
	if !ok {
		t.Fatalf("event %d is a %T", i, events[i])
	}
	return m
}

func (s *sink) texts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, ev := range s.events {
		switch ev := ev.(type) {
		case adapters.Message:
			out = append(out, ev.Text)
		case adapters.Edited:
			out = append(out, "edit:"+ev.Text)
		default:
			out = append(out, fmt.Sprintf("%T", ev))
		}
	}
	return out
}

func (s *sink) lastStatus() adapters.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.status) == 0 {
		return adapters.Status{}
	}
	return s.status[len(s.status)-1]
}

// world is a platform in memory and an adapter that runs against it.
type world struct {
	*testing.T
	srv  *simtelegram.Server
	http *http.Client
	a    *telegram.Adapter
	sink *sink
	log  *bytes.Buffer
	done chan error
	stop context.CancelFunc
}

// inBubble runs a test with a bubble's clock. The adapter runs unless the test starts it itself.
func inBubble(t *testing.T, cfg telegram.Config, run bool, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv, err := simtelegram.New(simtelegram.Options{Listener: simnet.Listen()})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{T: t, srv: srv, http: srv.Client(), log: &bytes.Buffer{}}
		if cfg.Token == "" {
			cfg.Token = simtelegram.DefaultToken
		}
		cfg.APIURL, cfg.HTTPClient = srv.URL(), w.http
		w.a = newAdapter(t, cfg, telegram.Deps{Log: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		if run {
			w.start(&sink{})
		}
		test(t, w)
		if w.stop != nil {
			if err := w.end(); err != nil {
				t.Errorf("Run returned %v", err)
			}
		}
		w.http.CloseIdleConnections()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
}

func (w *world) start(s *sink) {
	ctx, cancel := context.WithCancel(context.Background())
	w.sink, w.stop, w.done = s, cancel, make(chan error, 1)
	go func() { w.done <- w.a.Run(ctx, s) }()
	synctest.Wait()
}

// logged is the log so far; waiting makes reading it safe.
func (w *world) logged() string {
	synctest.Wait()
	return w.log.String()
}

func (w *world) end() error {
	w.stop()
	w.stop = nil
	return <-w.done
}

func (w *world) say(s sim.Say) string {
	w.Helper()
	if s.Person == "" {
		s.Person = simtelegram.Ann
	}
	id, err := w.srv.Say(s)
	if err != nil {
		w.Fatal(err)
	}
	return id
}

// got checks the texts that arrived so far.
func (w *world) got(when string, want ...string) {
	w.Helper()
	synctest.Wait()
	if got := w.sink.texts(); !slices.Equal(got, want) {
		w.Errorf("%s: got %q, want %q", when, clip(got), clip(want))
	}
}

func clip(list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, s[:min(len(s), 30)])
	}
	return out
}

var (
	group = simtelegram.GroupChat
	paste = strings.Repeat("lorem ", 1000) // two parts
	pics  = []sim.File{{Name: "a.png", MIME: "image/png", Data: adaptertest.Picture()}, {Name: "b.png", MIME: "image/png", Data: adaptertest.Picture()}}
)
