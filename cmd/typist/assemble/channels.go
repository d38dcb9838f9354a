package assemble

import (
	"fmt"
	"log/slog"

	"typist/adapters"
	"typist/adapters/discord"
	"typist/adapters/slack"
	"typist/adapters/telegram"
	"typist/agent/turn"
	"typist/config"
)

// Channel makes the adapter of a configured channel.
func Channel(name string, c *config.Channel, log *slog.Logger, memory adapters.Memory) (adapters.Adapter, error) {
	log = log.With("channel", name)
	switch name {
	case "telegram":
		return telegram.New(telegram.Config{Token: c.BotToken, APIURL: c.APIURL, IsStop: turn.IsStopWord, AllMessages: readsEverything(c)},
			telegram.Deps{Log: log, Memory: memory})
	case "discord":
		return discord.New(discord.Config{Token: c.BotToken, APIURL: c.APIURL, MessageContent: readsEverything(c), IsStop: turn.IsStopWord},
			discord.Deps{Log: log, Memory: memory})
	case "slack":
		return slack.New(slack.Config{BotToken: c.BotToken, AppToken: c.AppToken, APIURL: c.APIURL, ThreadReplies: c.ThreadReplies},
			slack.Deps{Log: log, Memory: memory})
	}
	return nil, fmt.Errorf("unknown channel %q", name)
}

// readsEverything: some group is served without mention, which needs Discord's Message Content
// intent, and privacy mode off on Telegram.
func readsEverything(c *config.Channel) bool {
	for _, g := range c.Groups {
		if !g.RequireMention {
			return true
		}
	}
	return false
}
