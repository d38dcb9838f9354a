package session

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"typist/agent"
	"typist/agent/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var background = context.Background()

const chat = "telegram/42"

// fixture is a tree with a clock of its own: every node is a second younger than the one before.
type fixture struct {
	t    *testing.T
	st   *store.Store
	tree *Tree
	now  time.Time
}

func newFixture(t *testing.T) *fixture {
	st, err := store.Open(background, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return &fixture{t: t, st: st, tree: Open(st, chat), now: time.UnixMilli(1_700_000_000_000)}
}

// add appends a node under parent and makes it the leaf; its message has the id "m"+id.
func (f *fixture) add(id, parent string, role agent.Role) {
	f.t.Helper()
	f.now = f.now.Add(time.Second)
	m := agent.UserText("text of " + id)
	m.Role = role
	n := store.Node{ID: id, Chat: chat, Parent: parent, Message: m, Refs: []string{"m" + id}, At: f.now}
	if err := f.st.AppendNodes(background, []store.Node{n}); err != nil {
		f.t.Fatal(err)
	}
	if err := f.st.SetLeaf(background, chat, id); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) user(id, parent string)   { f.t.Helper(); f.add(id, parent, agent.User) }
func (f *fixture) answer(id, parent string) { f.t.Helper(); f.add(id, parent, agent.Assistant) }

// path is the active path as ids.
func (f *fixture) path() string {
	f.t.Helper()
	nodes, err := f.tree.Path(background)
	if err != nil {
		f.t.Fatal(err)
	}
	out := ""
	for _, n := range nodes {
		out += n.ID + " "
	}
	return out
}

func (f *fixture) wantPath(want string) {
	f.t.Helper()
	if got := f.path(); got != want {
		f.t.Fatalf("path is %q, want %q", got, want)
	}
}
