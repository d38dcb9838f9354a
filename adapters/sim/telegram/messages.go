package telegram

import (
	"net/http"
	"reflect"
	"strconv"
	"time"

	"typist/adapters/sim"
)

// sending is what all methods that send have in common.
type sending struct {
	chat    sim.Chat
	thread  string
	replyTo int
	markup  *InlineKeyboard
	silent  bool
}

// begin reads the common fields, and counts n messages against the flood limits.
func (s *Server) begin(p params, n int) (sending, error) {
	var out sending
	var err error
	if out.chat, err = s.target(p); err != nil {
		return out, err
	}
	if out.thread, err = topic(out.chat, p); err != nil {
		return out, err
	}
	if out.markup, err = keyboard(p); err != nil {
		return out, err
	}
	out.silent = p.flag("disable_notification")
	var reply ReplyParameters
	if ok, err := p.object("reply_parameters", &reply); err != nil {
		return out, err
	} else if ok && reply.MessageID != 0 {
		s.mu.Lock()
		_, exists := s.find(out.chat.ID, reply.MessageID)
		s.mu.Unlock()
		if exists {
			out.replyTo = reply.MessageID
		} else if !reply.AllowSendingWithoutReply {
			return out, bad("message to be replied not found")
		}
	}
	if err := s.limits.takeAll(out.chat.ID, !out.chat.Direct, n); err != nil {
		return out, err
	}
	return out, nil
}

// keyboard reads reply_markup. https://core.telegram.org/bots/api#inlinekeyboardbutton
func keyboard(p params) (*InlineKeyboard, error) {
	var k InlineKeyboard
	if ok, err := p.object("reply_markup", &k); err != nil || !ok {
		return nil, err
	}
	n := 0
	for _, row := range k.InlineKeyboard {
		if len(row) > 8 {
			return nil, bad("REPLY_MARKUP_TOO_LONG")
		}
		for _, b := range row {
			n++
			switch {
			case b.Text == "":
				return nil, bad("can't parse inline keyboard button: Field \"text\" must be of type String")
			case b.CallbackData == "" && b.URL == "":
				return nil, bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
			case len(b.CallbackData) > 64: // bytes
				return nil, bad("BUTTON_DATA_INVALID")
			case b.Style != "" && b.Style != "primary" && b.Style != "success" && b.Style != "danger":
				return nil, bad("BUTTON_STYLE_INVALID")
			}
		}
	}
	if n > 100 {
		return nil, bad("REPLY_MARKUP_TOO_LONG")
	}
	if n == 0 {
		return nil, nil
	}
	return &k, nil
}

// post makes the message, shows it and answers it.
func (s *Server) post(in sending, m Message, files []sim.File) Message {
	bot := s.world.Bot()
	s.mu.Lock()
	u := s.user(bot)
	m.MessageID, m.From, m.Date, m.ReplyMarkup = s.newMessageID(in.chat.ID), &u, time.Now().Unix(), in.markup
	s.place(&m, in.chat, in.thread, in.replyTo)
	r := &record{msg: m, thread: in.thread}
	s.keep(in.chat.ID, r)
	out := s.shown(r, in.chat, bot)
	s.mu.Unlock()
	out.Silent, out.Files = in.silent, files
	s.world.Post(out)
	return m
}

func (s *Server) sendMessage(_ *http.Request, p params) (any, error) {
	text, entities, err := s.formatted(p.get("text"), p.get("parse_mode"), p.get("entities"), maxText, "text")
	if err != nil {
		return nil, err
	}
	if text == "" {
		return nil, bad("message text is empty")
	}
	in, err := s.begin(p, 1)
	if err != nil {
		return nil, err
	}
	return s.post(in, Message{Text: text, Entities: detect(text, entities)}, nil), nil
}

