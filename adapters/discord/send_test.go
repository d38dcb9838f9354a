package discord_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"typist/adapters"
	"typist/adapters/discord"
	"typist/adapters/rich"
	"typist/adapters/sim"
	simdiscord "typist/adapters/sim/discord"
)

func TestP12_OnlyAPingReplyNotifies(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		id := r.say(sim.Say{Chat: simdiscord.General, Text: "question", Mention: true})
		post := text("answer to @everyone and <@" + simdiscord.Ben + ">")
		post.ReplyTo = id
		if m := r.shown(r.send(groupChat, post)); len(m.Pings) != 0 || m.ReplyTo != id {
			t.Errorf("a quiet reply pings %v", m.Pings)
		}
		post.Ping = true
		if m := r.shown(r.send(groupChat, post)); len(m.Pings) != 1 || m.Pings[0] != simdiscord.Ann {
			t.Errorf("a ping reply pings %v", m.Pings)
		}
		post.ReplyTo = ""
		if m := r.shown(r.send(groupChat, post)); len(m.Pings) != 0 {
			t.Errorf("without a reply it pings %v", m.Pings)
		}
	})
}

// tapped keeps the bodies of calls, and may change answers.
type tapped struct {
	base   http.RoundTripper
	bodies []string
	change func(http.Header)
}

func (t *tapped) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(data))
		if len(data) > 0 {
			t.bodies = append(t.bodies, string(data))
		}
	}
	resp, err := t.base.RoundTrip(r)
	if err == nil && t.change != nil {
		t.change(resp.Header)
	}
	return resp, err
}

// tap puts a tapped transport into a fresh adapter.
func (r *rig) tap() *tapped {
	client := r.listen.HTTPClient()
	r.Cleanup(client.CloseIdleConnections)
	tap := &tapped{base: client.Transport}
	a, err := discord.New(r.cfg, discord.Deps{HTTP: tap, Dial: r.listen.Dial})
	if err != nil {
		r.Fatal(err)
	}
	r.a = a
	return tap
}

func TestP13_EveryMessageAllowsNoMentions(t *testing.T) {
	setUp(t, simdiscord.Options{}, func(r *rig) {
		tap := r.tap()
		ref := r.send(directChat, text("one"))
		post := text("two")
		post.Files = []adapters.File{{Name: "a.txt", Data: []byte("a")}}
		r.send(directChat, post)
		if err := r.a.Edit(r.Context(), ref, text("three")); err != nil {
			t.Fatal(err)
		}
		if len(tap.bodies) != 3 {
			t.Fatalf("%d bodies", len(tap.bodies))
		}
		for _, body := range tap.bodies {
			if !strings.Contains(body, `"allowed_mentions":{"parse":[],"replied_user":false}`) {
				t.Errorf("sent %s", body)
			}
		}
		if strings.Contains(tap.bodies[2], `"ID"`) || strings.Contains(tap.bodies[2], `"Channel"`) { // discordgo's stray fields
			t.Errorf("an edit sent %s", tap.bodies[2])
		}
	})
}

func TestP11_OddLimitHeadersChangeNoOutcome(t *testing.T) {
	setUp(t, simdiscord.Options{}, func(r *rig) {
		r.tap().change = func(h http.Header) {
			h.Set("X-RateLimit-Reset-After", "soon")
			h.Set("X-RateLimit-Remaining", "-")
		}
		r.send(directChat, text("one"))
	})
}

func TestS3_TheSameKeyNeverMakesTwoMessages(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		post := text("once")
		post.Key = "run_0123456789-abcdefgh" // 23 bytes
		first := r.send(directChat, post)
		r.renew() // nothing remembered
		if second := r.send(directChat, post); second != first {
			t.Errorf("got %v, then %v", first, second)
		}
	})
}

