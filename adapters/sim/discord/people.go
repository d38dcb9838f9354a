package discord

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"typist/adapters/sim"
)

// Say posts a person's message; its id is that of the first part.
func (s *Server) Say(say sim.Say) (string, error) {
	c, ok := s.find(say.Chat, say.Thread)
	if !ok {
		return "", fmt.Errorf("sim discord: no channel %s/%s", say.Chat, say.Thread)
	}
	if !s.member(say.Chat, say.Person) {
		return "", fmt.Errorf("sim discord: %s is not in %s", say.Person, say.Chat)
	}
	text := say.Text
	if say.Mention {
		text = strings.TrimSpace("<@" + BotID + "> " + text)
	}
	parts := cut(text, max(1, say.Parts))
	first := ""
	for i, part := range parts {
		if fail := checkContent(part); fail != nil {
			return "", fmt.Errorf("sim discord: a message of %d characters; people may write 2000", len(part))
		}
		m := &record{channel: c.id, author: say.Person, content: part, at: time.Now(), kind: typeDefault}
		if i == 0 {
			for _, f := range say.Files {
				s.mu.Lock()
				a := attachment{ID: s.snowflake(), File: f}
				s.files[a.ID] = f
				s.mu.Unlock()
				m.attachments = append(m.attachments, a)
			}
			if say.ReplyTo != "" {
				if _, ok := s.record(c.id, say.ReplyTo); !ok {
					return "", fmt.Errorf("sim discord: no message %s to reply to", say.ReplyTo)
				}
				m.reference, m.kind = say.ReplyTo, typeReply
			}
		}
		if m.content == "" && len(m.attachments) == 0 {
			return "", fmt.Errorf("sim discord: an empty message")
		}
		s.mu.Lock()
		m.id = s.snowflake()
		s.mu.Unlock()
		if first == "" {
			first = m.id
		}
		s.publish(m, nil)
	}
	return first, nil
}

// cut divides a text into n parts: full messages and a rest where it is that long, else equal ones.
func cut(text string, n int) []string {
	runes := []rune(text)
	size := max(1, (len(runes)+n-1)/n)
	if n > 1 && len(runes) > 2000*(n-1) {
		size = 2000
	}
	var out []string
	for part := range slices.Chunk(runes, size) {
		out = append(out, string(part))
	}
	if len(out) == 0 {
		out = []string{""}
	}
	return out
}

// EditMessage changes the text of a person's own message.
func (s *Server) EditMessage(chat, person, message, text string) error {
	m, err := s.own(chat, message, person)
	if err != nil {
		return err
	}
	mentioned, _ := s.resolveMentions(m, text, nil)
	s.mu.Lock()
	m.content, m.edited, m.mentioned = text, time.Now(), mentioned
	s.mu.Unlock()
	s.world.Change(chat, message, s.shown(text, nil))
	s.gate.message("MESSAGE_UPDATE", m)
	return nil
}

// DeleteMessage deletes a person's own message.
func (s *Server) DeleteMessage(chat, person, message string) error {
	m, err := s.own(chat, message, person)
	if err != nil {
		return err
	}
	s.remove(m)
	return nil
}

// DeleteBotMessage deletes a message of the bot, as a moderator does.
func (s *Server) DeleteBotMessage(chat, message string) error {
	return s.DeleteMessage(chat, BotID, message)
}

// Unfurl adds an embed to a message as Discord does for links: an update that is no edit.
func (s *Server) Unfurl(chat, message string) error {
	m, err := s.own(chat, message, "")
	if err != nil {
		return err
	}
	s.mu.Lock()
	m.embeds++
	s.mu.Unlock()
	s.gate.message("MESSAGE_UPDATE", m)
	return nil
}

// own finds a message in a chat or one of its threads; person "" means anybody's.
func (s *Server) own(chat, message, person string) (*record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.records[message]
	if ok {
		c := s.channels[m.channel]
		in, _ := c.place()
		ok = in == chat && (person == "" || m.author == person)
	}
	if !ok {
		return nil, fmt.Errorf("sim discord: no message %s of %s in %s", message, person, chat)
	}
	return m, nil
}

// Press presses a button under a message of the bot.
func (s *Server) Press(chat, person, message, data string) error {
	m, err := s.own(chat, message, BotID)
	if err != nil {
		return err
	}
	if !s.member(chat, person) {
		return fmt.Errorf("sim discord: %s is not in %s", person, chat)
	}
	if !m.button(data) {
		return fmt.Errorf("sim discord: message %s has no button %q", message, data)
	}
	c, _ := s.channel(m.channel)
	s.interact(c, person, kindComponent, m.id, map[string]any{"component_type": componentButton, "custom_id": data})
	return nil
}

// Command runs a registered slash command, or with Target a message command.
func (s *Server) Command(use sim.CommandUse) error {
	c, ok := s.find(use.Chat, use.Thread)
	if !ok || !s.member(use.Chat, use.Person) {
		return fmt.Errorf("sim discord: %s can't run commands in %s/%s", use.Person, use.Chat, use.Thread)
	}
	want := 1
	if use.Target != "" {
		want = 3
	}
	s.mu.Lock()
	at := slices.IndexFunc(s.commands, func(k command) bool { return k.Type == want && strings.EqualFold(k.Name, use.Name) })
	var k command
	if at >= 0 {
		k = s.commands[at]
	}
	s.mu.Unlock()
	if at < 0 {
		return fmt.Errorf("sim discord: the bot has registered no command %q of type %d", use.Name, want)
	}
	data := map[string]any{"id": k.ID, "name": k.Name, "type": k.Type}
	if use.Target != "" {
		m, err := s.own(use.Chat, use.Target, "")
		if err != nil {
			return err
		}
		data["target_id"] = m.id
		data["resolved"] = map[string]any{"messages": map[string]any{m.id: s.messageJSON(m, false)}}
	} else {
		options, err := k.fill(strings.Fields(use.Args))
		if err != nil {
			return err
		}
		data["options"] = options
	}
	s.interact(c, use.Person, kindCommand, "", data)
	return nil
}

// fill gives the words of a command line to its options, in order.
func (k command) fill(words []string) ([]any, error) {
	out := []any{}
	for i, o := range k.Options {
		if len(words) == 0 {
			if o.Required {
				return nil, fmt.Errorf("sim discord: /%s needs %s", k.Name, o.Name)
			}
			break
		}
		value := words[0]
		words = words[1:]
		if i == len(k.Options)-1 && len(words) > 0 {
			value += " " + strings.Join(words, " ")
			words = nil
		}
		if len(o.Choices) > 0 && !slices.ContainsFunc(o.Choices, func(c commandChoice) bool { return c.Value == value }) {
			return nil, fmt.Errorf("sim discord: /%s %s can't be %q", k.Name, o.Name, value)
		}
		out = append(out, map[string]any{"name": o.Name, "type": o.Type, "value": value})
	}
	if len(words) > 0 {
		return nil, fmt.Errorf("sim discord: /%s takes no %q", k.Name, strings.Join(words, " "))
	}
	return out, nil
}
