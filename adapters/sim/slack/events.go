package slack

import (
	"maps"
	"time"
)

// event is the payload of an events_api envelope.
type event struct {
	payload map[string]any
	id      string
}

// callback wraps an inner event. Callers hold mu.
func (s *Server) callback(inner map[string]any) event {
	id := s.nextID("Ev")
	return event{id: id, payload: map[string]any{
		"token": "verification-token", "team_id": teamID, "context_team_id": teamID, "context_enterprise_id": nil, "api_app_id": appID,
		"event": inner, "type": "event_callback", "event_id": id, "event_time": time.Now().Unix(),
		"authorizations": []any{map[string]any{
			"enterprise_id": nil, "team_id": teamID, "user_id": botUserID, "is_bot": true, "is_enterprise_install": false,
		}},
		"is_ext_shared_channel": false, "event_context": "4-context-" + id,
	}}
}

// messageEvent is the inner event of a new message. Callers hold mu.
func (s *Server) messageEvent(m *message) map[string]any {
	e := s.json(m, false)
	e["channel"], e["channel_type"], e["event_ts"] = m.channel, s.channelType(m.channel), m.ts
	return e
}

// changedEvent is the inner event of an edited, unfurled or updated message. Callers hold mu.
func (s *Server) changedEvent(m *message, previous map[string]any) map[string]any {
	ts := s.nextTS()
	return map[string]any{
		"type": "message", "subtype": "message_changed", "hidden": true, "channel": m.channel, "channel_type": s.channelType(m.channel),
		"ts": ts, "event_ts": ts, "message": s.json(m, false), "previous_message": previous,
	}
}

// deletedEvent deletes a message and is the inner event that tells it. Callers hold mu.
func (s *Server) deletedEvent(m *message) map[string]any {
	ts := s.nextTS()
	m.deleted = true
	return map[string]any{
		"type": "message", "subtype": "message_deleted", "hidden": true, "channel": m.channel, "channel_type": s.channelType(m.channel),
		"ts": ts, "event_ts": ts, "deleted_ts": m.ts, "previous_message": s.json(m, false),
	}
}

// mentionEvent is the app_mention that goes with a message. Callers hold mu.
func (s *Server) mentionEvent(m *message) map[string]any {
	e := s.messageEvent(m)
	e["type"] = "app_mention"
	delete(e, "channel_type")
	delete(e, "parent_user_id")
	delete(e, "subtype")
	return e
}

// emit sends inner events to the app, if it is subscribed to them, in order.
func (s *Server) emit(inner ...map[string]any) {
	for _, e := range inner {
		if s.opts.OnlyMentions && e["type"] == "message" && e["channel_type"] != "im" {
			continue
		}
		s.mu.Lock()
		ev := s.callback(e)
		s.events = append(s.events, ev)
		if len(s.events) > 500 {
			s.events = s.events[100:]
		}
		s.mu.Unlock()
		s.deliver(envelope{kind: "events_api", payload: ev.payload, retried: true})
	}
}

// Emit sends any inner event, such as one of a type that no library knows.
func (s *Server) Emit(inner map[string]any) { s.emit(maps.Clone(inner)) }

// Redeliver sends the last n events once more, with new envelopes.
func (s *Server) Redeliver(n int) error {
	s.mu.Lock()
	list := s.events[max(0, len(s.events)-n):]
	s.mu.Unlock()
	for _, ev := range list {
		s.deliver(envelope{kind: "events_api", payload: ev.payload, attempt: 1, reason: "timeout", retried: true})
	}
	return nil
}
