package slack

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"typist/adapters/sim"
)

// channelType is what message events call a chat's kind.
func (s *Server) channelType(channel string) string {
	chat, _ := s.world.Chat(channel)
	switch {
	case chat.Direct:
		return "im"
	case strings.HasPrefix(channel, "G"):
		return "group"
	}
	return "channel"
}

// directChat is the chat of a person and the bot, made if there is none yet.
func (s *Server) directChat(person string) string {
	for _, c := range s.world.Chats() {
		if c.Direct && slices.Contains(c.Members, person) {
			return c.ID
		}
	}
	p, _ := s.world.Person(person)
	id := "D" + strings.TrimPrefix(person, "U")
	s.world.AddChat(sim.Chat{ID: id, Name: p.Name, Direct: true, Members: []string{person}})
	return id
}

func (s *Server) history(c *call) (map[string]any, *failure) {
	if f := s.member(c.get("channel")); f != nil {
		return nil, f
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.Clone(s.order[c.get("channel")])
	list = slices.DeleteFunc(list, func(m *message) bool { return m.thread != "" && !m.isParent() })
	slices.Reverse(list) // newest first
	return s.page(c, list)
}

func (s *Server) replies(c *call) (map[string]any, *failure) {
	if f := s.member(c.get("channel")); f != nil {
		return nil, f
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	head := s.find(c.get("channel"), c.get("ts"))
	if head == nil {
		return nil, fail("thread_not_found")
	}
	thread := head.thread
	if thread == "" {
		thread = head.ts
	}
	list := slices.Clone(s.order[c.get("channel")])
	list = slices.DeleteFunc(list, func(m *message) bool { return m.thread != thread && m.ts != thread })
	return s.page(c, list)
}

// page cuts a list to oldest, latest, limit and cursor; a thread's head is always there.
func (s *Server) page(c *call, list []*message) (map[string]any, *failure) {
	oldest, latest := c.get("oldest"), c.get("latest")
	inclusive := c.get("inclusive") == "1" || c.get("inclusive") == "true"
	list = slices.DeleteFunc(list, func(m *message) bool {
		if m.deleted || m.ephemeral != "" {
			return true
		}
		if c.name == "conversations.replies" && m.isParent() {
			return false
		}
		return oldest != "" && (before(m.ts, oldest) || m.ts == oldest && !inclusive) ||
			latest != "" && (before(latest, m.ts) || m.ts == latest && !inclusive)
	})
	start, f := readCursor(c.get("cursor"))
	if f != nil {
		return nil, f
	}
	limit, err := strconv.Atoi(c.get("limit"))
	if err != nil || limit <= 0 {
		limit = 100
	}
	limit = min(limit, 999)
	start = min(start, len(list))
	end := min(start+limit, len(list))
	withMetadata := c.get("include_all_metadata") == "1" || c.get("include_all_metadata") == "true"
	out := make([]any, 0, end-start)
	for _, m := range list[start:end] {
		out = append(out, s.json(m, withMetadata))
	}
	return map[string]any{"messages": out, "has_more": end < len(list), "pin_count": 0, "response_metadata": nextCursor(end, len(list))}, nil
}

// before compares two ts; they have the same number of digits after the point.
func before(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

func nextCursor(end, total int) map[string]any {
	if end >= total {
		return map[string]any{"next_cursor": ""}
	}
	return map[string]any{"next_cursor": base64.StdEncoding.EncodeToString([]byte("next:" + strconv.Itoa(end)))}
}

func readCursor(cursor string) (int, *failure) {
	if cursor == "" {
		return 0, nil
	}
	raw, err := base64.StdEncoding.DecodeString(cursor)
	n, ok := strings.CutPrefix(string(raw), "next:")
	start, err2 := strconv.Atoi(n)
	if err != nil || err2 != nil || !ok || start < 0 {
		return 0, fail("invalid_cursor")
	}
	return start, nil
}

func (s *Server) openChat(c *call) (map[string]any, *failure) {
	user := c.get("users")
	if p, ok := s.world.Person(user); !ok || p.Bot {
		return nil, fail("user_not_found")
	}
	id := s.directChat(user)
	return map[string]any{"no_op": true, "already_open": true, "channel": map[string]any{"id": id, "user": user}}, nil
}

func (s *Server) chatJSON(c sim.Chat) map[string]any {
	out := map[string]any{
		"id": c.ID, "created": 1700000000, "is_archived": false, "is_im": c.Direct, "is_channel": !c.Direct, "is_group": false,
		"is_mpim": false, "is_private": c.Direct, "is_member": slices.Contains(c.Members, botUserID), "context_team_id": teamID,
	}
	if c.Direct {
		for _, member := range c.Members {
			if member != botUserID {
				out["user"] = member
			}
		}
		return out
	}
	out["name"], out["name_normalized"] = c.Name, c.Name
	return out
}

func (s *Server) chatInfo(c *call) (map[string]any, *failure) {
	chat, ok := s.world.Chat(c.get("channel"))
	if !ok {
		return nil, fail("channel_not_found")
	}
	return map[string]any{"channel": s.chatJSON(chat)}, nil
}

func (s *Server) listChats(c *call) (map[string]any, *failure) {
	var out []any
	types := c.get("types")
	for _, chat := range s.world.Chats() {
		if !chat.Direct && (types == "" || strings.Contains(types, "public_channel")) || chat.Direct && strings.Contains(types, "im") {
			out = append(out, s.chatJSON(chat))
		}
	}
	page, meta, f := slice(c, out)
	if f != nil {
		return nil, f
	}
	return map[string]any{"channels": page, "response_metadata": meta}, nil
}

// slice cuts a list to limit and cursor.
func slice(c *call, all []any) ([]any, map[string]any, *failure) {
	start, f := readCursor(c.get("cursor"))
	if f != nil {
		return nil, nil, f
	}
	limit, err := strconv.Atoi(c.get("limit"))
	if err != nil || limit <= 0 {
		limit = 100
	}
	start = min(start, len(all))
	end := min(start+limit, len(all))
	return append([]any{}, all[start:end]...), nextCursor(end, len(all)), nil
}

func userJSON(p sim.Person) map[string]any {
	return map[string]any{
		"id": p.ID, "team_id": teamID, "name": p.Username, "deleted": false, "real_name": p.Name, "tz": "Europe/Berlin", "locale": "en-US",
		"profile": map[string]any{"real_name": p.Name, "display_name": p.Name, "team": teamID}, "is_bot": p.Bot, "updated": 1700000000,
	}
}

func (s *Server) userInfo(c *call) (map[string]any, *failure) {
	p, ok := s.world.Person(c.get("user"))
	if !ok {
		return nil, fail("user_not_found")
	}
	return map[string]any{"user": userJSON(p)}, nil
}

func (s *Server) listUsers(c *call) (map[string]any, *failure) {
	seen := map[string]bool{}
	var out []any
	for _, chat := range s.world.Chats() {
		for _, id := range chat.Members {
			if p, ok := s.world.Person(id); ok && !seen[id] {
				seen[id] = true
				out = append(out, userJSON(p))
			}
		}
	}
	page, meta, f := slice(c, out)
	if f != nil {
		return nil, f
	}
	return map[string]any{"members": page, "cache_ts": 1700000000, "response_metadata": meta}, nil
}
