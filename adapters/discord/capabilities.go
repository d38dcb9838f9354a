package discord

import (
	"time"

	"typist/adapters"
)

const (
	maxLength   = 2000     // UTF-16 units of the final Markdown, the strictest reading of "characters"
	maxButtonID = 100      // custom_id
	maxFile     = 10 << 20 // default upload limit of a server
	maxNonce    = 25       // characters
	maxLabel    = 80       // of a button
	maxRows     = 5        // of buttons
	maxPerRow   = 5        // buttons
	flagSilent  = 1 << 12  // SUPPRESS_NOTIFICATIONS
	flagNoEmbed = 1 << 2   // SUPPRESS_EMBEDS
	flagPrivate = 1 << 6   // EPHEMERAL
)

// Capabilities are Discord's numbers (PLATFORMS.md). Calls and pulses together stay below the
// 50 a second of a bot.
func (a *Adapter) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{
		IndicatorLife:      10 * time.Second,
		EditKeepsIndicator: true,
		MaxButtonData:      maxButtonID,
		EditPaceDirect:     1500 * time.Millisecond,
		EditPaceGroup:      1500 * time.Millisecond,
		PostPaceDirect:     2500 * time.Millisecond, // with the burst at most 5 in any 5 s
		PostPaceGroup:      2500 * time.Millisecond,
		PostBurst:          3,
		LimitPerCall:       true, // each route has its own bucket
		CallsPerSecond:     30,
		CallBurst:          15,
		PulsesPerSecond:    15,
		SilentPosts:        true,
		RepliesInGroups:    true,
		PingReplies:        true,
		Files:              true,
		NativeCommands:     true,
		ReplaysMissed:      true,
		MaxUploadBytes:     maxFile,
		ReactionsOnInput:   true,
	}
}
