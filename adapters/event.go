package adapters

import "time"

// Event is what an adapter hands to its Sink. The set is sealed.
//
//sumtype:decl
type Event interface {
	// About says where the event came from and who caused it. (Not named Origin: the embedded
	// field of that name would hide it.)
	About() Origin
	isEvent()
}

// Origin is what every event carries.
type Origin struct {
	EventID  string    `json:"eventId"` // the platform's id of the event, unique in its channel; redelivery repeats it (C3)
	Chat     Chat      `json:"chat"`
	Kind     Kind      `json:"kind"`
	ChatName string    `json:"chatName,omitempty"`
	From     User      `json:"from"`
	At       time.Time `json:"at"`
}

// About returns o itself, so that embedding it is all an event needs.
func (o Origin) About() Origin { return o }

// Message is something a person wrote. Reactions, service messages and the bot's own messages
// never become one (T10). Albums and pastes that the platform split are one Message (C3).
type Message struct {
	Origin
	ID        string `json:"id"`
	Text      string `json:"text"`              // the bot's own mention removed, white space trimmed
	Mentioned bool   `json:"mentioned"`         // a mention, a reply to the bot, or a command addressed to it
	ReplyTo   *Reply `json:"replyTo,omitempty"` // nil where the reply is only a topic's implicit one
	Files     []File `json:"files,omitempty"`
	// Parts are the ids of the further messages that it was joined from, Cuts the offsets in Text
	// where each of their texts begins: an edit of one changes that piece (S7).
	Parts []string `json:"parts,omitempty"`
	Cuts  []int    `json:"cuts,omitempty"`
}

// Join appends a part's text after a separator, which is left out where either text is empty.
func (m *Message) Join(id, separator, text string) {
	if m.Text != "" && text != "" {
		m.Text += separator
	}
	m.Parts, m.Cuts = append(m.Parts, id), append(m.Cuts, len(m.Text))
	m.Text += text
}

// Ref names the message itself.
func (m Message) Ref() Ref { return Ref{Chat: m.Chat, ID: m.ID} }

// Reply is the message that a Message answers.
type Reply struct {
	ID    string `json:"id"`
	Text  string `json:"text,omitempty"`
	ToBot bool   `json:"toBot,omitempty"`
}

// Edited says that a person changed the text of message ID (S7). Adapters leave out edits that
// did not change the text where they can tell; the turn code compares again.
type Edited struct {
	Origin
	ID        string `json:"id"`
	Text      string `json:"text"`
	Mentioned bool   `json:"mentioned"`
}

// Press is a pressed button. The adapter has acknowledged it to the platform already.
type Press struct {
	Origin
	ID   string `json:"id"`   // the message that carries the button; "" where the platform does not say
	Data string `json:"data"` // Button.Data
}

// Command is a native command: a slash command, a message shortcut or a context menu entry.
// Commands written as text ("/stop", "/stop@bot") come as Message.
type Command struct {
	Origin
	Name   string `json:"name"`             // without slash, lower case
	Args   string `json:"args,omitempty"`   // white space trimmed
	Target string `json:"target,omitempty"` // the message a shortcut or context command was used on
	// Answer sends the answer to the one who asked, as only they see it; nil: answer in the chat.
	Answer func(Post) error `json:"-"`
}

// StopRequested is the platform's own stop control (Slack agent sessions, Telegram drafts).
type StopRequested struct {
	Origin
	ID string `json:"id,omitempty"` // the message it was pressed on, where known
}

func (Message) isEvent()       {}
func (Edited) isEvent()        {}
func (Press) isEvent()         {}
func (Command) isEvent()       {}
func (StopRequested) isEvent() {}

var _ = []Event{Message{}, Edited{}, Press{}, Command{}, StopRequested{}}

// File is an attachment, in either direction (C7).
type File struct {
	Name   string `json:"name"`
	MIME   string `json:"mime,omitempty"`
	Size   int64  `json:"size,omitempty"`
	Source string `json:"source,omitempty"` // inbound: what Fetcher.Fetch needs (file id or URL)
	Data   []byte `json:"data,omitempty"`   // outbound: the content
}
