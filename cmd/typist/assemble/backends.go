package assemble

import (
	"fmt"

	"typist/agent"
	"typist/agent/backend/anthropic"
	"typist/agent/backend/openai"
	"typist/agent/backend/script"
	"typist/config"
)

// Backend makes a configured backend (A2). tools has the tools that it may use; the toolbox that
// comes back is the one its requests are to be given.
func Backend(b config.Backend, tools agent.Toolbox) (agent.Backend, agent.Toolbox, error) {
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
	}
	return nil, nil, fmt.Errorf("unknown type %q", b.Type)
}

func loadScript(file string) (*script.Script, error) {
	if file == "" {
		return script.Demo()
	}
	return script.Load(file)
}
