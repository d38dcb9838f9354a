package telegram_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	"typist/adapters/rich"
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
		case adapters.Press:
			out = append(out, "press:"+ev.Data)
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

func TestC3_AnAlbumWaitsForItsPartsAndKeepsTheOrder(t *testing.T) {
	inBubble(t, telegram.Config{}, true, func(t *testing.T, w *world) {
		w.say(sim.Say{Chat: group, Text: "two pictures", Files: pics})
		w.say(sim.Say{Chat: group, Person: simtelegram.Ben, Text: "said after it"})
		w.got("at once")
		if len(w.srv.Unconfirmed()) != 3 {
			t.Errorf("confirmed before it was delivered: %v left", w.srv.Unconfirmed())
		}
		time.Sleep(time.Second)
		w.got("after a second", "two pictures", "said after it")
		time.Sleep(200 * time.Millisecond)
		if left := w.srv.Unconfirmed(); len(left) != 0 {
			t.Errorf("delivered and not confirmed: %v", left)
		}
		if m := w.sink.events[0].(adapters.Message); len(m.Files) != 2 {
			t.Errorf("got %+v", m.Files)
		}
		if d := w.sink.times[1].Sub(w.sink.times[0]); d != 0 {
			t.Errorf("the next message came %s later", d)
		}
	})
}

func TestC3_ALatePartStillBelongsToItsAlbum(t *testing.T) {
	inBubble(t, telegram.Config{}, true, func(t *testing.T, w *world) {
		part := func(text string) {
			if _, err := w.srv.SayMessage(group, "", simtelegram.Ann, simtelegram.Message{MediaGroupID: "77", Caption: text,
				Document: &simtelegram.Document{FileID: "f" + text, FileUniqueID: "u"}}); err != nil {
				t.Fatal(err)
			}
		}
		part("one")
		time.Sleep(400 * time.Millisecond)
		part("two")
		time.Sleep(400 * time.Millisecond)
		part("three")
		w.got("before the last part's wait is over")
		time.Sleep(time.Second)
		w.got("afterwards", "one\ntwo\nthree")
	})
}

func TestC3_ThePersonsNextActEndsTheWait(t *testing.T) {
	inBubble(t, telegram.Config{}, true, func(t *testing.T, w *world) {
		w.say(sim.Say{Chat: group, Text: "two pictures", Files: pics})
		time.Sleep(150 * time.Millisecond)
		w.say(sim.Say{Chat: group, Text: "and a word"})
		time.Sleep(150 * time.Millisecond)
		w.got("after the next message", "two pictures", "and a word")
		w.sink.events = nil
		id := w.say(sim.Say{Chat: group, Text: "two more", Files: pics})
		time.Sleep(150 * time.Millisecond)
		if err := w.srv.EditMessage(group, simtelegram.Ann, id, "two others"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(150 * time.Millisecond)
		w.got("after the edit", "two more", "edit:two others")
	})
}

func TestC3_APasteIsJoinedAndAStopIsNotDelayed(t *testing.T) {
	inBubble(t, telegram.Config{IsStop: func(s string) bool { return s == "halt" }}, true, func(t *testing.T, w *world) {
		w.say(sim.Say{Chat: group, Text: paste, Parts: 2})
		time.Sleep(150 * time.Millisecond) // the parts may come in two polls
		w.got("a short last part ends the wait", strings.TrimSpace(paste))
		for i, stop := range []string{"/stop", "halt"} {
			w.sink.events = nil
			w.say(sim.Say{Chat: group, Text: paste[:4096]}) // a whole part: more may come
			w.got("a long part")
			at := time.Now()
			w.say(sim.Say{Chat: group, Person: []string{simtelegram.Ann, simtelegram.Ben}[i], Text: stop})
			time.Sleep(150 * time.Millisecond)
			w.got("a stop", strings.TrimSpace(paste[:4096]), stop)
			if d := w.sink.times[len(w.sink.times)-1].Sub(at); d > 100*time.Millisecond {
				t.Errorf("the stop was delayed by %s", d)
			}
			time.Sleep(5 * time.Second)
		}
		w.sink.events = nil
		listing := strings.Repeat("/usr/lib/x ", 600)
		w.say(sim.Say{Chat: group, Text: listing, Parts: 2})
		time.Sleep(150 * time.Millisecond)
		w.got("a paste that begins with a slash", strings.TrimSpace(listing))
		w.sink.events = nil
		w.say(sim.Say{Chat: group, Text: paste[:4096]})
		time.Sleep(5 * time.Second)
		w.say(sim.Say{Chat: group, Text: "an hour later"})
		w.got("two messages that are no paste", strings.TrimSpace(paste[:4096]), "an hour later")
	})
}

func TestC3_MessagesOfDifferentTimesAreNoPasteAfterAReconnect(t *testing.T) {
	inBubble(t, telegram.Config{}, false, func(t *testing.T, w *world) {
		w.say(sim.Say{Chat: group, Text: paste[:4096]})
		time.Sleep(time.Minute)
		w.say(sim.Say{Chat: group, Text: "a minute later"})
		w.start(&sink{})
		time.Sleep(2 * time.Second)
		w.got("both at once", strings.TrimSpace(paste[:4096]), "a minute later")
	})
}

func TestC3_NothingIsConfirmedBeforeItIsDurable(t *testing.T) {
	inBubble(t, telegram.Config{}, false, func(t *testing.T, w *world) {
		w.start(&sink{accept: func(adapters.Event) error { return errors.New("the disk is full") }})
		w.say(sim.Say{Chat: group, Text: "one"})
		w.say(sim.Say{Chat: group, Text: "two"})
		time.Sleep(time.Minute)
		if n := len(w.srv.Unconfirmed()); n != 2 {
			t.Errorf("%d unconfirmed, want 2", n)
		}
		if n := len(w.srv.World().Calls(sim.OpReceive)); n > 3 {
			t.Errorf("%d polls for what is known already", n)
		}
		if err := w.end(); err != nil { // as a crash would
			t.Fatal(err)
		}
		w.start(&sink{})
		w.got("after the restart", "one", "two")
		time.Sleep(time.Second)
		if n := len(w.srv.Unconfirmed()); n != 0 {
			t.Errorf("%d unconfirmed, want 0", n)
		}
	})
}

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
		time.Sleep(time.Second)
		w.got("afterwards", "still alive")
		if left := w.srv.Unconfirmed(); len(left) != 0 {
			t.Errorf("stuck on %v", left)
		}
		w.srv.Inject(`{"message":{"message_id":1}}`) // no update id at all
		calls := len(w.srv.World().Calls(sim.OpReceive))
		time.Sleep(time.Minute)
		if n := len(w.srv.World().Calls(sim.OpReceive)) - calls; n > 20 {
			t.Errorf("%d polls in a minute over an update without an id", n)
		}
	})
}

