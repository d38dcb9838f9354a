// Package progress turns a run's events into what people see of it: the progress message (P1–P10),
// its end (P12), the trace behind the Details button (P8), and every word of it in four languages
// (P15). It is pure: no goroutine, no clock, no network; times are passed in.
package progress

import (
	"fmt"
	"strings"
	"time"
)

// Level is a view of the progress message (P7).
type Level string

// The views.
const (
	Overview Level = "overview" // one line
	Summary  Level = "summary"  // run line, live line, steps, subagents, last text
	Detail   Level = "detail"   // the whole trace, thinking text included
)

// Levels lists the views in the order people choose from.
func Levels() []Level { return []Level{Overview, Summary, Detail} }

// ParseLevel reads a view's name. The error lists the allowed ones.
func ParseLevel(s string) (Level, error) { return parse("view", s, Levels()) }

// Reasoning says how much of the model's thinking people see (A6).
type Reasoning string

// The levels of reasoning.
const (
	ReasoningOff    Reasoning = "off"    // never shown
	ReasoningOn     Reasoning = "on"     // shown once a block has ended
	ReasoningStream Reasoning = "stream" // shown live
)

// Reasonings lists the levels of reasoning.
func Reasonings() []Reasoning { return []Reasoning{ReasoningOff, ReasoningOn, ReasoningStream} }

// ParseReasoning reads a level of reasoning. The error lists the allowed ones.
func ParseReasoning(s string) (Reasoning, error) { return parse("reasoning level", s, Reasonings()) }

func parse[T ~string](what, s string, allowed []T) (T, error) {
	names := make([]string, len(allowed))
	for i, a := range allowed {
		if strings.EqualFold(s, string(a)) {
			return a, nil
		}
		names[i] = string(a)
	}
	var none T
	return none, fmt.Errorf("unknown %s %q (allowed: %s)", what, s, strings.Join(names, ", "))
}

// Options say how a Board speaks and how much it shows.
type Options struct {
	Lang      Lang      // "" = English
	Reasoning Reasoning // "" = stream
	StartedAt time.Time // the run's start; zero: the time of its first event
	// Limit is about how many characters a View may have; 0 = 1,900, which fits one message on
	// every platform (Discord's 2,000 is the smallest). A longer answer-so-far shows its end.
	Limit int
}

const defaultLimit = 1900

func (o Options) withDefaults() Options {
	if o.Reasoning == "" {
		o.Reasoning = ReasoningStream
	}
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	return o
}
