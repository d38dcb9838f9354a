// Package sim has what the miniature platforms share: the world that people in a chat see
// (World), the things people do there (Platform), and faults to inject. The platforms themselves
// are sim/telegram, sim/discord and sim/slack: HTTP and websocket servers that are strict where
// the real ones are strict. They serve the contract suite, the end-to-end tests and the playground.
package sim

import "time"

// Platform is a running miniature platform.
type Platform interface {
	Name() string
	// URL is the apiURL to configure for the channel.
	URL() string
	// Credentials are the config keys (botToken, appToken) of the one bot it knows.
	Credentials() map[string]string
	World() *World
	// Say posts a person's message and returns its id.
	Say(say Say) (string, error)
	// EditMessage changes the text of a person's own message.
	EditMessage(chat, person, message, text string) error
	// Press presses the button with that data under a message of the bot.
	Press(chat, person, message, data string) error
	// Command runs a command as the platform's people do: text on Telegram, a slash command, or
	// with target set a message shortcut or context command.
	Command(c CommandUse) error
	// Redeliver sends the last n events to the bot once more, as platforms do.
	Redeliver(n int) error
	// Disconnect breaks the bot's connections; it may come back after the given time.
	Disconnect(refuse time.Duration)
	Close() error
}

// Say is a person's message.
type Say struct {
	Chat    string
	Thread  string // topic or thread; "" = none
	Person  string // id; must be a member
	Text    string
	Mention bool   // mention the bot in front of the text, the platform's way
	ReplyTo string // message id
	Files   []File // more than one is an album where the platform has albums
	Parts   int    // >1: the text arrives cut in that many messages at once, as a client splits a long paste
}

// CommandUse is a person's use of a command.
type CommandUse struct {
	Chat, Thread, Person string
	Name, Args           string
	Target               string // message id of a shortcut or context command
}

// File is a file in a message.
type File struct {
	Name string `json:"name"`
	MIME string `json:"mime"`
	Data []byte `json:"data,omitempty"`
}

// Person is a member of a platform; the bot is one too.
type Person struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Username string `json:"username"`
	Bot      bool   `json:"bot,omitempty"`
}

// Chat is a chat of a platform.
type Chat struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Direct  bool     `json:"direct"`
	Members []string `json:"members"`           // person ids, the bot's included
	Threads []Thread `json:"threads,omitempty"` // topics, in order
}

// Thread is a topic of a chat, or a thread that began.
type Thread struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Message is a message as people see it.
type Message struct {
	ID        string              `json:"id"`
	Chat      string              `json:"chat"`
	Thread    string              `json:"thread,omitempty"`
	From      Person              `json:"from"`
	Text      string              `json:"text"` // what is read, markup gone
	HTML      string              `json:"html"` // what is shown, escaped and safe; tags: p b i s u code pre a ul ol li blockquote h1–h6 table tr th td details summary br hr
	Buttons   [][]Button          `json:"buttons,omitempty"`
	ReplyTo   string              `json:"replyTo,omitempty"`
	Silent    bool                `json:"silent,omitempty"`
	Pings     []string            `json:"pings,omitempty"`   // ids of people it notified by name, "everyone" included
	Private   string              `json:"private,omitempty"` // only this person sees it (ephemeral)
	Files     []File              `json:"files,omitempty"`
	Reactions map[string][]string `json:"reactions,omitempty"` // emoji → person ids
	Edits     int                 `json:"edits,omitempty"`
	Deleted   bool                `json:"deleted,omitempty"`
	At        time.Time           `json:"at"`
	EditedAt  time.Time           `json:"editedAt,omitzero"`
	History   []Version           `json:"history,omitempty"` // earlier states, oldest first, bounded
}

// Version is an earlier state of an edited message.
type Version struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Button is a button under a message.
type Button struct {
	Text  string `json:"text"`
	Data  string `json:"data"`
	Style string `json:"style,omitempty"`
}

// Interval is a stretch in which an indicator showed. End lies in the future while it shows.
type Interval struct {
	Start  time.Time `json:"start"`
	End    time.Time `json:"end"`
	Text   string    `json:"text,omitempty"`
	Pulses int       `json:"pulses"`
	Why    string    `json:"why,omitempty"` // what ended it: "post", "clear"; "" = it lapses
}

// Call is one call of the platform's API by the bot.
type Call struct {
	At     time.Time     `json:"at"`
	Took   time.Duration `json:"took"`
	Op     Op            `json:"op"`
	Method string        `json:"method"` // the platform's own name of it
	Chat   string        `json:"chat,omitempty"`
	Thread string        `json:"thread,omitempty"`
	Status int           `json:"status"` // HTTP status; 0 = the connection was cut
	Error  string        `json:"error,omitempty"`
}

// Op is what a call does, over all platforms.
type Op string

// The operations.
const (
	OpPulse   Op = "pulse"
	OpClear   Op = "clear"
	OpSend    Op = "send"
	OpEdit    Op = "edit"
	OpDelete  Op = "delete"
	OpReact   Op = "react"
	OpAck     Op = "ack"
	OpReceive Op = "receive" // polling, gateway and socket connections
	OpOther   Op = "other"
)

// Fault makes calls fail. Zero fields match everything.
type Fault struct {
	Op         Op            `json:"op,omitempty"`
	Chat       string        `json:"chat,omitempty"`
	Times      int           `json:"times,omitempty"` // how many calls; 0 = until removed
	Delay      time.Duration `json:"delay,omitempty"` // before the call is carried out
	Status     int           `json:"status,omitempty"`
	RetryAfter time.Duration `json:"retryAfter,omitempty"` // with Status 429
	Cut        Cut           `json:"cut,omitempty"`
}

// Cut breaks the connection of a call.
type Cut string

// Where a connection is cut.
const (
	CutBefore Cut = "before" // the call is not carried out
	CutAfter  Cut = "after"  // it is carried out, the answer is lost
)
