package discord

import (
	"net/http"
	"slices"
	"strings"

	"typist/adapters/sim"
)

// route finds out what a call wants. Paths are those of Discord's API reference.
func (s *Server) route(method string, p []string) route {
	is := func(m string, pattern string) bool {
		parts := strings.Split(pattern, "/")
		if m != method || len(parts) != len(p) {
			return false
		}
		for i, part := range parts {
			if part != "*" && part != p[i] {
				return false
			}
		}
		return true
	}
	fixed := func(v any) func(*request) (any, *failure) {
		return func(*request) (any, *failure) { return v, nil }
	}
	switch {
	case is("GET", "gateway"):
		return route{op: sim.OpOther, method: "GET /gateway", open: true, do: fixed(map[string]any{"url": s.gatewayURL()})}
	case is("GET", "gateway/bot"):
		return route{op: sim.OpOther, method: "GET /gateway/bot", do: fixed(map[string]any{
			"url": s.gatewayURL(), "shards": 1,
			"session_start_limit": map[string]any{"total": 1000, "remaining": 999, "reset_after": 14400000, "max_concurrency": 1},
		})}
	case is("GET", "users/@me"):
		return route{op: sim.OpOther, method: "GET /users/@me", do: func(*request) (any, *failure) { return s.userJSON(BotID), nil }}
	case is("GET", "users/@me/guilds"):
		return route{op: sim.OpOther, method: "GET /users/@me/guilds", do: fixed([]any{map[string]any{"id": GuildID, "name": "Workshop", "permissions": "0", "features": []string{}, "owner": false}})}
	case is("GET", "applications/@me"):
		return route{op: sim.OpOther, method: "GET /applications/@me", do: func(*request) (any, *failure) { return s.applicationJSON(), nil }}
	case is("POST", "users/@me/channels"):
		return route{op: sim.OpOther, method: "POST /users/@me/channels", do: s.openDirect}
	case is("GET", "guilds/*/channels"):
		return route{op: sim.OpOther, method: "GET /guilds/{guild}/channels", do: s.guildOnly(p, func() any { return s.channelsJSON(typeText) })}
	case is("GET", "guilds/*/threads/active"):
		return route{op: sim.OpOther, method: "GET /guilds/{guild}/threads/active", do: s.guildOnly(p, func() any {
			return map[string]any{"threads": s.channelsJSON(typeThread), "members": []any{}}
		})}
	case is("GET", "guilds/*/roles"):
		return route{op: sim.OpOther, method: "GET /guilds/{guild}/roles", do: s.guildOnly(p, func() any { return rolesJSON() })}
	case is("GET", "guilds/*/members/*"):
		return route{op: sim.OpOther, method: "GET /guilds/{guild}/members/{user}", do: func(*request) (any, *failure) {
			if _, ok := s.world.Person(p[3]); !ok || p[1] != GuildID {
				return nil, refused(404, 10007, "Unknown Member")
			}
			return s.memberJSON(p[3], true), nil
		}}
	case len(p) > 1 && p[0] == "channels":
		return s.channelRoute(p, is)
	case is("GET", "applications/*/commands"):
		return route{op: sim.OpOther, method: "GET /applications/{app}/commands", do: s.listCommands}
	case is("PUT", "applications/*/commands"):
		return route{op: sim.OpOther, method: "PUT /applications/{app}/commands", kind: "commands", do: s.overwriteCommands}
	case is("POST", "interactions/*/*/callback"):
		return route{op: sim.OpAck, method: "POST /interactions/{id}/{token}/callback", open: true, chat: s.interactionChat(p[2]),
			do: func(q *request) (any, *failure) { return s.callback(q, p[1], p[2]) }}
	case len(p) >= 3 && p[0] == "webhooks":
		return s.webhookRoute(p, is)
	}
	return route{op: sim.OpOther, method: method + " /" + strings.Join(p, "/"), do: func(*request) (any, *failure) { return nil, errNotFound }}
}

