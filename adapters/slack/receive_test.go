package slack

import (
	"errors"
	"testing"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	simslack "typist/adapters/sim/slack"
)

func TestC3_DirectMessage(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		id := r.say(sim.Say{Chat: simslack.DM, Person: simslack.Ann, Text: "1 < 2 & see https://example.org/a?b=1&c=2 @bob"})
		m := one[adapters.Message](r)
		if m.ID != id || m.Chat != direct || m.Kind != adapters.Direct || m.EventID != simslack.DM+":"+id {
			t.Errorf("got %+v", m)
		}
		if want := "1 < 2 & see https://example.org/a?b=1&c=2 @Bob"; m.Text != want {
			t.Errorf("text %q, want %q", m.Text, want)
		}
		if m.From.ID != simslack.Ann || m.From.Name != "Ann" || m.From.Locale != "en-US" || m.ChatName != "Ann" || m.Mentioned || m.ReplyTo != nil {
			t.Errorf("got %+v", m)
		}
		if calls := r.sim.World().Calls(sim.OpAck); len(calls) != 1 || calls[0].Error != "" {
			t.Errorf("acknowledgements: %+v", calls)
		}
	})
}

// A mention comes as app_mention and as message; both are one event.
func TestC3_MentionComesOnce(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		id := r.say(sim.Say{Chat: simslack.General, Person: simslack.Bob, Text: "what is up?", Mention: true})
		m := one[adapters.Message](r)
		if m.Text != "what is up?" || !m.Mentioned || m.Kind != adapters.Group || m.ChatName != "general" {
			t.Errorf("got %+v", m)
		}
		if m.Chat.Thread != id || m.EventID != simslack.General+":"+id {
			t.Errorf("%+v: a question in a channel opens a thread", m.Origin)
		}
		if n := r.calls(sim.OpAck); n != 2 {
			t.Errorf("%d acknowledgements, want 2", n)
		}
	})
}

// An app that hears only of mentions is told once.
func TestC3_OnlyMentions(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{OnlyMentions: true})
		r.run()
		r.say(sim.Say{Chat: simslack.General, Person: simslack.Bob, Text: "hello", Mention: true, Files: []sim.File{{Name: "a.txt", MIME: "text/plain", Data: []byte("a")}}})
		if m := one[adapters.Message](r); m.Text != "hello" || !m.Mentioned || len(m.Files) != 1 || m.Kind != adapters.Group {
			t.Errorf("got %+v", m)
		}
	})
}

func TestC6_Threads(t *testing.T) {
	for _, c := range []struct {
		mode, chat   string
		inThread     bool
		wantOwn      bool // the thread is the message's own ts
		wantTheirs   bool // … the thread it was written in
		wantNoThread bool
	}{
		{mode: "channels", chat: simslack.General, wantOwn: true},
		{mode: "channels", chat: simslack.General, inThread: true, wantTheirs: true},
		{mode: "channels", chat: simslack.DM, wantNoThread: true},
		{mode: "channels", chat: simslack.DM, inThread: true, wantTheirs: true},
		{mode: "always", chat: simslack.DM, wantOwn: true},
		{mode: "always", chat: simslack.General, wantOwn: true},
		{mode: "never", chat: simslack.General, wantNoThread: true},
		{mode: "never", chat: simslack.General, inThread: true, wantTheirs: true},
	} {
		t.Run(c.mode+"/"+c.chat, func(t *testing.T) {
			in(t, func(t *testing.T) {
				r := newRig(t, simslack.Options{}, func(cfg *Config) { cfg.ThreadReplies = c.mode })
				r.run()
				head := r.say(sim.Say{Chat: c.chat, Person: simslack.Ann, Text: "head"})
				r.sink.all()
				say := sim.Say{Chat: c.chat, Person: simslack.Ann, Text: "hello"}
				if c.inThread {
					say.Thread = head
				}
				id := r.say(say)
				m := one[adapters.Message](r)
				want := ""
				if c.wantOwn {
					want = id
				}
				if c.wantTheirs {
					want = head
				}
				if m.Chat.Thread != want {
					t.Errorf("thread %q, want %q", m.Chat.Thread, want)
				}
				if m.ReplyTo != nil {
					t.Errorf("a thread's reply to its head is implicit: %+v", m.ReplyTo)
				}
			})
		})
	}
}

