package typing

import "time"

// DefaultInterval is the keepalive's interval where no level sets one (T2).
const DefaultInterval = 6 * time.Second

// MinInterval is the shortest interval that a configuration or a command may set (T15).
const MinInterval = time.Second

// Level is one level of T2's precedence, such as a channel's section of the configuration.
// Unset and 0 say nothing.
type Level struct {
	Name     string
	Mode     Mode
	Interval time.Duration
}

// Situation is what T3 asks about a turn. Mentioned covers a mention, a reply to the bot, and a
// command addressed to it.
type Situation struct{ Direct, Mentioned, Heartbeat bool }

// Resolved is a turn's mode and interval, each with the name of the level it came from.
type Resolved struct {
	Mode         Mode
	ModeFrom     string
	Interval     time.Duration
	IntervalFrom string
}

// Resolve picks mode and interval, each by itself, from levels given most specific first (T2).
// Where none says a mode the kind of chat decides (T3); where none says an interval it is
// DefaultInterval. The mode is never Unset.
func Resolve(s Situation, levels ...Level) Resolved {
	r := Resolved{Mode: byKind(s), ModeFrom: "kind of chat", Interval: DefaultInterval, IntervalFrom: "default"}
	for _, l := range levels {
		if l.Mode != Unset {
			r.Mode, r.ModeFrom = l.Mode, l.Name
			break
		}
	}
	for _, l := range levels {
		if l.Interval > 0 {
			r.Interval, r.IntervalFrom = l.Interval, l.Name
			break
		}
	}
	return r
}

// byKind is T3. A heartbeat's indicator starts with its run (T4), which is what Instant means.
func byKind(s Situation) Mode {
	if s.Direct || s.Mentioned || s.Heartbeat {
		return Instant
	}
	return Message
}

// HeartbeatTyping is what T4 asks before a heartbeat run may show the indicator.
type HeartbeatTyping struct {
	Mode        Mode
	TargetNone  bool // the target is "none"
	Unresolved  bool // the target cannot be resolved to a chat
	DeliverOff  bool // chat delivery for the heartbeat is off
	NoIndicator bool // the channel has none
}

// Starts reports whether the indicator starts with the heartbeat run (T4).
func (h HeartbeatTyping) Starts() bool {
	return h.Mode != Never && !h.TargetNone && !h.Unresolved && !h.DeliverOff && !h.NoIndicator
}
