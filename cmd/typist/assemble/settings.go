package assemble

import (
	"typist/agent/progress"
	"typist/agent/turn"
	"typist/config"
	"typist/typing"
)

// Settings is what the configuration says that a reload can change (O5).
func Settings(c *config.Config) turn.Settings {
	s := turn.Settings{
		Channels:      map[string]turn.Channel{},
		Agents:        map[string]turn.Agent{"": agentOf(c, config.DefaultAgent)},
		SessionTyping: level("session", c.Session.TypingMode, typing.Level{Interval: c.Session.TypingInterval}),
		Queue:         turn.Queue(c.Session.Queue),
		OnEdit:        turn.OnEdit(c.Session.OnEdit),
		EditWindow:    c.Session.EditWindow,
		View:          progress.Level(c.Progress.View),
		Delay:         c.Progress.Delay,
		NotifyAfter:   c.Progress.NotifyAfter,
		Lang:          progress.Lang(c.Progress.Language),
		SilentTokens:  typing.NewSilentTokens(c.SilentTokens),
	}
	for _, id := range append(c.AgentIDs(), config.DefaultAgent) {
		s.Agents[id] = agentOf(c, id)
	}
	for _, name := range c.Channels.Names() {
		s.Channels[name] = channelOf(name, c.Channels.Get(name))
	}
	return s
}

func channelOf(name string, ch *config.Channel) turn.Channel {
	out := turn.Channel{
		Agent: orDefault(ch.Agent), AllowFrom: ch.AllowFrom, Pairing: ch.Pairing, Groups: map[string]turn.Group{},
		Typing: level("channels."+name, ch.TypingMode, typing.Level{Interval: ch.TypingInterval}),
	}
	for id, g := range ch.Groups {
		out.Groups[id] = turn.Group{RequireMention: g.RequireMention, AllowFrom: g.AllowFrom, Agent: g.Agent}
	}
	return out
}

// orDefault names the agent that serves where the configuration names none.
func orDefault(agent string) string {
	if agent == "" {
		return config.DefaultAgent
	}
	return agent
}

func agentOf(c *config.Config, id string) turn.Agent {
	a, _ := c.Agent(id)
	defaults := c.Agents.Defaults
	return turn.Agent{
		Name: id, Backend: c.BackendOf(a), SystemPrompt: a.SystemPrompt,
		Levels: []typing.Level{
			level("agents.list."+id, a.TypingMode, typing.Level{Interval: a.TypingInterval}),
			level("agents.defaults", defaults.TypingMode, typing.Level{Interval: defaults.TypingInterval}),
		},
		TypingMax: a.TypingMax, Timeout: a.Timeout,
		Reasoning: progress.Reasoning(a.ReasoningLevel), Effort: a.ReasoningEffort,
	}
}

// level is one level of T2. The mode was checked when the file was loaded.
func level(name, mode string, l typing.Level) typing.Level {
	l.Name = name
	if m, err := typing.ParseMode(mode); err == nil && mode != "" {
		l.Mode = m
	}
	return l
}
