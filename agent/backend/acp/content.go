package acp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"typist/agent"
	"typist/agent/backend/loop"
)

// block is one of ACP's content blocks.
type block struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	MIME     string    `json:"mimeType,omitempty"`
	Data     []byte    `json:"data,omitempty"` // base64 in JSON
	URI      string    `json:"uri,omitempty"`
	Name     string    `json:"name,omitempty"`
	Resource *resource `json:"resource,omitempty"`
}

type resource struct {
	URI  string `json:"uri"`
	MIME string `json:"mimeType,omitempty"`
	Text string `json:"text"`
	Blob string `json:"blob,omitempty"`
}

// MarshalJSON always writes the text of a text block: an empty one is a block too.
func (b block) MarshalJSON() ([]byte, error) {
	type plain block
	if b.Type == "text" {
		return json.Marshal(struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{b.Type, b.Text})
	}
	return json.Marshal(plain(b))
}

func textBlock(s string) block { return block{Type: "text", Text: s} }

// promptBlocks writes a person's message as far as the agent can take it.
func promptBlocks(m agent.Message, a initialized) []block {
	var out []block
	for i, p := range m.Blocks {
		switch {
		case p.Kind == agent.PartText:
			out = append(out, textBlock(p.Text))
		case p.Kind != agent.PartFile:
		case strings.HasPrefix(p.MIME, "image/") && a.Capabilities.Prompt.Image:
			out = append(out, block{Type: "image", MIME: p.MIME, Data: p.Data})
		case strings.HasPrefix(p.MIME, "image/"):
			out = append(out, textBlock(fmt.Sprintf("[The image %q was sent along; this agent takes none.]", p.Name)))
		case a.Capabilities.Prompt.EmbeddedContext:
			out = append(out, block{Type: "resource", Resource: &resource{URI: fmt.Sprintf("attachment:///%d/%s", i, url.PathEscape(p.Name)), MIME: p.MIME,
				Text: strings.ToValidUTF8(string(p.Data), "\uFFFD")}})
		default:
			out = append(out, textBlock(loop.InlineFile(p)))
		}
	}
	return out
}

// said is a block of the agent's as text.
func (b block) said() string {
	switch b.Type {
	case "text":
		return b.Text
	case "resource_link":
		if b.Name == "" {
			return b.URI
		}
		return fmt.Sprintf("[%s](%s)", b.Name, b.URI)
	case "resource":
		if b.Resource != nil {
			return b.Resource.Text
		}
	}
	return ""
}

// file is a block of the agent's that is a file; false: it is none.
func (b block) file() (agent.FileProduced, bool) {
	f := agent.FileProduced{Name: b.Type, MIME: b.MIME, Data: b.Data}
	switch {
	case b.Type == "resource" && b.Resource != nil && b.Resource.Blob != "":
		data, err := base64.StdEncoding.DecodeString(b.Resource.Blob)
		if err != nil {
			return f, false
		}
		f.MIME, f.Data = b.Resource.MIME, data
		f.Name = b.Resource.URI[strings.LastIndexByte(b.Resource.URI, '/')+1:]
	case b.Type == "image", b.Type == "audio":
		_, kind, _ := strings.Cut(b.MIME, "/")
		kind, _, _ = strings.Cut(kind, "+")
		if kind != "" {
			f.Name += "." + kind
		}
	}
	return f, len(f.Data) > 0
}
