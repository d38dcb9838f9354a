package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"typist/agent"
)

// Node is one message in a session's tree (S1). Once stored it never changes, apart from Refs.
type Node struct {
	ID      string // unique in the store, given by the caller
	Chat    string
	Parent  string // "" = a root
	RunID   string // the run that made it, or that answered it
	Message agent.Message
	// Refs are the platform's messages that show it, in their order. A message that shows
	// another node later (S8) belongs to that one from then on.
	Refs       []string
	At         time.Time
	Incomplete bool // cut before its end
}

// segmentBits is where in a pos the place within a segment ends.
const segmentBits = 32

// AppendNodes appends nodes, parents before children, and leaves the active leaf where it is. A
// node whose ID exists is left as it is: appending twice is appending once.
func (s *Store) AppendNodes(ctx context.Context, nodes []Node) error {
	rows, err := encodeNodes(nodes)
	if err != nil {
		return fmt.Errorf("append nodes: %w", err)
	}
	return s.write(ctx, "append nodes", func(c *conn) error { return appendNodes(c, rows) })
}

// nodeRow is a node with its content encoded, which the caller's goroutine does.
type nodeRow struct {
	Node
	content []byte
}

func encodeNodes(nodes []Node) ([]nodeRow, error) {
	rows := make([]nodeRow, len(nodes))
	for i, n := range nodes {
		if n.ID == "" || n.Chat == "" {
			return nil, fmt.Errorf("node %q of chat %q: both are needed", n.ID, n.Chat)
		}
		content, err := json.Marshal(n.Message)
		if err != nil {
			return nil, fmt.Errorf("node %s: %w", n.ID, err)
		}
		rows[i] = nodeRow{Node: n, content: content}
	}
	return rows, nil
}

func appendNodes(c *conn, rows []nodeRow) error {
	for _, n := range rows {
		if err := appendNode(c, n); err != nil {
			return fmt.Errorf("node %s: %w", n.ID, err)
		}
	}
	return nil
}

func appendNode(c *conn, n nodeRow) error {
	if pos, _, err := nodePos(c, n.ID); err != nil || pos != 0 {
		return err
	}
	chat, err := chatID(c, n.Chat)
	if err != nil {
		return err
	}
	var parent int64
	if n.Parent != "" {
		var owner int64
		if parent, owner, err = nodePos(c, n.Parent); err != nil {
			return err
		}
		if parent == 0 || owner != chat {
			return fmt.Errorf("parent %s: %w", n.Parent, ErrNotFound)
		}
	}
	pos, err := placeUnder(c, parent)
	if err != nil {
		return err
	}
	at := n.At
	if at.IsZero() {
		at = time.Now()
	}
	if _, err := c.exec(`UPDATE chats SET nodes = nodes + 1 WHERE id = ?1`, chat); err != nil {
		return err
	}
	if _, err := c.exec(`INSERT INTO nodes (pos, id, chat, parent, run, role, message, incomplete, at, n)
		SELECT ?1, ?2, id, ?4, ?5, ?6, ?7, ?8, ?9, nodes FROM chats WHERE id = ?3`,
		pos, n.ID, chat, parent, n.RunID, string(n.Message.Role), n.content, flag(n.Incomplete), millis(at)); err != nil {
		return err
	}
	return setRefs(c, chat, pos, n.Refs)
}

// placeUnder is where a new child of parent goes: behind it in its segment if that place is free,
// else at the head of a new segment.
func placeUnder(c *conn, parent int64) (int64, error) {
	if parent != 0 {
		var taken int64
		found, err := c.row(`SELECT pos FROM nodes WHERE pos = ?1`, []any{parent + 1}, &taken)
		if err != nil || !found {
			return parent + 1, err
		}
	}
	var last int64
	_, err := c.row(`SELECT COALESCE(MAX(pos), 0) FROM nodes`, nil, &last)
	return (last>>segmentBits + 1) << segmentBits, err
}

// nodePos is where a node is and its chat's row; 0: there is none.
func nodePos(c *conn, id string) (pos, chat int64, err error) {
	_, err = c.row(`SELECT pos, chat FROM nodes WHERE id = ?1`, []any{id}, &pos, &chat)
	return pos, chat, err
}

const nodeColumns = `SELECT n.pos, n.id, c.key, COALESCE(p.id, ''), n.run, n.role, n.message, n.incomplete, n.at
	FROM nodes n JOIN chats c ON c.id = n.chat LEFT JOIN nodes p ON p.pos = n.parent`

