// Package config reads typist's YAML file: strict keys with line numbers, ${ENV} in strings,
// defaults, cross references, and what a reload may change (O5). Each section has a file of its
// own; the list of fields in it is the single source of the decoder, the key table, the JSON
// Schema and the suggestions. It imports nothing of typist's.
package config

import (
	"maps"
	"slices"
	"time"
)

// Config is a loaded file, defaults filled in. It is not changed after Load.
type Config struct {
	File         string // as given to Load
	DataDir      string // absolute
	Store        Store
	HTTP         HTTP
	Agents       Agents
	Session      Session
	Backends     map[string]Backend
	MCPServers   map[string]MCPServer
	Channels     Channels
	Progress     Progress
	SilentTokens []string // T5

	lines   map[string]int // key path → line, for every key that the file has
	secrets []string
}

// Store says where typist keeps what must survive.
type Store struct {
	URL string // "" = SQLite in DataDir
}

// HTTP is the server of /healthz, /metrics and run events (O1, O2, O6).
type HTTP struct {
	Listen string // "" = no server
	Token  string // needed for run events; "" = only callers on loopback get them
}

func defaults() *Config {
	return &Config{
		HTTP: HTTP{Listen: "127.0.0.1:8080"},
		Agents: Agents{Defaults: Agent{
			Timeout:        1800 * time.Second,
			ReasoningLevel: "stream",
			Heartbeat:      Heartbeat{Target: "last", Deliver: true},
		}},
		Session:      Session{Queue: "followup", OnEdit: "branch"},
		Progress:     Progress{View: "summary", Delay: 1500 * time.Millisecond, NotifyAfter: 15 * time.Second, Language: "en"},
		SilentTokens: []string{"NO_REPLY", "HEARTBEAT_OK"},
		lines:        map[string]int{},
	}
}

func (c *Config) fields() []field {
	return []field{
		text("dataDir", &c.DataDir, "Folder of the database and of what must survive a restart. Relative to the config file.").
			shown("the user's state directory"),
		section("store", "", func() []field {
			return []field{
				text("url", &c.Store.URL, "Database. Empty: an SQLite file in `dataDir`.").check(checkStore),
			}
		}).asHidden(),
		section("http", "", func() []field {
			return []field{
				text("listen", &c.HTTP.Listen, "Address of `/healthz`, `/metrics` and run events. Empty: no server.").check(checkListen),
				text("token", &c.HTTP.Token, "Bearer token for run events. Empty: only callers on loopback get them.").masked(),
			}
		}),
		section("agents", "", c.Agents.fields),
		section("session", "", c.Session.fields).asLive(),
		mapOf("backends", "NAME", &c.Backends, "What answers. The only one is used where none is named.",
			func() Backend { return Backend{} }, (*Backend).fields),
		mapOf("mcpServers", "NAME", &c.MCPServers, "Tool servers (Model Context Protocol).",
			func() MCPServer { return MCPServer{} }, (*MCPServer).fields),
		section("channels", "", c.Channels.fields),
		section("progress", "", c.Progress.fields).asLive(),
		list("silentTokens", &c.SilentTokens, "An answer that is only one of these is not delivered.").asLive(),
	}
}

// DefaultAgent is the id of the agent that agents.defaults describes; it exists always.
const DefaultAgent = "default"

// Agent is the agent with this id, agents.defaults filled in, except TypingMode and
// TypingInterval: those stay as written for this id, since T2 asks level by level.
func (c *Config) Agent(id string) (Agent, bool) {
	if a, ok := c.Agents.List[id]; ok {
		return a, true
	}
	if id == DefaultAgent || id == "" {
		a := c.Agents.Defaults
		a.TypingMode, a.TypingInterval = "", 0
		return a, true
	}
	return Agent{}, false
}

// AgentIDs are the agents in use, sorted: the listed ones, and DefaultAgent where a channel or
// group names no agent, or none is listed.
func (c *Config) AgentIDs() []string {
	ids := map[string]bool{}
	for id := range c.Agents.List {
		ids[id] = true
	}
	if len(ids) == 0 {
		ids[DefaultAgent] = true
	}
	for _, name := range c.Channels.Names() {
		ch := c.Channels.Get(name)
		if ch.Agent == "" {
			ids[DefaultAgent] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// BackendOf is the name of the backend that an agent uses: its own, or the only one there is;
// "" if there is none.
func (c *Config) BackendOf(a Agent) string {
	if a.Backend == "" && len(c.Backends) == 1 {
		for name := range c.Backends {
			return name
		}
	}
	return a.Backend
}

// Written reports whether the file itself has a key, by its path such as http.listen.
func (c *Config) Written(key string) bool { return c.lines[key] > 0 }

// Secrets are the values that must show nowhere: tokens, API keys, and what came in headers and
// environments.
func (c *Config) Secrets() []string { return slices.Clone(c.secrets) }
