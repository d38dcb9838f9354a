package telegram

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"typist/adapters/sim"
)

// Say posts a person's message. Parts cut it as a client cuts a long paste: 4096 units each, or
// evenly when there is too little text for that many parts.
func (s *Server) Say(say sim.Say) (string, error) {
	c, person, err := s.member(say.Chat, say.Person)
	if err != nil {
		return "", err
	}
	if say.Thread != "" && !slices.ContainsFunc(c.Threads, func(t sim.Thread) bool { return t.ID == say.Thread }) {
		return "", fmt.Errorf("chat %s has no topic %s", say.Chat, say.Thread)
	}
	text := say.Text
	if say.Mention {
		text = strings.TrimSpace("@" + s.world.Bot().Username + " " + text)
	}
	replyTo := 0
	if say.ReplyTo != "" {
		if replyTo, err = strconv.Atoi(say.ReplyTo); err != nil {
			return "", fmt.Errorf("reply to %q: %w", say.ReplyTo, err)
		}
	}
	var drafts []Message
	var files []sim.File
	switch {
	case len(say.Files) > 0:
		group := ""
		if len(say.Files) > 1 {
			group = strconv.FormatInt(s.world.NextID()+13_000_000_000, 10)
		}
		for i, f := range say.Files {
			if f.MIME == "" {
				f.MIME = mimeOf(f.Name, f.Data)
			}
			m := Message{MediaGroupID: group}
			if i == 0 { // clients put the caption on the first one
				m.Caption, m.CaptionEntities = text, detect(text, nil)
			}
			s.mu.Lock()
			err := s.attach(&m, f, false)
			if strings.HasPrefix(f.MIME, "image/") {
				photo := m
				photo.Document = nil
				if s.attach(&photo, f, true) == nil {
					m = photo
				}
			}
			s.mu.Unlock()
			if err != nil {
				return "", err
			}
			drafts, files = append(drafts, m), append(files, f)
		}
	default:
		if strings.TrimSpace(text) == "" {
			return "", fmt.Errorf("a message without text or file")
		}
		for _, part := range paste(text, say.Parts) {
			drafts = append(drafts, Message{Text: part, Entities: detect(part, nil)})
		}
	}
	first := ""
	for i, m := range drafts {
		var own []sim.File
		if files != nil {
			own = files[i : i+1]
		}
		id, err := s.say(c, person, say.Thread, replyTo, m, own)
		if err != nil {
			return "", err
		}
		if first == "" {
			first = id
		}
		replyTo = 0
	}
	return first, nil
}

// SayMessage posts a person's message with entities of the caller's choice (text mentions, say);
// those that Telegram finds by itself are added.
func (s *Server) SayMessage(chat, thread, person string, m Message) (string, error) {
	c, p, err := s.member(chat, person)
	if err != nil {
		return "", err
	}
	m.Entities = detect(m.Text, m.Entities)
	m.CaptionEntities = detect(m.Caption, m.CaptionEntities)
	return s.say(c, p, thread, 0, m, nil)
}

func (s *Server) member(chat, person string) (sim.Chat, sim.Person, error) {
	c, ok := s.world.Chat(chat)
	if !ok {
		return c, sim.Person{}, fmt.Errorf("no chat %s", chat)
	}
	p, ok := s.world.Person(person)
	if !ok || !slices.Contains(c.Members, person) {
		return c, p, fmt.Errorf("%s is no member of chat %s", person, chat)
	}
	return c, p, nil
}

// say makes one message of a person, shows it, and delivers it unless privacy mode hides it.
func (s *Server) say(c sim.Chat, person sim.Person, thread string, replyTo int, m Message, files []sim.File) (string, error) {
	s.mu.Lock()
	u := s.user(person)
	m.MessageID, m.From, m.Date = s.newMessageID(c.ID), &u, time.Now().Unix()
	s.place(&m, c, thread, replyTo)
	r := &record{msg: m, thread: thread}
	s.keep(c.ID, r)
	out := s.shown(r, c, person)
	s.mu.Unlock()
	out.Files = files
	s.world.Post(out)
	if !s.hidden(c, m) {
		if _, err := s.push("message", m); err != nil {
			return "", err
		}
	}
	return out.ID, nil
}

// hidden: with privacy mode on, a bot in a group gets commands, mentions and replies to it.
// https://core.telegram.org/bots/features#privacy-mode
func (s *Server) hidden(c sim.Chat, m Message) bool {
	if !s.privacy || c.Direct {
		return false
	}
	if r := m.ReplyToMessage; r != nil && r.From != nil && r.From.IsBot && r.ForumTopicCreated == nil {
		return false
	}
	for _, e := range append(slices.Clone(m.Entities), m.CaptionEntities...) {
		name := slice(m.Text+m.Caption, e.Offset, e.Length) // one of them is empty
		switch {
		case e.Type == "mention" && strings.EqualFold(name, "@"+s.world.Bot().Username),
			e.Type == "text_mention" && e.User.IsBot,
			e.Type == "bot_command":
			return false
		}
	}
	return true
}

func paste(text string, parts int) []string {
	units := utf16.Encode([]rune(text))
	if parts <= 1 {
		parts = (len(units) + maxText - 1) / maxText
	}
	size := maxText
	if len(units) <= (parts-1)*maxText {
		size = (len(units) + parts - 1) / parts
	}
	var out []string
	for len(units) > 0 {
		n := min(size, len(units))
		if n < len(units) && utf16.IsSurrogate(rune(units[n])) && units[n] >= 0xdc00 {
			n-- // not inside a pair
		}
		out = append(out, string(utf16.Decode(units[:n])))
		units = units[n:]
	}
	return out
}

