package discord

import (
	"strings"
	"time"

	"typist/adapters/sim"
)

// interaction is a person's use of a button or a command.
type interaction struct {
	id, token string
	kind      int
	channel   string
	person    string
	message   string // of a button
	at        time.Time
	acked     int    // callback type; 0 = not yet
	ephemeral bool   // of a deferred answer
	original  string // message id of the first answer
	due       *time.Timer
}

// Kinds of interactions and callbacks.
const (
	kindCommand   = 2
	kindComponent = 3

	callbackMessage       = 4
	callbackDeferMessage  = 5
	callbackDeferUpdate   = 6
	callbackUpdate        = 7
	unansweredInteraction = "This interaction failed"
	unansweredApplication = "The application did not respond"
)

// interact tells the bot and waits for its acknowledgement in the background.
func (s *Server) interact(c *channel, person string, kind int, message string, data map[string]any) {
	s.mu.Lock()
	id := s.snowflake()
	in := &interaction{id: id, token: "aW50ZXJhY3Rpb246" + id, kind: kind, channel: c.id, person: person, message: message, at: time.Now()}
	s.interactions[in.token] = in
	in.due = time.AfterFunc(interactionDue, func() { s.overdue(in) })
	s.mu.Unlock()
	payload := map[string]any{
		"id": id, "application_id": AppID, "type": kind, "token": in.token, "version": 1, "data": data,
		"channel_id": c.id, "channel": s.channelJSON(c), "locale": "en-US", "app_permissions": "0", "entitlements": []any{},
		"authorizing_integration_owners": map[string]any{}, "attachment_size_limit": 10 << 20,
	}
	if c.kind == typeDM {
		payload["user"], payload["context"] = s.userJSON(person), 1
	} else {
		member := s.memberJSON(person, true)
		member["permissions"] = "0"
		payload["member"], payload["guild_id"], payload["guild_locale"], payload["context"] = member, GuildID, "en-US", 0
	}
	if message != "" {
		if m, ok := s.record(c.id, message); ok {
			payload["message"] = s.messageJSON(m, false)
		}
	}
	s.gate.dispatch("INTERACTION_CREATE", intentAlways, payload)
}

// overdue shows the person that nobody acknowledged.
func (s *Server) overdue(in *interaction) {
	s.mu.Lock()
	late := in.acked == 0
	if late {
		in.acked = -1
	}
	s.mu.Unlock()
	if !late {
		return
	}
	what := unansweredInteraction
	if in.kind == kindCommand {
		what = unansweredApplication
	}
	s.notice(in, what)
}

// notice is what the client itself tells a person.
func (s *Server) notice(in *interaction, text string) {
	c, ok := s.channel(in.channel)
	if !ok {
		return
	}
	chat, thread := c.place()
	s.mu.Lock()
	id := s.snowflake()
	s.mu.Unlock()
	s.world.Post(sim.Message{ID: id, Chat: chat, Thread: thread, From: s.world.Bot(), Text: text, HTML: "<p>" + text + "</p>", Private: in.person})
}

func (s *Server) interactionChat(token string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in, ok := s.interactions[token]; ok {
		return in.channel
	}
	return ""
}

// callback serves POST /interactions/{id}/{token}/callback.
func (s *Server) callback(q *request, id, token string) (any, *failure) {
	var body struct {
		Type int       `json:"type"`
		Data *outgoing `json:"data"`
	}
	if fail := q.decode(&body); fail != nil {
		return nil, fail
	}
	s.mu.Lock()
	in, ok := s.interactions[token]
	switch {
	case !ok || in.id != id || in.acked == -1:
		s.mu.Unlock()
		return nil, errLateAck
	case in.acked != 0:
		s.mu.Unlock()
		return nil, errAckedAlready
	case body.Type < callbackMessage || body.Type > callbackUpdate,
		body.Type >= callbackDeferUpdate && in.kind != kindComponent:
		s.mu.Unlock()
		return nil, invalidForm("type", "BASE_TYPE_CHOICES", "Value must be one of {4, 5, 6, 7, 8, 9, 10, 12}.")
	}
	in.acked = body.Type
	in.ephemeral = body.Data != nil && body.Data.Flags != nil && *body.Data.Flags&flagEphemeral != 0
	in.due.Stop()
	s.mu.Unlock()
	switch body.Type {
	case callbackMessage:
		if body.Data == nil {
			return nil, errEmpty
		}
		_, fail := s.respond(q, in, *body.Data, in.ephemeral)
		return nil, fail
	case callbackUpdate:
		if m, ok := s.record(in.channel, in.message); ok && body.Data != nil {
			return nil, s.change(m, *body.Data)
		}
	}
	return nil, nil
}

