package telegram

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"typist/adapters/sim"
)

const maxRecords = 20000

// record is a message with what Telegram knows of it beyond what people see.
type record struct {
	msg     Message
	thread  string
	deleted bool
}

func messageKey(chat string, id int) string { return chat + "/" + strconv.Itoa(id) }

// find gets a message that is not deleted; callers hold mu.
func (s *Server) find(chat string, id int) (*record, bool) {
	r, ok := s.records[messageKey(chat, id)]
	if !ok || r.deleted {
		return nil, false
	}
	return r, true
}

// keep stores a record; callers hold mu.
func (s *Server) keep(chat string, r *record) {
	key := messageKey(chat, r.msg.MessageID)
	s.records[key] = r
	s.order = append(s.order, key)
	if len(s.order) > maxRecords {
		delete(s.records, s.order[0])
		s.order = s.order[1:]
	}
}

// newMessageID counts up in the chat; callers hold mu.
func (s *Server) newMessageID(chat string) int {
	s.nextMsg[chat]++
	return s.nextMsg[chat]
}

func number(id string) int64 {
	n, _ := strconv.ParseInt(id, 10, 64) // ids of the world are numbers
	return n
}

func (s *Server) user(p sim.Person) User {
	u := User{ID: number(p.ID), IsBot: p.Bot, FirstName: p.Name, Username: p.Username}
	if !p.Bot {
		u.LanguageCode = s.locale[p.ID]
	}
	return u
}

// isForum: a chat with topics is a forum.
func isForum(c sim.Chat) bool { return len(c.Threads) > 0 }

func (s *Server) chat(c sim.Chat) Chat {
	out := Chat{ID: number(c.ID)}
	switch {
	case c.Direct:
		out.Type, out.FirstName = "private", c.Name
		if p, ok := s.world.Person(c.ID); ok {
			out.Username = p.Username
		}
	case strings.HasPrefix(c.ID, "-100"):
		out.Type, out.Title, out.IsForum = "supergroup", c.Name, isForum(c)
	default:
		out.Type, out.Title = "group", c.Name
	}
	return out
}

// place fills in where a message stands: chat, topic, and what it replies to. In a topic a message
// that replies to nothing carries the topic's head as reply_to_message. Callers hold mu.
func (s *Server) place(m *Message, c sim.Chat, thread string, replyTo int) {
	m.Chat = s.chat(c)
	if t := number(thread); t > 1 {
		m.MessageThreadID = int(t)
		m.IsTopicMessage = true
	}
	if replyTo > 0 {
		if r, ok := s.find(c.ID, replyTo); ok {
			reply := r.msg
			reply.ReplyToMessage = nil // replies do not nest
			m.ReplyToMessage = &reply
			if m.Chat.Type == "supergroup" && !m.IsTopicMessage { // a reply's thread, no topic
				m.MessageThreadID = replyTo
			}
			return
		}
	}
	if m.IsTopicMessage {
		i := slices.IndexFunc(c.Threads, func(t sim.Thread) bool { return t.ID == thread })
		if i < 0 {
			return
		}
		bot := s.user(s.world.Bot()) // the bot made the topics, the meanest case
		m.ReplyToMessage = &Message{MessageID: m.MessageThreadID, MessageThreadID: m.MessageThreadID, From: &bot,
			Date: time.Now().Unix() - 3600, Chat: m.Chat, IsTopicMessage: true,
			ForumTopicCreated: &TopicCreated{Name: c.Threads[i].Name, IconColor: 7322096}}
	}
}

// shown makes what people see out of a message.
func (s *Server) shown(r *record, c sim.Chat, from sim.Person) sim.Message {
	m := r.msg
	text, entities := m.Text, m.Entities
	if text == "" {
		text, entities = m.Caption, m.CaptionEntities
	}
	out := sim.Message{ID: strconv.Itoa(m.MessageID), Chat: c.ID, Thread: r.thread, From: from,
		Text: text, HTML: show(text, entities), Buttons: buttons(m.ReplyMarkup), At: time.Now()}
	if m.ReplyToMessage != nil && m.ReplyToMessage.ForumTopicCreated == nil {
		out.ReplyTo = strconv.Itoa(m.ReplyToMessage.MessageID)
	}
	out.Pings = s.pings(c, text, entities)
	return out
}

func buttons(k *InlineKeyboard) [][]sim.Button {
	if k == nil {
		return nil
	}
	var rows [][]sim.Button
	for _, row := range k.InlineKeyboard {
		var line []sim.Button
		for _, b := range row {
			line = append(line, sim.Button{Text: b.Text, Data: b.CallbackData, Style: b.Style})
		}
		rows = append(rows, line)
	}
	return rows
}
