package config

import (
	"maps"
	"slices"
	"time"
)

// Agents are the agents by id, and what they share.
type Agents struct {
	Defaults Agent
	List     map[string]Agent
}

// Agent is how one agent answers.
type Agent struct {
	Backend         string        // name in backends; "" = the only one
	SystemPrompt    string        //
	TypingMode      string        // "" = not set at this level (T2)
	TypingInterval  time.Duration // 0 = not set at this level (T2)
	TypingMax       time.Duration // 0 = none (T13)
	Timeout         time.Duration // of a run (T13)
	ReasoningLevel  string        // off, on, stream (A6)
	ReasoningEffort string        // "" = the model's own (A6)
	Heartbeat       Heartbeat
}

// The words that keys allow.
var (
	TypingModes      = []string{"never", "instant", "thinking", "message"}
	ReasoningLevels  = []string{"off", "on", "stream"}
	ReasoningEfforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
)

func (a *Agents) fields() []field {
	return []field{
		section("defaults", "", a.Defaults.fields),
		mapOf("list", "ID", &a.List, "Agents that differ from `agents.defaults`; they may set any of its keys.", func() Agent {
			own := a.Defaults
			own.TypingMode, own.TypingInterval, own.Heartbeat.Agent = "", 0, ""
			return own
		}, (*Agent).fields).sameAs("agents.defaults").asGrowing(),
	}
}

func (a *Agent) fields() []field {
	return []field{
		text("backend", &a.Backend, "Name of the backend that answers.").shown("the only one").asLive(),
		text("systemPrompt", &a.SystemPrompt, "System prompt.").asLive(),
		typingMode(&a.TypingMode),
		typingInterval(&a.TypingInterval),
		seconds("typingMaxSeconds", &a.TypingMax, 0, "Ends the indicator after this time though the run goes on. 0: never.").asLive(),
		seconds("timeoutSeconds", &a.Timeout, 1, "Longest run.").asLive(),
		enum("reasoningLevel", &a.ReasoningLevel, ReasoningLevels, "Thinking is never shown, shown once a block has ended, or live.").asLive(),
		enum("reasoningEffort", &a.ReasoningEffort, ReasoningEfforts, "How much the model thinks.").shown("the model's own").asLive(),
		section("heartbeat", "", a.Heartbeat.fields),
	}
}

func typingMode(p *string) field {
	return enum("typingMode", p, TypingModes, "When the indicator starts.").shown("by kind of chat").asLive()
}

func typingInterval(p *time.Duration) field {
	return seconds("typingIntervalSeconds", p, 1, "How often the indicator is renewed; at least 1, fractions count.").shown("6").asLive()
}

// Heartbeat is a turn that the clock starts (H1).
type Heartbeat struct {
	Every       time.Duration // 0 = off
	Target      string        // last, none, or a channel's name
	To          string        // chat in the target channel: id or name, "chat/thread" in a thread
	Agent       string        // the agent that runs it; "" = the one that it belongs to
	Prompt      string        // "" = the built-in one
	Checklist   string        // file, absolute; empty or missing content skips the run (H7); "" = none
	Deliver     bool
	ActiveHours ActiveHours
}

// ActiveHours are when heartbeats run. The zero value is always.
type ActiveHours struct {
	Start, End string // "08:00", "22:00" or "24:00"; both or none
	Timezone   string // IANA name; "" = the machine's
}

func (h *Heartbeat) fields() []field {
	return []field{
		duration("every", &h.Every, time.Minute, "Time between two heartbeats, such as `30m`. 0: off."),
		enum("target", &h.Target, append([]string{"last", "none"}, channelNames...), "Chat that it belongs to: where a person last spoke to the agent, none, or a channel (with `to`)."),
		text("to", &h.To, "Chat in the target channel: an id, a name where the platform has names, `chat/thread` in a thread or topic."),
		text("agent", &h.Agent, "Agent that runs it.").shown("the agent it stands at"),
		text("prompt", &h.Prompt, "What the agent is told.").shown("built in"),
		text("checklist", &h.Checklist, "File that the agent goes through; an empty one skips the run. Relative to the config file."),
		boolean("deliver", &h.Deliver, "Whether its text goes to the chat."),
		section("activeHours", "", func() []field {
			return []field{
				text("start", &h.ActiveHours.Start, "Heartbeats run from this time, such as `08:00`.").check(checkClock).shown("all day"),
				text("end", &h.ActiveHours.End, "To this time, such as `22:00` or `24:00`; before `start`: over midnight.").check(checkClock).shown("all day"),
				text("timezone", &h.ActiveHours.Timezone, "IANA name, such as `Europe/Berlin`.").check(checkZone).shown("the machine's"),
			}
		}),
	}
}

// AgentHeartbeat is one schedule and the agent that it runs.
type AgentHeartbeat struct {
	Agent string
	Heartbeat
}

// Heartbeats are the schedules that are on, by agent id. An agent's own `heartbeat.agent` and
// that of agents.defaults hand theirs to another agent.
func (c *Config) Heartbeats() []AgentHeartbeat {
	found := map[string]AgentHeartbeat{}
	add := func(owner string, h Heartbeat) {
		if h.Every <= 0 {
			return
		}
		if h.Agent == "" {
			h.Agent = owner
		}
		if _, taken := found[h.Agent]; !taken {
			found[h.Agent] = AgentHeartbeat{Agent: h.Agent, Heartbeat: h}
		}
	}
	ids := c.AgentIDs()
	var inherited []string
	for _, id := range ids {
		if _, own := c.lines["agents.list."+id+".heartbeat"]; own {
			add(id, c.Agents.List[id].Heartbeat)
		} else {
			inherited = append(inherited, id)
		}
	}
	for _, id := range inherited {
		add(id, c.Agents.Defaults.Heartbeat)
	}
	result := make([]AgentHeartbeat, 0, len(found))
	for _, id := range slices.Sorted(maps.Keys(found)) {
		result = append(result, found[id])
	}
	return result
}
