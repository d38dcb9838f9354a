package assemble

import (
	"fmt"
	"log/slog"

	"typist/agent"
	"typist/agent/backend/acp"
	"typist/agent/backend/agui"
	"typist/agent/backend/anthropic"
	"typist/agent/backend/openai"
	"typist/agent/backend/script"
	"typist/config"
)

// Surroundings are what a backend may need beside its configuration.
type Surroundings struct {
	Tools  agent.Toolbox // those that it may use; nil: none
	Memory acp.Memory    // survives a restart; nil: nothing does
	Log    *slog.Logger
}

// Backend makes a configured backend (A2). The toolbox that comes back is the one its requests are
// to be given. One that is an io.Closer has something to end.
func Backend(c *config.Config, name string, s Surroundings) (agent.Backend, agent.Toolbox, error) {
	b, tools := c.Backends[name], s.Tools
	switch b.Type {
	case "script":
		box := script.NewToolbox(tools, b.Record)
		played, err := loadScript(b.File)
		if err != nil {
			return nil, nil, err
		}
		return script.New(played, box), box, nil
	case "openai":
		return openai.New(openai.Config{BaseURL: b.BaseURL, APIKey: b.APIKey, Model: b.Model, MaxTokens: b.MaxTokens, Headers: b.Headers}), tools, nil
	case "anthropic":
		return anthropic.New(anthropic.Config{BaseURL: b.BaseURL, APIKey: b.APIKey, Model: b.Model, MaxTokens: b.MaxTokens, Headers: b.Headers}), tools, nil
	case "acp": // it connects to its tool servers itself
		return acp.New(acp.Config{Name: name, Command: b.Command, Env: b.Env, Cwd: b.Cwd, MCPServers: agentServers(c, b.MCPServers), Memory: s.Memory, Log: s.Log}), nil, nil
	case "agui":
		return agui.New(agui.Config{URL: b.URL, CancelURL: b.CancelURL, Headers: b.Headers, Log: s.Log}), tools, nil
	}
	return nil, nil, fmt.Errorf("unknown type %q", b.Type)
}

// agentServers are the tool servers that an agent is to connect to.
func agentServers(c *config.Config, names []string) []acp.MCPServer {
	var out []acp.MCPServer
	for _, name := range names {
		s := c.MCPServers[name]
		out = append(out, acp.MCPServer{Name: name, Command: s.Command, Env: s.Env, URL: s.URL, Headers: s.Headers})
	}
	return out
}

func loadScript(file string) (*script.Script, error) {
	if file == "" {
		return script.Demo()
	}
	return script.Load(file)
}
