package config

import "time"

// Session is how a chat's turns follow each other.
type Session struct {
	TypingMode     string        // "" = not set at this level (T2)
	TypingInterval time.Duration // 0 = not set at this level (T2)
	Queue          string        // S10
	OnEdit         string        // S7
	EditWindow     time.Duration // 0 = no limit (S7)
}

func (s *Session) fields() []field {
	return []field{
		typingMode(&s.TypingMode),
		typingInterval(&s.TypingInterval),
		enum("queue", &s.Queue, []string{"followup", "collect", "steer", "interrupt"}, "What a message does that comes while the agent works: a turn of its own afterwards, one turn with all that came, handed to the running agent where it can take it, or it ends the run."),
		enum("onEdit", &s.OnEdit, []string{"branch", "ignore"}, "What editing an answered message does."),
		minutes("editWindowMinutes", &s.EditWindow, "Edits count up to this age of the message. 0: always."),
	}
}
