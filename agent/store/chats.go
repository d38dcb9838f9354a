package store

import (
	"context"
	"fmt"
	"time"

	"typist/adapters"
)

// ChatInfo is what is known of a chat.
type ChatInfo struct {
	Chat     string // adapters.Chat.Key()
	Kind     adapters.Kind
	Name     string
	Leaf     string    // id of the active leaf; "" = no turn on the active branch
	LastSeq  int64     // of its events; 0 = none yet
	ActiveAt time.Time // last input or event
}

// SetLastChat records that a person spoke to the agent in this chat (H1 `last`), with the chat's
// kind and name. Kind and Name may be "" where they are unknown: known ones are kept.
func (s *Store) SetLastChat(ctx context.Context, agent string, info ChatInfo) error {
	return s.write(ctx, "set last chat", func(c *conn) error {
		at := info.ActiveAt
		if at.IsZero() {
			at = time.Now()
		}
		chat, err := touch(c, info.Chat, at)
		if err != nil {
			return err
		}
		if _, err := c.exec(`UPDATE chats SET
			kind = CASE WHEN ?2 = '' THEN kind ELSE ?2 END,
			name = CASE WHEN ?3 = '' THEN name ELSE ?3 END WHERE id = ?1`, chat, string(info.Kind), info.Name); err != nil {
			return err
		}
		_, err = c.exec(`INSERT INTO last_chats (agent, chat, at) VALUES (?1, ?2, ?3)
			ON CONFLICT (agent) DO UPDATE SET chat = excluded.chat, at = excluded.at`, agent, chat, millis(at))
		return err
	})
}

// LastChat is the chat whose person last spoke to the agent; false: nobody has.
func (s *Store) LastChat(ctx context.Context, agent string) (info ChatInfo, ok bool, err error) {
	err = s.read(ctx, "last chat", func(c *conn) error {
		ok = false
		return c.rows(chatColumns+` JOIN last_chats l ON l.chat = c.id WHERE l.agent = ?1`, []any{agent}, func(r scanner) error {
			ok = true
			info, err = scanChat(r)
			return err
		})
	})
	return info, ok, err
}

// Chats lists the chats, the last active first; limit 0 = all.
func (s *Store) Chats(ctx context.Context, limit int) (out []ChatInfo, err error) {
	if limit <= 0 {
		limit = -1
	}
	err = s.read(ctx, "chats", func(c *conn) error {
		out = nil
		return c.rows(chatColumns+` ORDER BY c.active_at DESC, c.id LIMIT ?1`, []any{limit}, func(r scanner) error {
			info, err := scanChat(r)
			out = append(out, info)
			return err
		})
	})
	return out, err
}

// Chat is what is known of one chat; false: nothing.
func (s *Store) Chat(ctx context.Context, chat string) (info ChatInfo, ok bool, err error) {
	err = s.read(ctx, "chat", func(c *conn) error {
		ok = false
		return c.rows(chatColumns+` WHERE c.key = ?1`, []any{chat}, func(r scanner) error {
			ok = true
			info, err = scanChat(r)
			return err
		})
	})
	return info, ok, err
}

const chatColumns = `SELECT c.key, c.kind, c.name, COALESCE(n.id, ''), c.seq, c.active_at
	FROM chats c LEFT JOIN nodes n ON n.pos = c.leaf`

func scanChat(r scanner) (ChatInfo, error) {
	var info ChatInfo
	var kind string
	var active int64
	err := r.Scan(&info.Chat, &kind, &info.Name, &info.Leaf, &info.LastSeq, &active)
	info.Kind, info.ActiveAt = adapters.Kind(kind), fromMillis(active)
	return info, err
}

// chatID is the row of a chat, made if it is new.
func chatID(c *conn, key string) (int64, error) {
	if key == "" {
		return 0, fmt.Errorf("chat has no key")
	}
	var id int64
	found, err := c.row(`SELECT id FROM chats WHERE key = ?1`, []any{key}, &id)
	if err != nil || found {
		return id, err
	}
	_, err = c.row(`INSERT INTO chats (key) VALUES (?1) RETURNING id`, []any{key}, &id)
	return id, err
}

// knownChat is the row of a chat; 0: there is none.
func knownChat(c *conn, key string) (id int64, err error) {
	_, err = c.row(`SELECT id FROM chats WHERE key = ?1`, []any{key}, &id)
	return id, err
}

// touch is chatID that also moves the chat's last activity forward.
func touch(c *conn, key string, at time.Time) (int64, error) {
	id, err := chatID(c, key)
	if err == nil {
		_, err = c.exec(`UPDATE chats SET active_at = ?2 WHERE id = ?1 AND active_at < ?2`, id, millis(at))
	}
	return id, err
}
