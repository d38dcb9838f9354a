package telegram_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	simtelegram "typist/adapters/sim/telegram"
	"typist/adapters/telegram"
)

func TestC3_AnAlbumWaitsForItsPartsAndKeepsTheOrder(t *testing.T) {
	inBubble(t, telegram.Config{}, true, func(t *testing.T, w *world) {
		w.say(sim.Say{Chat: group, Text: "two pictures", Files: pics})
		w.say(sim.Say{Chat: group, Person: simtelegram.Ben, Text: "said after it"})
		w.got("at once")
		if len(w.srv.Unconfirmed()) != 3 {
			t.Errorf("confirmed before it was delivered: %v left", w.srv.Unconfirmed())
		}
		<-time.After(time.Second)
		w.got("after a second", "two pictures", "said after it")
		<-time.After(200 * time.Millisecond)
		if left := w.srv.Unconfirmed(); len(left) != 0 {
			t.Errorf("delivered and not confirmed: %v", left)
		}
		if m := w.sink.message(t, 0); len(m.Files) != 2 {
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
		<-time.After(300 * time.Millisecond)
		part("two")
		<-time.After(300 * time.Millisecond)
		part("three")
		w.got("before the last part's wait is over")
		<-time.After(time.Second)
		w.got("afterwards", "one\ntwo\nthree")
	})
}

func TestC3_ThePersonsNextActEndsTheWait(t *testing.T) {
	inBubble(t, telegram.Config{}, true, func(t *testing.T, w *world) {
		w.say(sim.Say{Chat: group, Text: "two pictures", Files: pics})
		<-time.After(150 * time.Millisecond)
		w.say(sim.Say{Chat: group, Text: "and a word"})
		<-time.After(150 * time.Millisecond)
		w.got("after the next message", "two pictures", "and a word")
		w.sink.forget()
		id := w.say(sim.Say{Chat: group, Text: "two more", Files: pics})
		<-time.After(150 * time.Millisecond)
		if err := w.srv.EditMessage(group, simtelegram.Ann, id, "two others"); err != nil {
			t.Fatal(err)
		}
		<-time.After(150 * time.Millisecond)
		w.got("after the edit", "two more", "edit:two others")
	})
}

func TestC3_APasteIsJoinedAndAStopIsNotDelayed(t *testing.T) {
	inBubble(t, telegram.Config{IsStop: func(s string) bool { return s == "halt" }}, true, func(t *testing.T, w *world) {
		w.say(sim.Say{Chat: group, Text: paste, Parts: 2})
		<-time.After(150 * time.Millisecond) // the parts may come in two polls
		w.got("a short last part ends the wait", strings.TrimSpace(paste))
		for i, stop := range []string{"/stop", "halt"} {
			w.sink.forget()
			w.say(sim.Say{Chat: group, Text: paste[:4096]}) // a whole part: more may come
			w.got("a long part")
			at := time.Now()
			w.say(sim.Say{Chat: group, Person: []string{simtelegram.Ann, simtelegram.Ben}[i], Text: stop})
			<-time.After(150 * time.Millisecond)
			w.got("a stop", strings.TrimSpace(paste[:4096]), stop)
			if d := w.sink.times[len(w.sink.times)-1].Sub(at); d > 100*time.Millisecond {
				t.Errorf("the stop was delayed by %s", d)
			}
			<-time.After(5 * time.Second)
		}
		w.sink.forget()
		listing := strings.Repeat("/usr/lib/x ", 600)
		w.say(sim.Say{Chat: group, Text: listing, Parts: 2})
		<-time.After(150 * time.Millisecond)
		w.got("a paste that begins with a slash", strings.TrimSpace(listing))
		w.sink.forget()
		w.say(sim.Say{Chat: group, Text: paste[:4096]})
		<-time.After(5 * time.Second)
		w.say(sim.Say{Chat: group, Text: "an hour later"})
		w.got("two messages that are no paste", strings.TrimSpace(paste[:4096]), "an hour later")
	})
}

// TestC3_AStopWaitsForNoAlbum of the same person, in any chat.
func TestC3_AStopWaitsForNoAlbum(t *testing.T) {
	inBubble(t, telegram.Config{IsStop: func(s string) bool { return s == "halt" }}, true, func(t *testing.T, w *world) {
		for _, chat := range []string{group, simtelegram.DirectChat} {
			w.sink.forget()
			for range 4 { // parts that keep coming, so that the album stays open
				if _, err := w.srv.SayMessage(group, "", simtelegram.Ann, simtelegram.Message{MediaGroupID: "77" + chat,
					Document: &simtelegram.Document{FileID: "f", FileUniqueID: "u"}}); err != nil {
					t.Fatal(err)
				}
				<-time.After(300 * time.Millisecond)
			}
			at := time.Now()
			w.say(sim.Say{Chat: chat, Text: "halt"})
			<-time.After(150 * time.Millisecond)
			synctest.Wait()
			i := slices.Index(w.sink.texts(), "halt")
			if i < 0 {
				t.Fatalf("%s: the stop did not come", chat)
			}
			if _, times := w.sink.got(); times[i].Sub(at) > 100*time.Millisecond {
				t.Errorf("%s: it came after %s", chat, times[i].Sub(at))
			}
			<-time.After(2 * time.Second)
		}
	})
}

// TestS7_WhatWasJoinedNamesItsParts, and where the text of each begins.
func TestS7_WhatWasJoinedNamesItsParts(t *testing.T) {
	inBubble(t, telegram.Config{}, true, func(t *testing.T, w *world) {
		w.say(sim.Say{Chat: group, Text: paste, Parts: 2})
		<-time.After(2 * time.Second)
		part := func(text string) {
			if _, err := w.srv.SayMessage(group, "", simtelegram.Ann, simtelegram.Message{MediaGroupID: "77", Caption: text,
				Document: &simtelegram.Document{FileID: "f" + text, FileUniqueID: "u"}}); err != nil {
				t.Fatal(err)
			}
		}
		for _, text := range []string{"one", "", "three"} {
			part(text)
		}
		<-time.After(2 * time.Second)
		synctest.Wait()
		if events, _ := w.sink.got(); len(events) != 2 {
			t.Fatalf("%d events", len(events))
		}
		m := w.sink.message(t, 0)
		if first, _ := strconv.Atoi(m.ID); len(m.Parts) != 1 || m.Parts[0] != strconv.Itoa(first+1) ||
			len(m.Cuts) != 1 || m.Cuts[0] < 3900 || m.Cuts[0] > 4096 {
			t.Errorf("a paste: parts %v, cuts %v", m.Parts, m.Cuts)
		}
		m = w.sink.message(t, 1)
		if len(m.Parts) != 2 || !slices.Equal(m.Cuts, []int{3, 4}) || m.Text != "one\nthree" {
			t.Errorf("an album: %q, parts %v, cuts %v", m.Text, m.Parts, m.Cuts)
		}
	})
}

func TestC3_MessagesOfDifferentTimesAreNoPasteAfterAReconnect(t *testing.T) {
	inBubble(t, telegram.Config{}, false, func(t *testing.T, w *world) {
		w.say(sim.Say{Chat: group, Text: paste[:4096]})
		<-time.After(time.Minute)
		w.say(sim.Say{Chat: group, Text: "a minute later"})
		w.start(&sink{})
		<-time.After(2 * time.Second)
		w.got("both at once", strings.TrimSpace(paste[:4096]), "a minute later")
	})
}

func TestC3_NothingIsConfirmedBeforeItIsDurable(t *testing.T) {
	inBubble(t, telegram.Config{}, false, func(t *testing.T, w *world) {
		w.start(&sink{accept: func(adapters.Event) error { return errors.New("the disk is full") }})
		w.say(sim.Say{Chat: group, Text: "one"})
		w.say(sim.Say{Chat: group, Text: "two"})
		<-time.After(time.Minute)
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
		<-time.After(time.Second)
		if n := len(w.srv.Unconfirmed()); n != 0 {
			t.Errorf("%d unconfirmed, want 0", n)
		}
	})
}
