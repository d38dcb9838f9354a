package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Reload is what a process that was started with one file can take over from another (O5): next,
// with all that needs a restart as it was started. Its error names keys that a reload could
// change but that lean on something that needs a restart: then nothing can be taken over.
func Reload(started, next *Config) (*Config, error) {
	c := *next
	c.DataDir, c.Store, c.HTTP = started.DataDir, started.Store, started.HTTP
	c.Backends, c.MCPServers = started.Backends, started.MCPServers
	c.Agents.Defaults.Heartbeat = started.Agents.Defaults.Heartbeat
	c.Agents.List = make(map[string]Agent, len(next.Agents.List))
	for id, a := range next.Agents.List {
		was, ok := started.Agents.List[id]
		if !ok {
			was = Agent{Heartbeat: started.Agents.Defaults.Heartbeat}
		}
		a.Heartbeat = was.Heartbeat
		c.Agents.List[id] = a
	}
	c.Channels = Channels{
		Telegram: reloadChannel(started.Channels.Telegram, next.Channels.Telegram),
		Discord:  reloadChannel(started.Channels.Discord, next.Channels.Discord),
		Slack:    reloadChannel(started.Channels.Slack, next.Channels.Slack),
	}
	c.lines = linesOf(started, next)
	c.secrets = slices.Compact(slices.Sorted(slices.Values(append(started.Secrets(), next.secrets...))))
	return &c, c.leans()
}

// reloadChannel is a channel's new settings with its old connection. A channel that is new waits
// for the restart; one that is gone stays until then.
func reloadChannel(started, next *Channel) *Channel {
	if started == nil || next == nil {
		return started
	}
	ch := *next
	ch.BotToken, ch.AppToken, ch.APIURL, ch.ThreadReplies = started.BotToken, started.AppToken, started.APIURL, started.ThreadReplies
	return &ch
}

// linesOf are next's keys, with started's for the heartbeats, which decide who runs which.
func linesOf(started, next *Config) map[string]int {
	isHeartbeat := func(path string, _ int) bool { return strings.Contains(path+".", ".heartbeat.") }
	lines := maps.Clone(next.lines)
	maps.DeleteFunc(lines, isHeartbeat)
	for path, line := range started.lines {
		if isHeartbeat(path, line) {
			lines[path] = line
		}
	}
	return lines
}

// leans reports agents whose backend, and channels whose agent, are not there before a restart.
func (c *Config) leans() error {
	var problems Problems
	add := func(key, reason string) {
		problems = append(problems, Problem{File: c.File, Line: lineNear(c.lines, key), Key: key, Reason: reason})
	}
	for _, id := range c.AgentIDs() {
		a, _ := c.Agent(id)
		key := "agents.list." + id + ".backend"
		if c.lines[key] == 0 {
			key = "agents.defaults.backend"
		}
		switch name := c.BackendOf(a); {
		case name == "":
			add(key, "does not say which of the running backends answers")
		default:
			if _, ok := c.Backends[name]; !ok {
				add(key, fmt.Sprintf("backend %s is new: that needs a restart", name))
			}
		}
	}
	// A channel that the file has no more keeps its settings until the restart; its agents must stay.
	for _, name := range c.Channels.Names() {
		ch := c.Channels.Get(name)
		for _, id := range append([]string{ch.Agent}, agentsOf(ch.Groups)...) {
			if _, ok := c.Agent(id); !ok {
				add("agents.list", fmt.Sprintf("channels.%s still needs %s: that needs a restart", name, id))
			}
		}
	}
	return problems.sorted()
}

func agentsOf(groups map[string]Group) []string {
	var ids []string
	for _, key := range sortedKeys(groups) {
		ids = append(ids, groups[key].Agent)
	}
	return ids
}
