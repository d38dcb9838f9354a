package store

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"typist/adapters"
	"typist/agent"
)

// TestS3_PostIntentBeforeOutcome: what was meant to be sent is known until its outcome is.
func TestS3_PostIntentBeforeOutcome(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		p1 := Post{Key: "k1", Chat: chatA, RunID: "r", Purpose: "progress", Body: []byte("one"), At: at(1)}
		p2 := Post{Key: "k2", Chat: chatA, RunID: "r", Purpose: "answer", Part: 1, Body: []byte("two"), At: at(2)}
		for _, p := range []Post{p1, p2, {Key: "k3", Chat: chatB, At: at(3)}} {
			if err := s.PostIntent(background, p); err != nil {
				t.Fatal(err)
			}
		}
		p2.Body = []byte("two, again")
		if err := s.PostIntent(background, p2); err != nil {
			t.Fatal(err)
		}
		if err := s.PostSent(background, "k1", "m1"); err != nil {
			t.Fatal(err)
		}
		if err := s.PostIntent(background, Post{Key: "k1", Chat: chatA, Body: []byte("late")}); err != nil {
			t.Fatal(err)
		}
		p1.Sent, p1.MessageID = true, "m1"
		if got, err := s.PostsOf(background, "r"); err != nil || !reflect.DeepEqual(got, []Post{p1, p2}) {
			t.Errorf("%+v %v", got, err)
		}
		open, err := s.PostsOpen(background)
		if err != nil || len(open) != 2 || open[0].Key != "k2" || open[1].Key != "k3" {
			t.Errorf("%+v %v", open, err)
		}
		if err := errors.Join(s.DropPost(background, "k3"), s.DropPost(background, "k3"), s.PostSent(background, "k2", "")); err != nil {
			t.Fatal(err)
		}
		if open, err := s.PostsOpen(background); len(open) != 0 || err != nil {
			t.Errorf("%+v %v", open, err)
		}
		if err := s.PostSent(background, "none", "1"); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	})
}

// TestS4_ToolIntentBeforeExecution: of many who want to execute a call one may; its result is
// what the others get; an intent without result is known as such.
func TestS4_ToolIntentBeforeExecution(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		var may atomic.Int32
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				prior, known, err := s.ToolIntent(background, "s/n/c1", "r", "c1", agent.ToolArgs(`{"a":1}`))
				if err != nil || known && (prior.Finished || prior.CallID != "c1" || string(prior.Args) != `{"a":1}`) {
					t.Errorf("%+v %v", prior, err)
				}
				if !known {
					may.Add(1)
				}
			})
		}
		wg.Wait()
		if may.Load() != 1 {
			t.Fatalf("%d may execute", may.Load())
		}
		result := agent.ToolResult{Content: "done", IsError: true, Files: []agent.FileProduced{{Name: "f", Data: []byte{1}}}}
		for _, r := range []agent.ToolResult{result, {Content: "another"}} {
			if err := s.ToolFinished(background, "s/n/c1", r); err != nil {
				t.Fatal(err)
			}
		}
		prior, known, err := s.ToolIntent(background, "s/n/c1", "r2", "c1", nil)
		if !known || !prior.Finished || !reflect.DeepEqual(prior.Result, result) || prior.RunID != "r" || err != nil {
			t.Errorf("%+v %v %v", prior, known, err)
		}
		if _, known, err := s.ToolIntent(background, "s/n/c2", "r", "c2", nil); known || err != nil {
			t.Error(known, err)
		}
		list, err := s.ToolsOf(background, "r")
		if err != nil || len(list) != 2 || !list[0].Finished || list[1].Finished || list[1].CallID != "c2" {
			t.Errorf("%+v %v", list, err)
		}
		if err := s.ToolFinished(background, "none", result); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	})
}

// TestS6_NumbersGrowWithinTheChat from 1, without a gap, whoever appends, apart from other chats.
func TestS6_NumbersGrowWithinTheChat(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		var wg sync.WaitGroup
		for i := range 6 {
			chat, run := []string{chatA, chatB}[i%2], fmt.Sprintf("r%d", i)
			wg.Go(func() {
				for n := range 10 {
					evs := []agent.Event{agent.TextContent{ID: run, Delta: fmt.Sprint(n)}, agent.TextContent{ID: run, Delta: "same"}}
					first, err := s.Append(background, chat, run, at(n), evs)
					if err != nil {
						t.Error(err)
						return
					}
					got, err := s.Events(background, chat, first-1, 2)
					if err != nil || len(got) != 2 || got[0].Event != evs[0] || got[1].Seq != first+1 || got[0].RunID != run || !got[0].At.Equal(at(n)) {
						t.Errorf("%+v %v", got, err)
					}
				}
			})
		}
		wg.Wait()
		for _, chat := range []string{chatA, chatB} {
			all, err := s.Events(background, chat, 0, 0)
			if err != nil || len(all) != 60 {
				t.Fatal(len(all), err)
			}
			for i, ev := range all {
				if ev.Seq != int64(i+1) {
					t.Errorf("%s: event %d has number %d", chat, i, ev.Seq)
				}
			}
		}
		evs, err := s.RunEvents(background, "r3")
		if err != nil || len(evs) != 20 {
			t.Fatal(len(evs), err)
		}
		for i, ev := range evs {
			if ev.RunID != "r3" || i%2 == 0 && ev.Event != (agent.TextContent{ID: "r3", Delta: fmt.Sprint(i / 2)}) {
				t.Errorf("%d: %+v", i, ev)
			}
		}
		if evs, err := s.Events(background, "telegram/none", 0, 0); len(evs) != 0 || err != nil {
			t.Error(evs, err)
		}
	})
}

