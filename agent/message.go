package agent

// Message is one message of the history a model is given.
type Message struct {
	Role   Role   `json:"role"`
	Blocks []Part `json:"blocks"`
}

// Role says whose message it is. Tool results are a message of their own.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// PartKind names a part of a message.
type PartKind string

// The parts. Which fields each uses stands beside it.
const (
	PartText      PartKind = "text"      // Text
	PartReasoning PartKind = "reasoning" // ID, Text, Signature
	PartToolCall  PartKind = "tool_call" // ID, Name, Args
	PartResult    PartKind = "result"    // ID of the call, Text, IsError
	PartFile      PartKind = "file"      // Name, MIME, Data: an image, or a text file; without Data: one the agent sent to the chat
	PartSubagent  PartKind = "subagent"  // ID (the run id), Name: a subagent; its parts follow and carry its id as Subagent
)

// Part is a piece of a message, in the order of P8: thinking, text, tool calls of a model request.
type Part struct {
	Kind      PartKind `json:"kind"`
	ID        string   `json:"id,omitempty"`
	Subagent  string   `json:"subagent,omitempty"` // the subagent it came from; "" = the run itself
	Request   string   `json:"request,omitempty"`  // model request it came from
	Text      string   `json:"text,omitempty"`     // of a tool call: its arguments, where they are no valid JSON
	Signature string   `json:"signature,omitempty"`
	Name      string   `json:"name,omitempty"`
	Args      ToolArgs `json:"args,omitempty"`
	IsError   bool     `json:"isError,omitempty"`
	// Incomplete: cut before its end (stop, cut stream, crash).
	Incomplete bool   `json:"incomplete,omitempty"`
	MIME       string `json:"mime,omitempty"`
	Data       []byte `json:"data,omitempty"`
	// Joined are the further messages in a person's text that came in pieces (S7).
	Joined []JoinedPart `json:"joined,omitempty"`
}

// JoinedPart is where the text of a message begins in the text that it was joined to.
type JoinedPart struct {
	ID string `json:"id"`
	At int    `json:"at"` // offset in bytes
}

// UserText is a user message of text only.
func UserText(text string) Message {
	return Message{Role: User, Blocks: []Part{{Kind: PartText, Text: text}}}
}
