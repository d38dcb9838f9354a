package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"typist/agent"
	"typist/agent/backend/sse"
)

// listed is one entry of a server's list of models.
type listed struct {
	ID    string `json:"id"`
	Owner string `json:"owned_by"`
}

// Probe implements agent.Prober: it looks for the model in the server's list, and says whether the
// key was checked by that: many servers show their list to everybody.
func (b *Backend) Probe(ctx context.Context) (string, error) {
	models, err := b.models(ctx, b.model.header)
	if f := agent.Classify(err); f != nil && f.Kind == agent.NotFound {
		return "answers, but has no list of models: neither model nor key was checked", nil
	} else if f != nil {
		return "", f
	}
	if err != nil {
		return "", err
	}
	c := b.model.config
	key, err := b.key(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case slices.ContainsFunc(models, func(m listed) bool { return m.ID == c.Model || m.ID == c.Model+":latest" }):
		if len(models) == 1 {
			return fmt.Sprintf("%s, its only model; %s", c.Model, key), nil
		}
		return fmt.Sprintf("%s, one of %d models; %s", c.Model, len(models), key), nil
	case len(models) > 0 && models[0].Owner == "llamacpp": // it answers with what it has loaded, whatever the name
		return fmt.Sprintf("llama.cpp with %s, whatever model says; %s", models[0].ID, key), nil
	case len(models) == 0:
		return "", &agent.Failure{Kind: agent.NotFound, Detail: "answers, but has no models"}
	}
	return "", &agent.Failure{Kind: agent.NotFound, Detail: fmt.Sprintf("%q is not among its models: %s", c.Model, beginning(models))}
}

// key says whether the server looks at the key before it shows its list.
func (b *Backend) key(ctx context.Context) (string, error) {
	if b.model.config.APIKey == "" {
		return "no key set, none asked for", nil
	}
	bare := b.model.header.Clone()
	bare.Del("Authorization")
	_, err := b.models(ctx, bare)
	if f := agent.Classify(err); f != nil && f.Kind == agent.Unauthorized {
		return "key accepted", nil
	}
	return "key not checked (its list is open to all)", ctx.Err()
}

func (b *Backend) models(ctx context.Context, header http.Header) ([]listed, error) {
	data, err := sse.Get(ctx, b.model.config.HTTPClient, b.model.config.BaseURL+"/models", header)
	if err != nil {
		return nil, err
	}
	var list struct{ Data []listed }
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, &agent.ProtocolError{Detail: "its list of models is no JSON; is the base URL right?", Err: err}
	}
	return list.Data, nil
}

// beginning names the first models of a list.
func beginning(models []listed) string {
	const most = 5
	var names []string
	for _, m := range models[:min(len(models), most)] {
		names = append(names, m.ID)
	}
	text := strings.Join(names, ", ")
	if len(models) > most {
		text += fmt.Sprintf(", … (%d in all)", len(models))
	}
	return text
}