func TestS3_FindAfterARestart(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		since := time.Now()
		r.send(directChat, text("another message of the bot"))
		post := text("lost")
		post.Key = "the-key"
		r.server.World().Inject(sim.Fault{Op: sim.OpSend, Times: 1, Cut: sim.CutAfter})
		if _, err := r.a.Send(r.Context(), directChat, post); !errors.Is(err, adapters.ErrUnknownOutcome) {
			t.Fatal(err)
		}
		ref, found, err := r.a.Find(r.Context(), directChat, post.Key, since)
		if err != nil || !found || r.shown(ref).Text != "lost" {
			t.Fatalf("before a restart: %v %t %v", ref, found, err)
		}
		r.stop()
		r.renew()
		// Soon after, Discord still knows the key.
		again, found, err := r.a.Find(r.Context(), directChat, post.Key, since)
		if err != nil || !found || again != ref || r.shown(ref).Text != "lost" {
			t.Errorf("soon after a restart: %v %t %v", again, found, err)
		}
		before := len(r.server.World().Messages(directChat.ID, "*"))
		if _, found, err = r.a.Find(r.Context(), directChat, "never-sent", since); err != nil || found {
			t.Errorf("a key that was never used: %t %v", found, err)
		}
		if n := len(r.server.World().Messages(directChat.ID, "*")); n != before {
			t.Errorf("the question left %d messages", n-before)
		}
		r.settle(10 * time.Minute)
		r.renew()
		if _, _, err = r.a.Find(r.Context(), directChat, post.Key, since); !errors.Is(err, adapters.ErrUnknownOutcome) {
			t.Errorf("long after a restart: %v", err)
		}
		// Where the bot wrote nothing since, it surely is not there.
		if _, found, err = r.a.Find(r.Context(), groupChat, post.Key, since); err != nil || found {
			t.Errorf("in another chat: %t %v", found, err)
		}
	})
}

func TestP11_TooManyEditsOfAnOldMessage(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		ref := r.send(directChat, text("old"))
		r.settle(2 * time.Hour)
		var err error
		for i := range 5 {
			r.settle(10 * time.Second)
			if err = r.a.Edit(r.Context(), ref, text(strings.Repeat("x", i+1))); err != nil {
				break
			}
		}
		if !errors.Is(err, adapters.ErrTooOld) { // it comes as a 429
			t.Errorf("got %v", err)
		}
	})
}

func TestT11_LimitsTellScopeAndWait(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		var limit *adapters.RateLimitError
		var err error
		for range 6 {
			if err = r.a.Pulse(r.Context(), directChat, adapters.Indication{}); err != nil {
				break
			}
		}
		if !errors.As(err, &limit) || limit.Global || limit.RetryAfter <= 0 || limit.RetryAfter > 5*time.Second {
			t.Fatalf("per route: %v", err)
		}
		if err := r.a.Pulse(r.Context(), groupChat, adapters.Indication{}); err != nil {
			t.Errorf("another chat is held up: %v", err)
		}
		r.settle(limit.RetryAfter)
		if err := r.a.Pulse(r.Context(), directChat, adapters.Indication{}); err != nil {
			t.Errorf("after the wait: %v", err)
		}
	})
}

// Discord's edge answers a 429 that is no JSON, of which discordgo makes a bare syntax error.
func TestT11_CloudflareLimitIsALimit(t *testing.T) {
	inBubble(t, simdiscord.Options{CloudflareLimits: true}, func(r *rig) {
		for wait, want := range map[time.Duration]time.Duration{12 * time.Second: 12 * time.Second, 0: 5 * time.Second} {
			r.server.World().Inject(sim.Fault{Op: sim.OpSend, Times: 1, Status: 429, RetryAfter: wait})
			_, err := r.a.Send(r.Context(), directChat, text("x"))
			var limit *adapters.RateLimitError
			if !errors.As(err, &limit) || limit.RetryAfter != want || !limit.Global {
				t.Errorf("wait %s: got %v", wait, err)
			}
		}
	})
}

func TestT11_ASlowCallHoldsNoOtherUp(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		r.server.World().Inject(sim.Fault{Op: sim.OpPulse, Delay: 8 * time.Second})
		go r.a.Pulse(r.Context(), directChat, adapters.Indication{})
		r.settle(time.Second)
		began := time.Now()
		r.send(directChat, text("the answer"))
		if took := time.Since(began); took > 0 {
			t.Errorf("the answer waited %s", took)
		}
		r.settle(10 * time.Second)
	})
}

