package store

import (
	"context"
	"time"

	"typist/adapters"
)

var _ adapters.Memory = (*Store)(nil)

// Settings are the chat's own settings (/typing, /view …); never nil without an error.
func (s *Store) Settings(ctx context.Context, chat string) (out map[string]string, err error) {
	err = s.read(ctx, "settings", func(c *conn) error {
		out = make(map[string]string)
		return c.rows(`SELECT name, value FROM settings WHERE chat = (SELECT id FROM chats WHERE key = ?1)`, []any{chat}, func(r scanner) error {
			var name, value string
			err := r.Scan(&name, &value)
			out[name] = value
			return err
		})
	})
	return out, err
}

// SetSetting sets one setting of a chat; value "" removes it.
func (s *Store) SetSetting(ctx context.Context, chat, name, value string) error {
	return s.write(ctx, "set setting", func(c *conn) error {
		id, err := chatID(c, chat)
		if err != nil {
			return err
		}
		if value == "" {
			_, err = c.exec(`DELETE FROM settings WHERE chat = ?1 AND name = ?2`, id, name)
			return err
		}
		_, err = c.exec(`INSERT INTO settings (chat, name, value) VALUES (?1, ?2, ?3) ON CONFLICT (chat, name) DO UPDATE SET value = excluded.value`, id, name, value)
		return err
	})
}

// Load is the value saved under key; "" = none (adapters.Memory).
func (s *Store) Load(ctx context.Context, key string) (value string, err error) {
	err = s.read(ctx, "load value", func(c *conn) error {
		value = ""
		_, err := c.row(`SELECT value FROM kv WHERE key = ?1`, []any{key}, &value)
		return err
	})
	return value, err
}

// Save keeps a value under key; "" removes it (adapters.Memory).
func (s *Store) Save(ctx context.Context, key, value string) error {
	return s.write(ctx, "save value", func(c *conn) error {
		if value == "" {
			_, err := c.exec(`DELETE FROM kv WHERE key = ?1`, key)
			return err
		}
		_, err := c.exec(`INSERT INTO kv (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, key, value)
		return err
	})
}

// Values lists the saved values whose keys begin with prefix (pairing codes).
func (s *Store) Values(ctx context.Context, prefix string) (out map[string]string, err error) {
	err = s.read(ctx, "list values", func(c *conn) error {
		out = make(map[string]string)
		return c.rows(`SELECT key, value FROM kv WHERE SUBSTR(key, 1, LENGTH(?1)) = ?1`, []any{prefix}, func(r scanner) error {
			var key, value string
			err := r.Scan(&key, &value)
			out[key] = value
			return err
		})
	})
	return out, err
}

// ClaimSlot claims a tick of a schedule: fresh is true for the first claim of (name, slot) only
// (H6, H8). It is forgotten after Retention.Age.
func (s *Store) ClaimSlot(ctx context.Context, name, slot string) (fresh bool, err error) {
	at := millis(time.Now())
	err = s.write(ctx, "claim slot", func(c *conn) error {
		n, err := c.exec(`INSERT INTO slots (name, slot, at) VALUES (?1, ?2, ?3) ON CONFLICT (name, slot) DO NOTHING`, name, slot, at)
		fresh = n > 0
		return err
	})
	return fresh && err == nil, err
}
