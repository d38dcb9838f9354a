package telegram_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"typist/adapters"
	"typist/adapters/rich"
	"typist/adapters/sim"
	simtelegram "typist/adapters/sim/telegram"
	"typist/adapters/telegram"
)

func TestC4_OneBadUpdateOrAPanicStopsNothing(t *testing.T) {
	inBubble(t, telegram.Config{}, false, func(t *testing.T, w *world) {
		w.start(&sink{accept: func(ev adapters.Event) error {
			if m, ok := ev.(adapters.Message); ok && m.Text == "boom" {
				panic("boom")
			}
			return nil
		}})
		w.srv.Inject(`{"update_id":%d,"message":{"message_id":"no number","date":1}}`)
		w.srv.Inject(`{"update_id":%d,"message":[]}`)
		w.say(sim.Say{Chat: group, Text: "boom"})
		w.say(sim.Say{Chat: group, Text: "boom", Files: pics})
		w.say(sim.Say{Chat: group, Text: "still alive"})
		<-time.After(time.Second)
		w.got("afterwards", "still alive")
		if left := w.srv.Unconfirmed(); len(left) != 0 {
			t.Errorf("stuck on %v", left)
		}
		w.srv.Inject(`{"message":{"message_id":1}}`) // no update id at all
		calls := len(w.srv.World().Calls(sim.OpReceive))
		<-time.After(time.Minute)
		if n := len(w.srv.World().Calls(sim.OpReceive)) - calls; n > 20 {
			t.Errorf("%d polls in a minute over an update without an id", n)
		}
	})
}

func TestC4_BackoffHasJitterAndEndsWithTheOutage(t *testing.T) {
	inBubble(t, telegram.Config{}, true, func(t *testing.T, w *world) {
		remove := w.srv.World().Inject(sim.Fault{Op: sim.OpReceive, Status: http.StatusBadGateway})
		w.srv.Disconnect(0)
		<-time.After(5 * time.Minute)
		st := w.sink.lastStatus()
		if st.Connected || st.Err == nil || !strings.Contains(st.Err.Error(), "Bad Gateway") && !strings.Contains(st.Err.Error(), "502") {
			t.Errorf("the status is %+v", st)
		}
		if d := time.Since(st.Since); d < 4*time.Minute {
			t.Errorf("disconnected for %s, it says", d)
		}
		n := len(w.srv.World().Calls(sim.OpReceive))
		if n < 15 || n > 50 {
			t.Errorf("%d polls in 5 minutes", n)
		}
		remove()
		<-time.After(20 * time.Second)
		if !w.sink.lastStatus().Connected {
			t.Error("it did not come back within 20 s")
		}
	})
}

func TestC6_GeneralHasANameForActionsOnly(t *testing.T) {
	inBubble(t, telegram.Config{}, true, func(t *testing.T, w *world) {
		chat := adapters.Chat{Channel: "telegram", ID: simtelegram.ForumChat}
		show := func(thread string) bool { on, _ := w.srv.World().Typing(simtelegram.ForumChat, thread); return on }
		for range 2 { // first it has to ask what kind of chat it is
			if err := w.a.Pulse(t.Context(), chat, adapters.Indication{}); err != nil {
				t.Fatal(err)
			}
			if !show("") || show(simtelegram.TopicPlans) {
				t.Error("General does not show it, or a topic does")
			}
			<-time.After(10 * time.Second)
		}
		for _, thread := range []string{"", "1"} {
			chat.Thread = thread
			ref, err := w.a.Send(t.Context(), chat, adapters.Post{Doc: rich.Plain("in General")})
			if err != nil {
				t.Fatal(err)
			}
			if m, _ := w.srv.World().Message(chat.ID, ref.ID); m.Thread != "" {
				t.Errorf("it stands in topic %q", m.Thread)
			}
		}
		asked := 0
		for _, c := range w.srv.World().Calls(sim.OpOther) {
			if c.Method == "getChat" {
				asked++
			}
		}
		if asked != 1 {
			t.Errorf("asked %d times what kind of chat it is", asked)
		}
	})
	inBubble(t, telegram.Config{}, true, func(t *testing.T, w *world) {
		w.say(sim.Say{Chat: simtelegram.ForumChat, Text: "in General"})
		<-time.After(time.Second)
		before := len(w.srv.World().Calls(sim.OpOther))
		if err := w.a.Pulse(t.Context(), w.sink.message(t, 0).Chat, adapters.Indication{}); err != nil {
			t.Fatal(err)
		}
		if on, _ := w.srv.World().Typing(simtelegram.ForumChat, ""); !on || len(w.srv.World().Calls(sim.OpOther)) != before {
			t.Errorf("the message did not teach that this is a forum (it shows: %t)", on)
		}
	})
}