func TestSettingsAndValues(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		if err := errors.Join(
			s.SetSetting(background, chatA, "typing", "never"), s.SetSetting(background, chatA, "view", "detail"),
			s.SetSetting(background, chatA, "typing", "instant"), s.SetSetting(background, chatA, "view", ""),
			s.SetSetting(background, chatB, "view", "overview"),
			s.Save(background, "pair/a", "1"), s.Save(background, "pair/b", "2"), s.Save(background, "pair/a", "3"),
			s.Save(background, "pairs", "x"), s.Save(background, "gone", "y"), s.Save(background, "gone", ""),
		); err != nil {
			t.Fatal(err)
		}
		got, err := s.Settings(background, chatA)
		if err != nil || !reflect.DeepEqual(got, map[string]string{"typing": "instant"}) {
			t.Errorf("%v %v", got, err)
		}
		if got, err := s.Settings(background, "telegram/none"); got == nil || len(got) != 0 || err != nil {
			t.Errorf("%v %v", got, err)
		}
		if got, err := s.Values(background, "pair/"); err != nil || !reflect.DeepEqual(got, map[string]string{"pair/a": "3", "pair/b": "2"}) {
			t.Errorf("%v %v", got, err)
		}
		if v, err := s.Load(background, "gone"); v != "" || err != nil {
			t.Error(v, err)
		}
	})
}

// TestH1_LastChat: the chat whose person last spoke to that agent.
func TestH1_LastChat(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		if _, ok, err := s.LastChat(background, "ops"); ok || err != nil {
			t.Fatal(ok, err)
		}
		if err := errors.Join(
			s.SetLastChat(background, "ops", ChatInfo{Chat: chatA, Kind: adapters.Direct, Name: "Ann", ActiveAt: at(1)}),
			s.SetLastChat(background, "ops", ChatInfo{Chat: chatB, Kind: adapters.Group, Name: "#general", ActiveAt: at(2)}),
			s.SetLastChat(background, "main", ChatInfo{Chat: chatA, ActiveAt: at(3)}),
		); err != nil {
			t.Fatal(err)
		}
		ann, general := ChatInfo{Chat: chatA, Kind: adapters.Direct, Name: "Ann", ActiveAt: at(3)}, ChatInfo{Chat: chatB, Kind: adapters.Group, Name: "#general", ActiveAt: at(2)}
		for name, want := range map[string]ChatInfo{"ops": general, "main": ann} {
			if got, ok, err := s.LastChat(background, name); got != want || !ok || err != nil {
				t.Errorf("%s: %+v %v %v", name, got, ok, err)
			}
		}
		if list, err := s.Chats(background, 0); err != nil || !reflect.DeepEqual(list, []ChatInfo{ann, general}) {
			t.Errorf("%+v %v", list, err)
		}
		if list, err := s.Chats(background, 1); err != nil || len(list) != 1 {
			t.Errorf("%+v %v", list, err)
		}
		if _, ok, err := s.Chat(background, "telegram/none"); ok || err != nil {
			t.Error(ok, err)
		}
	})
}

// TestH8_SlotIsClaimedOnce, whoever tries, also after a restart.
func TestH8_SlotIsClaimedOnce(t *testing.T) {
	dir := t.TempDir()
	for round := range 2 {
		s := open(t, dir)
		var fresh atomic.Int32
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				f, err := s.ClaimSlot(background, "heartbeat/ops", "2026-11-30T14:00")
				if err != nil {
					t.Error(err)
				}
				if f {
					fresh.Add(1)
				}
			})
		}
		wg.Wait()
		if got, want := fresh.Load(), int32(1-round); got != want {
			t.Errorf("round %d: %d claims, want %d", round, got, want)
		}
		if f, err := s.ClaimSlot(background, "heartbeat/ops", fmt.Sprint(round)); !f || err != nil {
			t.Error(f, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
