package agui

import (
	"encoding/json"
	"strings"

	"typist/agent"
)

// event is an event of the protocol, all kinds in one.
type event struct {
	Type       string `json:"type"`
	Subagent   string `json:"subagentRunId"`
	MessageID  string `json:"messageId"`
	Role       string `json:"role"`
	Name       string `json:"name"`
	Call       string `json:"toolCallId"`
	CallName   string `json:"toolCallName"`
	ParentID   string `json:"parentMessageId"`
	Step       string `json:"stepName"`
	Parent     string `json:"parentSubagentRunId"`
	ParentCall string `json:"parentToolCallId"`
	Subtype    string `json:"subtype"`
	Entity     string `json:"entityId"`
	Encrypted  string `json:"encryptedValue"`
	Run        string `json:"runId"`
	Message    string `json:"message"`

	Delta    json.RawMessage `json:"delta"`   // text, but a patch in a STATE_DELTA
	Content  json.RawMessage `json:"content"` // text or parts; an object in an ACTIVITY_SNAPSHOT
	Code     json.RawMessage `json:"code"`    // text; some write a number
	Snapshot json.RawMessage `json:"snapshot"`
	Messages json.RawMessage `json:"messages"`
	Outcome  json.RawMessage `json:"outcome"`
	Usage    json.RawMessage `json:"usage"`
}

// outcome is how a run of the agent's ended.
type outcome struct {
	Type       string      `json:"type"`
	Interrupts []interrupt `json:"interrupts"`
}

// interrupt is what a run waits for.
type interrupt struct {
	ID       string          `json:"id"`
	Reason   string          `json:"reason"`
	Message  string          `json:"message"`
	Call     string          `json:"toolCallId"`
	Subagent string          `json:"subagentRunId"`
	Schema   json.RawMessage `json:"responseSchema"`
	Expires  string          `json:"expiresAt"`
}

// tokens are what one model of a run used.
type tokens struct {
	Input  int64 `json:"inputTokens"`
	Output int64 `json:"outputTokens"`
}

func decode(data []byte) (event, error) {
	var ev event
	if err := json.Unmarshal(data, &ev); err != nil {
		return ev, &agent.ProtocolError{Detail: "an event that is none of AG-UI's", Err: err}
	}
	if ev.Type == "" {
		return ev, &agent.ProtocolError{Detail: "an event without a type"}
	}
	return ev, nil
}

// text is the string that raw holds, "" for anything else.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// contentText is the text of a message's content: a string, or the text parts of a list.
func contentText(raw json.RawMessage) string {
	var parts []part
	if json.Unmarshal(raw, &parts) != nil {
		return text(raw)
	}
	var texts []string
	for _, p := range parts {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// ended reads an outcome; absent, or one that is not known, means success.
func (e *event) ended() outcome {
	var o outcome
	if json.Unmarshal(e.Outcome, &o) != nil {
		return outcome{}
	}
	return o
}

// failure is a RUN_ERROR, classified by its code (S3).
func (e *event) failure() *agent.Failure {
	code := e.Code
	if code == nil {
		code = json.RawMessage("null")
	}
	body, err := json.Marshal(map[string]any{"error": map[string]any{"message": e.Message, "code": code}})
	if err != nil {
		body = []byte(e.Message)
	}
	return agent.Classify(&agent.HTTPError{Body: body})
}

// answerIn is the last answer of a snapshot of the conversation: what stands after the person's
// last message.
func answerIn(raw json.RawMessage) (id, answer string) {
	var list []struct {
		ID       string          `json:"id"`
		Role     string          `json:"role"`
		Content  json.RawMessage `json:"content"`
		Subagent string          `json:"subagentRunId"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return "", ""
	}
	for _, m := range list {
		switch {
		case m.Role == "user":
			id, answer = "", ""
		case m.Role == "assistant" && m.Subagent == "" && contentText(m.Content) != "":
			id, answer = m.ID, contentText(m.Content)
		}
	}
	return id, answer
}
