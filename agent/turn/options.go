// Package turn turns what people write into runs of an agent and what runs yield into what
// people see: gates and de-duplication (Hub), one goroutine per chat (lane), one run at a time
// in it (run), and everything that leaves for the platform (outbox).
package turn

import (
	"log/slog"
	"time"

	"typist/adapters"
	"typist/agent"
	"typist/agent/eventlog"
	"typist/agent/metrics"
	"typist/agent/progress"
	"typist/agent/store"
	"typist/typing"
)

// Options is what a Hub is made of.
type Options struct {
	Store    *store.Store
	Events   *eventlog.Log
	Channels []adapters.Adapter
	Backends map[string]Backend
	Settings Settings
	Log      *slog.Logger
	Metrics  *metrics.Metrics // nil: nothing is measured
}

// Backend is a backend with the tools it may use.
type Backend struct {
	agent.Backend
	Tools agent.Toolbox // nil: none
}

// Settings is what a reload can change (O5).
type Settings struct {
	Channels      map[string]Channel // by adapter name
	Agents        map[string]Agent   // by name; "" is agents.defaults
	SessionTyping typing.Level
	Queue         Queue
	OnEdit        OnEdit
	EditWindow    time.Duration // 0 = no limit (S7)
	View          progress.Level
	Delay         time.Duration // progress.delaySeconds (P1)
	NotifyAfter   time.Duration // progress.notifyAfterSeconds (P12)
	Lang          progress.Lang
	SilentTokens  typing.SilentTokens
}

// Channel is how one channel is served.
type Channel struct {
	Agent     string   // "" = agents.defaults
	AllowFrom []string // ids, or @names where stable, or role:ID on Discord; "*" = everyone; empty = nobody (C2)
	Groups    map[string]Group
	Typing    typing.Level
	Pairing   bool
}

// Group is how one group is served; "*" in Channel.Groups stands for all that are not listed.
type Group struct {
	RequireMention bool
	AllowFrom      []string // empty = the channel's
	Agent          string
}

// Agent is one entry of agents.list with the defaults filled in.
type Agent struct {
	Name         string
	Backend      string
	SystemPrompt string
	Levels       []typing.Level // its own level, then agents.defaults (T2)
	TypingMax    time.Duration  // 0 = none (T13)
	Timeout      time.Duration  // T13
	Reasoning    progress.Reasoning
	Effort       string
}

// Queue says what happens to messages that come while a run is active (S10).
type Queue string

// The queue modes.
const (
	Followup  Queue = "followup"
	Collect   Queue = "collect"
	Steer     Queue = "steer"
	Interrupt Queue = "interrupt"
)

// OnEdit says what an edited message does (S7).
type OnEdit string

// What an edit can do.
const (
	EditBranch OnEdit = "branch"
	EditIgnore OnEdit = "ignore"
)

// Numbers fixed by SPEC.
const (
	queueCap      = 20                     // S10
	stopDeadline  = 5 * time.Second        // S2; also after a run's timeout (T13)
	pulseWait     = 50 * time.Millisecond  // T8
	storeInterval = 250 * time.Millisecond // DESIGN, hop 4: at most 4 rows a second per run
	laneIdle      = time.Minute            // an idle chat's goroutine ends after this
)
