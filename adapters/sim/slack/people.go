package slack

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"typist/adapters/sim"
)

// Say posts a person's message. A ReplyTo is a message in that one's thread: Slack has no other
// replies. Cut in parts, it is as many messages, one right after the other.
func (s *Server) Say(say sim.Say) (string, error) { return s.write(say, true) }

// Remember posts a message of which the app hears nothing, as those from before it was installed.
func (s *Server) Remember(say sim.Say) (string, error) { return s.write(say, false) }

// write posts what a person says, and tells the app if it is to hear of it.
func (s *Server) write(say sim.Say, tell bool) (string, error) {
	s.say.Lock()
	defer s.say.Unlock()
	if err := s.mayWrite(say.Chat, say.Person); err != nil {
		return "", err
	}
	thread := say.Thread
	if thread == "" && say.ReplyTo != "" {
		thread = say.ReplyTo
	}
	text := say.Text
	if say.Mention {
		text = strings.TrimSpace("@" + s.world.Bot().Username + " " + text)
	}
	runes := []rune(text)
	parts := max(1, say.Parts)
	first := ""
	for i := range parts {
		piece := string(runes[len(runes)*i/parts : len(runes)*(i+1)/parts])
		m := &message{channel: say.Chat, user: say.Person, text: s.typed(piece)}
		if i == 0 {
			for _, f := range say.Files {
				m.files = append(m.files, s.keepFile(say.Person, f))
			}
			if len(m.files) > 0 {
				m.subtype = "file_share"
			}
		}
		inner, err := s.speak(m, thread)
		if err != nil {
			return "", err
		}
		if tell && s.botIn(m.channel) {
			s.emit(inner...)
		}
		if i == 0 {
			first = m.ts
		}
	}
	return first, nil
}

// speak makes a person's message visible and gives the inner events that tell of it.
func (s *Server) speak(m *message, thread string) ([]map[string]any, error) {
	s.mu.Lock()
	m.ts = s.nextTS()
	parent := s.intoThread(m, thread)
	if thread != "" && parent == nil {
		s.mu.Unlock()
		return nil, fmt.Errorf("thread %s does not exist in %s", thread, m.channel)
	}
	s.add(m)
	inner := []map[string]any{s.messageEvent(m)}
	if chat, _ := s.world.Chat(m.channel); !chat.Direct && slices.Contains(pinged(m.text, nil, "", ""), botUserID) {
		inner = append(inner, s.mentionEvent(m))
		slices.Reverse(inner) // the mention usually comes first
	}
	s.mu.Unlock()
	if parent != nil {
		s.nameThread(parent)
	}
	s.show(m, true)
	return inner, nil
}

func (s *Server) botIn(chat string) bool {
	c, _ := s.world.Chat(chat)
	return slices.Contains(c.Members, botUserID)
}

func (s *Server) mayWrite(chat, person string) error {
	c, ok := s.world.Chat(chat)
	if !ok {
		return fmt.Errorf("there is no chat %q", chat)
	}
	if !slices.Contains(c.Members, person) {
		return fmt.Errorf("%s is not a member of %s", person, chat)
	}
	return nil
}

var (
	typedName = regexp.MustCompile(`(^|[\s(])@([a-z][a-z0-9._-]*)`)
	typedLink = regexp.MustCompile(`https?://[^\s<>]+`)
)

// typed is text as Slack's clients send it: escaped, names and links as tokens.
func (s *Server) typed(text string) string {
	text = typedLink.ReplaceAllString(escape(text), "<$0>")
	return typedName.ReplaceAllStringFunc(text, func(m string) string {
		at := strings.IndexByte(m, '@')
		name := m[at+1:]
		if slices.Contains([]string{"channel", "here", "everyone"}, name) {
			return m[:at] + "<!" + name + ">"
		}
		if s.world.Bot().Username == name {
			return m[:at] + "<@" + botUserID + ">"
		}
		for _, chat := range s.world.Chats() {
			for _, id := range chat.Members {
				if p, ok := s.world.Person(id); ok && p.Username == name {
					return m[:at] + "<@" + id + ">"
				}
			}
		}
		return m
	})
}

// EditMessage changes a person's own message. A mention that comes new is told as app_mention too.
func (s *Server) EditMessage(chat, person, id, text string) error {
	s.say.Lock()
	defer s.say.Unlock()
	s.mu.Lock()
	m := s.find(chat, id)
	if m == nil || m.user != person {
		s.mu.Unlock()
		return fmt.Errorf("%s has no message %s in %s", person, id, chat)
	}
	previous := s.json(m, false)
	mentioned := slices.Contains(pinged(m.text, nil, "", ""), botUserID)
	m.text = s.typed(text)
	m.edited = formatTS(time.Now().UnixMicro())
	inner := []map[string]any{s.changedEvent(m, previous)}
	c, _ := s.world.Chat(chat)
	if now := slices.Contains(pinged(m.text, nil, "", ""), botUserID); now && !mentioned && !c.Direct {
		inner = append(inner, s.mentionEvent(m))
	}
	s.mu.Unlock()
	s.show(m, false)
	if s.botIn(chat) {
		s.emit(inner...)
	}
	return nil
}

// Unfurl adds a preview to a message, which Slack tells as message_changed with the same text.
func (s *Server) Unfurl(chat, id string) error {
	s.say.Lock()
	defer s.say.Unlock()
	s.mu.Lock()
	m := s.find(chat, id)
	if m == nil {
		s.mu.Unlock()
		return fmt.Errorf("no message %s in %s", id, chat)
	}
	previous := s.json(m, false)
	m.attachments = json.RawMessage(`[{"id":1,"from_url":"https://example.org/","title":"Example","fallback":"Example","text":"A page","service_name":"Example"}]`)
	event := s.changedEvent(m, previous)
	s.mu.Unlock()
	s.emit(event)
	return nil
}

// DeleteMessage deletes a person's own message.
func (s *Server) DeleteMessage(chat, person, id string) error {
	s.say.Lock()
	defer s.say.Unlock()
	s.mu.Lock()
	m := s.find(chat, id)
	if m == nil || m.user != person {
		s.mu.Unlock()
		return fmt.Errorf("%s has no message %s in %s", person, id, chat)
	}
	event := s.deletedEvent(m)
	s.mu.Unlock()
	s.world.Delete(chat, id)
	if s.botIn(chat) {
		s.emit(event)
	}
	return nil
}

// StopSession is a person's use of Slack's own stop button for agents.
func (s *Server) StopSession(chat, thread, person string) {
	s.mu.Lock()
	ts := s.nextTS()
	s.mu.Unlock()
	s.emit(map[string]any{
		"type": "agent_session_stopped", "channel": chat, "thread_ts": thread, "user": person, "streaming_message_ts": []string{}, "event_ts": ts,
	})
}