// A direct chat's message that got replies carries its own ts as thread_ts: it is no reply.
func TestC6_HeadOfAThreadIsNoReply(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		head := r.say(sim.Say{Chat: simslack.DM, Person: simslack.Ann, Text: "head"})
		r.say(sim.Say{Chat: simslack.DM, Person: simslack.Ann, Text: "reply", Thread: head})
		r.sink.all()
		if err := r.sim.EditMessage(simslack.DM, simslack.Ann, head, "new head"); err != nil {
			t.Fatal(err)
		}
		r.tick()
		if e := one[adapters.Edited](r); e.Chat != direct || e.ID != head || e.Text != "new head" {
			t.Errorf("got %+v", e)
		}
	})
}

func TestT10_ReplyToTheBot(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		ref := r.send(channel, "good morning")
		r.tick()
		if left := r.sink.all(); len(left) != 0 {
			t.Errorf("the bot's own message came back as %+v", left)
		}
		r.say(sim.Say{Chat: simslack.General, Person: simslack.Bob, Text: "thanks", Thread: ref.ID})
		m := one[adapters.Message](r)
		if m.ReplyTo == nil || !m.ReplyTo.ToBot || !m.Mentioned || m.ReplyTo.ID != ref.ID {
			t.Errorf("got %+v, %+v", m, m.ReplyTo)
		}
		head := r.say(sim.Say{Chat: simslack.General, Person: simslack.Ann, Text: "others talk"})
		r.sink.all()
		inside := channel
		inside.Thread = head
		r.send(inside, "I answered once")
		r.say(sim.Say{Chat: simslack.General, Person: simslack.Bob, Text: "go on", Thread: head})
		if m := one[adapters.Message](r); m.Mentioned || m.ReplyTo != nil {
			t.Errorf("a thread of others is no mention: %+v, %+v", m, m.ReplyTo)
		}
	})
}

// What cannot be stored is not acknowledged, and comes again: at once, after 1 min, after 5 min.
func TestC3_NotStoredComesAgain(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		fails := 2
		r.sink.fail = func(adapters.Event) error {
			if fails--; fails >= 0 {
				return errors.New("disk full")
			}
			return nil
		}
		r.run()
		r.say(sim.Say{Chat: simslack.DM, Person: simslack.Ann, Text: "hello"})
		<-time.After(10 * time.Second)
		if got := r.sink.all(); len(got) != 0 {
			t.Fatalf("got %+v before it was stored", got)
		}
		<-time.After(time.Minute)
		if m := one[adapters.Message](r); m.Text != "hello" {
			t.Errorf("got %+v", m)
		}
		var lost int
		for _, c := range r.sim.World().Calls(sim.OpAck) {
			if c.Error != "" {
				lost++
			}
		}
		if lost != 2 {
			t.Errorf("%d envelopes stayed unacknowledged, want 2", lost)
		}
	})
}

// Storing that hangs must not cost the deadline of the events behind it for ever.
func TestC3_SlowStoreIsBounded(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		r.sink.slow(time.Hour)
		r.say(sim.Say{Chat: simslack.DM, Person: simslack.Ann, Text: "hello"})
		<-time.After(2900 * time.Millisecond)
		r.sink.slow(0)
		<-time.After(2 * time.Second)
		if m := one[adapters.Message](r); m.Text != "hello" {
			t.Errorf("got %+v", m)
		}
	})
}

