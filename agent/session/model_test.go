package session

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"typist/agent"
	"typist/agent/store"
)

// model is what a session should be, told in the simplest way: all nodes in the order they were
// made, and the leaf.
type model struct {
	nodes []store.Node // with their refs as last set
	leaf  string
	shown map[string]string // platform message → node it shows
}

func (m *model) get(id string) *store.Node {
	for i := range m.nodes {
		if m.nodes[i].ID == id {
			return &m.nodes[i]
		}
	}
	return nil
}

func (m *model) children(parent string) (out []string) {
	for _, n := range m.nodes {
		if n.Parent == parent {
			out = append(out, n.ID)
		}
	}
	return out
}

func (m *model) path() (out []string) {
	for id := m.leaf; id != ""; id = m.get(id).Parent {
		if m.get(id).Message.Role != RootRole {
			out = append(out, id)
		}
	}
	slices.Reverse(out)
	return out
}

// question is the person's message above a node.
func (m *model) question(id string) *store.Node {
	n := m.get(id)
	for n.Message.Role != agent.User {
		n = m.get(n.Parent)
	}
	return n
}

// versions walks the tree the plain way.
func (m *model) versions(id string) (out []string) {
	var walk func(id string)
	walk = func(id string) {
		people, own := 0, []string(nil)
		for _, c := range m.children(id) {
			if m.get(c).Message.Role == agent.User {
				people++
			} else {
				own = append(own, c)
			}
		}
		if people > 0 || len(own) == 0 {
			out = append(out, id)
		}
		for _, c := range own {
			walk(c)
		}
	}
	for _, c := range m.children(m.question(id).Parent) {
		if m.get(c).Message.Role == agent.User {
			walk(c)
		}
	}
	return out
}

// newest is the youngest leaf under a version, not counting what its run went on with.
func (m *model) newest(version string) string {
	best := version
	hasPeople := false
	for _, n := range m.nodes { // in the order they were made
		above := n.ID
		for above != "" && m.get(above).Parent != version {
			above = m.get(above).Parent
		}
		if above == "" || m.get(above).Message.Role != agent.User {
			continue
		}
		hasPeople = true
		if len(m.children(n.ID)) == 0 {
			best = n.ID
		}
	}
	if !hasPeople {
		return version
	}
	return best
}

type machine struct {
	dir  string
	st   *store.Store
	tree *Tree
	model
	n   int
	now time.Time
}

func (m *machine) id(prefix string) string {
	m.n++
	return fmt.Sprintf("%s%d", prefix, m.n)
}

func (m *machine) tick() time.Time {
	m.now = m.now.Add(time.Second)
	return m.now
}

func must(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// begin begins a turn as the turn code does: with a new message of a person, or at a node that
// exists.
func (m *machine) begin(t *rapid.T, node store.Node) (run string) {
	run = m.id("run")
	must(t, m.st.BeginTurn(background, store.Begin{Node: node, Run: store.Run{ID: run, Chat: chat}}))
	if m.get(node.ID) == nil {
		m.nodes = append(m.nodes, node)
		for _, ref := range node.Refs {
			m.shown[ref] = node.ID
		}
	}
	m.leaf = node.ID
	return run
}

// end ends a run with an answer of one to three nodes under the leaf, or with none.
func (m *machine) end(t *rapid.T, run string) {
	e := store.End{RunID: run, State: store.RunDone}
	parent := m.leaf
	for range rapid.IntRange(0, 3).Draw(t, "nodes of the run") {
		role := agent.Assistant
		if len(e.Nodes) == 1 {
			role = agent.ToolRole
		}
		n := m.made("a", parent, role)
		n.RunID, n.Incomplete = run, rapid.Bool().Draw(t, "cut")
		e.Nodes, parent = append(e.Nodes, n), n.ID
	}
	if len(e.Nodes) > 0 {
		e.Leaf = parent
		e.Answer = []store.PostRef{{MessageID: m.id("p")}}
	}
	must(t, m.st.EndTurn(background, e))
	m.nodes = append(m.nodes, e.Nodes...)
	m.leaf = parent
	for _, ref := range e.Answer {
		n := m.get(parent)
		n.Refs = append(n.Refs, ref.MessageID)
		m.shown[ref.MessageID] = parent
	}
}

func (m *machine) made(prefix, parent string, role agent.Role) store.Node {
	id := m.id(prefix)
	msg := agent.UserText("text of " + id)
	msg.Role = role
	return store.Node{ID: id, Chat: chat, Parent: parent, Message: msg, At: m.tick()}
}

func (m *machine) person(parent string, message string) store.Node {
	n := m.made("u", parent, agent.User)
	n.Refs = []string{message}
	return n
}

func (m *machine) draw(t *rapid.T, what string, fits func(store.Node) bool) store.Node {
	var list []store.Node
	for _, n := range m.nodes {
		if fits(n) {
			list = append(list, n)
		}
	}
	if len(list) == 0 {
		t.Skip("no", what)
	}
	return rapid.SampledFrom(list).Draw(t, what)
}

func isPerson(n store.Node) bool { return n.Message.Role == agent.User }
func isTurn(n store.Node) bool   { return n.Message.Role != RootRole }

func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"send": func(t *rapid.T) {
			leaf, err := m.tree.Leaf(background)
			must(t, err)
			m.end(t, m.begin(t, m.person(leaf, m.id("m"))))
		},
		"edit": func(t *rapid.T) {
			old := m.draw(t, "person's message", func(n store.Node) bool { return isPerson(n) && m.shown[n.Refs[0]] == n.ID })
			got, err := m.tree.Edited(background, old.Refs[0])
			must(t, err)
			if got.ID != old.ID {
				t.Fatalf("edit of %s finds %s, want %s", old.Refs[0], got.ID, old.ID)
			}
			m.end(t, m.begin(t, m.person(got.Parent, old.Refs[0])))
		},
		"retry": func(t *rapid.T) {
			q, err := m.tree.Question(background, m.draw(t, "turn", isTurn).ID)
			must(t, err)
			m.end(t, m.begin(t, q))
		},
		"resume": func(t *rapid.T) {
			n := m.draw(t, "cut answer", func(n store.Node) bool { return n.Message.Role == agent.Assistant })
			next, err := m.tree.Next(background, n.ID)
			must(t, err)
			run := m.begin(t, n)
			before := len(m.nodes)
			m.end(t, run)
			if len(m.nodes) > before {
				got, err := m.tree.Versions(background, m.leaf)
				must(t, err)
				if got.Index != next.Index || len(got.IDs) != len(next.IDs) {
					t.Fatalf("Next said %+v, came %+v", next, got)
				}
			}
		},
		"new": func(t *rapid.T) {
			must(t, m.tree.NewRoot(background))
			leaf, err := m.tree.Leaf(background)
			must(t, err)
			root, _, err := m.st.Node(background, leaf)
			must(t, err)
			m.nodes, m.leaf = append(m.nodes, root), leaf
		},
		"branch": func(t *rapid.T) {
			n := m.draw(t, "message", func(n store.Node) bool { return len(n.Refs) > 0 && m.shown[n.Refs[0]] == n.ID })
			leaf, err := m.tree.Branch(background, n.Refs[0])
			must(t, err)
			if !slices.Contains(m.versions(n.ID), leaf) {
				t.Fatalf("branch at %s goes on from %s", n.ID, leaf)
			}
			m.leaf = leaf
		},
		"switch": func(t *rapid.T) {
			version := rapid.SampledFrom(m.versions(m.draw(t, "turn", isTurn).ID)).Draw(t, "version")
			leaf, err := m.tree.Switch(background, version)
			must(t, err)
			if want := m.newest(version); leaf != want {
				t.Fatalf("switch to %s leads to %s, want %s", version, leaf, want)
			}
			m.leaf = leaf
		},
		"restart": func(t *rapid.T) {
			if m.dir == "" {
				t.Skip("in memory")
			}
			must(t, m.st.Close())
			st, err := store.Open(background, store.Options{Dir: m.dir})
			must(t, err)
			m.st, m.tree = st, Open(st, chat)
		},
		"": m.checkPath,
	}
}

