package config

import (
	"slices"
	"testing"
)

func TestO5_DiffTellsReloadableFromRestart(t *testing.T) {
	const before = `
agents: {defaults: {timeoutSeconds: 60}, list: {ops: {}, old: {}}}
channels:
  telegram: {botToken: a, allowFrom: [1], groups: {"*": {}}}
progress: {view: summary}
`
	for _, test := range []struct {
		name, after   string
		live, restart []string
	}{
		{name: "nothing", after: before},
		{
			name: "what can change",
			after: `
agents: {defaults: {timeoutSeconds: 90, typingMode: never}, list: {ops: {typingIntervalSeconds: 3}, old: {}}}
channels:
  telegram: {botToken: a, allowFrom: [1, 2], groups: {"*": {requireMention: false}, "-7": {}}, typingMode: instant}
progress: {view: detail}
session: {queue: collect}
silentTokens: []
`,
			live: []string{
				"agents.defaults.timeoutSeconds", "agents.defaults.typingMode", "agents.list.ops.typingIntervalSeconds",
				"channels.telegram.allowFrom", "channels.telegram.groups.*.requireMention", "channels.telegram.groups.-7",
				"channels.telegram.typingMode", "progress.view", "session.queue", "silentTokens",
			},
		},
		{
			name: "what needs a restart",
			after: `
dataDir: /elsewhere
http: {listen: ""}
agents: {defaults: {timeoutSeconds: 60, backend: b}, list: {ops: {}}}
backends: {b: {type: script}}
mcpServers: {m: {command: [x]}}
channels:
  telegram: {botToken: b, apiURL: "http://x", allowFrom: [1], groups: {"*": {}}}
  discord: {botToken: c}
progress: {view: summary}
`,
			restart: []string{
				"agents.defaults.backend", "agents.list.old", "backends.b", "channels.discord", "channels.telegram.apiURL",
				"channels.telegram.botToken", "dataDir", "http.listen", "mcpServers.m",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			live, restart := Diff(load(t, before), load(t, test.after))
			if !slices.Equal(live, test.live) {
				t.Errorf("reloadable = %q\nwant %q", live, test.live)
			}
			if !slices.Equal(restart, test.restart) {
				t.Errorf("restart = %q\nwant %q", restart, test.restart)
			}
		})
	}
}

func TestO5_DiffSeesATokenFromTheEnvironment(t *testing.T) {
	const text = `channels: {telegram: {botToken: "${T}"}}`
	_, restart := Diff(load(t, text, "T", "one"), load(t, text, "T", "two"))
	if !slices.Equal(restart, []string{"channels.telegram.botToken"}) {
		t.Errorf("restart = %q", restart)
	}
}
