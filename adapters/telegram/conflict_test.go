package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/adapters/telegram"
)

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
		if n := len(w.srv.World().Calls(sim.OpReceive)); n < 5 || n > 10 {
			t.Errorf("%d polls", n)
		}
	})
	inBubble(t, telegram.Config{}, false, func(t *testing.T, w *world) { // the other one goes away
		w.srv.World().Inject(sim.Fault{Op: sim.OpReceive, Status: http.StatusConflict, Times: 4})
		w.start(&sink{})
		w.say(sim.Say{Chat: group, Text: "hello"})
		<-time.After(time.Minute)
		w.got("afterwards", "hello")
		if !w.sink.lastStatus().Connected {
			t.Error("not connected")
		}
	})
}

// TestC4_TwoPollersOfOneToken: each shuts the other out and succeeds in between. One of them goes,
// and says why; neither says again and again that it is connected.
func TestC4_TwoPollersOfOneToken(t *testing.T) {
	inBubble(t, telegram.Config{}, true, func(t *testing.T, w *world) {
		<-time.After(time.Minute)
		other, cancel := context.WithCancel(t.Context())
		second := newAdapter(t, telegram.Config{Token: w.srv.Credentials()["botToken"], APIURL: w.srv.URL(), HTTPClient: w.http},
			telegram.Deps{Log: slog.New(slog.NewTextHandler(&bytes.Buffer{}, nil))})
		late, ended := &sink{}, make(chan error, 1)
		began, polls := time.Now(), len(w.srv.World().Calls(sim.OpReceive))
		go func() { ended <- second.Run(other, late) }()

		var err error
		first := false
		select {
		case err = <-w.done:
			first = true
			w.stop = nil
		case err = <-ended:
		case <-time.After(3 * time.Minute):
			t.Fatal("both go on")
		}
		if d := time.Since(began); d < time.Minute || d > 100*time.Second {
			t.Errorf("one gave up after %s", d)
		}
		var fatal *adapters.FatalError
		if !errors.As(err, &fatal) || !strings.Contains(fatal.Sentence, "stop it, or use another bot") {
			t.Errorf("got %v", err)
		}
		if n := len(w.srv.World().Calls(sim.OpReceive)) - polls; n > 60 {
			t.Errorf("%d polls", n)
		}
		<-time.After(time.Minute) // the one that is left
		synctest.Wait()
		for i, s := range []*sink{w.sink, late} {
			s.mu.Lock()
			var told []string
			for _, st := range s.status {
				switch {
				case st.Connected:
					told = append(told, "up")
				case strings.Contains(st.Err.Error(), "another program polls with this token: stop it, or use another bot"):
					told = append(told, "conflict")
				default:
					told = append(told, st.Err.Error())
				}
			}
			s.mu.Unlock()
			want := "up conflict up"
			if first == (i == 0) {
				want = "up conflict"
			}
			if got := strings.Join(told, " "); got != want {
				t.Errorf("adapter %d told %q, want %q", i+1, got, want)
			}
		}
		cancel()
		if !first {
			return
		}
		if err := <-ended; err != nil {
			t.Errorf("the other one returned %v", err)
		}
	})
}

// TestC4_OutagesThatComeAndGoSlowDown: polls that succeed in between do not start the pauses anew.
func TestC4_OutagesThatComeAndGoSlowDown(t *testing.T) {
	inBubble(t, telegram.Config{}, true, func(t *testing.T, w *world) {
		for range 100 {
			remove := w.srv.World().Inject(sim.Fault{Op: sim.OpReceive, Status: http.StatusBadGateway, Times: 1})
			w.say(sim.Say{Chat: group, Text: "news ends the poll"})
			<-time.After(600 * time.Millisecond)
			remove()
		}
		w.sink.mu.Lock()
		n := len(w.sink.status)
		w.sink.mu.Unlock()
		if n < 5 || n > 30 {
			t.Errorf("%d changes of state in a minute", n)
		}
		<-time.After(30 * time.Second)
		if n := len(w.sink.texts()); n != 100 {
			t.Errorf("%d of 100 messages came", n)
		}
	})
}

func TestC4_AWebhookIsTakenAwayAndSaidSo(t *testing.T) {
	inBubble(t, telegram.Config{}, false, func(t *testing.T, w *world) {
		w.srv.SetWebhook("https://hooks.example.com/secret/path")
		w.start(&sink{})
		w.say(sim.Say{Chat: group, Text: "hello"})
		w.got("by polling", "hello")
		log := w.logged()
		if strings.Count(log, "level=WARN") != 1 || !strings.Contains(log, "host=hooks.example.com") || !strings.Contains(log, "removed now") {
			t.Errorf("logged: %s", log)
		}
		if strings.Contains(log, "secret") {
			t.Errorf("the address shows: %s", log)
		}
	})
	inBubble(t, telegram.Config{}, true, func(t *testing.T, w *world) { // none is set
		for _, c := range w.srv.World().Calls(sim.OpOther) {
			if c.Method == "deleteWebhook" {
				t.Error("a webhook that is not set is removed")
			}
		}
		if log := w.logged(); strings.Contains(log, "webhook") {
			t.Errorf("logged: %s", log)
		}
		w.srv.SetWebhook("https://hooks.example.com/secret/path") // by another program, later
		w.say(sim.Say{Chat: group, Text: "ends the poll"})
		err := <-w.done
		w.stop = nil
		if err == nil || !strings.Contains(err.Error(), "webhook") {
			t.Errorf("got %v", err)
		}
	})
}