func TestP13_WhatDiscordRefusesArrivesPlain(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		post := adapters.Post{Doc: rich.Parse("**bold** text"), Buttons: [][]adapters.Button{{{Text: "x", Data: strings.Repeat("é", 101)}}}}
		if m := r.shown(r.send(directChat, post)); m.Text != "bold text" || len(m.Buttons) != 0 {
			t.Errorf("people see %+v", m)
		}
	})
}

func TestP11_ButtonsFitDiscordsRows(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		post := text("many")
		var row []adapters.Button
		for i := range 12 {
			row = append(row, adapters.Button{Text: strings.Repeat("t", 90), Data: strings.Repeat("d", i+1)})
		}
		post.Buttons = [][]adapters.Button{row, {{Text: "again", Data: "d"}, {Text: "", Data: "empty"}}}
		m := r.shown(r.send(directChat, post))
		if len(m.Buttons) != 4 || len(m.Buttons[0]) != 5 || len(m.Buttons[3]) != 1 {
			t.Errorf("people see the buttons %+v", m.Buttons)
		}
	})
}

func TestC7_OnlyDiscordsHostsAreFetched(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		for _, source := range []string{"http://169.254.169.254/latest", "https://example.com/x", "file:///etc/passwd", "http://cdn.discordapp.com/x", "", "::"} {
			if _, err := r.a.Fetch(r.Context(), adapters.File{Name: "x", Source: source}, 100); !errors.Is(err, adapters.ErrInvalid) {
				t.Errorf("%q: %v", source, err)
			}
		}
	})
}

func TestH1_ResolveByNameAndPerson(t *testing.T) {
	setUp(t, simdiscord.Options{}, func(r *rig) {
		for target, want := range map[string]adapters.Chat{
			"#general": groupChat, "#GENERAL": groupChat, "#Release": threadChat, simdiscord.General: groupChat,
			simdiscord.Thread: threadChat, simdiscord.Ann: directChat, " " + simdiscord.DM + " ": directChat,
		} {
			chat, kind, err := r.a.Resolve(r.Context(), target)
			if err != nil || chat != want || (kind == adapters.Direct) != (want == directChat) {
				t.Errorf("%q: %+v %s %v", target, chat, kind, err)
			}
		}
		for _, target := range []string{"#nowhere", "@ann", "", "99999"} {
			if chat, _, err := r.a.Resolve(r.Context(), target); err == nil {
				t.Errorf("%q is %+v", target, chat)
			}
		}
		chat, kind, err := r.a.Resolve(r.Context(), simdiscord.Cleo) // a direct chat that begins
		if err != nil || kind != adapters.Direct {
			t.Fatal(err)
		}
		r.send(chat, text("good morning"))
	})
}

func TestO4_ProbeSaysWhatItFinds(t *testing.T) {
	setUp(t, simdiscord.Options{}, func(r *rig) {
		found, err := r.a.Probe(r.Context())
		if err != nil || found != "bot @typist, in 1 server, message content intent on" {
			t.Errorf("%q, %v", found, err)
		}
	})
}

func TestO3_ErrorsShowNoInteractionToken(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		if err := r.a.SetCommands(r.Context(), commandList); err != nil {
			t.Fatal(err)
		}
		if err := r.server.Command(sim.CommandUse{Chat: simdiscord.DM, Person: simdiscord.Ann, Name: "stop"}); err != nil {
			t.Fatal(err)
		}
		c := last[adapters.Command](r)
		r.settle(time.Hour) // its token is dead
		for _, fault := range []sim.Fault{{}, {Op: sim.OpEdit, Times: 1, Cut: sim.CutBefore}} {
			if fault.Op != "" {
				r.server.World().Inject(fault)
			}
			err := c.Answer(text("too late"))
			if err == nil || strings.Contains(err.Error(), "aW50ZXJhY3Rpb24") {
				t.Errorf("got %v", err)
			}
		}
	})
}