// nodes reads whole nodes with their refs.
func nodes(c *conn, query string, args ...any) ([]Node, error) {
	var out []Node
	var at []int64
	err := c.rows(query, args, func(r scanner) error {
		var n Node
		var pos, ms, incomplete int64
		var role string
		var content []byte
		if err := r.Scan(&pos, &n.ID, &n.Chat, &n.Parent, &n.RunID, &role, &content, &incomplete, &ms); err != nil {
			return err
		}
		n.Message.Role, n.Incomplete, n.At = agent.Role(role), incomplete != 0, fromMillis(ms)
		if len(content) > 0 {
			if err := json.Unmarshal(content, &n.Message); err != nil {
				return fmt.Errorf("node %s: %w", n.ID, err)
			}
		}
		out, at = append(out, n), append(at, pos)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range out {
		if out[i].Refs, err = refsOf(c, at[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Node reads one node; false: there is none.
func (s *Store) Node(ctx context.Context, id string) (n Node, ok bool, err error) {
	err = s.read(ctx, "node", func(c *conn) error {
		list, err := nodes(c, nodeColumns+` WHERE n.id = ?1`, id)
		if ok = len(list) > 0; ok {
			n = list[0]
		}
		return err
	})
	return n, ok, err
}

const childrenOf = `SELECT n.pos, n.id, c.key, ?3, n.run, n.role, '', n.incomplete, n.at
	FROM nodes n JOIN chats c ON c.id = n.chat WHERE n.chat = ?1 AND n.parent = ?2 ORDER BY n.pos`

// Children lists the children of a node ("" = the chat's roots) in the order of their creation,
// without content: Message has its Role only.
func (s *Store) Children(ctx context.Context, chat, parent string) (out []Node, err error) {
	err = s.read(ctx, "children", func(c *conn) error {
		out = nil
		id, pos, err := within(c, chat, parent)
		if err != nil || id == 0 {
			return err
		}
		out, err = nodes(c, childrenOf, id, pos, parent)
		return err
	})
	return out, err
}

// Leaf is the id of the chat's active leaf; "" = none.
func (s *Store) Leaf(ctx context.Context, chat string) (id string, err error) {
	err = s.read(ctx, "leaf", func(c *conn) error {
		id = ""
		_, err := c.row(`SELECT n.id FROM chats c JOIN nodes n ON n.pos = c.leaf WHERE c.key = ?1`, []any{chat}, &id)
		return err
	})
	return id, err
}

// SetLeaf makes a node of the chat its active leaf; "" = the next node is a root (/new).
func (s *Store) SetLeaf(ctx context.Context, chat, id string) error {
	return s.write(ctx, "set leaf", func(c *conn) error { return setLeaf(c, chat, id) })
}

func setLeaf(c *conn, chat, id string) error {
	row, err := chatID(c, chat)
	if err != nil {
		return err
	}
	var pos int64
	if id != "" {
		var owner int64
		if pos, owner, err = nodePos(c, id); err != nil {
			return err
		}
		if pos == 0 || owner != row {
			return fmt.Errorf("node %s: %w", id, ErrNotFound)
		}
	}
	_, err = c.exec(`UPDATE chats SET leaf = ?2 WHERE id = ?1`, row, pos)
	return err
}

const showing = ` WHERE n.pos = (SELECT node FROM refs WHERE chat = (SELECT id FROM chats WHERE key = ?1)
	AND message = ?2 ORDER BY n DESC LIMIT 1)`

// NodeByRef is the node that a platform's message shows; false: none.
func (s *Store) NodeByRef(ctx context.Context, chat, messageID string) (n Node, ok bool, err error) {
	err = s.read(ctx, "node by message", func(c *conn) error {
		list, err := nodes(c, nodeColumns+showing, chat, messageID)
		if ok = len(list) > 0; ok {
			n = list[0]
		}
		return err
	})
	return n, ok, err
}

// SetRefs says which of the platform's messages show the node now, in their order. It replaces
// what was said before.
func (s *Store) SetRefs(ctx context.Context, nodeID string, refs []string) error {
	refs = slices.Clone(refs)
	return s.write(ctx, "set refs", func(c *conn) error {
		pos, chat, err := nodePos(c, nodeID)
		if err != nil {
			return err
		}
		if pos == 0 {
			return fmt.Errorf("node %s: %w", nodeID, ErrNotFound)
		}
		if _, err := c.exec(`DELETE FROM refs WHERE node = ?1`, pos); err != nil {
			return err
		}
		return setRefs(c, chat, pos, refs)
	})
}

func setRefs(c *conn, chat, pos int64, refs []string) error {
	for _, message := range refs {
		if _, err := c.exec(`INSERT INTO refs (chat, message, node) VALUES (?1, ?2, ?3)`, chat, message, pos); err != nil {
			return err
		}
	}
	return nil
}

func refsOf(c *conn, pos int64) (out []string, err error) {
	err = c.rows(`SELECT message FROM refs WHERE node = ?1 ORDER BY n`, []any{pos}, func(r scanner) error {
		var message string
		err := r.Scan(&message)
		out = append(out, message)
		return err
	})
	return out, err
}
