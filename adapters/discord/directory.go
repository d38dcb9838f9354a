package discord

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	"typist/adapters"
)

// directory knows the channels and threads of the bot's servers, and its own roles there.
type directory struct {
	mu       sync.Mutex
	channels map[string]channel
	roles    map[string][]string // guild → the bot's role ids
}

func newDirectory() *directory {
	return &directory{channels: map[string]channel{}, roles: map[string][]string{}}
}

// put adds or changes channels.
func (d *directory) put(guild string, list ...channel) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range list {
		if c.ID == "" {
			continue
		}
		if c.GuildID == "" {
			c.GuildID = guild
		}
		d.channels[c.ID] = c
	}
}

func (d *directory) drop(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.channels, id)
}

func (d *directory) get(id string) (channel, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, ok := d.channels[id]
	return c, ok
}

func (d *directory) named(name string) (channel, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	found, ok := channel{}, false
	for _, c := range d.channels {
		if c.Name != nil && strings.EqualFold(*c.Name, name) && c.holdsMessages() && (!ok || !c.isThread() && found.isThread() || c.isThread() == found.isThread() && c.ID < found.ID) {
			found, ok = c, true
		}
	}
	return found, ok
}

func (d *directory) setRoles(guild string, roles []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.roles[guild] = roles
}

// hasRole reports whether the bot has one of the roles in a server.
func (d *directory) hasRole(guild string, mentioned []string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(mentioned, func(id string) bool { return slices.Contains(d.roles[guild], id) })
}

// update takes in an event about channels or servers. bot is the bot's id.
func (d *directory) update(event string, data json.RawMessage, bot string) {
	switch event {
	case "GUILD_CREATE":
		var g guild
		if json.Unmarshal(data, &g) != nil {
			return
		}
		d.put(g.ID, g.Channels...)
		d.put(g.ID, g.Threads...)
		for _, m := range g.Members {
			if m.User != nil && m.User.ID == bot {
				d.setRoles(g.ID, m.Roles)
			}
		}
	case "GUILD_MEMBER_UPDATE":
		var m struct {
			member
			GuildID string `json:"guild_id"`
		}
		if json.Unmarshal(data, &m) == nil && m.User != nil && m.User.ID == bot {
			d.setRoles(m.GuildID, m.Roles)
		}
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		var c channel
		if json.Unmarshal(data, &c) == nil {
			d.put("", c)
		}
	case "THREAD_LIST_SYNC":
		var list struct {
			GuildID string    `json:"guild_id"`
			Threads []channel `json:"threads"`
		}
		if json.Unmarshal(data, &list) == nil {
			d.put(list.GuildID, list.Threads...)
		}
	case "CHANNEL_DELETE", "THREAD_DELETE":
		var c channel
		if json.Unmarshal(data, &c) == nil {
			d.drop(c.ID)
		}
	}
}

// lookup is the channel with an id, asked of Discord where it is not known yet.
func (a *Adapter) lookup(ctx context.Context, id string) (channel, error) {
	if c, ok := a.dir.get(id); ok {
		return c, nil
	}
	var c channel
	if err := a.call(ctx, http.MethodGet, "channels/"+id, nil, &c); err != nil {
		return channel{}, err
	}
	a.dir.put("", c)
	return c, nil
}

// place is the chat of a channel. A thread belongs to the chat of the channel it hangs on, as
// its Chat.Thread, so that the rules of that channel hold in it.
func place(c channel) (adapters.Chat, adapters.Kind) {
	chat, kind := adapters.Chat{Channel: Name, ID: c.ID}, adapters.Group
	if c.isThread() && c.ParentID != nil && *c.ParentID != "" {
		chat.ID, chat.Thread = *c.ParentID, c.ID
	}
	if c.Type == typeDM {
		kind = adapters.Direct
	}
	return chat, kind
}

func (c *channel) title() string {
	if c.Type == typeDM && len(c.Recipients) > 0 {
		return c.Recipients[0].name()
	}
	if c.Name == nil {
		return ""
	}
	if c.isThread() {
		return *c.Name
	}
	return "#" + *c.Name
}
