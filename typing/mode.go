// Package typing decides when the typing indicator shows: the modes and their precedence (T1–T4),
// silent replies (T5), and the controller that says when a pulse is due and when none may follow
// (T6–T13). It is pure: it has no clock and no goroutine, and sends nothing; times are passed in.
package typing

import (
	"fmt"
	"strings"
)

// Mode says which signal starts the indicator (T1).
type Mode uint8

// The modes. Unset is the absence of a choice: Resolve replaces it (T3), and a controller that is
// given it sends nothing.
const (
	Unset Mode = iota
	Never
	Instant
	Thinking
	Message
)

var modeNames = [...]string{Unset: "unset", Never: "never", Instant: "instant", Thinking: "thinking", Message: "message"}

// String is the mode's name as the configuration writes it.
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// ParseMode reads a mode's name; the error names the allowed ones (T15).
func ParseMode(s string) (Mode, error) {
	allowed := modeNames[Never:]
	for i, name := range allowed {
		if s == name {
			return Never + Mode(i), nil
		}
	}
	return Unset, fmt.Errorf("unknown typing mode %q (allowed: %s)", s, strings.Join(allowed, ", "))
}

// Signal is something in a run that may start the indicator: the rows of T1's table.
type Signal uint8

// The signals.
const (
	LoopStarted Signal = iota // the chat's lane begins the turn
	Reasoning                 // thinking begins or streams; only sent with reasoningLevel "stream" (A6)
	Execution                 // a tool call executes, a step or a subagent starts
	Text                      // text that is not (a prefix of) a silent token: what SilentFilter releases
)

// starts is T1's table.
func (m Mode) starts(s Signal) bool {
	switch m {
	case Instant:
		return true
	case Thinking:
		return s == Reasoning || s == Execution || s == Text
	case Message:
		return s == Execution || s == Text
	case Unset, Never:
	}
	return false
}
