package session

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"typist/agent"
	"typist/agent/store"
)

func TestS7_EditMakesASibling(t *testing.T) {
	f := newFixture(t)
	f.user("u1", "")
	f.answer("a1", "u1")
	f.user("u2", "a1")
	f.answer("a2", "u2")
	old, err := f.tree.Edited(background, "mu2")
	if err != nil || old.ID != "u2" || old.Parent != "a1" || old.Message.Blocks[0].Text != "text of u2" {
		t.Fatalf("%+v %v", old, err)
	}
	f.user("u2b", old.Parent)
	f.wantPath("u1 a1 u2b ")
	v, err := f.tree.Versions(background, "u2b")
	if err != nil || fmt.Sprint(v) != "{1 [a2 u2b]}" {
		t.Fatal(v, err)
	}
	if next, err := f.tree.Next(background, "u2b"); err != nil || next.Index != 1 || len(next.IDs) != 2 {
		t.Fatalf("the answer to come is %+v, %v", next, err)
	}
	f.answer("a2b", "u2b")
	if v, err = f.tree.Versions(background, "a2b"); err != nil || fmt.Sprint(v) != "{1 [a2 a2b]}" || v.Before() != "a2" || v.After() != "" {
		t.Fatal(v, err)
	}
	for _, message := range []string{"ma1", "none", ""} {
		if _, err := f.tree.Edited(background, message); !errors.Is(err, ErrNoTurn) {
			t.Errorf("edit of %q: %v", message, err)
		}
	}
}

func TestS8_SwitchGoesOnWhereThatBranchWasLeft(t *testing.T) {
	f := newFixture(t)
	f.user("u1", "")
	f.answer("a1", "u1")
	f.user("u2", "a1")
	f.answer("a2", "u2")
	f.answer("a1b", "u1") // retry of the first question
	f.wantPath("u1 a1b ")
	f.user("u3", "a1b")
	f.answer("a3", "u3")
	if leaf, err := f.tree.Switch(background, "a1"); leaf != "a2" || err != nil {
		t.Fatal(leaf, err)
	}
	f.wantPath("u1 a1 u2 a2 ")
	if leaf, err := f.tree.Switch(background, "a1b"); leaf != "a3" || err != nil {
		t.Fatal(leaf, err)
	}
	f.wantPath("u1 a1b u3 a3 ")
	if _, err := f.tree.Switch(background, "none"); !errors.Is(err, ErrNoTurn) {
		t.Error(err)
	}
	f.wantPath("u1 a1b u3 a3 ")
}

func TestS8_VersionsAreAnswersToAllWordings(t *testing.T) {
	f := newFixture(t)
	f.user("u1", "")
	f.answer("a1", "u1")
	f.user("u1b", "")
	f.add("call", "u1b", agent.Assistant) // a run of three messages is one version
	f.add("result", "call", agent.ToolRole)
	f.answer("a1b", "result")
	f.answer("a1c", "u1b")
	f.user("u2", "a1c") // what follows is no version
	for node, want := range map[string]string{
		"a1": "{0 [a1 a1b a1c]}", "u1": "{0 [a1 a1b a1c]}", "call": "{1 [a1 a1b a1c]}",
		"result": "{1 [a1 a1b a1c]}", "a1b": "{1 [a1 a1b a1c]}", "a1c": "{2 [a1 a1b a1c]}", "u2": "{0 [u2]}",
	} {
		if v, err := f.tree.Versions(background, node); fmt.Sprint(v) != want || err != nil {
			t.Errorf("%s: %v %v, want %s", node, v, err, want)
		}
	}
	if v, err := f.tree.Next(background, "u1"); fmt.Sprint(v) != "{1 [a1  a1b a1c]}" || err != nil {
		t.Errorf("retry of the first wording: %v %v", v, err)
	}
	line, err := f.tree.Line(background, "a1b")
	if err != nil || len(line) != 4 || line[0].ID != "u1b" || line[3].ID != "a1b" {
		t.Errorf("%+v %v", line, err)
	}
	if q, err := f.tree.Question(background, "a1b"); q.ID != "u1b" || err != nil {
		t.Errorf("%+v %v", q, err)
	}
}

