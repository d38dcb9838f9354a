package slack

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// content reads and checks text, blocks and metadata of a call.
func (s *Server) content(c *call) (text string, blocks, metadata json.RawMessage, f *failure) {
	text = c.get("text")
	if raw := c.get("blocks"); raw != "" {
		blocks = json.RawMessage(raw)
	}
	if utf8.RuneCountInString(text) > maxText {
		return "", nil, nil, fail("msg_too_long")
	}
	if f := s.checkBlocks(blocks); f != nil {
		return "", nil, nil, f
	}
	if text == "" && blockCount(blocks) == 0 {
		return "", nil, nil, fail("no_text")
	}
	if raw := c.get("metadata"); raw != "" {
		var meta struct {
			Type    string         `json:"event_type"`
			Payload map[string]any `json:"event_payload"`
		}
		if err := json.Unmarshal([]byte(raw), &meta); err != nil || meta.Type == "" || meta.Payload == nil {
			return "", nil, nil, fail("invalid_metadata_format")
		}
		metadata = json.RawMessage(raw)
	}
	return text, nameBlocks(blocks), metadata, nil
}

// checkBlocks holds blocks against the platform's limits and against what is to be refused.
func (s *Server) checkBlocks(blocks json.RawMessage) *failure {
	if f := checkBlocks(blocks, s.opts.RefuseBlocks); f != nil {
		return f
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []struct{ Type string }
	_ = json.Unmarshal(blocks, &list) // checked above
	for _, b := range list {
		if s.refused > 0 && b.Type != "section" && b.Type != "actions" {
			s.refused--
			return fail("invalid_blocks", "refused on purpose")
		}
	}
	return nil
}

// nameBlocks gives blocks without a block_id one, as Slack does.
func nameBlocks(blocks json.RawMessage) json.RawMessage {
	var list []map[string]any
	if json.Unmarshal(blocks, &list) != nil || len(list) == 0 {
		return blocks
	}
	for i, b := range list {
		if b["block_id"] == nil {
			b["block_id"] = fmt.Sprintf("b%d", i+1)
		}
	}
	named, err := json.Marshal(list)
	if err != nil {
		return blocks
	}
	return named
}

// member says whether the bot can write in a channel.
func (s *Server) member(channel string) *failure {
	chat, ok := s.world.Chat(channel)
	switch {
	case channel == "" || !ok:
		return fail("channel_not_found")
	case !slices.Contains(chat.Members, botUserID):
		return fail("not_in_channel")
	}
	return nil
}

func (s *Server) postMessage(c *call) (map[string]any, *failure) {
	channel := c.get("channel")
	if _, isPerson := s.world.Person(channel); isPerson { // a user's id opens the direct chat
		channel = s.directChat(channel)
	}
	if f := s.member(channel); f != nil {
		return nil, f
	}
	text, blocks, metadata, f := s.content(c)
	if f != nil {
		return nil, f
	}
	if ts := c.get("thread_ts"); ts != "" && tsTime(ts).IsZero() {
		return nil, fail("invalid_thread_ts")
	}
	m := &message{channel: channel, user: botUserID, botID: botID, text: text, blocks: blocks, metadata: metadata}
	pings := pinged(text, blocks, c.get("parse"), c.get("link_names"))
	return s.publish(m, c.get("thread_ts"), pings), nil
}

// publish makes a bot's message visible, and echoes it to the bot's sockets.
func (s *Server) publish(m *message, thread string, pings []string) map[string]any {
	s.mu.Lock()
	m.ts = s.nextTS()
	parent := s.intoThread(m, thread)
	s.add(m)
	body := s.json(m, true)
	event := s.messageEvent(m)
	s.mu.Unlock()
	if parent != nil {
		s.nameThread(parent)
	}
	seen := s.view(m)
	seen.Pings, seen.At = pings, time.Now()
	s.world.Post(seen)
	s.emit(event)
	return map[string]any{"channel": m.channel, "ts": m.ts, "message": body}
}

func (s *Server) postEphemeral(c *call) (map[string]any, *failure) {
	channel, user := c.get("channel"), c.get("user")
	if f := s.member(channel); f != nil {
		return nil, f
	}
	chat, _ := s.world.Chat(channel)
	if !slices.Contains(chat.Members, user) {
		return nil, fail("user_not_in_channel")
	}
	text, blocks, _, f := s.content(c)
	if f != nil {
		return nil, f
	}
	m := s.private(channel, c.get("thread_ts"), user, text, blocks)
	return map[string]any{"message_ts": m.ts}, nil
}

// private shows a message to one person only.
func (s *Server) private(channel, thread, user, text string, blocks json.RawMessage) *message {
	s.mu.Lock()
	m := &message{channel: channel, user: botUserID, botID: botID, text: text, blocks: blocks, ephemeral: user, thread: thread}
	m.ts = s.nextTS()
	s.add(m)
	s.mu.Unlock()
	s.show(m, true)
	return m
}

func (s *Server) updateMessage(c *call) (map[string]any, *failure) {
	channel, ts := c.get("channel"), c.get("ts")
	if f := s.member(channel); f != nil {
		return nil, f
	}
	text, blocks, metadata, f := s.content(c)
	if f != nil {
		return nil, f
	}
	if len(text) > maxUpdateText {
		return nil, fail("msg_too_long")
	}
	s.mu.Lock()
	m := s.find(channel, ts)
	switch {
	case m == nil:
		s.mu.Unlock()
		return nil, fail("message_not_found")
	case m.user != botUserID || m.ephemeral != "":
		s.mu.Unlock()
		return nil, fail("cant_update_message")
	case s.opts.EditWindow > 0 && time.Since(tsTime(ts)) > s.opts.EditWindow:
		s.mu.Unlock()
		return nil, fail("edit_window_closed")
	}
	previous := s.json(m, true)
	m.text = text
	// Text without blocks takes the old ones away; blocks keep "(edited)" away.
	m.blocks = blocks
	if blocks == nil {
		m.edited = formatTS(time.Now().UnixMicro())
	}
	if metadata != nil {
		m.metadata = metadata
	}
	body := s.json(m, true)
	event := s.changedEvent(m, previous)
	s.mu.Unlock()
	s.show(m, false)
	s.emit(event)
	return map[string]any{"channel": channel, "ts": ts, "text": text, "message": body}, nil
}

func (s *Server) deleteMessage(c *call) (map[string]any, *failure) {
	channel, ts := c.get("channel"), c.get("ts")
	if f := s.member(channel); f != nil {
		return nil, f
	}
	s.mu.Lock()
	m := s.find(channel, ts)
	switch {
	case m == nil || m.ephemeral != "":
		s.mu.Unlock()
		return nil, fail("message_not_found")
	case m.user != botUserID:
		s.mu.Unlock()
		return nil, fail("cant_delete_message")
	}
	event := s.deletedEvent(m)
	s.mu.Unlock()
	s.world.Delete(channel, ts)
	s.emit(event)
	return map[string]any{"channel": channel, "ts": ts}, nil
}
