package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// update is a session/update, all kinds in one. It is decoded here and not by the SDK's types:
// those drop what they don't know, and fail where an agent is sloppy.
type update struct {
	Kind      string          `json:"sessionUpdate"`
	Content   json.RawMessage `json:"content"` // a block of a chunk; a list of a call
	MessageID string          `json:"messageId"`
	callUpdate
	Entries []planEntry `json:"entries"`
}

// callUpdate is what is said of a tool call. What is missing or null stays as it was.
type callUpdate struct {
	ID     string          `json:"toolCallId"`
	Title  string          `json:"title"`
	Name   string          `json:"name"` // the tool's; only newer agents say it
	Sort   string          `json:"kind"` // read, edit, execute …
	Status string          `json:"status"`
	Input  json.RawMessage `json:"rawInput"`
	Output json.RawMessage `json:"rawOutput"`
	Meta   struct {
		ClaudeCode struct {
			Tool string `json:"toolName"`
		} `json:"claudeCode"`
	} `json:"_meta"`
}

type planEntry struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// callContent is one piece of what a tool call shows.
type callContent struct {
	Type    string `json:"type"`
	Content block  `json:"content"`
	Path    string `json:"path"` // of a diff
}

// chunk is the block of a message chunk.
func (u *update) chunk() (block, bool) {
	var b block
	return b, lenient(u.Content, &b) == nil
}

// toolName is the name of the called tool, "" where the agent doesn't tell it.
func (c *callUpdate) toolName() string {
	if c.Name != "" {
		return c.Name
	}
	return c.Meta.ClaudeCode.Tool
}

// merge takes what a later update says.
func (c *callUpdate) merge(next callUpdate) {
	for _, f := range []struct{ old, next *string }{{&c.Title, &next.Title}, {&c.Name, &next.Name}, {&c.Sort, &next.Sort}, {&c.Status, &next.Status},
		{&c.Meta.ClaudeCode.Tool, &next.Meta.ClaudeCode.Tool}} {
		if *f.next != "" {
			*f.old = *f.next
		}
	}
	if given(next.Input) {
		c.Input = bytes.Clone(next.Input)
	}
	if given(next.Output) {
		c.Output = bytes.Clone(next.Output)
	}
}

// given reports whether a value says anything. Many agents begin a call with {}.
func given(raw json.RawMessage) bool {
	s := string(bytes.TrimSpace(raw))
	return s != "" && s != "null" && s != "{}" && s != `""`
}

// arguments are a call's input as the arguments of a tool call, which are always an object.
func (c *callUpdate) arguments() string {
	raw := bytes.TrimSpace(c.Input)
	if raw[0] == '{' {
		return string(raw)
	}
	return fmt.Sprintf(`{"input":%s}`, raw)
}

// shown is the content of a tool call as text.
func shown(content json.RawMessage, output json.RawMessage) string {
	var list []callContent
	var parts []string
	if lenient(content, &list) == nil {
		for _, c := range list {
			switch {
			case c.Type == "diff":
				parts = append(parts, "changed "+c.Path)
			case c.Type == "content" && c.Content.said() != "":
				parts = append(parts, c.Content.said())
			case c.Type == "content" && c.Content.Type != "text":
				parts = append(parts, "["+c.Content.Type+"]")
			}
		}
	}
	if len(parts) > 0 || !given(output) {
		return strings.Join(parts, "\n")
	}
	var text string
	if json.Unmarshal(output, &text) == nil {
		return text
	}
	return string(output)
}

// lenient decodes JSON; a member of another type than expected is left out instead of making the
// rest unreadable.
func lenient(raw []byte, into any) error {
	err := json.Unmarshal(raw, into)
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return nil
	}
	return err
}
