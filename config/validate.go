package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// crossCheck checks what one key says about another.
func (d *decoder) crossCheck(c *Config) {
	d.agent(c, "agents.defaults", c.Agents.Defaults)
	for _, id := range sortedKeys(c.Agents.List) {
		d.agent(c, "agents.list."+id, c.Agents.List[id])
	}
	servers := sortedKeys(c.MCPServers)
	for _, name := range sortedKeys(c.Backends) {
		for i, server := range c.Backends[name].MCPServers {
			at := fmt.Sprintf("backends.%s.mcpServers", name)
			d.reference(at, fmt.Sprintf("[%d]", i), server, "mcpServers", servers)
			if c.Backends[name].Type == "acp" && c.MCPServers[server].Approve {
				d.problem(d.near(at), fmt.Sprintf("%s[%d]", at, i), fmt.Sprintf("%q has approve: true, but an ACP agent calls its tools itself and asks where it wants to", printable(server)), "")
			}
		}
	}
	for _, name := range servers {
		d.server("mcpServers."+name, c.MCPServers[name])
	}
	for _, name := range c.Channels.Names() {
		ch, at := c.Channels.Get(name), "channels."+name
		d.agentName(c, at+".agent", ch.Agent)
		for _, id := range sortedKeys(ch.Groups) {
			d.agentName(c, at+".groups."+id+".agent", ch.Groups[id].Agent)
		}
	}
}

func (d *decoder) agent(c *Config, at string, a Agent) {
	if _, own := d.lines[at+".backend"]; own {
		d.reference(at+".backend", "", a.Backend, "backends", sortedKeys(c.Backends))
	}
	if _, own := d.lines[at+".heartbeat"]; !own {
		return
	}
	h := a.Heartbeat
	d.agentName(c, at+".heartbeat.agent", h.Agent)
	if slices.Contains(channelNames, h.Target) && h.To == "" && !d.refused[at+".heartbeat.to"] {
		d.problem(d.near(at+".heartbeat.target"), at+".heartbeat.to", "is missing: the target is a channel", "")
	}
	if !slices.Contains(channelNames, h.Target) && h.To != "" {
		d.problem(d.near(at+".heartbeat.to"), at+".heartbeat.to", "needs a channel as target", strings.Join(channelNames, ", "))
	}
	hours := at + ".heartbeat.activeHours"
	if (h.ActiveHours.Start == "") != (h.ActiveHours.End == "") && !d.refused[hours+".start"] && !d.refused[hours+".end"] {
		d.problem(d.near(hours), hours, "needs both start and end", "")
	}
}

func (d *decoder) server(at string, m MCPServer) {
	one := "exactly one of command, url"
	if d.refused[at] || d.refused[at+".command"] || d.refused[at+".url"] {
		return // which of the two it has can't be told
	}
	switch {
	case len(m.Command) == 0 && m.URL == "":
		d.problem(d.near(at), at, "says neither how to start nor where to reach the server", one)
	case len(m.Command) > 0 && m.URL != "":
		d.problem(d.near(at), at, "has both command and url", one)
	case m.URL != "" && len(m.Env) > 0:
		d.problem(d.near(at+".env"), at+".env", "is only for a server with command", "")
	case m.URL == "" && len(m.Headers) > 0:
		d.problem(d.near(at+".headers"), at+".headers", "is only for a server with url", "")
	}
}

func (d *decoder) agentName(c *Config, at, id string) {
	if id != "" && id != DefaultAgent {
		d.reference(at, "", id, "agents.list", sortedKeys(c.Agents.List))
	}
}

// reference reports a name that is not among those that its section has.
func (d *decoder) reference(at, index, name, section string, names []string) {
	if name == "" || slices.Contains(names, name) {
		return
	}
	reason := fmt.Sprintf("%q is not in %s", printable(name), section)
	if near, ok := nearest(name, names); ok {
		reason += fmt.Sprintf(", did you mean %s?", near)
	}
	allowed := strings.Join(names, ", ")
	if allowed == "" {
		allowed = "a name in " + section + ", which is empty"
	}
	d.problem(d.near(at), at+index, reason, allowed)
}

func (d *decoder) near(path string) int { return lineNear(d.lines, path) }

// lineNear is the line of a key, or of the nearest key above it that the file has.
func lineNear(lines map[string]int, path string) int {
	for path != "" {
		if line := lines[path]; line > 0 {
			return line
		}
		i := strings.LastIndexByte(path, '.')
		path = path[:max(i, 0)]
	}
	return 1
}

// ForRun says what `typist run` needs beyond a loadable file: a channel, and a backend for every
// agent in use. Its error is Problems.
func (c *Config) ForRun() error {
	var problems Problems
	add := func(key, reason, allowed string) {
		problems = append(problems, Problem{File: c.File, Line: lineNear(c.lines, key), Key: key, Reason: reason, Allowed: allowed})
	}
	if len(c.Channels.Names()) == 0 {
		add("channels", "typist run needs at least one", strings.Join(channelNames, ", "))
	}
	if len(c.Backends) == 0 {
		add("backends", "typist run needs at least one", strings.Join(backendTypes, ", "))
	} else {
		for _, id := range c.AgentIDs() {
			a, _ := c.Agent(id)
			if c.BackendOf(a) == "" {
				key := "agents.list." + id + ".backend"
				if id == DefaultAgent {
					key = "agents.defaults.backend"
				}
				add(key, "is missing: there are several backends", strings.Join(sortedKeys(c.Backends), ", "))
			}
		}
	}
	for _, name := range sortedKeys(c.Backends) {
		if file := c.Backends[name].File; file != "" {
			if err := readable(file); err != nil {
				add("backends."+name+".file", err.Error(), "")
			}
		}
	}
	for _, h := range c.Heartbeats() {
		if slices.Contains(channelNames, h.Target) && c.Channels.Get(h.Target) == nil {
			key := "agents.list." + h.Agent + ".heartbeat.target"
			if c.lines[key] == 0 {
				key = "agents.defaults.heartbeat.target"
			}
			add(key, h.Target+" is not among channels", strings.Join(c.Channels.Names(), ", "))
		}
	}
	return problems.sorted()
}

// readable says why a file can't be read.
func readable(path string) error {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %s", path)
	case err != nil:
		return fmt.Errorf("can't be read: %w", err)
	}
	return f.Close()
}

// Problem is a problem with a key that shows only when the key is used.
func (c *Config) Problem(key, reason string) Problems {
	return Problems{{File: c.File, Line: lineNear(c.lines, key), Key: key, Reason: reason}}
}