// TestS8_ResumedAfterNewerTurns: a stopped answer that people went on from, and that was resumed
// later, is two versions, each with what follows it.
func TestS8_ResumedAfterNewerTurns(t *testing.T) {
	f := newFixture(t)
	f.user("u1", "")
	f.answer("partial", "u1")
	if v, err := f.tree.Next(background, "partial"); fmt.Sprint(v) != "{0 []}" || err != nil {
		t.Errorf("a resume at once replaces what it goes on from: %v %v", v, err)
	}
	f.user("u2", "partial")
	f.answer("a2", "u2")
	if v, err := f.tree.Next(background, "partial"); fmt.Sprint(v) != "{1 [partial ]}" || err != nil {
		t.Errorf("%v %v", v, err)
	}
	f.answer("resumed", "partial")
	f.wantPath("u1 partial resumed ")
	if v, err := f.tree.Versions(background, "resumed"); fmt.Sprint(v) != "{1 [partial resumed]}" || err != nil {
		t.Errorf("%v %v", v, err)
	}
	f.user("u3", "resumed")
	if _, err := f.tree.Switch(background, "partial"); err != nil {
		t.Fatal(err)
	}
	f.wantPath("u1 partial u2 a2 ")
	if _, err := f.tree.Switch(background, "resumed"); err != nil {
		t.Fatal(err)
	}
	f.wantPath("u1 partial resumed u3 ")
}

func TestS8_BranchFromAnEarlierMessage(t *testing.T) {
	f := newFixture(t)
	f.user("u1", "")
	f.answer("a1", "u1")
	f.user("u2", "a1")
	f.answer("a2", "u2")
	for message, want := range map[string]string{"ma1": "a1", "mu1": "a1", "mu2": "a2"} {
		if node, err := f.tree.Branch(background, message); node != want || err != nil {
			t.Errorf("%s: %s %v", message, node, err)
		}
	}
	if _, err := f.tree.Branch(background, "none"); !errors.Is(err, ErrNoTurn) {
		t.Error(err)
	}
	if _, err := f.tree.Branch(background, "mu1"); err != nil {
		t.Fatal(err)
	}
	f.wantPath("u1 a1 ")
}

// TestS8_MessageShowsAnotherVersion: after a switch the same platform message shows the other node.
func TestS8_MessageShowsAnotherVersion(t *testing.T) {
	f := newFixture(t)
	f.user("u1", "")
	f.answer("a1", "u1")
	f.answer("a2", "u1")
	for _, id := range []string{"a1", "a2", "a1"} {
		if err := f.st.SetRefs(background, id, []string{"shown"}); err != nil {
			t.Fatal(err)
		}
		if n, err := f.tree.Find(background, "shown"); n.ID != id || err != nil {
			t.Errorf("%s: %+v %v", id, n, err)
		}
	}
}

func TestS1_NewRootKeepsTheOldConversation(t *testing.T) {
	f := newFixture(t)
	f.user("u1", "")
	f.answer("a1", "u1")
	if err := f.tree.NewRoot(background); err != nil {
		t.Fatal(err)
	}
	f.wantPath("")
	leaf, err := f.tree.Leaf(background)
	if err != nil || leaf == "" {
		t.Fatal(leaf, err)
	}
	if h, err := f.tree.History(background, "", 0); len(h) != 0 || err != nil {
		t.Fatal(h, err)
	}
	f.user("u2", leaf)
	f.answer("a2", "u2")
	f.wantPath("u2 a2 ")
	f.user("u2b", leaf) // its first message is edited
	if v, err := f.tree.Versions(background, "u2b"); fmt.Sprint(v) != "{1 [a2 u2b]}" || err != nil {
		t.Errorf("the conversations' first messages are versions of each other: %v %v", v, err)
	}
	if _, err := f.tree.Branch(background, "ma1"); err != nil {
		t.Fatal(err)
	}
	f.wantPath("u1 a1 ")
}

