package assemble

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"typist/agent"
	"typist/agent/tools"
	"typist/config"
)

// toolboxes are the configured tool servers, shared by the backends that use them (A3).
type toolboxes struct {
	servers map[string]*tools.Server
}

func newToolboxes(c *config.Config, log *slog.Logger) *toolboxes {
	t := &toolboxes{servers: map[string]*tools.Server{}}
	for name, s := range c.MCPServers {
		t.servers[name] = toolServer(name, s, log)
	}
	return t
}

func toolServer(name string, s config.MCPServer, log *slog.Logger) *tools.Server {
	return tools.NewServer(tools.Config{Name: name, Command: s.Command, Env: s.Env, URL: s.URL, Headers: s.Headers, Approve: s.Approve}, log)
}

// of is the toolbox of the named servers; nil: there are none.
func (t *toolboxes) of(names []string) agent.Toolbox {
	if len(names) == 0 {
		return nil
	}
	var servers []*tools.Server
	for _, name := range names {
		servers = append(servers, t.servers[name])
	}
	return tools.New(servers...)
}

func (t *toolboxes) close() error {
	var all sync.WaitGroup
	errs := make(chan error, len(t.servers))
	for _, s := range t.servers {
		all.Go(func() { errs <- s.Close() })
	}
	all.Wait()
	close(errs)
	var out error
	for err := range errs {
		out = errors.Join(out, err)
	}
	return out
}

// ProbeTools reaches a tool server once and says what it offers (O4).
func ProbeTools(ctx context.Context, name string, s config.MCPServer) (found string, err error) {
	server := toolServer(name, s, slog.New(slog.DiscardHandler))
	defer func() { err = errors.Join(err, server.Close()) }()
	return server.Probe(ctx)
}
