package tools

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/url"
	"path"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"typist/agent"
)

// convert makes a tool's answer text for the model and files for the chat (C7).
func convert(tool string, r *mcp.CallToolResult) agent.ToolResult {
	out := agent.ToolResult{IsError: r.IsError}
	var texts []string
	file := func(name, kind string, data []byte) {
		if name == "" {
			name = fmt.Sprintf("%s-%d%s", tool, len(out.Files)+1, extension(kind))
		}
		out.Files = append(out.Files, agent.FileProduced{Name: name, MIME: kind, Data: data})
		texts = append(texts, fmt.Sprintf("[%s, %s, %d bytes: sent to the chat]", name, kind, len(data)))
	}
	for _, c := range r.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			texts = append(texts, c.Text)
		case *mcp.ImageContent:
			file("", c.MIMEType, c.Data)
		case *mcp.AudioContent:
			file("", c.MIMEType, c.Data)
		case *mcp.ResourceLink:
			texts = append(texts, strings.TrimSpace(fmt.Sprintf("%s: %s %s", c.Name, c.URI, c.Description)))
		case *mcp.EmbeddedResource:
			switch {
			case c.Resource == nil:
			case len(c.Resource.Blob) > 0:
				file(fileName(c.Resource.URI), c.Resource.MIMEType, c.Resource.Blob)
			default:
				texts = append(texts, c.Resource.URI+":\n"+c.Resource.Text)
			}
		}
	}
	if len(texts) == 0 && r.StructuredContent != nil {
		if b, err := json.Marshal(r.StructuredContent); err == nil {
			texts = append(texts, string(b))
		}
	}
	out.Content = strings.Join(texts, "\n")
	return out
}

// extension is the usual ending of a kind of file.
func extension(kind string) string {
	switch kind { // the system's table is not the same everywhere
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	case "audio/wav":
		return ".wav"
	}
	if all, err := mime.ExtensionsByType(kind); err == nil && len(all) > 0 {
		return all[0]
	}
	return ""
}

// fileName is the last part of a resource's address, "" if it has none.
func fileName(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	name := path.Base(u.Path)
	if name == "." || name == "/" {
		return ""
	}
	return name
}