func TestS1_HistoryIsThePath(t *testing.T) {
	f := newFixture(t)
	f.user("u1", "")
	f.add("call", "u1", agent.Assistant)
	f.add("result", "call", agent.ToolRole)
	f.answer("a1", "result")
	f.user("u2", "a1")
	for limit, want := range map[int]string{0: "u1 call result a1 u2 ", 5: "u1 call result a1 u2 ", 4: "u2 ", 3: "u2 ", 1: "u2 ", 50: "u1 call result a1 u2 "} {
		h, err := f.tree.History(background, "", limit)
		got := ""
		for _, m := range h {
			got += m.Blocks[0].Text[len("text of "):] + " "
		}
		if got != want || err != nil {
			t.Errorf("limit %d: %q %v, want %q", limit, got, err, want)
		}
	}
	if h, err := f.tree.History(background, "call", 0); len(h) != 2 || err != nil {
		t.Error(h, err)
	}
}

// long makes a session of that many turns, with a retried one every hundred turns.
func long(t testing.TB, dir string, turns int) *store.Store {
	t.Helper()
	st, err := store.Open(background, store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	var nodes []store.Node
	leaf := ""
	node := func(id, parent string, role agent.Role) {
		m := agent.UserText("What would a message of ordinary length in a chat say, if it were not made up?")
		m.Role = role
		nodes = append(nodes, store.Node{ID: id, Chat: chat, Parent: parent, Message: m, Refs: []string{"m" + id}})
	}
	for i := range turns {
		u, a := fmt.Sprintf("node-of-a-person-%d", i), fmt.Sprintf("node-of-an-answer-%d", i)
		node(u, leaf, agent.User)
		if i%100 == 99 {
			node(a+"-old", u, agent.Assistant)
		}
		node(a, u, agent.Assistant)
		leaf = a
	}
	if err := st.AppendNodes(background, nodes); err != nil {
		t.Fatal(err)
	}
	if err := st.SetLeaf(background, chat, leaf); err != nil {
		t.Fatal(err)
	}
	return st
}

// opening is what a turn in a session needs before its backend begins: the leaf, the versions at
// it, and the history that is given.
func opening(st *store.Store) error {
	tree := Open(st, chat)
	leaf, err := tree.Leaf(background)
	if err != nil {
		return err
	}
	if _, err := tree.Versions(background, leaf); err != nil {
		return err
	}
	h, err := tree.History(background, leaf, 400)
	if err == nil && len(h) < 399 {
		err = fmt.Errorf("history of %d", len(h))
	}
	return err
}

// TestS1_LongSessionOpensQuickly is a generous bound for a fifth of what the benchmark measures
// (10,000 turns, goal 20 ms).
func TestS1_LongSessionOpensQuickly(t *testing.T) {
	st := long(t, "", 2000)
	start := time.Now()
	if err := opening(st); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 200*time.Millisecond {
		t.Errorf("took %v", took)
	}
}

func BenchmarkOpen10000Turns(b *testing.B) {
	st := long(b, b.TempDir(), 10_000)
	for b.Loop() {
		if err := opening(st); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPathIDs10000Turns(b *testing.B) {
	st := long(b, b.TempDir(), 10_000)
	for b.Loop() {
		if ids, err := st.PathIDs(background, chat, ""); len(ids) != 20_000 || err != nil {
			b.Fatal(len(ids), err)
		}
	}
}

func BenchmarkWholeHistory10000Turns(b *testing.B) {
	st := long(b, b.TempDir(), 10_000)
	b.ReportAllocs()
	for b.Loop() {
		if h, err := Open(st, chat).History(background, "", 0); len(h) != 20_000 || err != nil {
			b.Fatal(len(h), err)
		}
	}
}
