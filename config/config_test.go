package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// env is an environment of the pairs given.
func env(pairs ...string) func(string) (string, bool) {
	m := map[string]string{"HOME": "/homes/ann"}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) (string, bool) { v, ok := m[name]; return v, ok }
}

func load(t *testing.T, text string, pairs ...string) *Config {
	t.Helper()
	c, err := Parse("typist.yaml", []byte(text), env(pairs...))
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return c
}

// example is DESIGN.md's example with every key in it.
func example(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "full.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var exampleEnv = []string{
	"TYPIST_TOKEN", "http-token-0123456789", "OPENAI_API_KEY", "sk-openai-0123456789", "TELEGRAM_TOKEN", "123456:telegram-token",
	"DISCORD_TOKEN", "discord-token-0123456789", "SLACK_BOT_TOKEN", "xoxb-0123456789-slack", "SLACK_APP_TOKEN", "xapp-0123456789-slack",
}

func TestT15_BothSnippetsLoadVerbatim(t *testing.T) {
	c := load(t, `{ agents: { defaults: { typingMode: "thinking", typingIntervalSeconds: 6, }, }, }`)
	if a := c.Agents.Defaults; a.TypingMode != "thinking" || a.TypingInterval != 6*time.Second {
		t.Errorf("agents.defaults = %+v", a)
	}
	c = load(t, `{ session: { typingMode: "message", typingIntervalSeconds: 4, }, }`)
	if s := c.Session; s.TypingMode != "message" || s.TypingInterval != 4*time.Second {
		t.Errorf("session = %+v", s)
	}
	if err := c.ForRun(); err == nil || !strings.Contains(err.Error(), "channels: typist run needs at least one (allowed: telegram, discord, slack)") {
		t.Errorf("ForRun() = %v, want that channels are missing", err)
	}
}

func TestT15_RefusesBadTypingValues(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"too small", "session:\n  typingIntervalSeconds: 0.5\n", "typist.yaml:2: session.typingIntervalSeconds: 0.5 is too small (allowed: a number of seconds, 1 or more)"},
		{"zero", "agents: {defaults: {typingIntervalSeconds: 0}}", "typist.yaml:1: agents.defaults.typingIntervalSeconds: 0 is too small (allowed: a number of seconds, 1 or more)"},
		{"negative", "agents: {defaults: {typingIntervalSeconds: -6}}", "-6 is too small"},
		{"text", "\n\nsession: {typingIntervalSeconds: fast}", "typist.yaml:3: session.typingIntervalSeconds: must be a number of seconds, is text (allowed: a number of seconds, 1 or more)"},
		{"quoted number", `session: {typingIntervalSeconds: "6"}`, "must be a number of seconds, is text"},
		{"list", `session: {typingIntervalSeconds: [6]}`, "must be a number of seconds, is a list"},
		{"not a number", `session: {typingIntervalSeconds: .nan}`, "must be a number of seconds"},
		{"infinite", `session: {typingIntervalSeconds: .inf}`, "must be a number of seconds"},
		{"too large", `session: {typingIntervalSeconds: 1e300}`, "is too large"},
		{"mode", "session:\n  typingMode: sometimes", `typist.yaml:2: session.typingMode: unknown value "sometimes" (allowed: never, instant, thinking, message)`},
		{"mode typo", "session:\n  typingMode: thinkin", `unknown value "thinkin", did you mean thinking? (allowed: never, instant, thinking, message)`},
		{"mode case", "session: {typingMode: Instant}", `did you mean instant?`},
		{"mode bool", "session: {typingMode: false}", "session.typingMode: must be text, is true or false (allowed: never, instant, thinking, message)"},
		{"mode empty", "session: {typingMode: }", "session.typingMode: has no value"},
		{"channel", "channels: {telegram: {botToken: x, typingMode: off}}", "channels.telegram.typingMode: unknown value"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("typist.yaml", []byte(test.text), env())
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error = %v\nwant %s", err, test.want)
			}
		})
	}
	c := load(t, "session: {typingIntervalSeconds: 1.5}")
	if c.Session.TypingInterval != 1500*time.Millisecond {
		t.Errorf("a fraction above 1 gave %s", c.Session.TypingInterval)
	}
}

func TestLoad_EveryKeyOfTheDesign(t *testing.T) {
	c := load(t, example(t), exampleEnv...)
	demo := c.Backends["demo"]
	demo.File = filepath.Join("testdata", "full.yaml") // any file that is there
	c.Backends["demo"] = demo
	if err := c.ForRun(); err != nil {
		t.Errorf("ForRun: %v", err)
	}
	if got := c.Channels.Names(); len(got) != 3 {
		t.Errorf("channels = %v", got)
	}
	if c.Channels.Telegram.BotToken != "123456:telegram-token" || c.Channels.Slack.AppToken != "xapp-0123456789-slack" {
		t.Error("tokens were not expanded")
	}
	ops, ok := c.Agent("ops")
	if !ok || ops.TypingMode != "message" || ops.Timeout != 1800*time.Second || ops.ReasoningLevel != "stream" {
		t.Errorf("agent ops = %+v", ops)
	}
	def, _ := c.Agent("")
	if def.TypingMode != "" || def.TypingInterval != 0 {
		t.Errorf("the default agent's own level must be empty (T2), is %+v", def)
	}
	if h := c.Heartbeats(); len(h) != 2 || h[0].Agent != "default" || h[0].Every != 30*time.Minute || h[0].ActiveHours.Timezone != "Europe/Berlin" {
		t.Errorf("heartbeats = %+v", h)
	}
	if g, ok := c.Channels.Telegram.Groups["*"]; !ok || !g.RequireMention || g.AllowFrom != nil {
		t.Errorf("group = %+v, %t", g, ok)
	}
	if len(c.Secrets()) != 6 {
		t.Errorf("%d secrets, want 6", len(c.Secrets()))
	}
	for path := range c.lines {
		if strings.Contains(path, "<") {
			t.Errorf("odd path %q", path)
		}
	}
}