// What is stored and comes again is acknowledged only; another process gives it the same id.
func TestC3_RedeliveryKeepsTheID(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		r.say(sim.Say{Chat: simslack.DM, Person: simslack.Ann, Text: "hello"})
		first := one[adapters.Message](r)
		if err := r.sim.Redeliver(1); err != nil {
			t.Fatal(err)
		}
		r.tick()
		if got := r.sink.all(); len(got) != 0 {
			t.Errorf("got %+v again", got)
		}
		r.a.taken = newRecent(10) // as after a restart
		if err := r.sim.Redeliver(1); err != nil {
			t.Fatal(err)
		}
		r.tick()
		if again := one[adapters.Message](r); again.EventID != first.EventID {
			t.Errorf("%s became %s", first.EventID, again.EventID)
		}
		for _, c := range r.sim.World().Calls(sim.OpAck) {
			if c.Error != "" {
				t.Errorf("acknowledgement: %+v", c)
			}
		}
	})
}

// An event of a type that no library knows is acknowledged, or Slack sends it for ever.
func TestC3_UnknownEventIsAcknowledged(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		r.sim.Emit(map[string]any{"type": "event_of_tomorrow", "channel": map[string]any{"id": "C1"}})
		r.sim.Emit(map[string]any{"type": "message", "subtype": "channel_join", "user": simslack.Bob, "channel": simslack.General, "ts": "1.000001", "text": "joined"})
		<-time.After(20 * time.Minute)
		calls := r.sim.World().Calls(sim.OpAck)
		if len(calls) != 2 || calls[0].Error != "" || calls[1].Error != "" {
			t.Errorf("acknowledgements: %+v", calls)
		}
		if got := r.sink.all(); len(got) != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

// A person's message with blocks that slack-go cannot decode still arrives.
func TestC3_OddBlocksDoNotLoseTheMessage(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		r.sim.Emit(map[string]any{
			"type": "message", "channel": simslack.DM, "channel_type": "im", "user": simslack.Ann, "text": "a table", "ts": "1700000000.000100",
			"blocks": []any{map[string]any{"type": "table", "rows": []any{[]any{map[string]any{"type": "cell_of_tomorrow"}}}}},
			"files":  []any{map[string]any{"id": "F1", "name": nil, "size": "12", "url_private": "https://files.slack.com/x"}},
		})
		r.tick()
		m := one[adapters.Message](r)
		if m.Text != "a table" || len(m.Files) != 1 || m.Files[0].Source != "https://files.slack.com/x" {
			t.Errorf("got %+v", m)
		}
	})
}

func TestS7_Edits(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		id := r.say(sim.Say{Chat: simslack.General, Person: simslack.Ann, Text: "helo", Mention: true})
		r.sink.all()
		if err := r.sim.Unfurl(simslack.General, id); err != nil {
			t.Fatal(err)
		}
		r.tick()
		if got := r.sink.all(); len(got) != 0 {
			t.Errorf("a preview came as %+v", got)
		}
		if err := r.sim.EditMessage(simslack.General, simslack.Ann, id, "@typist hello"); err != nil {
			t.Fatal(err)
		}
		r.tick()
		e := one[adapters.Edited](r)
		if e.ID != id || e.Text != "hello" || !e.Mentioned || e.Chat.Thread != id || e.EventID == simslack.General+":"+id {
			t.Errorf("got %+v", e)
		}
		ref := r.send(e.Chat, "working")
		if err := r.a.Edit(t.Context(), ref, adapters.Post{Doc: nil}); err != nil {
			t.Fatal(err)
		}
		r.tick()
		if got := r.sink.all(); len(got) != 0 {
			t.Errorf("the bot's own edit came as %+v", got)
		}
	})
}

// An edit that adds the mention comes as app_mention too; that is no new message.
func TestS7_EditThatAddsTheMention(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		id := r.say(sim.Say{Chat: simslack.General, Person: simslack.Ann, Text: "hello"})
		r.sink.all()
		if err := r.sim.EditMessage(simslack.General, simslack.Ann, id, "@typist hello"); err != nil {
			t.Fatal(err)
		}
		r.tick()
		if e := one[adapters.Edited](r); !e.Mentioned || e.Text != "hello" {
			t.Errorf("got %+v", e)
		}
	})
}
