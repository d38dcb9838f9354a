package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"typist/agent"
)

// stretch is a piece of a path: the nodes first…last, in order.
type stretch struct{ first, last int64 }

// Path is the path root → leaf with content; leaf "" is the active one. A chat without turns has
// an empty path.
func (s *Store) Path(ctx context.Context, chat, leaf string) ([]Node, error) {
	return s.Tail(ctx, chat, leaf, 0)
}

// Tail is the end of Path, at most limit nodes; 0 = all.
func (s *Store) Tail(ctx context.Context, chat, leaf string, limit int) (out []Node, err error) {
	return s.tail(ctx, chat, leaf, limit, func(*conn, []stretch) (int64, error) { return 0, nil })
}

// TailWithin is Tail that leaves out the contents of older files: those of the newest nodes come
// along as far as these nodes have together at most so many bytes; in the others the files' Data
// is nil. It never has more than one node's file beyond that in memory.
func (s *Store) TailWithin(ctx context.Context, chat, leaf string, limit int, files int64) ([]Node, error) {
	return s.tail(ctx, chat, leaf, limit, func(c *conn, pieces []stretch) (int64, error) {
		return firstWithin(c, pieces, files/3*4) // stored as base64
	})
}

// tail reads a path; whole tells the first node whose files are read.
func (s *Store) tail(ctx context.Context, chat, leaf string, limit int, whole func(*conn, []stretch) (int64, error)) (out []Node, err error) {
	err = s.read(ctx, "path", func(c *conn) error {
		out = nil
		pieces, err := stretches(c, chat, leaf, limit)
		if err != nil {
			return err
		}
		from, err := whole(c, pieces)
		if err != nil {
			return err
		}
		for _, p := range pieces {
			if out, err = readStretch(c, out, chat, p, from); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// firstWithin is the first node of a path from which on the stored messages that are big enough to
// hold a file fit into size bytes. Positions grow along a path.
func firstWithin(c *conn, pieces []stretch, size int64) (int64, error) {
	first := int64(math.MaxInt64)
	for i := len(pieces) - 1; i >= 0 && size >= 0; i-- {
		var sizes [][2]int64
		if err := c.rows(`SELECT pos, length(message) FROM nodes WHERE pos BETWEEN ?1 AND ?2 ORDER BY pos DESC`, []any{pieces[i].first, pieces[i].last}, func(r scanner) error {
			var pos, n int64
			err := r.Scan(&pos, &n)
			sizes = append(sizes, [2]int64{pos, n})
			return err
		}); err != nil {
			return 0, err
		}
		for _, s := range sizes {
			if s[1] > smallMessage {
				size -= s[1]
			}
			if size < 0 {
				break
			}
			first = s[0]
		}
	}
	return first, nil
}

// smallMessage is a stored message of so few bytes that its files do not count.
const smallMessage = 16 << 10

// lean is a message without its files' contents, which are not even decoded.
type lean struct {
	Role   agent.Role `json:"role"`
	Blocks []struct {
		agent.Part
		Data skipped `json:"data"`
	} `json:"blocks"`
}

type skipped struct{}

func (*skipped) UnmarshalJSON([]byte) error { return nil }

func (l *lean) message() agent.Message {
	m := agent.Message{Role: l.Role, Blocks: make([]agent.Part, len(l.Blocks))}
	for i, b := range l.Blocks {
		m.Blocks[i] = b.Part
	}
	return m
}

// PathIDs is the path root → leaf as ids; leaf "" is the active one.
func (s *Store) PathIDs(ctx context.Context, chat, leaf string) (out []string, err error) {
	err = s.read(ctx, "path ids", func(c *conn) error {
		out = nil
		pieces, err := stretches(c, chat, leaf, 0)
		if err != nil {
			return err
		}
		for _, p := range pieces {
			if err := c.rows(`SELECT id FROM nodes WHERE pos BETWEEN ?1 AND ?2 ORDER BY pos`, []any{p.first, p.last}, func(r scanner) error {
				var id string
				err := r.Scan(&id)
				out = append(out, id)
				return err
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// readStretch appends the nodes of one piece to out. It reads the rows in the order they lie on
// disk, and joins nothing: a node's parent is the row before it. Nodes before whole come without
// the contents of their files.
func readStretch(c *conn, out []Node, chat string, p stretch, whole int64) ([]Node, error) {
	var parent string
	if _, err := c.row(`SELECT p.id FROM nodes n JOIN nodes p ON p.pos = n.parent WHERE n.pos = ?1`, []any{p.first}, &parent); err != nil {
		return nil, err
	}
	start := len(out)
	if err := c.rows(`SELECT pos, id, run, message, incomplete, at FROM nodes WHERE pos BETWEEN ?1 AND ?2 ORDER BY pos`, []any{p.first, p.last}, func(r scanner) error {
		n := Node{Chat: chat, Parent: parent}
		var pos, at, incomplete int64
		var content sql.RawBytes
		if err := r.Scan(&pos, &n.ID, &n.RunID, &content, &incomplete, &at); err != nil {
			return err
		}
		var err error
		if pos < whole && len(content) > smallMessage {
			var l lean
			err = json.Unmarshal(content, &l)
			n.Message = l.message()
		} else {
			err = json.Unmarshal(content, &n.Message)
		}
		if err != nil {
			return fmt.Errorf("node %s: %w", n.ID, err)
		}
		n.Incomplete, n.At, parent = incomplete != 0, fromMillis(at), n.ID
		out = append(out, n)
		return nil
	}); err != nil {
		return nil, err
	}
	return out, c.rows(`SELECT node, message FROM refs WHERE node BETWEEN ?1 AND ?2 ORDER BY n`, []any{p.first, p.last}, func(r scanner) error {
		var pos int64
		var message string
		if err := r.Scan(&pos, &message); err != nil {
			return err
		}
		n := &out[start+int(pos-p.first)]
		n.Refs = append(n.Refs, message)
		return nil
	})
}

// stretches are the pieces of a path, root first: one per branch it passes, not one per node.
func stretches(c *conn, chat, leaf string, limit int) ([]stretch, error) {
	id, err := knownChat(c, chat)
	if err != nil {
		return nil, err
	}
	var pos int64
	if leaf == "" {
		if _, err := c.row(`SELECT leaf FROM chats WHERE id = ?1`, []any{id}, &pos); err != nil {
			return nil, err
		}
	} else {
		var owner int64
		if pos, owner, err = nodePos(c, leaf); err != nil {
			return nil, err
		}
		if pos == 0 || owner != id {
			return nil, fmt.Errorf("leaf %s: %w", leaf, ErrNotFound)
		}
	}
	var pieces []stretch
	for left := int64(limit); pos != 0; {
		piece := stretch{first: pos >> segmentBits << segmentBits, last: pos}
		if limit > 0 && piece.last-piece.first+1 >= left {
			piece.first = piece.last - left + 1
			pieces = append(pieces, piece)
			break
		}
		left -= piece.last - piece.first + 1
		pieces = append(pieces, piece)
		found, err := c.row(`SELECT parent FROM nodes WHERE pos = ?1`, []any{piece.first}, &pos)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, fmt.Errorf("branch of %s has no beginning: %w", leaf, ErrCorrupt)
		}
	}
	slices.Reverse(pieces)
	return pieces, nil
}
