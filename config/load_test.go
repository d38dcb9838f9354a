package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLoad_YAMLFaults(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"a: [", "typist.yaml:1: is not YAML"},
		{"session:\n  queue: x\n bad", "is not YAML"},
		{"\tsession: {}", "is not YAML"},
		{"{}\n---\n{}", "typist.yaml:2: is a second document"},
		{"[1, 2]", "must be a section, is a list"},
		{"text", "must be a section, is text"},
		{"session: [1]", "typist.yaml:1: session: must be a section, is a list"},
		{"? [a]\n: b", "a key must be plain text"},
		{"x: &x {queue: collect}\nsession: {<<: *x}", "merge keys are not supported"},
		{"backends: {a b: {type: script}}", "a name may not look like this (allowed: letters, digits"},
		{"backends: [a]", "backends: must be a map, is a list"},
		{"silentTokens: ['']", "silentTokens[0]: is empty"},
		{"http: {listen: nowhere}", "http.listen: is no address to listen at"},
		{"http: {listen: \"127.0.0.1:port\"}", "http.listen: has no usable port"},
		{"agents: {defaults: {heartbeat: {every: 30}}}", "30 has no unit (allowed: 0, or a duration of 1m or more"},
		{"agents: {defaults: {heartbeat: {every: 5s}}}", `"5s" is not allowed`},
		{"agents: {defaults: {heartbeat: {target: slack}}}", "heartbeat.to: is missing: the target is a channel"},
		{"agents: {defaults: {heartbeat: {to: C1}}}", "heartbeat.to: needs a channel as target"},
		{"agents: {defaults: {heartbeat: {agent: obs}}}", `heartbeat.agent: "obs" is not in agents.list`},
		{"agents: {defaults: {heartbeat: {activeHours: {start: '8:00', end: '25:00', timezone: Mars}}}}", "activeHours.timezone: unknown time zone"},
		{"agents: {defaults: {heartbeat: {activeHours: {start: '08:00'}}}}", "needs both start and end"},
		{"mcpServers: {a: {url: 'ftp://x'}}", "mcpServers.a.url: is no address of a web server"},
		{"mcpServers: {a: {url: 'http://x', env: {A: b}}}", "mcpServers.a.env: is only for a server with command"},
		{"mcpServers: {a: {command: [x], headers: {A: b}}}", "mcpServers.a.headers: is only for a server with url"},
		{"channels: {telegram: }", "channels.telegram.botToken: is missing"},
		{"channels: {telegram: {botToken: ''}}", "channels.telegram.botToken: is empty"},
		{"channels: {telegram: {botToken: 1}}", "channels.telegram.botToken: must be text, is a number"},
		{"channels: {telegram: {botToken: x, agent: obs}}", `channels.telegram.agent: "obs" is not in agents.list`},
		{"channels: {telegram: {botToken: x, appToken: y}}", "channels.telegram.appToken: unknown key here; it belongs to channels.slack"},
		{"backends: {a: {model: x}}", "backends.a.type: is missing (allowed: script, openai, anthropic, acp, agui)"},
		{"backends: {a: {type: openai, model: x, maxTokens: 1.5}}", "maxTokens: 1.5 is not allowed (allowed: a whole number, 0 or more)"},
		{"channels: {telegram: {botToken: x, groups: {\"*\": {allowFrom: []}}}}", "groups.*.allowFrom: is empty: name somebody, or take the key away for the channel's"},
		{"store: {url: 'mysql://x'}", "store.url: unknown kind of database"},
	} {
		_, err := Parse("typist.yaml", []byte(test.text), env())
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: error = %v\nwant %s", test.text, err, test.want)
		}
	}
}

func TestLoad_AliasesAreRead(t *testing.T) {
	c := load(t, "channels:\n  telegram: {botToken: x, allowFrom: &us [1, 2]}\n  discord: {botToken: y, allowFrom: *us}\n")
	if got := c.Channels.Discord.AllowFrom; len(got) != 2 || got[1] != "2" {
		t.Errorf("allowFrom = %q", got)
	}
}

func TestForRun(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"no backend", "channels: {telegram: {botToken: x}}", "backends: typist run needs at least one (allowed: script, openai, anthropic, acp, agui)"},
		{"which backend", "channels: {telegram: {botToken: x}}\nbackends: {a: {type: script}, b: {type: script}}", "typist.yaml:1: agents.defaults.backend: is missing: there are several backends (allowed: a, b)"},
		{"which backend of an agent", "agents:\n  list:\n    ops: {}\nchannels: {telegram: {botToken: x, agent: ops}}\nbackends: {a: {type: script}, b: {type: script}}", "typist.yaml:3: agents.list.ops.backend: is missing"},
		{"heartbeat elsewhere", "channels: {telegram: {botToken: x}}\nbackends: {a: {type: script}}\nagents:\n  defaults: {heartbeat: {every: 1h, target: slack, to: C1}}", "typist.yaml:4: agents.defaults.heartbeat.target: slack is not among channels (allowed: telegram)"},
	} {
		err := load(t, test.text).ForRun()
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v\nwant %s", test.name, err, test.want)
		}
	}
	c := load(t, "channels: {telegram: {botToken: x}}\nbackends: {a: {type: script}}")
	if err := c.ForRun(); err != nil {
		t.Error(err)
	}
	if a, _ := c.Agent(""); c.BackendOf(a) != "a" {
		t.Error("the only backend is not used")
	}
}

