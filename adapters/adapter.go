package adapters

import (
	"context"
	"time"

	"typist/adapters/rich"
)

// Adapter connects one platform. Implementations are safe for concurrent use. Calls other than
// Run make exactly one attempt: waiting, retrying and pacing belong to the caller.
type Adapter interface {
	// Name is the channel's name: telegram, discord or slack.
	Name() string
	Capabilities() Capabilities
	// Run receives until ctx ends (returns nil) or the platform refuses for good (returns a
	// *FatalError). It reconnects by itself (C4).
	Run(ctx context.Context, sink Sink) error
	// Send posts one message into the chat and returns its ref. The document must be one that
	// Fit returned. Errors: see errors.go.
	Send(ctx context.Context, chat Chat, post Post) (Ref, error)
	// Fit splits a document into parts that one message each can hold (P13); at least one part.
	Fit(doc rich.Doc) []rich.Doc
}

// Sink takes what an adapter receives. Deliver returns nil once the event is durable (or known
// already), quickly and without waiting for a run; an error means that it was not taken, and the
// adapter lets the platform deliver it again where the platform can. Calls come in the platform's
// order, one at a time per adapter.
type Sink interface {
	Deliver(ctx context.Context, ev Event) error
	// Status reports a change of the connection (O1).
	Status(channel string, status Status)
}

// Status is the state of a channel's connection. Err is nil while all is well.
type Status struct {
	Connected bool
	Since     time.Time
	Err       error // a sentence for people by Error(); secrets masked
}

// Memory keeps small values across restarts for an adapter (cursors, ids). Keys are the
// adapter's own. Load returns "" for an unknown key.
type Memory interface {
	Load(ctx context.Context, key string) (string, error)
	Save(ctx context.Context, key, value string) error
}

// The optional abilities. Check verifies that they agree with Capabilities.

// Editor edits a message in place. Post.Buttons replaces the buttons; none removes them. An
// unchanged edit succeeds. ErrGone and ErrTooOld tell that the message can't be edited any more.
type Editor interface {
	Edit(ctx context.Context, ref Ref, post Post) error
}

// Deleter deletes one of the bot's own messages; one that is gone already counts as deleted.
type Deleter interface {
	Delete(ctx context.Context, ref Ref) error
}

// Indicator shows or renews the typing indicator (one pulse).
type Indicator interface {
	Pulse(ctx context.Context, chat Chat, ind Indication) error
}

// Indication is what a pulse shows.
type Indication struct {
	Text   string // status text where the platform has one (Slack); "" = the plain indicator
	Anchor string // the person's message: thread of a status, target of a fallback reaction
}

// Clearer takes the indicator away at once (Slack). Clearing what does not show succeeds.
type Clearer interface {
	Clear(ctx context.Context, chat Chat, anchor string) error
}

// Reactor sets or removes the bot's reaction on a message (a waiting message's sign, S10).
// Setting one that stands, or removing one that does not, succeeds.
type Reactor interface {
	React(ctx context.Context, ref Ref, reaction Reaction, on bool) error
}

// Reaction is a neutral reaction; the adapter chooses the platform's emoji.
type Reaction string

// The reactions in use.
const ReactionWaiting Reaction = "waiting" // 👀 or the platform's nearest

// Finder looks up a post whose outcome is unknown by its Post.Key (S3). found=false with nil
// error means that it surely is not there.
type Finder interface {
	Find(ctx context.Context, chat Chat, key string, since time.Time) (ref Ref, found bool, err error)
}

// Sweeper deletes the bot's own messages whose ids nobody knows, on a platform that has no look-up
// by key but whose ids grow (Telegram): those with ids between after and before, both exclusive,
// that keep does not claim. Messages of people stay, whatever keep says. It tries a bounded number
// of ids, the newest first.
type Sweeper interface {
	Sweep(ctx context.Context, chat Chat, after, before string, keep func(id string) bool) error
}

// Reclaimer looks for a post whose outcome is unknown on such a platform: for one of the bot's own
// messages between two ids, both exclusive, that keep does not claim and that says what post says
// or can be made to. found false with complete true means that it surely was never sent; complete
// is false where there are too many ids to try them all.
type Reclaimer interface {
	Reclaim(ctx context.Context, chat Chat, after, before string, post Post, keep func(id string) bool) (ref Ref, found, complete bool, err error)
}

// Fetcher loads the content of an inbound file, at most limit bytes; more is an error.
type Fetcher interface {
	Fetch(ctx context.Context, file File, limit int64) ([]byte, error)
}

// CommandMenu registers the bot's commands, idempotently (C8).
type CommandMenu interface {
	SetCommands(ctx context.Context, commands []CommandSpec) error
}

// CommandSpec describes one command for a platform's menu.
type CommandSpec struct {
	Name        string
	Description map[string]string // language → text; "en" always present
	Args        string            // usage such as "[mode|default] [seconds]"; "" = no arguments
	Choices     []string          // completions of the first argument, where there are some
	OnMessage   bool              // also offered as message shortcut / context command (S8)
}

// Resolver finds a chat by what a person would write in a config (H1): an id, or a name where
// the platform has names ("#general", "@ann").
type Resolver interface {
	Resolve(ctx context.Context, target string) (Chat, Kind, error)
}

// Prober reaches the platform once for `typist check` (O4) and says what it found
// ("bot @name, privacy mode on").
type Prober interface {
	Probe(ctx context.Context) (found string, err error)
}
