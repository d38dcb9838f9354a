package slack

import (
	"strings"
)

func (s *Server) addReaction(c *call) (map[string]any, *failure) {
	return s.react(c, true, "already_reacted")
}

func (s *Server) removeReaction(c *call) (map[string]any, *failure) {
	return s.react(c, false, "no_reaction")
}

func (s *Server) react(c *call, on bool, unchanged string) (map[string]any, *failure) {
	channel, ts, name := c.get("channel"), c.get("timestamp"), c.get("name")
	if f := s.member(channel); f != nil {
		return nil, f
	}
	if name == "" || strings.ContainsAny(name, ": ") {
		return nil, fail("invalid_name")
	}
	s.mu.Lock()
	m := s.find(channel, ts)
	s.mu.Unlock()
	if m == nil || m.ephemeral != "" {
		return nil, fail("message_not_found")
	}
	if !s.world.React(channel, ts, botUserID, name, on) {
		return nil, fail(unchanged)
	}
	return nil, nil
}

// setStatus shows or clears the assistant's status. In a direct chat the status of a message
// that heads no thread yet shows in the chat itself.
func (s *Server) setStatus(c *call) (map[string]any, *failure) {
	channel, thread, status := c.get("channel_id"), c.get("thread_ts"), c.get("status")
	if _, sent := c.params["status"]; !sent || channel == "" || thread == "" {
		return nil, fail("invalid_arguments")
	}
	s.mu.Lock()
	refusal := s.refusal
	m := s.find(channel, thread)
	s.mu.Unlock()
	if refusal != "" {
		return nil, fail(refusal)
	}
	if f := s.member(channel); f != nil {
		return nil, f
	}
	if m == nil {
		return nil, fail("invalid_thread_ts")
	}
	if loading := c.get("loading_messages"); loading != "" {
		// slack-go joins them with commas: a comma inside one makes two of it.
		list := strings.Split(strings.Trim(loading, "[]"), ",")
		if len(list) > maxLoading {
			return nil, fail("invalid_arguments", "loading_messages has more than 10 items")
		}
		status = strings.TrimSpace(strings.Trim(list[0], `"`))
	}
	chat, _ := s.world.Chat(channel)
	place := thread
	if chat.Direct && m.thread == "" {
		place = ""
	} else if m.thread != "" {
		place = m.thread
	}
	if c.get("status") == "" {
		s.world.ClearIndicator(channel, place)
		return nil, nil
	}
	s.world.Pulse(channel, place, status, statusLife)
	return nil, nil
}
