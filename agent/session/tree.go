// Package session is the tree of turns that belongs to a chat (S1, S7, S8). It decides where
// something is appended, which versions a turn has, and what a backend is given; the rows are
// agent/store's.
//
// The tree is append-only: an edited message becomes a sibling of the old one, a retry a second
// answer under the same message, /new a root of its own. The active leaf says which branch people
// see. A Tree keeps nothing in memory: every method reads the store, so it is always what was
// stored, after a restart too.
package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"crypto/rand"

	"typist/agent"
	"typist/agent/store"
)

// ErrNoTurn: the platform's message, or the node, belongs to no turn of this chat.
var ErrNoTurn = errors.New("no such turn in this chat")

// RootRole marks the node that /new appends: it holds no message and no model sees it. It keeps
// conversations apart, so that an edit of a first message is no sibling of another conversation.
const RootRole agent.Role = "root"

// Tree is the session of one chat. It is safe for concurrent use; what a caller decides from
// several calls is its own to keep in order (the chat's lane does).
type Tree struct {
	st   *store.Store
	chat string
}

// Open gives the session of a chat. It reads nothing yet.
func Open(st *store.Store, chat string) *Tree { return &Tree{st: st, chat: chat} }

// Chat is the key of the tree's chat.
func (t *Tree) Chat() string { return t.chat }

// NewID makes an id for a node.
func NewID() string { return rand.Text() }

// Leaf is the id of the active leaf: the parent of the next turn's node. "" = there is no turn yet.
func (t *Tree) Leaf(ctx context.Context) (string, error) { return t.st.Leaf(ctx, t.chat) }

// Path is the path root → active leaf: what people see as the conversation (S1).
func (t *Tree) Path(ctx context.Context) ([]store.Node, error) {
	path, err := t.st.Path(ctx, t.chat, "")
	if err != nil {
		return nil, err
	}
	return withoutRoots(path), nil
}

// History is what a backend is given: the messages of the path root → leaf ("" = the active one),
// the newest limit of them (0 = all). A cut one begins with a person's message, so that no tool
// result stands without its call. The files of the newest messages come along, together at most
// MaxFiles bytes; an older one is named instead.
func (t *Tree) History(ctx context.Context, leaf string, limit int) ([]agent.Message, error) {
	nodes, err := t.st.TailWithin(ctx, t.chat, leaf, limit, MaxFiles)
	if err != nil {
		return nil, err
	}
	cut := limit > 0 && len(nodes) == limit && nodes[0].Parent != ""
	nodes = withoutRoots(nodes)
	if cut {
		for i, n := range nodes {
			if n.Message.Role == agent.User {
				nodes = nodes[i:]
				break
			}
		}
	}
	out := make([]agent.Message, len(nodes))
	for i, n := range nodes {
		out[i] = named(n.Message)
	}
	return out, nil
}

// MaxFiles bounds the files of a history, in bytes: one message's of 20 MB and some before it.
const MaxFiles = 32 << 20

// named replaces a person's files whose contents are left out by a mention.
func named(m agent.Message) agent.Message {
	if m.Role != agent.User {
		return m
	}
	for i, p := range m.Blocks {
		if p.Kind == agent.PartFile && p.Data == nil {
			m.Blocks[i] = agent.Part{Kind: agent.PartText, Text: fmt.Sprintf("[file %q came with this message; it is not loaded any more]", p.Name)}
		}
	}
	return m
}

func withoutRoots(nodes []store.Node) []store.Node {
	for i, n := range nodes {
		if n.Message.Role == RootRole {
			return nodes[i+1:] // a root has nothing above it
		}
	}
	return nodes
}

// NewRoot begins a new conversation (/new): the next turn hangs from a root of its own. The old
// one stays.
func (t *Tree) NewRoot(ctx context.Context) error {
	root := store.Node{ID: NewID(), Chat: t.chat, Message: agent.Message{Role: RootRole}, At: time.Now()}
	if err := t.st.AppendNodes(ctx, []store.Node{root}); err != nil {
		return err
	}
	return t.st.SetLeaf(ctx, t.chat, root.ID)
}

// Find is the node that a platform's message shows: a person's message, or an answer.
func (t *Tree) Find(ctx context.Context, messageID string) (store.Node, error) {
	if messageID == "" {
		return store.Node{}, ErrNoTurn
	}
	n, ok, err := t.st.NodeByRef(ctx, t.chat, messageID)
	if err == nil && !ok {
		err = fmt.Errorf("message %s: %w", messageID, ErrNoTurn)
	}
	return n, err
}

// Question is the person's message that a node belongs to: the node itself, or the nearest one
// above it. It is what a retry answers again (S3): the new answer is appended under it, beside
// the old one.
func (t *Tree) Question(ctx context.Context, node string) (store.Node, error) {
	for {
		n, err := t.node(ctx, node)
		if err != nil || n.Message.Role == agent.User {
			return n, err
		}
		if n.Parent == "" {
			return store.Node{}, fmt.Errorf("node %s: %w", node, ErrNoTurn)
		}
		node = n.Parent
	}
}

// Edited is the message that an edit replaces (S7): the new one becomes its sibling, a node with
// the same Parent. ErrNoTurn: the edited message never became a turn.
func (t *Tree) Edited(ctx context.Context, messageID string) (old store.Node, err error) {
	old, err = t.Find(ctx, messageID)
	if err == nil && old.Message.Role != agent.User {
		return store.Node{}, fmt.Errorf("message %s is no person's: %w", messageID, ErrNoTurn)
	}
	return old, err
}

// Line is the turn that a node belongs to, from the person's message down to the node: what a
// version's answer and trace are made of; files without their contents.
func (t *Tree) Line(ctx context.Context, node string) ([]store.Node, error) {
	for limit := 16; ; limit *= 8 {
		nodes, err := t.st.TailWithin(ctx, t.chat, node, limit, 0)
		if err != nil {
			return nil, err
		}
		for i := len(nodes) - 1; i >= 0; i-- {
			if nodes[i].Message.Role == agent.User {
				return nodes[i:], nil
			}
		}
		if len(nodes) < limit {
			return nil, fmt.Errorf("node %s: %w", node, ErrNoTurn)
		}
	}
}

func (t *Tree) node(ctx context.Context, id string) (store.Node, error) {
	n, ok, err := t.st.Node(ctx, id)
	if err == nil && (!ok || n.Chat != t.chat) {
		err = fmt.Errorf("node %s: %w", id, ErrNoTurn)
	}
	return n, err
}
