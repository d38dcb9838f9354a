package slack

import (
	"time"

	"typist/adapters/sim/simnet"
)

// Options set the miniature Slack up. The zero value is an ordinary workspace on loopback.
type Options struct {
	// Listener to serve on; nil = a free loopback port. Closed with the server.
	Listener *simnet.Listener

	// RetryScale stretches or shortens the waits before an event is delivered again (at once,
	// 1 min, 5 min); 0 = 1.
	RetryScale float64
	// AckDeadline is how long an envelope may stay unacknowledged; 0 = 3 s.
	AckDeadline time.Duration
	// PingEvery is the time between two websocket pings; 0 = 10 s.
	PingEvery time.Duration
	// ConnectionLife is how long a socket lasts: a warning comes 10 s before its end, then it is
	// told to refresh and closed. 0 = for ever.
	ConnectionLife time.Duration

	// AssistantRefusal is the error that assistant.threads.setStatus answers ("missing_scope",
	// "feature_not_enabled", …); "" = it works.
	AssistantRefusal string
	// SocketRefusal is the error that apps.connections.open answers; "" = it works.
	SocketRefusal string
	// EditWindow is the workspace's setting for edits; older messages answer edit_window_closed.
	// 0 = no limit.
	EditWindow time.Duration
	// NoRetryAfter leaves the Retry-After header out of 429 answers.
	NoRetryAfter bool
	// NoLimits switches the platform's own rate limits off; faults still apply.
	NoLimits bool
	// OnlyMentions is an app that subscribes to app_mention and direct messages, and not to the
	// messages of channels.
	OnlyMentions bool
	// RefuseBlocks makes every message with one of these block types fail with invalid_blocks.
	RefuseBlocks []string
	// Scopes of the bot token; nil = all that the adapter uses.
	Scopes []string
	// Commands are the app's slash commands; nil = those of typist, and /typist.
	Commands []string
}

func (o *Options) defaults() {
	if o.RetryScale == 0 {
		o.RetryScale = 1
	}
	if o.AckDeadline == 0 {
		o.AckDeadline = 3 * time.Second
	}
	if o.PingEvery == 0 {
		o.PingEvery = 10 * time.Second
	}
	if o.Commands == nil {
		o.Commands = []string{"typist", "stop", "retry", "new", "typing", "view", "branch", "status", "help"}
	}
	if o.Scopes == nil {
		o.Scopes = []string{
			"app_mentions:read", "channels:history", "channels:read", "chat:write", "commands", "files:read", "files:write",
			"groups:history", "groups:read", "im:history", "im:read", "im:write", "mpim:history", "mpim:read", "reactions:write", "users:read",
		}
	}
}

// The one workspace, its app, and the tokens it accepts.
const (
	BotToken = "xoxb-1000000000-2000000000-MiniatureSlackBotToken"
	AppToken = "xapp-1-A0TYPIST-3000000000-miniatureslackapptoken"

	teamID    = "T0TYPIST"
	teamName  = "Miniature"
	appID     = "A0TYPIST"
	botUserID = "U0TYPIST"
	botID     = "B0TYPIST"
)

// The people and chats of the default world.
const (
	Ann     = "U0ANN"
	Bob     = "U0BOB"
	DM      = "D0ANN"     // Ann and the bot
	General = "C0GENERAL" // Ann, Bob and the bot
)

// Limits of the platform (docs.slack.dev, @slack/types; "observed" where only seen in practice).
const (
	maxText        = 40000 // characters of text; more is msg_too_long here (Slack cuts it with a warning)
	maxUpdateText  = 4000  // bytes of text in chat.update (observed)
	maxBlocks      = 50
	maxSection     = 3000
	maxHeader      = 150
	maxMarkdown    = 12000 // all markdown blocks of a message together
	maxBlocksSize  = 13200 // all blocks together, as JSON (observed): msg_blocks_too_long
	maxTableRows   = 100
	maxTableCells  = 20
	maxTableText   = 10000
	maxActions     = 25
	maxButtonText  = 75
	maxButtonValue = 255 // 2,000 by the documents, 255 by the team's measurements: the stricter one
	maxID          = 255
	maxContext     = 10
	maxContextText = 2000
	maxURL         = 3000
	maxLoading     = 10
	statusLife     = 2 * time.Minute
	maxFileBytes   = 1 << 30
	maxRequest     = 64 << 20
	responseLife   = 30 * time.Minute
	responseUses   = 5
)
