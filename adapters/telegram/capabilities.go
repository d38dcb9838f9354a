package telegram

import (
	"time"

	"typist/adapters"
)

// Units and sizes of the Bot API.
const (
	maxText    = 4096     // UTF-16 units of a message after parsing, #sendmessage
	maxCaption = 1024     // UTF-16 units of a caption after parsing, #senddocument
	maxUpload  = 50 << 20 // bytes, #senddocument
	maxPhoto   = 10 << 20 // bytes, #sendphoto
	albumSize  = 10       // files of one album, #sendmediagroup
)

// Capabilities are Telegram's numbers. The limits behind the paces: about 1 message a second per
// chat, 20 a minute per group, 30 a second overall (https://core.telegram.org/bots/faq).
func (a *Adapter) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{
		IndicatorLife:      5 * time.Second, // #sendchataction: "5 seconds or less"
		EditKeepsIndicator: true,
		MaxButtonData:      64, // bytes of callback_data, #inlinekeyboardbutton
		EditPaceDirect:     1500 * time.Millisecond,
		EditPaceGroup:      4 * time.Second,
		PostPaceDirect:     time.Second,
		PostPaceGroup:      3 * time.Second,
		PostBurst:          2,
		CallsPerSecond:     28,
		CallBurst:          20,
		SilentPosts:        true,
		RepliesInGroups:    true,
		Fold:               true,
		Files:              true,
		CommandsAsText:     true,
		ReplaysMissed:      true, // for 24 h, #getting-updates
		MaxUploadBytes:     maxUpload,
		ReactionsOnInput:   true,
	}
}