// edit changes one message of the bot by f, which reports whether anything changed.
func (s *Server) edit(p params, f func(*Message) (bool, error)) (any, error) {
	c, err := s.target(p)
	if err != nil {
		return nil, err
	}
	id, err := p.number("message_id")
	if err != nil {
		return nil, err
	}
	if err := s.limits.take(c.ID, !c.Direct, true); err != nil {
		return nil, err
	}
	s.mu.Lock()
	r, ok := s.find(c.ID, id)
	if !ok {
		s.mu.Unlock()
		return nil, bad("message to edit not found")
	}
	if r.msg.From == nil || !r.msg.From.IsBot {
		s.mu.Unlock()
		return nil, bad("message can't be edited")
	}
	m := r.msg
	changed, err := f(&m)
	if err == nil && !changed {
		err = bad("message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
	}
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	m.EditDate = time.Now().Unix()
	r.msg = m
	seen := s.shown(r, c, s.world.Bot())
	s.mu.Unlock()
	s.world.Change(c.ID, strconv.Itoa(id), func(x *sim.Message) {
		x.Text, x.HTML, x.Buttons, x.EditedAt = seen.Text, seen.HTML, seen.Buttons, time.Now()
	})
	return m, nil
}

func (s *Server) editMessageText(_ *http.Request, p params) (any, error) {
	text, entities, err := s.formatted(p.get("text"), p.get("parse_mode"), p.get("entities"), maxText, "text")
	if err != nil {
		return nil, err
	}
	if text == "" {
		return nil, bad("message text is empty")
	}
	entities = detect(text, entities)
	markup, err := keyboard(p)
	if err != nil {
		return nil, err
	}
	return s.edit(p, func(m *Message) (bool, error) {
		if m.Document != nil || m.Photo != nil {
			return false, bad("there is no text in the message to edit")
		}
		same := m.Text == text && sameEntities(m.Entities, entities) && reflect.DeepEqual(m.ReplyMarkup, markup)
		m.Text, m.Entities, m.ReplyMarkup = text, entities, markup
		return !same, nil
	})
}

func (s *Server) editMessageCaption(_ *http.Request, p params) (any, error) {
	text, entities, err := s.formatted(p.get("caption"), p.get("parse_mode"), p.get("caption_entities"), maxCaption, "caption")
	if err != nil {
		return nil, err
	}
	entities = detect(text, entities)
	markup, err := keyboard(p)
	if err != nil {
		return nil, err
	}
	return s.edit(p, func(m *Message) (bool, error) {
		if m.Document == nil && m.Photo == nil {
			return false, bad("there is no caption in the message to edit")
		}
		same := m.Caption == text && sameEntities(m.CaptionEntities, entities) && reflect.DeepEqual(m.ReplyMarkup, markup)
		m.Caption, m.CaptionEntities, m.ReplyMarkup = text, entities, markup
		return !same, nil
	})
}

func (s *Server) editMessageReplyMarkup(_ *http.Request, p params) (any, error) {
	markup, err := keyboard(p)
	if err != nil {
		return nil, err
	}
	return s.edit(p, func(m *Message) (bool, error) {
		same := reflect.DeepEqual(m.ReplyMarkup, markup)
		m.ReplyMarkup = markup
		return !same, nil
	})
}

func sameEntities(a, b []Entity) bool {
	return len(a) == len(b) && (len(a) == 0 || reflect.DeepEqual(a, b))
}

// deleteWindow: a bot's message can be deleted for 48 h.
// https://core.telegram.org/bots/api#deletemessage
const deleteWindow = 48 * time.Hour

func (s *Server) deleteMessage(_ *http.Request, p params) (any, error) {
	c, err := s.target(p)
	if err != nil {
		return nil, err
	}
	id, err := p.number("message_id")
	if err != nil {
		return nil, err
	}
	if err := s.limits.take(c.ID, !c.Direct, false); err != nil {
		return nil, err
	}
	s.mu.Lock()
	r, ok := s.find(c.ID, id)
	switch {
	case !ok:
		s.mu.Unlock()
		return nil, bad("message to delete not found")
	case time.Since(time.Unix(r.msg.Date, 0)) > deleteWindow, !c.Direct && !r.msg.From.IsBot:
		s.mu.Unlock()
		return nil, bad("message can't be deleted")
	}
	r.deleted = true
	s.mu.Unlock()
	s.world.Delete(c.ID, strconv.Itoa(id))
	return true, nil
}