func (s *Server) channelRoute(p []string, is func(string, string) bool) route {
	id := p[1]
	in := func(op sim.Op, method, kind string, do func(*request, *channel) (any, *failure)) route {
		return route{op: op, method: method, chat: id, kind: kind, do: func(q *request) (any, *failure) {
			c, ok := s.channel(id)
			if !ok {
				return nil, errNoChannel
			}
			if chat, _ := c.place(); !s.member(chat, BotID) {
				return nil, errNoAccess
			}
			return do(q, c)
		}}
	}
	switch {
	case is("GET", "channels/*"):
		return in(sim.OpOther, "GET /channels/{channel}", "", func(_ *request, c *channel) (any, *failure) { return s.channelJSON(c), nil })
	case is("POST", "channels/*/typing"):
		return in(sim.OpPulse, "POST /channels/{channel}/typing", "typing", func(_ *request, c *channel) (any, *failure) {
			chat, thread := c.place()
			s.world.Pulse(chat, thread, "", indicatorLife)
			return nil, nil
		})
	case is("POST", "channels/*/messages"):
		return in(sim.OpSend, "POST /channels/{channel}/messages", "create", s.createMessage)
	case is("GET", "channels/*/messages"):
		return in(sim.OpOther, "GET /channels/{channel}/messages", "list", s.listMessages)
	case is("GET", "channels/*/messages/*"):
		return in(sim.OpOther, "GET /channels/{channel}/messages/{message}", "list", func(_ *request, c *channel) (any, *failure) {
			m, ok := s.record(c.id, p[3])
			if !ok {
				return nil, errNoMessage
			}
			return s.messageJSON(m, s.opts.NoContentIntent), nil
		})
	case is("PATCH", "channels/*/messages/*"):
		return in(sim.OpEdit, "PATCH /channels/{channel}/messages/{message}", "edit", func(q *request, c *channel) (any, *failure) {
			return s.editMessage(q, c, p[3])
		})
	case is("DELETE", "channels/*/messages/*"):
		return in(sim.OpDelete, "DELETE /channels/{channel}/messages/{message}", "delete", func(_ *request, c *channel) (any, *failure) {
			return s.deleteMessage(c, p[3])
		})
	case is("PUT", "channels/*/messages/*/reactions/*/@me"), is("DELETE", "channels/*/messages/*/reactions/*/@me"):
		on := is("PUT", "channels/*/messages/*/reactions/*/@me")
		method := "DELETE"
		if on {
			method = "PUT"
		}
		return in(sim.OpReact, method+" /channels/{channel}/messages/{message}/reactions/{emoji}/@me", "reaction",
			func(_ *request, c *channel) (any, *failure) { return s.react(c, p[3], p[5], on) })
	}
	return route{op: sim.OpOther, method: "/" + strings.Join(p, "/"), do: func(*request) (any, *failure) { return nil, errNoMethod }}
}

// member reports whether a person is in a chat.
func (s *Server) member(chat, person string) bool {
	c, ok := s.world.Chat(chat)
	return ok && slices.Contains(c.Members, person)
}

func (s *Server) guildOnly(p []string, get func() any) func(*request) (any, *failure) {
	return func(*request) (any, *failure) {
		if p[1] != GuildID {
			return nil, refused(404, 10004, "Unknown Guild")
		}
		return get(), nil
	}
}

// openDirect finds or makes a person's direct chat.
func (s *Server) openDirect(q *request) (any, *failure) {
	var body struct {
		Recipient string `json:"recipient_id"`
	}
	if fail := q.decode(&body); fail != nil {
		return nil, fail
	}
	if _, ok := s.world.Person(body.Recipient); !ok || body.Recipient == BotID {
		return nil, refused(400, 50033, "Invalid Recipient(s)")
	}
	for _, c := range s.sortedChannels(typeDM) {
		if c.person == body.Recipient {
			return s.channelJSON(c), nil
		}
	}
	s.mu.Lock()
	id := s.snowflake()
	s.mu.Unlock()
	s.AddDirect(id, body.Recipient)
	c, _ := s.channel(id)
	return s.channelJSON(c), nil
}

// react sets or removes the bot's reaction.
func (s *Server) react(c *channel, message, emoji string, on bool) (any, *failure) {
	if emoji == "" || emoji[0] < 0x80 && !strings.Contains(emoji, ":") {
		return nil, refused(400, 10014, "Unknown Emoji")
	}
	if _, ok := s.record(c.id, message); !ok {
		return nil, errNoMessage
	}
	chat, _ := c.place()
	s.world.React(chat, message, BotID, emoji, on)
	return nil, nil
}

// attachment serves a file as Discord's CDN does.
func (s *Server) attachment(w http.ResponseWriter, r *http.Request, name string) {
	parts := strings.Split(name, "/")
	s.mu.Lock()
	var f sim.File
	ok := false
	if len(parts) == 3 {
		f, ok = s.files[parts[1]]
	}
	s.mu.Unlock()
	if !ok || r.Method != http.MethodGet {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", f.MIME)
	w.Write(f.Data)
}
