package slack

import (
	"time"

	"typist/adapters"
)

// Limits of what goes out (PLATFORMS.md "Numbers"; docs.slack.dev/reference/block-kit).
const (
	maxBlocksSize  = 12000 // JSON characters of a message's blocks; Slack refuses about 13,200, the rest is for buttons
	maxBlocks      = 44    // of 50; the rest is for buttons
	maxFallback    = 3000  // bytes of text beside blocks; chat.update refuses more than 4,000
	maxSection     = 3000
	maxContextText = 2000
	maxContext     = 10
	maxButtonText  = 75
	maxButtonValue = 255
	maxButtonsRow  = 5
	maxURL         = 3000
	maxTableRows   = 100
	maxTableCells  = 20
	maxTableSize   = 8000 // JSON characters; bigger tables are lighter as preformatted text
	maxStatus      = 50   // graphemes
)

// Capabilities are Slack's numbers.
func (a *Adapter) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{
		IndicatorLife:        2 * time.Minute,
		EditKeepsIndicator:   false,
		IndicatorText:        true,
		ThreadPerQuestion:    true,
		UniqueNames:          true,
		MaxButtonData:        maxButtonValue,
		EditPaceDirect:       1500 * time.Millisecond,
		EditPaceGroup:        1500 * time.Millisecond,
		PostPaceDirect:       time.Second,
		PostPaceGroup:        time.Second,
		PostBurst:            3,
		LimitPerCall:         true, // limits hold per method
		CallsPerSecond:       5,
		CallBurst:            10,
		EditsPerMinute:       48,
		PulsesPerSecond:      5,
		Files:                true,
		CommandsAsText:       true, // "@bot /stop", where slash commands do not exist
		NativeCommands:       true,
		CommandsFromManifest: true,
		ReplaysMissed:        true,
		ReactionsOnInput:     true,
	}
}
