package session

import (
	"context"
	"fmt"
	"slices"

	"typist/agent"
	"typist/agent/store"
)

// Versions are the versions of one turn (S8's ◀ k/n ▶): every answer to every wording of the
// person's message, in the order they came to be: edits, retries, resumed runs. A wording that
// has no answer yet is a version too.
type Versions struct {
	Index int      // of the asked one, from 0; shown as k = Index+1
	IDs   []string // the nodes people see as answers; n = len(IDs). The last one can be "": see Next
}

// Before and After are the neighbours' ids; "" = there is none.
func (v Versions) Before() string { return v.at(v.Index - 1) }

// After is the next version's id; "" = there is none.
func (v Versions) After() string { return v.at(v.Index + 1) }

func (v Versions) at(i int) string {
	if i < 0 || i >= len(v.IDs) {
		return ""
	}
	return v.IDs[i]
}

// Versions are those of the turn that node belongs to; Index is the version whose line node is on.
func (t *Tree) Versions(ctx context.Context, node string) (Versions, error) {
	turn, err := t.turn(ctx, node)
	if err != nil {
		return Versions{}, err
	}
	return turn.versions(node)
}

// Next is what Versions will say of the answer that is about to be appended under parent: its id
// is "" in IDs. An answer is posted with its ◀ k/n ▶ before its node is stored.
func (t *Tree) Next(ctx context.Context, parent string) (Versions, error) {
	turn, err := t.turn(ctx, parent)
	if err != nil {
		return Versions{}, err
	}
	turn.add(store.Twig{ID: "", Parent: parent, Role: agent.Assistant})
	return turn.versions("")
}

// Switch makes a version the shown one (S8): the active leaf moves to it, and on to the newest
// turn that follows it. leaf is where the next message goes on.
func (t *Tree) Switch(ctx context.Context, version string) (leaf string, err error) {
	turn, err := t.turn(ctx, version)
	if err != nil {
		return "", err
	}
	v, err := turn.versions(version)
	if err != nil {
		return "", err
	}
	// What follows the version are people's messages; what its own run, resumed, went on with is
	// another version.
	leaf, err = t.st.NewestLeaf(ctx, t.chat, v.IDs[v.Index], turn.resumed(v.IDs[v.Index])...)
	if err != nil {
		return "", err
	}
	return leaf, t.st.SetLeaf(ctx, t.chat, leaf)
}

// Branch goes on from an earlier message (/branch, S8): the next message is appended behind the
// turn that the platform's message belongs to. node is the new active leaf.
func (t *Tree) Branch(ctx context.Context, messageID string) (node string, err error) {
	n, err := t.Find(ctx, messageID)
	if err != nil {
		return "", err
	}
	turn, err := t.turn(ctx, n.ID)
	if err != nil {
		return "", err
	}
	v, err := turn.versions(n.ID)
	if err != nil {
		return "", err
	}
	node = v.IDs[v.Index]
	return node, t.st.SetLeaf(ctx, t.chat, node)
}

// turn is one turn in all its versions.
type turn struct {
	twigs    map[string]store.Twig
	children map[string][]string // in the order they were made
	first    []string            // the wordings of the person's message
}

func (t *Tree) turn(ctx context.Context, node string) (*turn, error) {
	question, err := t.Question(ctx, node)
	if err != nil {
		return nil, err
	}
	list, err := t.st.Turn(ctx, t.chat, question.Parent)
	if err != nil {
		return nil, err
	}
	turn := &turn{twigs: make(map[string]store.Twig), children: make(map[string][]string)}
	for _, twig := range list {
		turn.add(twig)
		if twig.Parent == question.Parent {
			turn.first = append(turn.first, twig.ID)
		}
	}
	return turn, nil
}

func (t *turn) add(twig store.Twig) {
	t.twigs[twig.ID] = twig
	t.children[twig.Parent] = append(t.children[twig.Parent], twig.ID)
}

// resumed are the children of a node that belong to its turn: what a run appended, not people.
func (t *turn) resumed(id string) (out []string) {
	for _, child := range t.children[id] {
		if t.twigs[child].Role != agent.User {
			out = append(out, child)
		}
	}
	return out
}

// walk calls each for every version below id: a node that no run went on from, or that people did.
func (t *turn) walk(id string, each func(id string)) {
	below := t.resumed(id)
	if len(below) == 0 || len(below) < len(t.children[id]) {
		each(id)
	}
	for _, child := range below {
		t.walk(child, each)
	}
}

func (t *turn) versions(node string) (Versions, error) {
	v := Versions{Index: -1}
	for _, first := range t.first {
		t.walk(first, func(id string) { v.IDs = append(v.IDs, id) })
	}
	// A node inside a run stands for the first version below it.
	if v.Index = slices.Index(v.IDs, node); v.Index < 0 {
		t.walk(node, func(id string) {
			if v.Index < 0 {
				v.Index = slices.Index(v.IDs, id)
			}
		})
	}
	if v.Index < 0 {
		return Versions{}, fmt.Errorf("node %s: %w", node, ErrNoTurn)
	}
	return v, nil
}
