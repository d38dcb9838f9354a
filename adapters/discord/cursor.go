package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"typist/adapters"
)

const (
	cursorKey      = "discord/cursor"
	saveEvery      = time.Second
	cursorChannels = 256
	cursorDirect   = 100
	recentMessages = 4096
)

// cursor is how far the messages of Discord have been taken, kept across restarts. Message ids
// grow with time, over all channels.
type cursor struct {
	Started  bool              `json:"started"`            // there was a session before
	High     string            `json:"high,omitempty"`     // the newest message taken anywhere
	Channels map[string]string `json:"channels,omitempty"` // the newest taken in recent channels
	Direct   []string          `json:"direct,omitempty"`   // recent direct chats; Discord lists none to bots

	dirty bool
	saved time.Time
}

func loadCursor(ctx context.Context, memory adapters.Memory) (*cursor, error) {
	c := &cursor{Channels: map[string]string{}}
	if memory == nil {
		return c, nil
	}
	text, err := memory.Load(ctx, cursorKey)
	if err != nil {
		return nil, fmt.Errorf("loading the cursor: %w", err)
	}
	if text == "" || json.Unmarshal([]byte(text), c) != nil {
		return &cursor{Channels: map[string]string{}}, nil
	}
	if c.Channels == nil {
		c.Channels = map[string]string{}
	}
	return c, nil
}

// after is the message behind which the unseen ones of a channel begin.
func (c *cursor) after(channel string) string {
	if id, ok := c.Channels[channel]; ok {
		return id
	}
	if c.High == "" {
		return "0"
	}
	return c.High
}

// taken moves the cursor to a message.
func (c *cursor) taken(channel, id string) {
	c.dirty = true
	if newer(id, c.High) {
		c.High = id
	}
	if newer(id, c.Channels[channel]) {
		c.Channels[channel] = id
	}
	if len(c.Channels) > cursorChannels {
		oldest := ""
		for k, v := range c.Channels {
			if oldest == "" || newer(c.Channels[oldest], v) {
				oldest = k
			}
		}
		delete(c.Channels, oldest)
	}
}

// hold keeps a channel's place while one of its messages is held back.
func (c *cursor) hold(channel string) {
	if _, ok := c.Channels[channel]; !ok {
		c.Channels[channel] = c.after(channel)
	}
}

// direct remembers a direct chat.
func (c *cursor) direct(channel string) {
	if n := len(c.Direct); n > 0 && c.Direct[n-1] == channel {
		return
	}
	c.Direct = append(slices.DeleteFunc(c.Direct, func(id string) bool { return id == channel }), channel)
	c.Direct = c.Direct[max(0, len(c.Direct)-cursorDirect):]
	c.dirty = true
}

// saveNowAndThen writes a changed cursor at most once a second. What is lost in a crash is
// fetched again, and known to the sink already.
func (c *cursor) saveNowAndThen(a *Adapter) {
	if c.dirty && time.Since(c.saved) >= saveEvery {
		c.save(a)
	}
}

func (c *cursor) save(a *Adapter) {
	if !c.dirty || a.memory == nil {
		c.dirty = false
		return
	}
	text, err := json.Marshal(c)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		err = a.memory.Save(ctx, cursorKey, string(text))
	}
	c.saved = time.Now()
	if err != nil {
		a.log.Warn("cursor not saved", "error", err)
		return
	}
	c.dirty = false
}

// newer compares snowflakes: decimal numbers of up to 20 digits. "" is older than all.
func newer(a, b string) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return a > b
}

// recent remembers the messages that came lately and a digest of their texts: a message is taken
// once, and an update that changes no text is no edit.
type recent struct {
	seed  maphash.Seed
	texts map[string]uint64
	order []string
	next  int
}

func newRecent() *recent {
	return &recent{seed: maphash.MakeSeed(), texts: map[string]uint64{}, order: make([]string, 0, 64)}
}

func (r *recent) has(id string) bool {
	_, ok := r.texts[id]
	return ok
}

// same reports whether a message is known to have this text.
func (r *recent) same(id, text string) bool {
	sum, ok := r.texts[id]
	return ok && sum == maphash.String(r.seed, text)
}

func (r *recent) put(id, text string) {
	if _, known := r.texts[id]; !known {
		if len(r.order) < recentMessages {
			r.order = append(r.order, id)
		} else {
			delete(r.texts, r.order[r.next])
			r.order[r.next] = id
			r.next = (r.next + 1) % recentMessages
		}
	}
	r.texts[id] = maphash.String(r.seed, text)
}
