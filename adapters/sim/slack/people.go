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
func (s *Server) Say(say sim.Say) (string, error) {
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
		ts, err := s.speak(m, thread)
		if err != nil {
			return "", err
		}
		if i == 0 {
			first = ts
		}
	}
	return first, nil
}

// speak makes a person's message visible and tells the app.
func (s *Server) speak(m *message, thread string) (string, error) {
	s.mu.Lock()
	m.ts = s.nextTS()
	parent := s.intoThread(m, thread)
	if thread != "" && parent == nil {
		s.mu.Unlock()
		return "", fmt.Errorf("thread %s does not exist in %s", thread, m.channel)
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
	if s.botIn(m.channel) {
		s.emit(inner...)
	}
	return m.ts, nil
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

// Press presses the button with that data.
func (s *Server) Press(chat, person, id, data string) error {
	payload, err := s.pressPayload(chat, person, id, data)
	if err != nil {
		return err
	}
	return s.ask(envelope{kind: "interactive", payload: payload})
}

func (s *Server) pressPayload(chat, person, id, data string) (map[string]any, error) {
	if err := s.mayWrite(chat, person); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.find(chat, id)
	if m == nil || m.ephemeral != "" && m.ephemeral != person {
		return nil, fmt.Errorf("%s sees no message %s in %s", person, id, chat)
	}
	action := findButton(m.blocks, data)
	if action == nil {
		return nil, fmt.Errorf("message %s has no button %q", id, data)
	}
	action["action_ts"] = s.nextTS()
	container := map[string]any{"type": "message", "message_ts": m.ts, "channel_id": chat, "is_ephemeral": m.ephemeral != ""}
	if m.thread != "" {
		container["thread_ts"] = m.thread
	}
	payload := s.interaction("block_actions", chat, person)
	payload["container"], payload["actions"], payload["message"] = container, []any{action}, s.json(m, false)
	payload["state"] = map[string]any{"values": map[string]any{}}
	return payload, nil
}

// ask delivers an envelope that people wait for: Slack shows them a warning if it is not acknowledged.
func (s *Server) ask(e envelope) error {
	acked := make(chan bool, 1)
	e.acked = acked
	s.deliver(e)
	select {
	case ok := <-acked:
		if !ok {
			return fmt.Errorf("the app did not acknowledge within %s", s.opts.AckDeadline)
		}
		return nil
	case <-s.ctx.Done():
		return fmt.Errorf("the miniature Slack has closed: %w", s.ctx.Err())
	}
}

// interaction is what block_actions and message_action share. Callers hold mu.
func (s *Server) interaction(kind, chat, person string) map[string]any {
	p, _ := s.world.Person(person)
	c, _ := s.world.Chat(chat)
	name := c.Name
	if c.Direct {
		name = "directmessage"
	}
	return map[string]any{
		"type": kind, "user": map[string]any{"id": person, "username": p.Username, "name": p.Username, "team_id": teamID},
		"api_app_id": appID, "token": "verification-token", "trigger_id": s.nextID("1.2."), "team": map[string]any{"id": teamID, "domain": "miniature"},
		"enterprise": nil, "is_enterprise_install": false, "channel": map[string]any{"id": chat, "name": name},
		"response_url": s.newResponse(chat, person),
	}
}

// findButton looks for a button by its value in actions blocks.
func findButton(blocks json.RawMessage, data string) map[string]any {
	var list []map[string]any
	if json.Unmarshal(blocks, &list) != nil {
		return nil
	}
	for i, b := range list {
		elements, _ := b["elements"].([]any)
		for _, e := range elements {
			if button, _ := e.(map[string]any); button["type"] == "button" && button["value"] == data {
				id, _ := b["block_id"].(string)
				if id == "" {
					id = fmt.Sprintf("b%d", i)
				}
				return map[string]any{"type": "button", "block_id": id, "action_id": button["action_id"], "text": button["text"], "value": data}
			}
		}
	}
	return nil
}

// Command uses a slash command, or with a target a message shortcut.
func (s *Server) Command(use sim.CommandUse) error {
	if err := s.mayWrite(use.Chat, use.Person); err != nil {
		return err
	}
	e := envelope{kind: "slash_commands"}
	var err error
	if use.Target != "" {
		e.kind = "interactive"
		e.payload, err = s.shortcutPayload(use)
	} else {
		e.payload, err = s.slashPayload(use)
	}
	if err != nil {
		return err
	}
	return s.ask(e)
}

func (s *Server) shortcutPayload(use sim.CommandUse) (map[string]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.find(use.Chat, use.Target)
	if m == nil {
		return nil, fmt.Errorf("no message %s in %s", use.Target, use.Chat)
	}
	payload := s.interaction("message_action", use.Chat, use.Person)
	payload["callback_id"], payload["action_ts"], payload["message_ts"], payload["message"] = use.Name, s.nextTS(), m.ts, s.json(m, false)
	return payload, nil
}

func (s *Server) slashPayload(use sim.CommandUse) (map[string]any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case use.Thread != "":
		return nil, fmt.Errorf("/%s is not supported in threads", use.Name)
	case !slices.Contains(s.opts.Commands, use.Name):
		return nil, fmt.Errorf("/%s is not a valid command", use.Name)
	}
	p, _ := s.world.Person(use.Person)
	c, _ := s.world.Chat(use.Chat)
	name := c.Name
	if c.Direct {
		name = "directmessage"
	}
	return map[string]any{
		"token": "verification-token", "team_id": teamID, "team_domain": "miniature", "channel_id": use.Chat, "channel_name": name,
		"user_id": use.Person, "user_name": p.Username, "command": "/" + use.Name, "text": s.typed(use.Args), "api_app_id": appID,
		"is_enterprise_install": "false", "response_url": s.newResponse(use.Chat, use.Person), "trigger_id": s.nextID("1.2."),
	}, nil
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