// respond posts an answer to an interaction.
func (s *Server) respond(q *request, in *interaction, body outgoing, ephemeral bool) (*record, *failure) {
	c, ok := s.channel(in.channel)
	if !ok {
		return nil, errNoChannel
	}
	m, fail := s.compose(q, c, body)
	if fail != nil {
		return nil, fail
	}
	s.mu.Lock()
	m.id = s.snowflake()
	if in.original == "" {
		in.original = m.id
	}
	s.mu.Unlock()
	if ephemeral {
		m.private, m.flags = in.person, m.flags|flagEphemeral
	}
	s.publish(m, body.AllowedMentions)
	return m, nil
}

// webhookRoute serves /webhooks/{app}/{token}…: follow-ups and edits of interaction answers.
func (s *Server) webhookRoute(p []string, is func(string, string) bool) route {
	s.mu.Lock()
	in, ok := s.interactions[p[2]]
	usable := ok && p[1] == AppID && in.acked > 0 && time.Since(in.at) < interactionLife
	s.mu.Unlock()
	r := route{op: sim.OpSend, open: true, chat: s.interactionChat(p[2])}
	do := func(f func(*request) (any, *failure)) route {
		r.do = func(q *request) (any, *failure) {
			if !usable {
				return nil, errNoWebhook
			}
			return f(q)
		}
		return r
	}
	message := func() (*record, bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		id := p[4]
		if id == "@original" {
			id = in.original
		}
		m, ok := s.records[id]
		return m, ok && m.channel == in.channel
	}
	switch {
	case is("POST", "webhooks/*/*"):
		r.method = "POST /webhooks/{app}/{token}"
		return do(func(q *request) (any, *failure) {
			var body outgoing
			if fail := q.decode(&body); fail != nil {
				return nil, fail
			}
			private := in.ephemeral && in.original == "" || body.Flags != nil && *body.Flags&flagEphemeral != 0
			m, fail := s.respond(q, in, body, private)
			if fail != nil {
				return nil, fail
			}
			return s.messageJSON(m, false), nil
		})
	case is("PATCH", "webhooks/*/*/messages/*"):
		r.method, r.op = "PATCH /webhooks/{app}/{token}/messages/{message}", sim.OpEdit
		return do(func(q *request) (any, *failure) {
			var body outgoing
			if fail := q.decode(&body); fail != nil {
				return nil, fail
			}
			m, ok := message()
			if !ok && p[4] == "@original" && in.acked == callbackDeferMessage {
				made, fail := s.respond(q, in, body, in.ephemeral)
				if fail != nil {
					return nil, fail
				}
				return s.messageJSON(made, false), nil
			}
			if !ok {
				return nil, errNoMessage
			}
			if fail := s.change(m, body); fail != nil {
				return nil, fail
			}
			return s.messageJSON(m, false), nil
		})
	case is("DELETE", "webhooks/*/*/messages/*"):
		r.method, r.op = "DELETE /webhooks/{app}/{token}/messages/{message}", sim.OpDelete
		return do(func(*request) (any, *failure) {
			m, ok := message()
			if !ok {
				return nil, errNoMessage
			}
			s.remove(m)
			return nil, nil
		})
	}
	r.method = strings.Join(p[:1], "/")
	r.do = func(*request) (any, *failure) { return nil, errNotFound }
	return r
}
