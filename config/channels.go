package config

import "time"

// channelNames are the platforms, in the order of documentation.
var channelNames = []string{"telegram", "discord", "slack"}

// Channels are the platform connections; nil = not configured.
type Channels struct {
	Telegram, Discord, Slack *Channel
}

// Channel is one platform connection.
type Channel struct {
	BotToken       string
	AppToken       string // Slack only
	ThreadReplies  string // Slack only: channels, always, never
	APIURL         string // "" = the platform's own
	AllowFrom      []string
	Groups         map[string]Group // by chat id (on Slack also "#name"), and "*"
	Agent          string           // "" = DefaultAgent
	TypingMode     string           // "" = not set at this level (T2)
	TypingInterval time.Duration    // 0 = not set at this level (T2)
	Pairing        bool             // C2
}

// Group is how one group (channel, guild channel, supergroup) is served (C1).
type Group struct {
	RequireMention bool
	AllowFrom      []string // nil = the channel's; never empty otherwise
	Agent          string   // "" = the channel's
}

// Get returns a channel by name; nil = not configured.
func (c *Channels) Get(name string) *Channel {
	switch name {
	case "telegram":
		return c.Telegram
	case "discord":
		return c.Discord
	case "slack":
		return c.Slack
	}
	return nil
}

// Names are the configured channels.
func (c *Channels) Names() []string {
	var names []string
	for _, name := range channelNames {
		if c.Get(name) != nil {
			names = append(names, name)
		}
	}
	return names
}

func (c *Channels) fields() []field {
	return []field{
		optional("telegram", &c.Telegram, newChannel, (*Channel).telegram),
		optional("discord", &c.Discord, newChannel, (*Channel).discord),
		optional("slack", &c.Slack, newChannel, (*Channel).slack),
	}
}

func newChannel() *Channel { return &Channel{ThreadReplies: "channels"} }

func (c *Channel) telegram() []field {
	return c.common(telegramForms, "Token from @BotFather.",
		"Another Bot API server (`http://host:port`).",
		"People who may use the bot: user ids, `@username`, `\"*\"`.")
}

func (c *Channel) discord() []field {
	return c.common(discordForms, "Bot token of the application.",
		"Proxy that takes every REST call (scheme and host are replaced).",
		"People who may use the bot: user ids, `@username`, `role:ID`, `\"*\"`.")
}

func (c *Channel) slack() []field {
	common := c.common(slackForms, "Bot token (`xoxb-…`).",
		"Slack-compatible API (`http://host:port/api/`).",
		"People who may use the bot: member ids, `\"*\"`.")
	return append(common,
		text("appToken", &c.AppToken, "App-level token (`xapp-…`) with `connections:write`.").masked().must(),
		enum("threadReplies", &c.ThreadReplies, []string{"channels", "always", "never"}, "Where answers go into a thread under the question."),
	)
}

func (c *Channel) common(forms forms, token, api, allow string) []field {
	return []field{
		text("botToken", &c.BotToken, token).masked().must(),
		text("apiURL", &c.APIURL, api).check(checkURL).shown("the platform's own"),
		ids("allowFrom", &c.AllowFrom, allow+" Empty: nobody.").check(forms.person).asLive(),
		mapOf("groups", "CHAT", &c.Groups, "Groups that are served, by chat id, on Slack also by `\"#name\"`; `\"*\"`: every other.",
			func() Group { return Group{RequireMention: true} }, func(g *Group) []field { return g.fields(forms) }).check(forms.group).asLive(),
		text("agent", &c.Agent, "Agent that answers here.").shown("`agents.defaults`").asLive(),
		typingMode(&c.TypingMode),
		typingInterval(&c.TypingInterval),
		boolean("pairing", &c.Pairing, "Unknown people get a code that the owner approves with `typist pair CODE`.").asLive(),
	}
}

func (g *Group) fields(forms forms) []field {
	return []field{
		boolean("requireMention", &g.RequireMention, "Answer only when mentioned, replied to or commanded."),
		ids("allowFrom", &g.AllowFrom, "People who may use the bot in this group; at least one.").check(forms.person).nonEmpty().shown("the channel's"),
		text("agent", &g.Agent, "Agent that answers in this group.").shown("the channel's"),
	}
}
