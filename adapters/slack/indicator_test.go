package slack

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	simslack "typist/adapters/sim/slack"
)

// thread starts a thread in the channel and gives its chat.
func (r *rig) thread() (adapters.Chat, string) {
	r.t.Helper()
	id := r.say(sim.Say{Chat: simslack.General, Person: simslack.Ann, Text: "question", Mention: true})
	chat := channel
	chat.Thread = id
	r.sink.all()
	return chat, id
}

func (r *rig) typing(chat, thread string) string {
	on, text := r.sim.World().Typing(chat, thread)
	if !on {
		return ""
	}
	return text
}

func TestT6_StatusShowsAndIsCleared(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		chat, anchor := r.thread()
		pulse := func(text string) {
			t.Helper()
			if err := r.a.Pulse(t.Context(), chat, adapters.Indication{Text: text, Anchor: anchor}); err != nil {
				t.Fatal(err)
			}
		}
		pulse("Bash: go test, go vet <all>")
		if got := r.typing(chat.ID, chat.Thread); got != "Bash: go test · go vet ‹all›" {
			t.Errorf("shows %q", got)
		}
		<-time.After(119 * time.Second)
		pulse("Working… (2m)")
		<-time.After(119 * time.Second)
		if got := r.typing(chat.ID, chat.Thread); got != "Working… (2m)" {
			t.Errorf("after renewing: %q", got)
		}
		if err := r.a.Clear(t.Context(), chat, anchor); err != nil {
			t.Fatal(err)
		}
		if got := r.typing(chat.ID, chat.Thread); got != "" {
			t.Errorf("after clearing: %q", got)
		}
		if err := r.a.Clear(t.Context(), chat, anchor); err != nil {
			t.Errorf("clearing what does not show: %v", err)
		}
		if n := r.calls(sim.OpReact); n != 0 {
			t.Errorf("%d reactions were touched", n)
		}
	})
}

// The plain indicator has no text; an empty status would clear it.
func TestT8_PulseWithoutTextDoesNotClear(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		chat, anchor := r.thread()
		if err := r.a.Pulse(t.Context(), chat, adapters.Indication{Anchor: anchor}); err != nil {
			t.Fatal(err)
		}
		if got := r.typing(chat.ID, chat.Thread); got != "…" {
			t.Errorf("shows %q", got)
		}
		if len(r.sim.World().Calls(sim.OpClear)) != 0 {
			t.Error("a pulse cleared the status")
		}
	})
}

func TestC6_DirectChatShowsStatusOnTheQuestion(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		anchor := r.say(sim.Say{Chat: simslack.DM, Person: simslack.Ann, Text: "question"})
		r.sink.all()
		if err := r.a.Pulse(t.Context(), direct, adapters.Indication{Text: "Working…", Anchor: anchor}); err != nil {
			t.Fatal(err)
		}
		if got := r.typing(simslack.DM, ""); got != "Working…" {
			t.Errorf("shows %q", got)
		}
		r.sim.StopSession(simslack.DM, anchor, simslack.Ann)
		r.tick()
		if s := one[adapters.StopRequested](r); s.Chat != direct || s.From.ID != simslack.Ann || s.Kind != adapters.Direct {
			t.Errorf("the stop button of a direct chat's status: %+v", s)
		}
		if err := r.a.Clear(t.Context(), direct, anchor); err != nil {
			t.Fatal(err)
		}
		if got := r.typing(simslack.DM, ""); got != "" {
			t.Errorf("after clearing: %q", got)
		}
	})
}

func TestS2_StopButtonOfAThread(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		chat, _ := r.thread()
		r.sim.StopSession(chat.ID, chat.Thread, simslack.Bob)
		r.tick()
		if s := one[adapters.StopRequested](r); s.Chat != chat || s.From.ID != simslack.Bob {
			t.Errorf("got %+v", s)
		}
	})
}

// Without the feature or the scope a reaction stands for the indicator: no error, one warning.
func TestT11_RefusedStatusFallsBackToAReaction(t *testing.T) {
	for _, refusal := range []string{"missing_scope", "not_allowed_token_type", "feature_not_enabled", "channel_type_not_supported", "invalid_arguments"} {
		t.Run(refusal, func(t *testing.T) {
			in(t, func(t *testing.T) {
				r := newRig(t, simslack.Options{AssistantRefusal: refusal})
				r.run()
				chat, anchor := r.thread()
				for i := range 5 {
					if err := r.a.Pulse(t.Context(), chat, adapters.Indication{Text: "Working…", Anchor: anchor}); err != nil {
						t.Fatalf("pulse %d: %v", i, err)
					}
					<-time.After(time.Minute)
				}
				m, _ := r.sim.World().Message(chat.ID, anchor)
				if len(m.Reactions[emojiTyping]) != 1 {
					t.Errorf("reactions %v", m.Reactions)
				}
				if n := strings.Count(r.logs.String(), "typing status is refused"); n != 1 {
					t.Errorf("%d warnings, want one:\n%s", n, r.logs)
				}
				if n := r.calls(sim.OpPulse); n != 1 {
					t.Errorf("the refused call was made %d times", n)
				}
				if err := r.a.Clear(t.Context(), chat, anchor); err != nil {
					t.Fatal(err)
				}
				if m, _ := r.sim.World().Message(chat.ID, anchor); len(m.Reactions) != 0 {
					t.Errorf("after clearing: %v", m.Reactions)
				}
				if err := r.a.Clear(t.Context(), chat, anchor); err != nil {
					t.Errorf("clearing again: %v", err)
				}
			})
		})
	}
}

