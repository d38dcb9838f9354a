package adaptertest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"typist/adapters"
	"typist/adapters/rich"
	"typist/adapters/sim"
)

// patience is how long a case waits for what must happen.
const patience = 15 * time.Second

// fixture is a case in progress.
type fixture struct {
	*testing.T
	h     Harness
	a     adapters.Adapter
	caps  adapters.Capabilities
	world *sim.World
	seen  *recorder
	stop  func() error  // ends Run and gives what it returned
	lag   time.Duration // by how much a busy machine may delay what happens at once; 0 in a bubble
}

func start(t *testing.T, h Harness, c check, lag time.Duration) {
	t.Helper()
	t.Cleanup(func() {
		if err := h.Platform.Close(); err != nil {
			t.Errorf("closing the platform: %v", err)
		}
	})
	f := &fixture{T: t, h: h, a: h.New(t), world: h.Platform.World(), lag: lag}
	f.caps = f.a.Capabilities()
	if !c.idle {
		f.begin()
		t.Cleanup(func() {
			if err := f.stop(); err != nil {
				t.Errorf("Run ended with %v, want nil", err)
			}
		})
	}
	c.run(f)
}

// begin starts the adapter's Run and waits until it is connected.
func (f *fixture) begin() {
	f.Helper()
	f.seen = newRecorder()
	f.stop = runAdapter(f.T, f.a, f.seen)
	f.seen.wait(f.T, "the connection", func() bool { return f.seen.connected() })
}

func runAdapter(t *testing.T, a adapters.Adapter, sink adapters.Sink) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx, sink) }()
	ended := false
	return func() error {
		cancel()
		if ended {
			return nil
		}
		ended = true
		select {
		case err := <-done:
			return err
		case <-time.After(patience):
			t.Error("Run did not return after its context ended")
			return nil
		}
	}
}

// ctx ends with the case, and before it hangs.
func (f *fixture) ctx() context.Context {
	ctx, cancel := context.WithTimeout(f.Context(), patience)
	f.Cleanup(cancel)
	return ctx
}

func (f *fixture) chat(p Place) adapters.Chat {
	return adapters.Chat{Channel: f.a.Name(), ID: p.Chat, Thread: p.Thread}
}

// say posts as Person and gives the event that comes of it.
func (f *fixture) say(s sim.Say) (string, adapters.Message) {
	f.Helper()
	if s.Person == "" {
		s.Person = f.h.Person
	}
	from := f.seen.count()
	id, err := f.h.Platform.Say(s)
	if err != nil {
		f.Fatalf("saying %q: %v", clip(s.Text), err)
	}
	m := expect(f, from, "the message "+clip(s.Text), func(m adapters.Message) bool { return m.ID == id && m.From.ID == s.Person })
	return id, m
}

// anchor says something in a place and gives the chat that an answer goes to.
func (f *fixture) anchor(p Place) (adapters.Chat, adapters.Message) {
	f.Helper()
	_, m := f.say(sim.Say{Chat: p.Chat, Thread: p.Thread, Text: "an anchor", Mention: p.Chat != f.h.Direct.Chat})
	return m.Chat, m
}

// expect waits for an event of a type among those since from.
func expect[E adapters.Event](f *fixture, from int, what string, ok func(E) bool) E {
	f.Helper()
	var found E
	f.seen.wait(f.T, what, func() bool {
		for _, ev := range f.seen.since(from) {
			if e, is := ev.(E); is && ok(e) {
				found = e
				return true
			}
		}
		return false
	})
	return found
}

// send posts and must succeed.
func (f *fixture) send(chat adapters.Chat, post adapters.Post) adapters.Ref {
	f.Helper()
	ref, err := f.a.Send(f.ctx(), chat, post)
	if err != nil {
		f.Fatalf("send: %v", err)
	}
	if ref.ID == "" || ref.Chat.ID != chat.ID {
		f.Fatalf("send gave the ref %+v", ref)
	}
	return ref
}

// shown is a message as people see it.
func (f *fixture) shown(ref adapters.Ref) sim.Message {
	f.Helper()
	m, ok := f.world.Message(ref.Chat.ID, ref.ID)
	if !ok {
		f.Fatalf("nobody sees message %s", ref.ID)
	}
	return m
}

// fromBot lists the bot's messages that stand in a chat.
func (f *fixture) fromBot(chat string) []sim.Message { return sim.FromBot(f.world.Messages(chat, "*")) }

// readable is a text without the characters that nobody sees.
func readable(s string) string {
	return strings.NewReplacer("\u2060", "", "\u200b", "", "\ufeff", "", "\u200c", "", "\u200d", "").Replace(s)
}

func plain(text string) adapters.Post { return adapters.Post{Doc: rich.Plain(text)} }

func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// noToken fails when a text holds a secret of the platform.
func (f *fixture) noToken(where, text string) {
	f.Helper()
	for name, secret := range f.h.Platform.Credentials() {
		if _, tail, ok := strings.Cut(secret, ":"); ok {
			secret = tail
		}
		if secret != "" && strings.Contains(text, secret) {
			f.Errorf("%s shows %s", where, name)
		}
	}
}

// wantError checks the kind of an error, and that it shows no token.
func (f *fixture) wantError(what string, err, kind error) {
	f.Helper()
	if !errors.Is(err, kind) {
		f.Errorf("%s: got %v, want %v", what, err, kind)
	}
	if err != nil {
		f.noToken("the error of "+what, err.Error())
	}
}
