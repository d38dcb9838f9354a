package discord

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// editMessage serves PATCH /channels/{channel}/messages/{message}.
func (s *Server) editMessage(q *request, c *channel, id string) (any, *failure) {
	m, ok := s.record(c.id, id)
	if !ok {
		return nil, errNoMessage
	}
	if m.author != BotID {
		return nil, errNotYours
	}
	if now := time.Now(); now.Sub(m.at) > oldMessage && !s.opts.Unlimited {
		s.mu.Lock()
		m.oldEdits = slices.DeleteFunc(m.oldEdits, func(t time.Time) bool { return now.Sub(t) > time.Hour })
		full := len(m.oldEdits) >= oldEdits
		if !full {
			m.oldEdits = append(m.oldEdits, now)
		}
		s.mu.Unlock()
		if full {
			return nil, &failure{status: http.StatusTooManyRequests, body: map[string]any{
				"code": 30046, "message": "Maximum number of edits to messages older than 1 hour reached. Try again later.",
				"retry_after": 20.0, "global": false,
			}}
		}
	}
	var body outgoing
	if fail := q.decode(&body); fail != nil {
		return nil, fail
	}
	if fail := s.change(m, body); fail != nil {
		return nil, fail
	}
	s.gate.message("MESSAGE_UPDATE", m)
	return s.messageJSON(m, false), nil
}

// change applies an edit; what it leaves out stays.
func (s *Server) change(m *record, body outgoing) *failure {
	content, components := m.content, m.components
	if body.Content != nil {
		content = *body.Content
	}
	if body.Components != nil {
		components = *body.Components
	}
	if fail := checkContent(content); fail != nil {
		return fail
	}
	if fail := checkComponents(components); fail != nil {
		return fail
	}
	if content == "" && len(m.attachments) == 0 && len(components) == 0 {
		return errEmpty
	}
	s.mu.Lock()
	m.content, m.components, m.edited = content, components, time.Now()
	if body.Flags != nil {
		m.flags = m.flags&^flagNoEmbeds | *body.Flags&flagNoEmbeds
	}
	s.mu.Unlock()
	c, _ := s.channel(m.channel)
	chat, _ := c.place()
	s.world.Change(chat, m.id, s.shown(content, components))
	return nil
}

// deleteMessage serves DELETE /channels/{channel}/messages/{message}.
func (s *Server) deleteMessage(c *channel, id string) (any, *failure) {
	m, ok := s.record(c.id, id)
	if !ok {
		return nil, errNoMessage
	}
	if m.author != BotID {
		return nil, refused(403, 50013, "Missing Permissions")
	}
	s.remove(m)
	return nil, nil
}

func (s *Server) remove(m *record) {
	s.mu.Lock()
	delete(s.records, m.id)
	s.mu.Unlock()
	c, _ := s.channel(m.channel)
	chat, _ := c.place()
	s.world.Delete(chat, m.id)
	if m.private == "" {
		s.gate.deleted(m)
	}
}

// listMessages serves GET /channels/{channel}/messages: newest first; after takes the oldest
// that follow.
func (s *Server) listMessages(q *request, c *channel) (any, *failure) {
	values := q.http.URL.Query()
	limit := 50
	if raw := values.Get("limit"); raw != "" {
		n, err := strconv.Atoi(raw)
		if err != nil || n < 1 || n > 100 {
			return nil, invalidForm("limit", "NUMBER_TYPE_MAX", "int value should be less than or equal to 100.")
		}
		limit = n
	}
	after, before := values.Get("after"), values.Get("before")
	s.mu.Lock()
	var found []*record
	for _, id := range s.recordOrder {
		m, ok := s.records[id]
		if !ok || m.channel != c.id || m.private != "" ||
			after != "" && compareIDs(m.id, after) <= 0 || before != "" && compareIDs(m.id, before) >= 0 {
			continue
		}
		found = append(found, m)
	}
	s.mu.Unlock()
	if len(found) > limit {
		if after != "" {
			found = found[:limit]
		} else {
			found = found[len(found)-limit:]
		}
	}
	out := []any{}
	for _, m := range slices.Backward(found) {
		out = append(out, s.messageJSON(m, s.opts.NoContentIntent))
	}
	return out, nil
}
