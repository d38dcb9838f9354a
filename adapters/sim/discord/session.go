package discord

import (
	"encoding/json"
	"slices"
	"time"
)

// start answers IDENTIFY; nil means that the connection was closed.
func (g *gateway) start(c *wsConn, raw json.RawMessage) *session {
	var d struct {
		Token      string         `json:"token"`
		Intents    *int           `json:"intents"`
		Properties map[string]any `json:"properties"`
	}
	switch {
	case json.Unmarshal(raw, &d) != nil:
		c.close(4002, "Error while decoding payload.")
		return nil
	case !g.valid(d.Token):
		c.close(4004, "Authentication failed.")
		return nil
	case d.Intents == nil || *d.Intents < 0 || *d.Intents >= 1<<26:
		c.close(4013, "Invalid intent(s).")
		return nil
	case *d.Intents&intentContent != 0 && g.s.opts.NoContentIntent:
		c.close(4014, "Disallowed intent(s).")
		return nil
	}
	g.s.mu.Lock()
	id := "session" + g.s.snowflake()
	g.s.mu.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	se := &session{id: id, intents: *d.Intents, conn: c}
	g.sessions[id] = se
	g.identify++
	g.push(se, frame{Op: opDispatch, T: "READY", D: map[string]any{
		"v": 9, "user": g.s.userJSON(BotID), "guilds": []any{map[string]any{"id": GuildID, "unavailable": true}},
		"session_id": id, "resume_gateway_url": g.s.gatewayURL(), "private_channels": []any{},
		"application": map[string]any{"id": AppID, "flags": 0},
	}})
	if se.intents&intentGuilds != 0 {
		g.push(se, frame{Op: opDispatch, T: "GUILD_CREATE", D: g.s.guildJSON()})
	}
	return se
}

func (g *gateway) valid(token string) bool {
	want := g.s.token()
	return token == want || token == "Bot "+want
}

// resume answers RESUME: what was missed, then RESUMED; or INVALID_SESSION.
func (g *gateway) resume(c *wsConn, raw json.RawMessage) *session {
	var d struct {
		Token     string `json:"token"`
		SessionID string `json:"session_id"`
		Seq       int64  `json:"seq"`
	}
	if json.Unmarshal(raw, &d) != nil {
		c.close(4002, "Error while decoding payload.")
		return nil
	}
	if !g.valid(d.Token) {
		c.close(4004, "Authentication failed.")
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	se := g.sessions[d.SessionID]
	lost := se == nil || se.conn == nil && time.Since(se.left) > g.s.opts.ResumeWindow
	if !lost && len(se.buffer) > 0 && *se.buffer[0].S > d.Seq+1 {
		lost = true
	}
	if lost {
		delete(g.sessions, d.SessionID)
		c.send(frame{Op: opInvalidSession, D: false})
		return nil
	}
	if d.Seq > se.seq {
		delete(g.sessions, d.SessionID)
		c.close(4007, "Invalid seq.")
		return nil
	}
	se.conn = c
	g.resumes++
	for _, f := range se.buffer {
		if *f.S > d.Seq {
			c.send(f)
		}
	}
	g.push(se, frame{Op: opDispatch, T: "RESUMED", D: map[string]any{}})
	return se
}

// push numbers an event, keeps it for a resume and sends it. Callers hold mu.
func (g *gateway) push(se *session, f frame) {
	se.seq++
	seq := se.seq
	f.S = &seq
	se.buffer = append(se.buffer, f)
	if len(se.buffer) > replayed {
		se.buffer = slices.Delete(se.buffer, 0, len(se.buffer)-replayed)
	}
	if se.conn != nil {
		se.conn.send(f)
	}
}

// dispatch sends an event to every session that asked for its kind.
func (g *gateway) dispatch(name string, intent int, data any) {
	g.each(name, intent, func(*session) any { return data })
}

func (g *gateway) each(name string, intent int, data func(*session) any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, se := range g.sessions {
		if intent != intentAlways && se.intents&intent == 0 {
			continue
		}
		g.push(se, frame{Op: opDispatch, T: name, D: data(se)})
	}
}

// message sends a message event, its content hidden from sessions without the content intent.
func (g *gateway) message(name string, m *record) {
	intent := intentGuildMessages
	c, _ := g.s.channel(m.channel)
	if c.kind == typeDM {
		intent = intentDirectMessages
	}
	g.each(name, intent, func(se *session) any {
		out := g.s.messageJSON(m, se.intents&intentContent == 0)
		if c.kind != typeDM {
			out["guild_id"] = GuildID
			out["member"] = g.s.memberJSON(m.author, false)
		}
		if m.nonce != "" && name == "MESSAGE_CREATE" {
			out["nonce"] = m.nonce
		}
		return out
	})
}

func (g *gateway) deleted(m *record) {
	c, _ := g.s.channel(m.channel)
	intent, data := intentDirectMessages, map[string]any{"id": m.id, "channel_id": m.channel}
	if c.kind != typeDM {
		intent, data["guild_id"] = intentGuildMessages, GuildID
	}
	g.dispatch("MESSAGE_DELETE", intent, data)
}

func (g *gateway) forget(se *session) {
	if se == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.sessions, se.id)
}