func TestC4_AnotherPollerIsFatalAfterAWhile(t *testing.T) {
	inBubble(t, telegram.Config{}, false, func(t *testing.T, w *world) {
		w.srv.World().Inject(sim.Fault{Op: sim.OpReceive, Status: http.StatusConflict})
		began := time.Now()
		w.start(&sink{})
		err := <-w.done
		w.stop = nil
		var fatal *adapters.FatalError
		if !errors.As(err, &fatal) || !strings.Contains(fatal.Sentence, "another program") {
			t.Fatalf("got %v", err)
		}
		if d := time.Since(began); d < time.Minute || d > 90*time.Second {
			t.Errorf("it gave up after %s", d)
		}
		if n := len(w.srv.World().Calls(sim.OpReceive)); n < 5 || n > 20 {
			t.Errorf("%d polls", n)
		}
	})
	inBubble(t, telegram.Config{}, false, func(t *testing.T, w *world) { // the other one goes away
		w.srv.World().Inject(sim.Fault{Op: sim.OpReceive, Status: http.StatusConflict, Times: 4})
		w.start(&sink{})
		w.say(sim.Say{Chat: group, Text: "hello"})
		time.Sleep(time.Minute)
		w.got("afterwards", "hello")
		if !w.sink.lastStatus().Connected {
			t.Error("not connected")
		}
	})
}

func TestC4_AWebhookIsTakenAway(t *testing.T) {
	inBubble(t, telegram.Config{}, false, func(t *testing.T, w *world) {
		w.srv.SetWebhook("https://example.com/hook")
		w.start(&sink{})
		w.say(sim.Say{Chat: group, Text: "hello"})
		w.got("by polling", "hello")
	})
}

func TestC4_BackoffHasJitterAndEndsWithTheOutage(t *testing.T) {
	inBubble(t, telegram.Config{}, true, func(t *testing.T, w *world) {
		remove := w.srv.World().Inject(sim.Fault{Op: sim.OpReceive, Status: http.StatusBadGateway})
		w.srv.Disconnect(0)
		time.Sleep(5 * time.Minute)
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
		time.Sleep(20 * time.Second)
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
			time.Sleep(10 * time.Second)
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
		time.Sleep(time.Second)
		before := len(w.srv.World().Calls(sim.OpOther))
		if err := w.a.Pulse(t.Context(), w.sink.events[0].About().Chat, adapters.Indication{}); err != nil {
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
		if m := w.sink.events[0].(adapters.Message); !m.Mentioned {
			t.Error("a text mention is no mention")
		}
		if m := w.sink.events[1].(adapters.Message); m.Mentioned || m.ReplyTo != nil {
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
		time.Sleep(time.Minute)
		shown = append(shown, w.sink.lastStatus().Err.Error(), w.log.String())
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
		time.Sleep(time.Second)
		if strings.Contains(w.log.String(), "private matter") {
			t.Errorf("logged: %s", w.log.String())
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
