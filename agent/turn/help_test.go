package turn

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
	"typist/typing"
)

// typing reports whether the indicator shows in a chat now.
func (b *bench) typing(chat string) bool {
	on, _ := b.chat.world.Typing(chat, "")
	return on
}

// pulses counts the indicator calls so far.
func (b *bench) pulses() int { return len(b.chat.world.Calls(sim.OpPulse)) }

// calls counts the calls so far.
func (b *bench) calls(op sim.Op) int { return len(b.chat.world.Calls(op)) }

// want fails unless the chat as people read it holds all of want.
func (b *bench) want(chat string, want ...string) {
	b.t.Helper()
	got := b.text(chat)
	for _, w := range want {
		if !strings.Contains(got, w) {
			b.t.Errorf("%q is missing in:\n%s", w, got)
		}
	}
}

// wantNot fails if the chat as people read it holds any of not.
func (b *bench) wantNot(chat string, not ...string) {
	b.t.Helper()
	got := b.text(chat)
	for _, w := range not {
		if strings.Contains(got, w) {
			b.t.Errorf("%q stands in:\n%s", w, got)
		}
	}
}

// origin is who and where of an event in a chat.
func (b *bench) origin(chat string) adapters.Origin {
	b.seq++
	c, _ := b.chat.world.Chat(chat)
	kind := adapters.Group
	if c.Direct {
		kind = adapters.Direct
	}
	return adapters.Origin{EventID: fmt.Sprint("event", b.seq), Chat: adapters.Chat{Channel: b.chat.name, ID: chat}, Kind: kind,
		From: adapters.User{ID: "ann", Name: "Ann"}, At: time.Now()}
}

// deliver hands an event to the hub.
func (b *bench) deliver(ev adapters.Event) {
	b.t.Helper()
	if err := b.chat.sink.Deliver(b.t.Context(), ev); err != nil {
		b.t.Errorf("deliver %T: %v", ev, err)
	}
}

// native uses a native command; the answers that only the one who asked sees are collected.
func (b *bench) native(chat, name, args string) *[]string {
	b.t.Helper()
	var answers []string
	b.deliver(adapters.Command{Origin: b.origin(chat), Name: name, Args: args, Answer: func(p adapters.Post) error {
		answers = append(answers, show(p))
		return nil
	}})
	return &answers
}

// beat begins a heartbeat's turn.
func (b *bench) beat(chat string, hb Heartbeat) error {
	b.seq++
	hb.Slot = fmt.Sprint(b.seq)
	if hb.Prompt == "" {
		hb.Prompt = "anything new?"
	}
	o := b.origin(chat)
	return b.hub.Heartbeat(b.t.Context(), o.Chat, o.Kind, hb)
}

// mode sets the channel's typing mode.
func mode(m typing.Mode) func(*Settings) {
	return func(s *Settings) {
		for name, c := range s.Channels {
			c.Typing.Mode = m
			s.Channels[name] = c
		}
	}
}

// both applies several changes.
func both(changes ...func(*Settings)) func(*Settings) {
	return func(s *Settings) {
		for _, f := range changes {
			f(s)
		}
	}
}

// answering waits, then answers.
func answering(d time.Duration, text string) backendFunc {
	return func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
		if !waitFor(ctx, d) {
			return ctx.Err()
		}
		say(emit, "1", text)
		return nil
	}
}

// working runs a tool for d, then answers.
func working(d time.Duration, text string) backendFunc {
	return func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
		if !tool(ctx, emit, "t", "Bash", `{"command":"make"}`, d) {
			return ctx.Err()
		}
		say(emit, "1", text)
		return nil
	}
}

// inThread puts a message into a thread.
func inThread(id string) func(*adapters.Message) {
	return func(m *adapters.Message) { m.Chat.Thread = id }
}

// from makes somebody else the sender.
func from(id string) func(*adapters.Message) {
	return func(m *adapters.Message) { m.From = adapters.User{ID: id, Name: strings.ToUpper(id[:1]) + id[1:]} }
}

// as makes it another event id.
func as(event string) func(*adapters.Message) {
	return func(m *adapters.Message) { m.EventID = event }
}

// noGhost fails if the indicator showed at or after the end of the chat's last answer.
func (b *bench) noGhost(t *testing.T, chat string) {
	t.Helper()
	msgs := sim.FromBot(b.chat.world.Messages(chat, "*"))
	if len(msgs) == 0 {
		t.Fatal("no message of the bot")
	}
	last := msgs[len(msgs)-1].At
	if e := msgs[len(msgs)-1].EditedAt; e.After(last) {
		last = e
	}
	for _, iv := range b.chat.world.Timeline(chat, "") {
		if iv.End.After(last) {
			t.Errorf("the indicator showed until %v after the answer (%s)", iv.End.Sub(last), iv.Why)
		}
	}
}