func TestC1_TextMentionsAndTheTopicsHead(t *testing.T) {
	inBubble(t, telegram.Config{}, true, func(t *testing.T, w *world) {
		bot := simtelegram.User{ID: 9001, IsBot: true, FirstName: "Typist"}
		if _, err := w.srv.SayMessage(group, "", simtelegram.Cleo, simtelegram.Message{Text: "🙂 Typist help",
			Entities: []simtelegram.Entity{{Type: "text_mention", Offset: 3, Length: 6, User: &bot}}}); err != nil {
			t.Fatal(err)
		}
		w.say(sim.Say{Chat: simtelegram.ForumChat, Thread: simtelegram.TopicOps, Text: "under the bot's own topic head"})
		w.got("both", "🙂 help", "under the bot's own topic head")
		if m := w.sink.message(t, 0); !m.Mentioned {
			t.Error("a text mention is no mention")
		}
		if m := w.sink.message(t, 1); m.Mentioned || m.ReplyTo != nil {
			t.Errorf("the topic's head counts as a reply: %+v", m)
		}
	})
}

func TestO3_TheTokenIsNeverShown(t *testing.T) {
	secret := strings.SplitN(simtelegram.DefaultToken, ":", 2)[1]
	inBubble(t, telegram.Config{}, true, func(t *testing.T, w *world) {
		chat := adapters.Chat{Channel: "telegram", ID: group}
		var shown []string
		for _, f := range []sim.Fault{{Cut: sim.CutBefore}, {Cut: sim.CutAfter}, {Status: 500}, {Status: 502}, {Status: 404}, {Status: 429}, {Status: 418}} {
			other := f // polls go on
			f.Op, other.Op = sim.OpSend, sim.OpOther
			removes := []func(){w.srv.World().Inject(f), w.srv.World().Inject(other)}
			_, err := w.a.Send(t.Context(), chat, adapters.Post{Doc: rich.Plain("x")})
			if err == nil {
				t.Errorf("%+v: no error", f)
				continue
			}
			shown = append(shown, err.Error())
			_, err = w.a.Fetch(t.Context(), adapters.File{Source: "x"}, 10)
			shown = append(shown, err.Error())
			for _, remove := range removes {
				remove()
			}
		}
		w.srv.Disconnect(time.Hour)
		_, err := w.a.Send(t.Context(), chat, adapters.Post{Doc: rich.Plain("x")})
		shown = append(shown, err.Error())
		<-time.After(time.Minute)
		shown = append(shown, w.sink.lastStatus().Err.Error(), w.logged())
		for _, text := range shown {
			if strings.Contains(text, secret) {
				t.Errorf("the token shows in %q", text)
			}
		}
		w.srv.Disconnect(0)
	})
}

func TestO3_MessageTextsAreNotLogged(t *testing.T) {
	inBubble(t, telegram.Config{}, true, func(t *testing.T, w *world) {
		raw, err := json.Marshal(map[string]any{"message_id": "bad", "text": "a private matter"})
		if err != nil {
			t.Fatal(err)
		}
		w.srv.Inject(`{"update_id":%d,"message":` + string(raw) + `}`)
		w.say(sim.Say{Chat: group, Text: "a private matter too"})
		<-time.After(time.Second)
		if strings.Contains(w.logged(), "private matter") {
			t.Errorf("logged: %s", w.logged())
		}
	})
}

func TestC8_TheMenuSpeaksTheLanguages(t *testing.T) {
	inBubble(t, telegram.Config{}, false, func(t *testing.T, w *world) {
		err := w.a.SetCommands(t.Context(), []adapters.CommandSpec{
			{Name: "stop", Description: map[string]string{"en": "Stop", "de": "Anhalten"}},
			{Name: "typing", Description: map[string]string{"en": "Typing"}, Args: "[mode]"},
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []simtelegram.Command{{Command: "stop", Description: "Stop"}, {Command: "typing", Description: "Typing [mode]"}}
		if got := w.srv.Commands(""); !slices.Equal(got, want) {
			t.Errorf("got %+v", got)
		}
		want[0].Description = "Anhalten"
		if got := w.srv.Commands("de"); !slices.Equal(got, want) {
			t.Errorf("got %+v", got)
		}
	})
}
