package adapters

import "typist/adapters/rich"

// Post is a message to send, or the new state of one to edit.
type Post struct {
	Doc     rich.Doc
	Buttons [][]Button // rows
	Silent  bool       // no notification, where the platform can (P1, P12)
	ReplyTo string     // message id this post answers; "" = none. One that is gone is ignored.
	Ping    bool       // with ReplyTo: notify its author (Discord, P12)
	Key     string     // unique per post, ≤ 24 bytes of [A-Za-z0-9_-]: the platform's nonce or metadata (Finder)
	Files   []File     // uploaded with the message; Send only
}

// Button is one button under a message. Data is at most Capabilities.MaxButtonData bytes.
type Button struct {
	Text  string      `json:"text"`
	Data  string      `json:"data"`
	Style ButtonStyle `json:"style,omitempty"`
}

// ButtonStyle is a hint; platforms without styles ignore it.
type ButtonStyle string

// The styles of buttons.
const (
	StyleDefault ButtonStyle = ""
	StylePrimary ButtonStyle = "primary"
	StyleDanger  ButtonStyle = "danger"
)
