package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"
)

func ids(list []Input) (out []int64) {
	for _, in := range list {
		out = append(out, in.ID)
	}
	return out
}

// TestC3_OneInputPerEvent: of many deliveries of an event at the same time one is fresh.
func TestC3_OneInputPerEvent(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		var mu sync.Mutex
		fresh, got := 0, map[int64]bool{}
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				id, f, err := s.Accept(background, Input{EventID: "e", Chat: chatA})
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				got[id] = true
				if f {
					fresh++
				}
			})
		}
		wg.Wait()
		if fresh != 1 || len(got) != 1 {
			t.Errorf("%d fresh, ids %v", fresh, got)
		}
		for range 2 { // without an event id nothing is a duplicate
			if _, f, err := s.Accept(background, Input{Chat: chatA}); !f || err != nil {
				t.Error(f, err)
			}
		}
	})
}

func TestC3_SeenOncePerChannel(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		for i, want := range []struct {
			channel, id string
			fresh       bool
		}{{"slack", "1", true}, {"slack", "1", false}, {"telegram", "1", true}, {"slack", "2", true}, {"telegram", "1", false}} {
			if fresh, err := s.Seen(background, want.channel, want.id); fresh != want.fresh || err != nil {
				t.Errorf("%d: %v %v", i, fresh, err)
			}
		}
	})
}

func TestInboxInOrder(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		a1, b1, a2, a3 := accept(t, s, chatA, "1"), accept(t, s, chatB, "2"), accept(t, s, chatA, "3"), accept(t, s, chatA, "4")
		if in, ok, err := s.NextWaiting(background, chatA); in.ID != a1 || !ok || err != nil {
			t.Fatal(in, ok, err)
		}
		if err := s.BeginTurn(background, Begin{Inputs: []int64{a1}, Run: Run{ID: "r1", Chat: chatA}}); err != nil {
			t.Fatal(err)
		}
		if err := s.BeginTurn(background, Begin{Inputs: []int64{a1}, Run: Run{ID: "r2", Chat: chatA}}); !errors.Is(err, ErrNotWaiting) {
			t.Fatalf("begun twice: %v", err)
		}
		if err := s.BeginTurn(background, Begin{Inputs: []int64{b1}, Run: Run{ID: "r2", Chat: chatA}}); !errors.Is(err, ErrNotWaiting) {
			t.Fatalf("another chat's input: %v", err)
		}
		list, err := s.Unfinished(background)
		if fmt.Sprint(ids(list)) != fmt.Sprint([]int64{a1, b1, a2, a3}) || err != nil {
			t.Fatal(ids(list), err)
		}
		if list[0].State != InputRunning || list[0].RunID != "r1" || list[1].State != InputWaiting {
			t.Errorf("%+v", list)
		}
		list, err = s.Waiting(background, chatA)
		if fmt.Sprint(ids(list)) != fmt.Sprint([]int64{a2, a3}) || err != nil {
			t.Fatal(ids(list), err)
		}
		if n, err := s.CountWaiting(background, "telegram/none"); n != 0 || err != nil {
			t.Error(n, err)
		}
		if _, ok, err := s.NextWaiting(background, "telegram/none"); ok || err != nil {
			t.Error(ok, err)
		}
	})
}

// TestS7_EditOfAWaitingMessage: it gets its new text; one that runs, or ran, does not.
func TestS7_EditOfAWaitingMessage(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		a1, a2 := accept(t, s, chatA, "1"), accept(t, s, chatA, "2")
		if err := s.BeginTurn(background, Begin{Inputs: []int64{a1}, Run: Run{ID: "r1", Chat: chatA}}); err != nil {
			t.Fatal(err)
		}
		for message, want := range map[string]bool{"m1": false, "m2": true, "m3": false} {
			if edited, err := s.EditWaiting(background, chatA, message, []byte(`"new"`)); edited != want || err != nil {
				t.Errorf("%s: %v %v", message, edited, err)
			}
		}
		if edited, err := s.EditWaiting(background, chatB, "m2", []byte(`"no"`)); edited || err != nil {
			t.Errorf("another chat: %v %v", edited, err)
		}
		list, err := s.Unfinished(background)
		if err != nil || list[0].ID != a1 || string(list[0].Payload) != `{"text":"1"}` || list[1].ID != a2 || string(list[1].Payload) != `"new"` {
			t.Errorf("%+v %v", list, err)
		}
	})
}

// TestS2_DropWaiting drops what waits in the chat, not what runs, nor other chats'.
func TestS2_DropWaiting(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		a1, a2, a3, b1 := accept(t, s, chatA, "1"), accept(t, s, chatA, "2"), accept(t, s, chatA, "3"), accept(t, s, chatB, "4")
		if err := s.BeginTurn(background, Begin{Inputs: []int64{a1}, Run: Run{ID: "r1", Chat: chatA}}); err != nil {
			t.Fatal(err)
		}
		dropped, err := s.DropWaiting(background, chatA)
		if err != nil || fmt.Sprint(ids(dropped)) != fmt.Sprint([]int64{a2, a3}) || dropped[0].State != InputDropped || dropped[0].MessageID != "m2" {
			t.Fatalf("%+v %v", dropped, err)
		}
		if again, err := s.DropWaiting(background, chatA); len(again) != 0 || err != nil {
			t.Fatal(again, err)
		}
		if _, fresh, err := s.Accept(background, Input{EventID: "2", Chat: chatA}); fresh || err != nil {
			t.Errorf("a dropped input's event counts as new: %v", err)
		}
		if err := s.FinishInput(background, b1, InputDone); err != nil {
			t.Fatal(err)
		}
		if err := s.FinishInput(background, 999, InputDone); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
		list, err := s.Unfinished(background)
		if err != nil || fmt.Sprint(ids(list)) != fmt.Sprint([]int64{a1}) {
			t.Fatal(ids(list), err)
		}
	})
}
