package config

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
)

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("typist.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("typist.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// asJSON is what an editor checks: the YAML as JSON values.
func asJSON(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestSchema_AgreesWithLoad(t *testing.T) {
	schema := compileSchema(t)
	for name, text := range map[string]string{
		"every key":  example(t),
		"snippet 1":  `{ agents: { defaults: { typingMode: "thinking", typingIntervalSeconds: 6, }, }, }`,
		"snippet 2":  `{ session: { typingMode: "message", typingIntervalSeconds: 4, }, }`,
		"commented":  "agents:\nchannels:\nsession:\n",
		"fraction":   "session: {typingIntervalSeconds: 1.5}",
		"number id":  `channels: {telegram: {botToken: x, allowFrom: [1001]}}`,
		"from env":   `session: {queue: "${OPENAI_API_KEY}x"}`, // the schema can't know; Load does
		"off":        `agents: {defaults: {heartbeat: {every: 0}}}`,
		"one agent":  `agents: {list: {ops: }}`,
		"one script": `backends: {a: {type: script}}`,
		"an agent":   `backends: {a: {type: acp, command: [x, --acp], env: {A: b}, cwd: .}}`,
		"a remote":   `backends: {a: {type: agui, url: "http://127.0.0.1:1/run", cancelURL: "http://127.0.0.1:1/runs/{runId}/cancel", headers: {A: b}}}`,
	} {
		if err := schema.Validate(asJSON(t, text)); err != nil {
			t.Errorf("%s: the schema refuses it: %v", name, err)
		}
		if _, err := Parse("typist.yaml", []byte(text), env(exampleEnv...)); err != nil && name != "from env" {
			t.Errorf("%s: Load refuses it: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"unknown key":    "nope: 1",
		"unknown nested": "session: {typingMood: never}",
		"mode":           "session: {typingMode: sometimes}",
		"interval":       "session: {typingIntervalSeconds: 0.5}",
		"interval text":  `session: {typingIntervalSeconds: "6"}`,
		"no token":       "channels: {telegram: {allowFrom: []}}",
		"empty token":    `channels: {telegram: {botToken: ""}}`,
		"backend type":   "backends: {a: {type: acq}}",
		"other's key":    "backends: {a: {type: openai, model: m, file: x}}",
		"no model":       "backends: {a: {type: openai}}",
		"no unit":        "agents: {defaults: {heartbeat: {every: 30}}}",
		"bool":           `channels: {discord: {botToken: x, pairing: "yes"}}`,
		"list":           `silentTokens: NO_REPLY`,
		"group key":      `channels: {discord: {botToken: x, groups: {"*": {mention: true}}}}`,
		"empty group":    `channels: {discord: {botToken: x, groups: {"*": {allowFrom: []}}}}`,
		"slack only":     `channels: {discord: {botToken: x, threadReplies: never}}`,
	} {
		if err := schema.Validate(asJSON(t, text)); err == nil {
			t.Errorf("%s: the schema takes it", name)
		}
		if _, err := Parse("typist.yaml", []byte(text), env()); err == nil {
			t.Errorf("%s: Load takes it", name)
		}
	}
}
