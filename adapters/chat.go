// Package adapters is the vocabulary between a chat platform and the agent: what comes in
// (Event), what goes out (Post), what a platform can do (Capabilities and the optional
// interfaces) and how it fails. It knows no platform.
package adapters

import (
	"fmt"
	"net/url"
	"strings"
)

// Chat names one conversation: a channel (platform connection), the platform's chat id, and
// the thread or topic in it. Every session, lane and indicator belongs to one Chat (C6).
type Chat struct {
	Channel string `json:"channel"`          // slack, discord, telegram
	ID      string `json:"id"`               // the platform's chat or channel id
	Thread  string `json:"thread,omitempty"` // thread ts or topic id; "" outside threads
}

// Key is the chat as one string, for maps and the store: "telegram/42/7" or "telegram/42".
func (c Chat) Key() string {
	key := c.Channel + "/" + url.PathEscape(c.ID)
	if c.Thread != "" {
		key += "/" + url.PathEscape(c.Thread)
	}
	return key
}

// ParseChat reads what Key wrote.
func ParseChat(key string) (Chat, error) {
	parts := strings.Split(key, "/")
	if len(parts) < 2 || len(parts) > 3 || parts[0] == "" || parts[1] == "" {
		return Chat{}, fmt.Errorf("chat key %q: want channel/id or channel/id/thread", key)
	}
	id, err := url.PathUnescape(parts[1])
	if err != nil {
		return Chat{}, fmt.Errorf("chat key %q: %w", key, err)
	}
	chat := Chat{Channel: parts[0], ID: id}
	if len(parts) == 3 {
		if chat.Thread, err = url.PathUnescape(parts[2]); err != nil {
			return Chat{}, fmt.Errorf("chat key %q: %w", key, err)
		}
	}
	return chat, nil
}

// Kind tells a direct chat from a group (C1, T3).
type Kind string

// The kinds of chat.
const (
	Direct Kind = "direct"
	Group  Kind = "group"
)

// Ref names one message of a platform.
type Ref struct {
	Chat Chat   `json:"chat"`
	ID   string `json:"id"`
}

// User is a person (or another bot) as the platform names them.
type User struct {
	ID       string   `json:"id"`
	Name     string   `json:"name,omitempty"`     // what people see
	Username string   `json:"username,omitempty"` // without @; only where the platform keeps it stable
	Roles    []string `json:"roles,omitempty"`    // Discord role ids
	Locale   string   `json:"locale,omitempty"`   // BCP 47, where the platform tells it
}
