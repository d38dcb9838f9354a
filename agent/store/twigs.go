package store

import (
	"context"
	"fmt"
	"time"

	"typist/agent"
)

// Twig is a node without content, for views of the tree (W3).
type Twig struct {
	ID, Parent, RunID string
	Role              agent.Role
	Incomplete        bool
	At                time.Time
}

// Turn lists the turn that begins under parent ("" = the chat's first conversation) in all its
// versions (S7, S8), parents before children: the people's messages there, everything their runs
// appended, and the people's messages that follow those, which end it.
func (s *Store) Turn(ctx context.Context, chat, parent string) (out []Twig, err error) {
	err = s.read(ctx, "turn", func(c *conn) error {
		out = nil
		id, pos, err := within(c, chat, parent)
		if err != nil || id == 0 {
			return err
		}
		return twigs(c, &out, turnOf, id, pos)
	})
	return out, err
}

// turnOf joins by CROSS JOIN, which SQLite never turns round: it would read the whole chat.
const turnOf = `WITH RECURSIVE t (pos, stop) AS (
		SELECT pos, 0 FROM nodes WHERE chat = ?1 AND parent = ?2 AND role = 'user'
		UNION ALL
		SELECT n.pos, CASE WHEN n.role = 'user' THEN 1 ELSE 0 END FROM t CROSS JOIN nodes n WHERE n.chat = ?1 AND n.parent = t.pos AND t.stop = 0)
	` + twigColumns + ` FROM t CROSS JOIN nodes n LEFT JOIN nodes p ON p.pos = n.parent WHERE n.pos = t.pos ORDER BY t.pos`

// Outline lists the chat's whole tree in the order of its branches, at most limit nodes (0 = all).
func (s *Store) Outline(ctx context.Context, chat string, limit int) (out []Twig, err error) {
	if limit <= 0 {
		limit = -1
	}
	err = s.read(ctx, "outline", func(c *conn) error {
		out = nil
		id, err := knownChat(c, chat)
		if err != nil || id == 0 {
			return err
		}
		return twigs(c, &out, twigColumns+` FROM nodes n LEFT JOIN nodes p ON p.pos = n.parent WHERE n.chat = ?1 ORDER BY n.pos LIMIT ?2`, id, limit)
	})
	return out, err
}

// RunTwigs lists the nodes of a run in their order: the message that it answers, if it began with
// one, what it appended, and the messages that were handed to it in mid-run.
func (s *Store) RunTwigs(ctx context.Context, runID string) (out []Twig, err error) {
	err = s.read(ctx, "nodes of a run", func(c *conn) error {
		out = nil
		return twigs(c, &out, twigsOfRun, runID)
	})
	return out, err
}

const twigsOfRun = twigColumns + ` FROM nodes n LEFT JOIN nodes p ON p.pos = n.parent WHERE n.run = ?1 ORDER BY n.pos`

const twigColumns = `SELECT n.id, COALESCE(p.id, ''), n.run, n.role, n.incomplete, n.at`

func twigs(c *conn, out *[]Twig, query string, args ...any) error {
	return c.rows(query, args, func(r scanner) error {
		var t Twig
		var role string
		var incomplete, at int64
		err := r.Scan(&t.ID, &t.Parent, &t.RunID, &role, &incomplete, &at)
		t.Role, t.Incomplete, t.At = agent.Role(role), incomplete != 0, fromMillis(at)
		*out = append(*out, t)
		return err
	})
}

// NewestLeaf is the leaf below a node (or the node itself) that was stored last, without the
// children in except.
func (s *Store) NewestLeaf(ctx context.Context, chat, node string, except ...string) (leaf string, err error) {
	err = s.read(ctx, "newest leaf", func(c *conn) error {
		id, pos, err := within(c, chat, node)
		if err != nil {
			return err
		}
		if id == 0 || pos == 0 {
			return fmt.Errorf("node %s: %w", node, ErrNotFound)
		}
		skip := make(map[int64]bool, len(except))
		for _, e := range except {
			p, _, err := nodePos(c, e)
			if err != nil {
				return err
			}
			skip[p] = true
		}
		leaf, err = newestLeaf(c, id, pos, skip)
		return err
	})
	return leaf, err
}

func newestLeaf(c *conn, chat, pos int64, skip map[int64]bool) (leaf string, err error) {
	newest := int64(0)
	for todo := []int64{pos}; len(todo) > 0; {
		first := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		last := first
		if !skip[first+1] {
			if _, err := c.row(`SELECT MAX(pos) FROM nodes WHERE pos BETWEEN ?1 AND ?2`, []any{first, first | (1<<segmentBits - 1)}, &last); err != nil {
				return "", err
			}
		}
		var id string
		var n int64
		if _, err := c.row(`SELECT id, n FROM nodes WHERE pos = ?1`, []any{last}, &id, &n); err != nil {
			return "", err
		}
		if n > newest {
			newest, leaf = n, id
		}
		// The heads of the branches that leave this stretch.
		var heads []int64
		if err := c.rows(`SELECT pos FROM nodes WHERE chat = ?1 AND parent BETWEEN ?2 AND ?3 AND pos % 4294967296 = 0`, []any{chat, first, last}, func(r scanner) error {
			var head int64
			err := r.Scan(&head)
			if !skip[head] {
				heads = append(heads, head)
			}
			return err
		}); err != nil {
			return "", err
		}
		todo = append(todo, heads...)
	}
	return leaf, nil
}

// within is the chat's row and the node's place in it; chat 0: no such chat, or the node is not
// one of its.
func within(c *conn, chat, node string) (id, pos int64, err error) {
	if id, err = knownChat(c, chat); err != nil || id == 0 || node == "" {
		return id, 0, err
	}
	pos, owner, err := nodePos(c, node)
	if err != nil || pos == 0 || owner != id {
		return 0, 0, err
	}
	return id, pos, nil
}