// A kind of chat that has no status does not end it for the others; the warning comes once.
func TestT11_RefusalOfOneChannel(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{AssistantRefusal: "channel_type_not_supported"})
		r.run()
		r.sim.World().AddChat(sim.Chat{ID: "C0SECOND", Name: "second", Members: []string{simslack.Ann}})
		r.sim.World().AddChat(sim.Chat{ID: "C0THIRD", Name: "third", Members: []string{simslack.Ann}})
		pulse := func(id string) adapters.Message {
			t.Helper()
			r.say(sim.Say{Chat: id, Person: simslack.Ann, Text: "question"})
			m := one[adapters.Message](r)
			if err := r.a.Pulse(t.Context(), m.Chat, adapters.Indication{Text: "x", Anchor: m.ID}); err != nil {
				t.Fatal(err)
			}
			return m
		}
		pulse(simslack.General)
		pulse("C0SECOND")
		if n := strings.Count(r.logs.String(), "typing status is refused"); n != 1 {
			t.Errorf("%d warnings", n)
		}
		r.sim.SetAssistantRefusal("")
		if m := pulse("C0THIRD"); r.typing("C0THIRD", m.ID) != "x" {
			t.Error("no status in a channel that has it")
		}
		pulse(simslack.General)
		if n := r.calls(sim.OpPulse); n != 3 {
			t.Errorf("%d calls", n)
		}
		<-time.After(refusalLife)
		if m := pulse(simslack.General); r.typing(simslack.General, m.ID) != "x" {
			t.Error("a refusal is for ever")
		}
	})
}

// A pulse that changes only the status text costs no further call where the reaction stands.
func TestT11_ReactionIsNotSetAgainForEachText(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{AssistantRefusal: "missing_scope"})
		r.run()
		chat, anchor := r.thread()
		for _, text := range []string{"a", "b", "c"} {
			if err := r.a.Pulse(t.Context(), chat, adapters.Indication{Text: text, Anchor: anchor}); err != nil {
				t.Fatal(err)
			}
			<-time.After(2 * time.Second)
		}
		if n := r.calls(sim.OpReact); n != 1 {
			t.Errorf("%d calls", n)
		}
	})
}

// S9: a reaction that a killed process left is taken away by the next one.
func TestS9_ReactionLeftOverIsCleared(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{AssistantRefusal: "missing_scope"})
		r.run()
		chat, anchor := r.thread()
		if err := r.a.Pulse(t.Context(), chat, adapters.Indication{Anchor: anchor}); err != nil {
			t.Fatal(err)
		}
		r.sim.SetAssistantRefusal("") // even if the status works now
		again := r.adapter()
		defer again.http.CloseIdleConnections()
		if err := again.Clear(t.Context(), chat, anchor); err != nil {
			t.Fatal(err)
		}
		if m, _ := r.sim.World().Message(chat.ID, anchor); len(m.Reactions) != 0 {
			t.Errorf("left over: %v", m.Reactions)
		}
	})
}

func TestT11_PulseErrors(t *testing.T) {
	for _, c := range []struct {
		fault sim.Fault
		want  error
		wait  time.Duration
	}{
		{fault: sim.Fault{Status: 429, RetryAfter: 7 * time.Second}, wait: 7 * time.Second},
		{fault: sim.Fault{Status: 401}, want: adapters.ErrDenied},
		{fault: sim.Fault{Status: 403}, want: adapters.ErrDenied},
		{fault: sim.Fault{Status: 503}, want: adapters.ErrUnknownOutcome},
		{fault: sim.Fault{Status: 200}, want: adapters.ErrUnknownOutcome}, // ok false without an error
		{fault: sim.Fault{Cut: sim.CutAfter}, want: adapters.ErrUnknownOutcome},
	} {
		in(t, func(t *testing.T) {
			r := newRig(t, simslack.Options{})
			r.run()
			chat, anchor := r.thread()
			c.fault.Op = sim.OpPulse
			r.sim.World().Inject(c.fault)
			err := r.a.Pulse(t.Context(), chat, adapters.Indication{Anchor: anchor})
			var limited *adapters.RateLimitError
			if c.wait > 0 && (!errors.As(err, &limited) || limited.RetryAfter != c.wait) {
				t.Errorf("%+v: got %v", c.fault, err)
			}
			if c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%+v: got %v, want %v", c.fault, err, c.want)
			}
			if n := r.calls(sim.OpReact); n != 0 {
				t.Errorf("%+v: a reaction was set", c.fault)
			}
		})
	}
}