// EditMessage changes the text or caption of a person's message.
func (s *Server) EditMessage(chat, person, message, text string) error {
	c, p, err := s.member(chat, person)
	if err != nil {
		return err
	}
	id, _ := strconv.Atoi(message)
	s.mu.Lock()
	r, ok := s.find(chat, id)
	if !ok || r.msg.From == nil || r.msg.From.ID != number(person) {
		s.mu.Unlock()
		return fmt.Errorf("%s has no message %s in chat %s", person, message, chat)
	}
	if r.msg.Document != nil || r.msg.Photo != nil {
		r.msg.Caption, r.msg.CaptionEntities = text, detect(text, nil)
	} else {
		r.msg.Text, r.msg.Entities = text, detect(text, nil)
	}
	r.msg.EditDate = time.Now().Unix()
	m, out := r.msg, s.shown(r, c, p)
	s.mu.Unlock()
	s.world.Change(chat, message, func(x *sim.Message) { x.Text, x.HTML = out.Text, out.HTML })
	if s.hidden(c, m) {
		return nil
	}
	_, err = s.push("edited_message", m)
	return err
}

// Touch delivers a person's message as edited though its text is the same, as Telegram does for
// changes that bots do not see.
func (s *Server) Touch(chat, message string) error {
	id, _ := strconv.Atoi(message)
	s.mu.Lock()
	r, ok := s.find(chat, id)
	if !ok {
		s.mu.Unlock()
		return fmt.Errorf("no message %s in chat %s", message, chat)
	}
	r.msg.EditDate = time.Now().Unix()
	m := r.msg
	s.mu.Unlock()
	_, err := s.push("edited_message", m)
	return err
}

// Press presses a button under a message of the bot.
func (s *Server) Press(chat, person, message, data string) error {
	_, p, err := s.member(chat, person)
	if err != nil {
		return err
	}
	id, _ := strconv.Atoi(message)
	s.mu.Lock()
	r, ok := s.find(chat, id)
	has := false
	if ok && r.msg.ReplyMarkup != nil {
		for _, row := range r.msg.ReplyMarkup.InlineKeyboard {
			has = has || slices.ContainsFunc(row, func(b InlineButton) bool { return b.CallbackData == data })
		}
	}
	if !has {
		s.mu.Unlock()
		return fmt.Errorf("message %s has no button %q", message, data)
	}
	query := strconv.FormatInt(s.world.NextID()+4_000_000_000_000, 10)
	s.queries[query] = false
	m := r.msg
	q := CallbackQuery{ID: query, From: s.user(p), Message: &m, ChatInstance: "-30" + strings.TrimPrefix(chat, "-"), Data: data}
	s.mu.Unlock()
	_, err = s.push("callback_query", q)
	return err
}

// Unanswered lists the callback queries that the bot has not answered.
func (s *Server) Unanswered() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for id, answered := range s.queries {
		if !answered {
			out = append(out, id)
		}
	}
	return out
}

// Command writes the command as text, addressed to the bot in groups as the client's menu does;
// with a target it is a reply to that message.
func (s *Server) Command(use sim.CommandUse) error {
	c, _, err := s.member(use.Chat, use.Person)
	if err != nil {
		return err
	}
	text := "/" + use.Name
	if !c.Direct {
		text += "@" + s.world.Bot().Username
	}
	_, err = s.Say(sim.Say{Chat: use.Chat, Thread: use.Thread, Person: use.Person,
		Text: strings.TrimSpace(text + " " + use.Args), ReplyTo: use.Target})
	return err
}

// React sets or removes a person's reaction; the bot hears of it if it asked for such updates.
func (s *Server) React(chat, person, message, emoji string, on bool) error {
	c, p, err := s.member(chat, person)
	if err != nil {
		return err
	}
	if !s.world.React(chat, message, person, emoji, on) {
		return fmt.Errorf("nothing to change on message %s", message)
	}
	set := []Reaction{{Type: "emoji", Emoji: emoji}}
	id, _ := strconv.Atoi(message)
	s.mu.Lock()
	u := s.user(p)
	r := ReactionUpdate{Chat: s.chat(c), MessageID: id, User: &u, Date: time.Now().Unix(), OldReaction: []Reaction{}, NewReaction: []Reaction{}}
	s.mu.Unlock()
	if on {
		r.NewReaction = set
	} else {
		r.OldReaction = set
	}
	_, err = s.push("message_reaction", r)
	return err
}

// Service delivers a service message of a person: change fills in what happened.
func (s *Server) Service(chat, thread, person string, change func(*Message)) error {
	c, p, err := s.member(chat, person)
	if err != nil {
		return err
	}
	s.mu.Lock()
	u := s.user(p)
	m := Message{MessageID: s.newMessageID(chat), From: &u, Date: time.Now().Unix()}
	s.place(&m, c, thread, 0)
	m.ReplyToMessage = nil
	s.mu.Unlock()
	change(&m)
	_, err = s.push("message", m)
	return err
}

func replaceID(raw string, id int64) string {
	return strings.Replace(raw, "%d", strconv.FormatInt(id, 10), 1)
}
