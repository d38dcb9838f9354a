package slack

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"typist/adapters/sim"
)

// message is a message as the platform keeps it; what people see of it is in the world.
type message struct {
	channel, ts, thread string // thread: "" outside threads; a parent's own ts once it has replies
	user, botID         string
	subtype             string
	text                string // mrkdwn, escaped
	blocks              json.RawMessage
	metadata            json.RawMessage
	files               []*file
	attachments         json.RawMessage
	edited              string // ts of the last edit; "" = never
	deleted             bool
	ephemeral           string // the only person who sees it
	replies             int
}

const maxMessages = 5000 // per channel; the oldest go

// isParent says that the message heads a thread.
func (m *message) isParent() bool { return m.thread == m.ts }

// threadOf is the world's thread of a message: "" for one that stands in the channel itself.
func (m *message) threadOf() string {
	if m.isParent() {
		return ""
	}
	return m.thread
}

// add keeps a message. Callers hold mu.
func (s *Server) add(m *message) {
	s.messages[m.channel+"/"+m.ts] = m
	list := append(s.order[m.channel], m)
	if len(list) > maxMessages {
		delete(s.messages, m.channel+"/"+list[0].ts)
		list = slices.Delete(list, 0, 1)
	}
	s.order[m.channel] = list
}

// find gives a message that is not deleted. Callers hold mu.
func (s *Server) find(channel, ts string) *message {
	m := s.messages[channel+"/"+ts]
	if m == nil || m.deleted {
		return nil
	}
	return m
}

// intoThread puts a new message under its parent, and makes that one a thread's head. It
// reports the parent; nil = the thread does not exist, and the message stands in the channel, as
// Slack does it. Callers hold mu.
func (s *Server) intoThread(m *message, thread string) *message {
	if thread == "" {
		return nil
	}
	parent := s.find(m.channel, thread)
	if parent == nil {
		return nil
	}
	if parent.thread != "" && !parent.isParent() { // a reply's ts stands for its thread
		if parent = s.find(m.channel, parent.thread); parent == nil {
			return nil
		}
	}
	parent.thread = parent.ts
	parent.replies++
	m.thread = parent.ts
	return parent
}

// nameThread lists a thread in the world, named after its head.
func (s *Server) nameThread(parent *message) {
	name := []rune(strings.Join(strings.Fields(plainMrkdwn(s.names(), parent.text)), " "))
	if len(name) > 40 {
		name = append(name[:40], '…')
	}
	s.world.AddThread(parent.channel, sim.Thread{ID: parent.ts, Name: string(name)})
}

// json is the message as history, events and answers carry it. Callers hold mu.
func (s *Server) json(m *message, withMetadata bool) map[string]any {
	out := map[string]any{"type": "message", "user": m.user, "text": m.text, "ts": m.ts, "team": teamID}
	set := func(name string, on bool, v any) {
		if on {
			out[name] = v
		}
	}
	set("subtype", m.subtype != "", m.subtype)
	set("bot_id", m.botID != "", m.botID)
	set("app_id", m.botID != "", appID)
	set("bot_profile", m.botID == botID, map[string]any{"id": botID, "app_id": appID, "name": "Typist", "deleted": false, "updated": 1700000000, "team_id": teamID})
	set("thread_ts", m.thread != "", m.thread)
	if m.thread != "" && !m.isParent() {
		if parent := s.find(m.channel, m.thread); parent != nil {
			out["parent_user_id"] = parent.user
		}
	}
	if m.isParent() && m.replies > 0 {
		out["reply_count"], out["reply_users_count"], out["is_locked"], out["subscribed"] = m.replies, 1, false, false
	}
	set("blocks", len(m.blocks) > 0, m.blocks)
	set("attachments", len(m.attachments) > 0, m.attachments)
	set("edited", m.edited != "", map[string]any{"user": m.user, "ts": m.edited})
	set("metadata", withMetadata && len(m.metadata) > 0, m.metadata)
	if len(m.files) > 0 {
		list := make([]any, 0, len(m.files))
		for _, f := range m.files {
			list = append(list, s.fileJSON(f))
		}
		out["files"], out["upload"] = list, false
	}
	if m.botID == "" && m.subtype == "" {
		out["client_msg_id"] = "5bcd1a07-0000-4000-8000-" + strings.ReplaceAll(m.ts, ".", "")[4:]
	}
	return out
}

// show makes the world's message of m, or brings it up to date.
func (s *Server) show(m *message, fresh bool) {
	seen := s.view(m)
	if fresh {
		seen.At = time.Now() // a ts can be a little ahead
		s.world.Post(seen)
		return
	}
	s.world.Change(m.channel, m.ts, func(w *sim.Message) {
		w.Text, w.HTML, w.Buttons, w.Pings, w.Files = seen.Text, seen.HTML, seen.Buttons, seen.Pings, seen.Files
	})
}

func (s *Server) view(m *message) sim.Message {
	from, _ := s.world.Person(m.user)
	text, html, buttons, pings := look(s.names(), m.text, m.blocks)
	seen := sim.Message{
		ID: m.ts, Chat: m.channel, Thread: m.threadOf(), From: from, Text: text, HTML: html, Buttons: buttons,
		Pings: pings, Private: m.ephemeral, At: tsTime(m.ts),
	}
	for _, f := range m.files {
		seen.Files = append(seen.Files, sim.File{Name: f.name, MIME: f.mime, Data: f.data})
	}
	return seen
}

// names are the words for ids in messages: "@Ann", "#general".
func (s *Server) names() func(id string) string {
	return func(id string) string {
		if p, ok := s.world.Person(id); ok {
			return "@" + p.Name
		}
		if c, ok := s.world.Chat(id); ok {
			return "#" + c.Name
		}
		return ""
	}
}

// tsTime reads a ts; zero if it is none.
func tsTime(ts string) time.Time {
	sec, micro, ok := strings.Cut(ts, ".")
	s, err := strconv.ParseInt(sec, 10, 64)
	u, err2 := strconv.ParseInt(micro, 10, 64)
	if !ok || err != nil || err2 != nil || len(micro) != 6 {
		return time.Time{}
	}
	return time.Unix(s, u*1000)
}
