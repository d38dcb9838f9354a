package telegram

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

const (
	maxHistory = 2000  // updates that Redeliver can repeat
	maxQueue   = 50000 // unconfirmed updates; the oldest go, as after 24 h
)

// notByDefault are the kinds that a bot gets only when it asks for them.
var notByDefault = []string{"chat_member", "message_reaction", "message_reaction_count"}

// push makes an update of one field and queues it. An update of a kind that the bot did not ask
// for does not come into being.
func (s *Server) push(kind string, value any) (int64, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return 0, fmt.Errorf("update %s: %w", kind, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.allowed != nil && !slices.Contains(s.allowed, kind) || s.allowed == nil && slices.Contains(notByDefault, kind) {
		return 0, nil
	}
	s.lastID++
	raw := fmt.Appendf(nil, `{"update_id":%d,%q:%s}`, s.lastID, kind, body)
	s.enqueue(update{id: s.lastID, kind: kind, raw: raw})
	return s.lastID, nil
}

// Inject queues an update as it is given, malformed or of an unknown kind too; "update_id" is
// filled in where the text has %d.
func (s *Server) Inject(raw string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	s.enqueue(update{id: s.lastID, kind: "injected", raw: json.RawMessage(replaceID(raw, s.lastID))})
	return s.lastID
}

func (s *Server) enqueue(u update) {
	s.queue = append(s.queue, u)
	if len(s.queue) > maxQueue {
		s.queue = slices.Delete(s.queue, 0, len(s.queue)-maxQueue)
	}
	s.history = append(s.history, u)
	if len(s.history) > maxHistory {
		s.history = slices.Delete(s.history, 0, len(s.history)-maxHistory)
	}
	s.rouse()
}

// rouse wakes the poll; callers hold mu.
func (s *Server) rouse() {
	close(s.wake)
	s.wake = make(chan struct{})
}

// Redeliver sends the last n updates once more, as if the bot had not confirmed them.
func (s *Server) Redeliver(n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > len(s.history) {
		return fmt.Errorf("redelivering %d of %d updates", n, len(s.history))
	}
	s.again = append(s.again, s.history[len(s.history)-n:]...)
	s.rouse()
	return nil
}

// Unconfirmed lists the ids of updates that the bot has not confirmed.
func (s *Server) Unconfirmed() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]int64, 0, len(s.queue))
	for _, u := range s.queue {
		out = append(out, u.id)
	}
	return out
}

// SetWebhook makes polling fail, as a webhook that somebody set does.
func (s *Server) SetWebhook(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.webhook = url
}

func conflict(text string) error {
	return &apiError{code: http.StatusConflict, text: "Conflict: " + text}
}

// getUpdates is https://core.telegram.org/bots/api#getupdates. It confirms what lies before the
// offset and holds the request while there is nothing to tell.
func (s *Server) getUpdates(r *http.Request, p params) (any, error) {
	offset, err := p.number("offset")
	if err != nil {
		return nil, err
	}
	limit, err := p.number("limit")
	if err != nil {
		return nil, err
	}
	if limit < 1 || limit > 100 {
		limit = 100
	}
	seconds, err := p.number("timeout")
	if err != nil {
		return nil, err
	}
	var kinds []string
	given, err := p.object("allowed_updates", &kinds)
	if err != nil {
		return nil, err
	}
	mine := make(chan struct{})
	s.mu.Lock()
	if s.webhook != "" {
		s.mu.Unlock()
		return nil, conflict("can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
	}
	if given {
		s.allowed = nil
		if len(kinds) > 0 {
			s.allowed = kinds
		}
	}
	close(s.poll) // a newer poll ends the older one
	s.poll = mine
	s.mu.Unlock()

	timer := time.NewTimer(time.Duration(seconds) * time.Second)
	defer timer.Stop()
	for {
		s.mu.Lock()
		list, wake := s.take(int64(offset), limit), s.wake
		s.mu.Unlock()
		if len(list) > 0 {
			return list, nil
		}
		select {
		case <-wake:
		case <-mine:
			return nil, conflict("terminated by other getUpdates request; make sure that only one bot instance is running")
		case <-timer.C:
			return []json.RawMessage{}, nil
		case <-r.Context().Done():
			return []json.RawMessage{}, nil
		case <-s.closing:
			return []json.RawMessage{}, nil
		}
	}
}

// take confirms and collects; callers hold mu.
func (s *Server) take(offset int64, limit int) []json.RawMessage {
	if offset < 0 { // counted from the end
		if n := len(s.queue) + int(offset); n > 0 {
			s.queue = s.queue[n:]
		}
	}
	for offset > 0 && len(s.queue) > 0 && s.queue[0].id < offset {
		s.queue = s.queue[1:]
	}
	list := make([]json.RawMessage, 0, min(limit, len(s.again)+len(s.queue)))
	for len(s.again) > 0 && len(list) < limit {
		list = append(list, s.again[0].raw)
		s.again = s.again[1:]
	}
	for _, u := range s.queue {
		if len(list) == limit {
			break
		}
		list = append(list, u.raw)
	}
	return list
}
