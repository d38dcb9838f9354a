package store

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"typist/agent"
)

// open opens a store of its own for a test; dir "" is in memory.
func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// both runs a test on a store in memory and on one in a file.
func both(t *testing.T, test func(t *testing.T, s *Store)) {
	t.Run("memory", func(t *testing.T) { test(t, open(t, "")) })
	t.Run("file", func(t *testing.T) { test(t, open(t, filepath.Join(t.TempDir(), "a b%20?#"))) })
}

const chatA, chatB = "telegram/42", "slack/C1/17.5"

// at is a time of the tests, n seconds after their beginning.
func at(n int) time.Time {
	return time.UnixMilli(1_700_000_000_000).Add(time.Duration(n) * time.Second)
}

func accept(t testing.TB, s *Store, chat, event string) int64 {
	t.Helper()
	id, fresh, err := s.Accept(t.Context(), Input{EventID: event, Chat: chat, MessageID: "m" + event, Kind: InputMessage, Payload: []byte(`{"text":"` + event + `"}`)})
	if err != nil || !fresh {
		t.Fatalf("accept %s: fresh %v, %v", event, fresh, err)
	}
	return id
}

func text(id, chat, parent string, role agent.Role, words string) Node {
	m := agent.UserText(words)
	m.Role = role
	return Node{ID: id, Chat: chat, Parent: parent, Message: m}
}

func TestTurnFromInboxToAnswer(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		id := accept(t, s, chatA, "e1")
		again, fresh, err := s.Accept(ctx, Input{EventID: "e1", Chat: chatA})
		if err != nil || fresh || again != id {
			t.Fatalf("second accept: %d %v %v", again, fresh, err)
		}
		if _, fresh, err = s.Accept(ctx, Input{EventID: "e1", Chat: chatB}); err != nil || !fresh {
			t.Fatalf("same id in another channel: %v %v", fresh, err)
		}
		in, ok, err := s.NextWaiting(ctx, chatA)
		if err != nil || !ok || in.ID != id || string(in.Payload) != `{"text":"e1"}` {
			t.Fatalf("next: %+v %v %v", in, ok, err)
		}
		user := text("n1", chatA, "", agent.User, "hello")
		user.Refs = []string{in.MessageID}
		if err := s.BeginTurn(ctx, Begin{Inputs: []int64{id}, Node: user, Run: Run{ID: "r1", Backend: "main"}}); err != nil {
			t.Fatal(err)
		}
		first, err := s.Append(ctx, chatA, "r1", time.Now(), []agent.Event{agent.RunStarted{RunID: "r1"}, agent.TextContent{ID: "t", Delta: "Hi"}})
		if err != nil || first != 1 {
			t.Fatalf("append: %d %v", first, err)
		}
		if err := s.EndTurn(ctx, End{RunID: "r1", State: RunDone, Nodes: []Node{text("n2", chatA, "n1", agent.Assistant, "Hi")}, Leaf: "n2", Answer: []PostRef{{MessageID: "a1"}, {MessageID: "a2"}}}); err != nil {
			t.Fatal(err)
		}
		path, err := s.Path(ctx, chatA, "")
		if err != nil || len(path) != 2 || path[1].Parent != "n1" || fmt.Sprint(path[1].Refs) != "[a1 a2]" || path[1].Message.Blocks[0].Text != "Hi" {
			t.Fatalf("path: %+v %v", path, err)
		}
		run, ok, err := s.RunByMessage(ctx, chatA, "a2")
		if err != nil || !ok || run.State != RunDone || run.Node != "n1" || len(run.Answer) != 2 {
			t.Fatalf("run: %+v %v %v", run, ok, err)
		}
		evs, err := s.RunEvents(ctx, "r1")
		if err != nil || len(evs) != 2 || evs[1].Event != (agent.TextContent{ID: "t", Delta: "Hi"}) {
			t.Fatalf("events: %+v %v", evs, err)
		}
		left, err := s.Unfinished(ctx)
		if err != nil || len(left) != 1 || left[0].Chat != chatB {
			t.Fatalf("unfinished: %+v %v", left, err)
		}
	})
}