// 429 without a Retry-After header is a rate limit all the same.
func TestT11_RateLimitWithoutHeader(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{NoRetryAfter: true})
		r.run()
		chat, anchor := r.thread()
		r.sim.World().Inject(sim.Fault{Op: sim.OpPulse, Status: 429})
		err := r.a.Pulse(t.Context(), chat, adapters.Indication{Anchor: anchor})
		var limited *adapters.RateLimitError
		if !errors.As(err, &limited) || limited.RetryAfter < time.Second {
			t.Errorf("got %v", err)
		}
	})
}

// T8: a pulse in flight can be cancelled.
func TestT8_CancelledPulseReturns(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		chat, anchor := r.thread()
		r.sim.World().Inject(sim.Fault{Op: sim.OpPulse, Delay: 10 * time.Second})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		err := r.a.Pulse(ctx, chat, adapters.Indication{Anchor: anchor})
		if took := time.Since(start); took > 1100*time.Millisecond {
			t.Errorf("took %s", took)
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// T4: a heartbeat answers nobody; its status hangs on the chat's last message, also after a restart.
func TestT4_IndicatorWithoutAnchor(t *testing.T) {
	for _, refusal := range []string{"", "missing_scope"} {
		in(t, func(t *testing.T) {
			r := newRig(t, simslack.Options{AssistantRefusal: refusal})
			r.run()
			id := r.say(sim.Say{Chat: simslack.DM, Person: simslack.Ann, Text: "yesterday"})
			r.sink.all()
			shows := func() bool {
				m, _ := r.sim.World().Message(simslack.DM, id)
				return r.typing(simslack.DM, "") == "Checking" || len(m.Reactions[emojiTyping]) == 1
			}
			check := func(a *Adapter) {
				t.Helper()
				if err := a.Pulse(t.Context(), direct, adapters.Indication{Text: "Checking"}); err != nil || !shows() {
					t.Fatalf("%s: shows %t, %v", refusal, shows(), err)
				}
			}
			check(r.a)
			other := r.say(sim.Say{Chat: simslack.DM, Person: simslack.Ann, Text: "meanwhile"})
			<-time.After(time.Minute)
			check(r.a) // it stays where it is
			if m, _ := r.sim.World().Message(simslack.DM, other); len(m.Reactions) > 0 {
				t.Errorf("a second reaction: %v", m.Reactions)
			}
			for _, c := range r.sim.World().Calls(sim.OpPulse) {
				if c.Thread != id {
					t.Errorf("the status moved to %s", c.Thread)
				}
			}
			if err := r.a.Clear(t.Context(), direct, ""); err != nil || shows() {
				t.Errorf("%s: still shows, %v", refusal, err)
			}
			id = r.say(sim.Say{Chat: simslack.DM, Person: simslack.Ann, Text: "later"})
			again := r.adapter() // it has seen nothing: it asks
			defer again.http.CloseIdleConnections()
			check(again)
			third := r.adapter()
			defer third.http.CloseIdleConnections()
			if err := third.Clear(t.Context(), direct, ""); err != nil || shows() {
				t.Errorf("%s: left over, %v", refusal, err)
			}
		})
	}
}

// In a channel no message of a person stands in.
func TestT4_IndicatorWithoutAnchorInAChannel(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{}, func(cfg *Config) { cfg.ThreadReplies = "never" })
		r.run()
		r.say(sim.Say{Chat: simslack.General, Person: simslack.Ann, Text: "hello"})
		if err := r.a.Pulse(t.Context(), channel, adapters.Indication{Text: "x"}); err != nil || r.calls(sim.OpPulse) != 0 {
			t.Errorf("%d calls, %v", r.calls(sim.OpPulse), err)
		}
		ref := r.send(channel, "news")
		if err := r.a.Pulse(t.Context(), channel, adapters.Indication{Text: "x"}); err != nil || r.typing(channel.ID, ref.ID) != "x" {
			t.Errorf("shows %q, %v", r.typing(channel.ID, ref.ID), err)
		}
		if err := r.a.Clear(t.Context(), channel, ""); err != nil || r.typing(channel.ID, ref.ID) != "" {
			t.Errorf("still shows: %v", err)
		}
	})
}

func TestS10_WaitingReaction(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		chat, id := r.thread()
		ref := adapters.Ref{Chat: chat, ID: id}
		for range 2 {
			if err := r.a.React(t.Context(), ref, adapters.ReactionWaiting, true); err != nil {
				t.Fatal(err)
			}
		}
		if m, _ := r.sim.World().Message(chat.ID, id); len(m.Reactions["eyes"]) != 1 {
			t.Errorf("reactions %v", m.Reactions)
		}
		for range 2 {
			if err := r.a.React(t.Context(), ref, adapters.ReactionWaiting, false); err != nil {
				t.Fatal(err)
			}
		}
		if m, _ := r.sim.World().Message(chat.ID, id); len(m.Reactions) != 0 {
			t.Errorf("reactions %v", m.Reactions)
		}
		if err := r.a.React(t.Context(), adapters.Ref{Chat: chat, ID: "1.000001"}, adapters.ReactionWaiting, true); !errors.Is(err, adapters.ErrGone) {
			t.Errorf("got %v", err)
		}
	})
}
