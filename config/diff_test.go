package config

import (
	"errors"
	"slices"
	"strings"
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
agents: {defaults: {timeoutSeconds: 60, backend: b}, list: {ops: {}, new: {heartbeat: {every: 1h}}}}
backends: {b: {type: script}}
mcpServers: {m: {command: [x]}}
channels:
  telegram: {botToken: b, apiURL: "http://x", allowFrom: [1], groups: {"*": {}}}
  discord: {botToken: c}
progress: {view: overview}
`,
			live: []string{"agents.defaults.backend", "agents.list.new", "agents.list.old", "progress.view"},
			restart: []string{
				"agents.list.new.heartbeat.every",
				"backends.b", "channels.discord", "channels.telegram.apiURL",
				"channels.telegram.botToken", "dataDir", "http.listen", "mcpServers.m",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			reloads(t, load(t, before), load(t, test.after))
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

// reloads checks that what Reload makes has all of next that a reload can change, and nothing that it can't.
func reloads(t *testing.T, started, next *Config) {
	t.Helper()
	c, err := Reload(started, next)
	var problems Problems
	if err != nil && !errors.As(err, &problems) {
		t.Fatalf("Reload: %v", err)
	}
	if _, restart := Diff(started, c); len(restart) > 0 {
		t.Errorf("the reload takes over %q", restart)
	}
	if live, _ := Diff(c, next); len(live) > 0 {
		t.Errorf("the reload leaves out %q", live)
	}
}

func TestO5_ReloadKeepsWhatNeedsARestart(t *testing.T) {
	const before = `
agents: {defaults: {heartbeat: {every: 1h}}, list: {ops: {typingMode: never, heartbeat: {every: 2h}}}}
backends: {a: {type: script}}
channels:
  telegram: {botToken: old-token, allowFrom: [1], agent: ops}
`
	started := load(t, before)
	next := load(t, `
agents: {defaults: {heartbeat: {every: 3h}, timeoutSeconds: 5}, list: {ops: {typingMode: message}, dev: {}}}
backends: {a: {type: script, file: other}}
channels:
  telegram: {botToken: new-token, allowFrom: [2], agent: dev}
  discord: {botToken: discord-token}
`)
	reloads(t, started, next)
	c, err := Reload(started, next)
	if err != nil {
		t.Fatal(err)
	}
	if tg := c.Channels.Telegram; tg.BotToken != "old-token" || tg.AllowFrom[0] != "2" || tg.Agent != "dev" || c.Channels.Discord != nil {
		t.Errorf("channels = %+v", c.Channels)
	}
	if ops, _ := c.Agent("ops"); ops.TypingMode != "message" || ops.Timeout.Seconds() != 5 || ops.Heartbeat.Every.Hours() != 2 {
		t.Errorf("ops = %+v", ops)
	}
	if c.Backends["a"].File != "" {
		t.Error("a backend was taken over")
	}
	for _, secret := range []string{"old-token", "new-token", "discord-token"} {
		if !slices.Contains(c.Secrets(), secret) {
			t.Errorf("%s is not masked", secret)
		}
	}
}

func TestO5_ReloadNamesWhatLeansOnARestart(t *testing.T) {
	started := load(t, "backends: {a: {type: script}}\nagents: {list: {ops: {}}}\nchannels: {telegram: {botToken: x, agent: ops}}")
	for _, test := range []struct{ text, want string }{
		{"backends: {a: {type: script}, b: {type: script}}\nagents: {defaults: {backend: b}, list: {ops: {}}}\nchannels: {telegram: {botToken: x, agent: ops}}",
			"typist.yaml:2: agents.defaults.backend: backend b is new: that needs a restart"},
		{"backends: {a: {type: script}}\nchannels: {discord: {botToken: y}}", "agents.list: channels.telegram still needs ops: that needs a restart"},
	} {
		if _, err := Reload(started, load(t, test.text)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s\nerror = %v\nwant %s", test.text, err, test.want)
		}
	}
}
