package sim

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

var (
	bot = Person{ID: "9", Name: "Bot"}
	ann = Person{ID: "1", Name: "Ann"}
)

func newWorld() *World {
	w := NewWorld(bot)
	w.AddPerson(ann)
	w.AddChat(Chat{ID: "c", Members: []string{"1"}})
	return w
}

func TestT7_APostOfTheBotEndsTheIndicatorOfItsThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		start := time.Now()
		w.Pulse("c", "", "", 5*time.Second)
		w.Pulse("c", "t", "", 5*time.Second)
		<-time.After(4 * time.Second)
		w.Pulse("c", "", "busy", 5*time.Second) // renewed
		w.Post(Message{ID: "1", Chat: "c", From: ann})
		w.Post(Message{ID: "2", Chat: "c", From: w.Bot(), Private: "1"})
		if on, text := w.Typing("c", ""); !on || text != "busy" {
			t.Errorf("it shows %t, %q", on, text)
		}
		w.Post(Message{ID: "3", Chat: "c", From: w.Bot()})
		if on, _ := w.Typing("c", ""); on {
			t.Error("it stands after a post")
		}
		if on, _ := w.Typing("c", "t"); !on {
			t.Error("another thread's was ended")
		}
		<-time.After(2 * time.Second)
		w.Pulse("c", "", "", 5*time.Second)
		w.ClearIndicator("c", "")
		want := []Interval{
			{Start: start, End: start.Add(4 * time.Second), Text: "busy", Pulses: 2, Why: "post"},
			{Start: start.Add(6 * time.Second), End: start.Add(6 * time.Second), Pulses: 1, Why: "clear"},
		}
		if got := w.Timeline("c", ""); !slices.Equal(got, want) {
			t.Errorf("got %+v", got)
		}
	})
}

func TestChangesKeepTheEarlierState(t *testing.T) {
	w := newWorld()
	w.Post(Message{ID: "1", Chat: "c", From: w.Bot(), Text: "one"})
	for _, text := range []string{"two", "two", "three"} {
		w.Change("c", "1", func(m *Message) { m.Text = text })
	}
	m, _ := w.Message("c", "1")
	if m.Text != "three" || m.Edits != 2 || len(m.History) != 2 || m.History[0].Text != "one" {
		t.Errorf("got %+v", m)
	}
	w.React("c", "1", "1", "👍", true)
	if before, _ := w.Message("c", "1"); !w.React("c", "1", "1", "👍", false) || len(before.Reactions["👍"]) != 1 {
		t.Error("a copy changed with the message")
	}
	if !w.Delete("c", "1") || w.Delete("c", "1") || w.Change("c", "1", func(*Message) {}) || len(w.Messages("c", "*")) != 0 || len(w.Everything("c", "")) != 1 {
		t.Error("a deleted message still stands")
	}
}

func TestFaultsMatchAndRunOut(t *testing.T) {
	w := newWorld()
	remove := w.Inject(Fault{Op: OpEdit})
	w.Inject(Fault{Chat: "c", Times: 2, Status: 500})
	take := func(op Op, chat string) bool { _, ok := w.TakeFault(op, chat); return ok }
	if take(OpSend, "other") || !take(OpSend, "c") || !take(OpPulse, "c") || take(OpSend, "c") || !take(OpEdit, "x") || !take(OpEdit, "c") {
		t.Error("a fault matched what it should not, or did not run out")
	}
	remove()
	if take(OpEdit, "c") || len(w.Faults()) != 0 {
		t.Error("a removed fault still works")
	}
}

func TestInterceptRecordsAndRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		closing := make(chan struct{})
		done := 0
		serve := func() *httptest.ResponseRecorder {
			rw := httptest.NewRecorder()
			w.Intercept(rw, Call{Op: OpSend, Method: "send", Chat: "c"}, closing,
				func() *Answer { done++; return &Answer{Body: []byte("fine")} },
				func(f Fault) *Answer { return &Answer{Status: f.Status, Error: "no"} })
			return rw
		}
		if rw := serve(); rw.Code != http.StatusOK || rw.Body.String() != "fine" {
			t.Errorf("got %d", rw.Code)
		}
		w.Inject(Fault{Status: 429, Times: 1, Delay: 3 * time.Second})
		if rw := serve(); rw.Code != 429 || done != 1 {
			t.Errorf("got %d; carried out %d times", rw.Code, done)
		}
		calls := w.Calls(OpSend)
		if len(calls) != 2 || calls[1].Took != 3*time.Second || calls[1].Status != 429 || calls[1].Error != "no" {
			t.Errorf("recorded %+v", calls)
		}
		w.Inject(Fault{Delay: time.Hour})
		go func() {
			defer func() { _ = recover() }() // a recorder has no connection to cut
			serve()
		}()
		synctest.Wait()
		close(closing)
		synctest.Wait()
		if done != 1 {
			t.Error("a call was carried out by a platform that had closed")
		}
	})
}

func TestWaitLooksAgainAfterEachChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		go func() {
			for range 3 {
				<-time.After(time.Second)
				w.Post(Message{ID: FormatID(w.NextID()), Chat: "c", From: ann})
			}
		}()
		if err := w.Wait(t.Context(), "three messages", func() bool { return len(w.Messages("c", "*")) == 3 }); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := w.Wait(ctx, "a fourth", func() bool { return false }); err == nil {
			t.Error("it did not give up")
		}
	})
}