// Redeliver sends the last n events of every session once more, with their old numbers.
func (s *Server) Redeliver(n int) error {
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	for _, se := range s.gate.sessions {
		if se.conn == nil {
			continue
		}
		var old []frame
		for _, f := range se.buffer {
			if f.T != "READY" && f.T != "RESUMED" && f.T != "GUILD_CREATE" {
				old = append(old, f)
			}
		}
		for _, f := range old[max(0, len(old)-n):] {
			se.conn.send(f)
		}
	}
	return nil
}

// AskReconnect sends op 7 to every connection.
func (s *Server) AskReconnect() {
	for _, c := range s.gate.connections() {
		c.send(frame{Op: opReconnect})
	}
}

// AskHeartbeat sends op 1 to every connection, n times at once.
func (s *Server) AskHeartbeat(n int) {
	for _, c := range s.gate.connections() {
		for range n {
			c.send(frame{Op: opHeartbeat})
		}
	}
}

// InvalidateSessions sends op 9 to every connection, and forgets the sessions.
func (s *Server) InvalidateSessions() {
	conns := s.gate.connections()
	s.LoseSessions()
	for _, c := range conns {
		c.send(frame{Op: opInvalidSession, D: false})
	}
}

// LoseSessions forgets all sessions: the next RESUME is refused.
func (s *Server) LoseSessions() {
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	clear(s.gate.sessions)
}

// CloseGateway closes every gateway connection with a code. 4007 and 4009 lose the session.
func (s *Server) CloseGateway(code int) {
	conns := s.gate.connections()
	if code == 4007 || code == 4009 {
		s.LoseSessions()
	}
	for _, c := range conns {
		c.close(code, "")
	}
}

// Emit sends an event with any payload, e.g. one that no client knows.
func (s *Server) Emit(name string, payload any) {
	s.gate.dispatch(name, intentAlways, payload)
}

// Connected reports how many gateway connections have a session.
func (s *Server) Connected() int {
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	n := 0
	for _, se := range s.gate.sessions {
		if se.conn != nil {
			n++
		}
	}
	return n
}

// Sessions counts the sessions that are connected or can be resumed.
func (s *Server) Sessions() int {
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	return len(s.gate.sessions)
}

// Identified counts the IDENTIFY and RESUME that were accepted.
func (s *Server) Identified() (identifies, resumes int) {
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	return s.gate.identify, s.gate.resumes
}

func (g *gateway) connections() []*wsConn {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]*wsConn, 0, len(g.conns))
	for c := range g.conns {
		out = append(out, c)
	}
	return out
}