func TestLoad_Defaults(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "{}", "---\n", "agents:\nsession:\nchannels:\nbackends:\n"} {
		c := load(t, text, "XDG_STATE_HOME", "/var/state")
		if c.DataDir != "/var/state/typist" || c.HTTP.Listen != "127.0.0.1:8080" || c.Agents.Defaults.Timeout != 30*time.Minute ||
			c.Session.Queue != "followup" || c.Progress.Delay != 1500*time.Millisecond || c.Progress.NotifyAfter != 15*time.Second ||
			c.Agents.Defaults.TypingMode != "" || c.Agents.Defaults.TypingInterval != 0 || len(c.SilentTokens) != 2 {
			t.Errorf("%q: %+v", text, c)
		}
	}
	if c := load(t, ""); c.DataDir != "/homes/ann/.local/state/typist" {
		t.Errorf("dataDir = %s", c.DataDir)
	}
	c := load(t, "dataDir: ./data")
	if wd, _ := os.Getwd(); c.DataDir != filepath.Join(wd, "data") {
		t.Errorf("dataDir = %s, want it beside the file", c.DataDir)
	}
}

func TestLoad_AllProblemsAtOnceByLine(t *testing.T) {
	text := `agents:
  defaults:
    typingMood: thinking
    timeoutSeconds: soon
  default: {}
typingMode: instant
session: {queue: fifo, queue: collect}
backends:
  main: {type: opnai, model: x}
  old: {type: openai, file: x, model: m, mcpServers: [fils]}
  next: {type: acp, mcpServers: [careful]}
mcpServers: {files: {command: [ls], url: "http://x"}, none: {}, careful: {command: [ls], approve: true}}
channels:
  telegram: {botToken: "${NOPE}", allowFrom: [1, "2", 0x10, true], groups: {-100123: {agent: obs}}}
  slack: {botToken: xoxb-1}
  irc: {}
store: {url: "postgres://u:hunter2secret@h/db"}
`
	_, err := Parse("typist.yaml", []byte(text), env())
	var problems Problems
	if !errors.As(err, &problems) {
		t.Fatalf("error = %v", err)
	}
	want := []string{
		"typist.yaml:3: agents.defaults.typingMood: unknown key, did you mean typingMode? (allowed: backend,",
		"typist.yaml:4: agents.defaults.timeoutSeconds: must be a number of seconds, is text",
		"typist.yaml:5: agents.default: unknown key, did you mean defaults? (allowed: defaults, list)",
		"typist.yaml:6: typingMode: unknown key here; it belongs to agents.defaults, session, channels.telegram, channels.discord",
		"typist.yaml:7: session.queue: is there twice, first in line 7",
		`typist.yaml:7: session.queue: unknown value "fifo" (allowed: followup, collect, steer, interrupt)`,
		`typist.yaml:9: backends.main.type: unknown value "opnai", did you mean openai? (allowed: script, openai, anthropic, acp, agui)`,
		"typist.yaml:10: backends.old.file: is no key of a backend of type openai",
		`typist.yaml:10: backends.old.mcpServers[0]: "fils" is not in mcpServers, did you mean files? (allowed: careful, files, none)`,
		"typist.yaml:11: backends.next.command: is missing",
		`typist.yaml:11: backends.next.mcpServers[0]: "careful" has approve: true, but an ACP agent calls its tools itself`,
		"typist.yaml:12: mcpServers.files: has both command and url",
		"typist.yaml:12: mcpServers.none: says neither how to start nor where to reach the server",
		"typist.yaml:14: channels.telegram.botToken: environment variable NOPE is not set",
		"typist.yaml:14: channels.telegram.allowFrom[2]: put this id in quotes",
		"typist.yaml:14: channels.telegram.allowFrom[3]: must be",
		`typist.yaml:14: channels.telegram.groups.-100123.agent: "obs" is not in agents.list`,
		"typist.yaml:15: channels.slack.appToken: is missing",
		"typist.yaml:16: channels.irc: unknown key (allowed: telegram, discord, slack)",
		`typist.yaml:17: store.url: postgres is not built yet (allowed: "" for SQLite in dataDir)`,
	}
	got := err.Error()
	for _, line := range want {
		if !strings.Contains(got, line) {
			t.Errorf("missing: %s", line)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
	lines, last := strings.Split(got, "\n"), 0
	for _, p := range problems {
		if p.Line < last {
			t.Errorf("%s stands behind line %d", p, last)
		}
		last = p.Line
	}
	if len(lines) != len(problems) {
		t.Error("a problem is not one line")
	}
}
