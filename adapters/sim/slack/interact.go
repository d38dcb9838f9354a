package slack

import (
	"encoding/json"
	"fmt"
	"slices"

	"typist/adapters/sim"
)

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
	out := map[string]any{
		"type": kind, "user": map[string]any{"id": person, "username": p.Username, "name": p.Username, "team_id": teamID},
		"token": "verification-token", "trigger_id": s.nextID("1.2."), "team": map[string]any{"id": teamID, "domain": "miniature"},
		"enterprise": nil, "is_enterprise_install": false, "channel": map[string]any{"id": chat, "name": name},
		"response_url": s.newResponse(chat, person),
	}
	if kind == "block_actions" {
		out["api_app_id"] = appID
	}
	return out
}

// findButton looks for a button by its value in actions blocks.
func findButton(blocks json.RawMessage, data string) map[string]any {
	var list []map[string]any
	if json.Unmarshal(blocks, &list) != nil {
		return nil
	}
	for _, b := range list {
		elements, _ := b["elements"].([]any)
		for _, e := range elements {
			if button, _ := e.(map[string]any); button["type"] == "button" && button["value"] == data {
				return map[string]any{"type": "button", "block_id": b["block_id"], "action_id": button["action_id"], "text": button["text"], "value": data}
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