// checkAll compares all that is stored with the model.
func (m *machine) checkAll(t *rapid.T) {
	for _, want := range m.nodes {
		got, ok, err := m.st.Node(background, want.ID)
		must(t, err)
		if !ok || !reflect.DeepEqual(got, want) {
			t.Fatalf("node is\n%+v, want\n%+v", got, want)
		}
	}
	outline, err := m.st.Outline(background, chat, 0)
	must(t, err)
	if len(outline) != len(m.nodes) {
		t.Fatalf("%d nodes, want %d", len(outline), len(m.nodes))
	}
	for message, node := range m.shown {
		if n, err := m.tree.Find(background, message); err != nil || n.ID != node {
			t.Fatalf("message %s shows %s, want %s (%v)", message, n.ID, node, err)
		}
	}
	for _, n := range m.nodes {
		var kids []string
		list, err := m.st.Children(background, chat, n.ID)
		must(t, err)
		for _, c := range list {
			kids = append(kids, c.ID)
		}
		if want := m.children(n.ID); !slices.Equal(kids, want) {
			t.Fatalf("children of %s are %v, want %v", n.ID, kids, want)
		}
		if n.Message.Role == RootRole {
			continue
		}
		v, err := m.tree.Versions(background, n.ID)
		must(t, err)
		if want := m.versions(n.ID); !slices.Equal(v.IDs, want) {
			t.Fatalf("versions at %s are %v, want %v", n.ID, v.IDs, want)
		}
	}
}

// checkPath compares what people see as the conversation.
func (m *machine) checkPath(t *rapid.T) {
	path, err := m.tree.Path(background)
	must(t, err)
	var got []string
	for _, n := range path {
		got = append(got, n.ID)
		if !reflect.DeepEqual(n, *m.get(n.ID)) {
			t.Fatalf("path has\n%+v, want\n%+v", n, *m.get(n.ID))
		}
	}
	if want := m.path(); !slices.Equal(got, want) {
		t.Fatalf("path is %v, want %v", got, want)
	}
}

// TestS1_NothingIsLostOrChanged does what people do in any order, restarts in between, and
// compares the path with the model after every step, and all of it in the end. Most rounds are in memory, which is faster.
func TestS1_NothingIsLostOrChanged(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := ""
		if rapid.IntRange(0, 9).Draw(rt, "file") == 0 {
			dir = t.TempDir()
		}
		m := &machine{dir: dir, model: model{shown: map[string]string{}}, now: time.UnixMilli(1_700_000_000_000)}
		st, err := store.Open(background, store.Options{Dir: m.dir})
		must(rt, err)
		m.st, m.tree = st, Open(st, chat)
		defer func() { must(rt, m.st.Close()) }()
		rt.Repeat(m.actions())
		m.checkAll(rt)
	})
}
