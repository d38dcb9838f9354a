package adapters

import (
	"errors"
	"fmt"
	"time"
)

// Capabilities are a platform's numbers and yes/no facts (PLATFORMS.md). What a platform can do
// by a call of its own is an optional interface; Check holds both against each other.
type Capabilities struct {
	IndicatorLife time.Duration // how long a pulse shows; 0 = the platform has no indicator
	// EditKeepsIndicator: an edit leaves a showing indicator standing, so an answer that must end
	// it is a new message (P12). True where there is no explicit clear.
	EditKeepsIndicator bool
	IndicatorText      bool // Indication.Text shows

	MaxButtonData int // bytes of Button.Data

	// Pace, ours, below the platform's limits (PLATFORMS.md "Pace of edits").
	EditPaceDirect       time.Duration // between two edits of one chat
	EditPaceGroup        time.Duration
	PostPaceDirect       time.Duration // between two new messages of one chat, sustained
	PostPaceGroup        time.Duration
	LimitPerCall         bool    // a 429 holds for its kind of call only (send, edit, delete), not for the chat
	PostBurst            int     // posts a chat may send at once before PostPace holds
	CallsPerSecond       float64 // sends, edits and deletes of the whole token together; 0 = no bound
	CallBurst            int
	EditsPerMinute       float64 // edits of the whole token; 0 = no bound of their own
	PulsesPerSecond      float64 // indicator calls of the whole token; 0 = no bound
	RepliesInGroups      bool    // in groups an answer is a reply to its question (Slack uses threads instead)
	UniqueNames          bool    // a group's name says which group it is (Slack: one workspace)
	ThreadPerQuestion    bool    // in groups every question has a thread, and so a chat, of its own
	SilentPosts          bool    // Post.Silent works
	PingReplies          bool    // Post.Ping works
	Fold                 bool    // rich.Fold is a folding element of the platform's own
	Files                bool    // Post.Files works
	CommandsAsText       bool    // "/cmd" arrives as Message
	NativeCommands       bool    // arrive as Command
	CommandsFromManifest bool    // native commands come from the app's manifest (Slack): there is no menu to register
	ReplaysMissed        bool    // what came in while away is delivered later (C4)
	MaxUploadBytes       int64   // of a file in Post.Files; 0 = no bound of its own
	ReactionsOnInput     bool    // Reactor works on people's messages
}

// Check says where an adapter's Capabilities and its optional interfaces disagree; nil is agreement.
func Check(a Adapter) error {
	caps := a.Capabilities()
	var errs []error
	must := func(cond, has bool, what string) {
		if cond != has {
			errs = append(errs, fmt.Errorf("adapter %s: capabilities say %t for %s, its methods say %t", a.Name(), cond, what, has))
		}
	}
	_, indicator := a.(Indicator)
	_, clearer := a.(Clearer)
	_, reactor := a.(Reactor)
	_, menu := a.(CommandMenu)
	must(caps.IndicatorLife > 0, indicator, "an indicator")
	must(caps.ReactionsOnInput, reactor, "reactions")
	if caps.NativeCommands && !menu && !caps.CommandsFromManifest {
		errs = append(errs, fmt.Errorf("adapter %s: native commands without a command menu", a.Name()))
	}
	if indicator && clearer == caps.EditKeepsIndicator {
		errs = append(errs, fmt.Errorf("adapter %s: EditKeepsIndicator must be the opposite of having an explicit clear", a.Name()))
	}
	if caps.MaxButtonData < 64 {
		errs = append(errs, fmt.Errorf("adapter %s: buttons of %d bytes; 64 are needed", a.Name(), caps.MaxButtonData))
	}
	return errors.Join(errs...)
}