func TestHeartbeats_WhoRunsWhich(t *testing.T) {
	c := load(t, `
agents:
  defaults: {heartbeat: {every: 1h, agent: ops}}
  list: {ops: {}, dev: {heartbeat: {every: 2h}}, quiet: {heartbeat: {every: 0}}}
channels: {telegram: {botToken: x, agent: dev}}
`)
	h := c.Heartbeats()
	if len(h) != 2 || h[0].Agent != "dev" || h[0].Every.Hours() != 2 || h[1].Agent != "ops" || h[1].Every.Hours() != 1 {
		t.Errorf("heartbeats = %+v", h)
	}
}

func TestFind(t *testing.T) {
	t.Chdir(t.TempDir())
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("HOME", home)
	if _, err := Find(); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), FileName) {
		t.Errorf("nothing there: %v", err)
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		t.Fatal(err)
	}
	theirs := filepath.Join(dir, "typist", FileName)
	if err := os.MkdirAll(filepath.Dir(theirs), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{theirs, FileName} { // the later one wins
		if err := os.WriteFile(place, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Find(); err != nil || got != place {
			t.Errorf("Find() = %s, %v, want %s", got, err, place)
		}
	}
	if _, err := Load("missing.yaml", os.LookupEnv); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load of a missing file: %v", err)
	}
	if _, err := Load(FileName, os.LookupEnv); err != nil {
		t.Errorf("Load of an empty file: %v", err)
	}
}

func TestNearest(t *testing.T) {
	for _, test := range []struct{ word, want string }{
		{"typingmode", "typingMode"}, {"typngMode", "typingMode"}, {"tpyingMode", "typingMode"}, {"backned", "backend"}, {"xyz", ""}, {"", ""}, {"q", ""},
	} {
		if got, _ := nearest(test.word, []string{"typingMode", "backend", "queue", "url"}); got != test.want {
			t.Errorf("nearest(%q) = %q, want %q", test.word, got, test.want)
		}
	}
}

// TestO4_AMistakeIsReportedOnce: what builds on a value that was refused is not wrong as well.
func TestO4_AMistakeIsReportedOnce(t *testing.T) {
	for _, text := range []string{
		"mcpServers: {a: {command: ls}}",
		"mcpServers: {a: {url: 'ftp://x'}}",
		"mcpServers: {a: [ls]}",
		"agents: {defaults: {heartbeat: {target: slack, to: 1}}}",
		"agents: {defaults: {heartbeat: {activeHours: {start: '8:00', end: '22:00'}}}}",
	} {
		_, err := Parse("typist.yaml", []byte(text), env())
		var problems Problems
		if !errors.As(err, &problems) || len(problems) != 1 {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestO4_DataDirNeedsNoTokens(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	file := filepath.Join(dir, "typist.yaml")
	body := `dataDir: "${DIR}"
backends: {main: {type: openai, model: m, baseURL: "${URL}", headers: {Authorization: "${KEY}"}}}
mcpServers: {tools: {url: "${URL}"}}
agents: {defaults: {heartbeat: {every: 30m, target: telegram, to: "${CHAT}"}}}
channels: {telegram: {botToken: "${TOKEN}", allowFrom: ["${OWNER}"]}}
`
	if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := LoadDataDir(file, env("DIR", "/data")); err != nil || got != "/data" {
		t.Errorf("dataDir = %q, %v", got, err)
	}
	if _, err := LoadDataDir(file, env()); err == nil || !strings.Contains(err.Error(), "typist.yaml:1: dataDir: environment variable DIR is not set") || strings.Contains(err.Error(), "\n") {
		t.Errorf("dataDir itself: %v", err)
	}
	if err := os.WriteFile(file, []byte(body+"nope: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadDataDir(file, env("DIR", "/data")); err == nil || !strings.Contains(err.Error(), ":6: nope: unknown key") {
		t.Errorf("another mistake: %v", err)
	}
	if _, err := Load(file, env("DIR", "/data")); err == nil || !strings.Contains(err.Error(), "environment variable TOKEN is not set") {
		t.Errorf("Load takes unset variables: %v", err)
	}
}

func TestO4_AMissingScriptIsAMistakeOfTheConfig(t *testing.T) {
	c := load(t, "channels: {telegram: {botToken: x}}\nbackends:\n  demo:\n    type: script\n    file: "+filepath.Join(t.TempDir(), "no.script"))
	var problems Problems
	if err := c.ForRun(); !errors.As(err, &problems) || !strings.Contains(err.Error(), "typist.yaml:5: backends.demo.file: there is no file ") {
		t.Errorf("ForRun: %v", err)
	}
}

func TestFind_SaysWhereItLooked(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	_, err := Find()
	if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "there is no config file: looked for typist.yaml and ") || !strings.HasSuffix(err.Error(), "; write one, or name one with --config FILE") {
		t.Errorf("Find: %v", err)
	}
	if _, err := Load("missing.yaml", os.LookupEnv); err == nil || strings.Contains(err.Error(), "open ") || !strings.Contains(err.Error(), "looked for missing.yaml") {
		t.Errorf("Load: %v", err)
	}
}
