// Package assemble makes the parts of a running typist from its configuration, for `typist run`
// and for the playground.
package assemble

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"typist/adapters"
	"typist/agent"
	"typist/agent/eventlog"
	"typist/agent/heartbeat"
	"typist/agent/metrics"
	"typist/agent/progress"
	"typist/agent/store"
	"typist/agent/turn"
	"typist/config"
)

// Parts are the parts of a running typist.
type Parts struct {
	Config   *config.Config
	Store    *store.Store
	Events   *eventlog.Log
	Hub      *turn.Hub
	Beats    *heartbeat.Runner
	Adapters []adapters.Adapter
	tools    *toolboxes
	ending   []io.Closer // backends with something to end
}

// Options change what the configuration says; the playground uses them.
type Options struct {
	// Store replaces the one in dataDir.
	Store *store.Store
	// Wrap stands before each backend; nil: nothing does.
	Wrap func(name string, b agent.Backend) agent.Backend
}

// New opens the store and makes backends, adapters and the hub. Nothing is sent before Hub.Run.
func New(ctx context.Context, c *config.Config, log *slog.Logger, m *metrics.Metrics, o Options) (parts *Parts, err error) {
	p := &Parts{Config: c, Store: o.Store}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if p.Store == nil {
		if p.Store, err = store.Open(ctx, store.Options{Dir: c.DataDir}); err != nil {
			return nil, err
		}
	}
	p.Events = eventlog.New(p.Store)
	p.tools = newToolboxes(c, log)
	backends := map[string]turn.Backend{}
	for name, b := range c.Backends {
		made, tools, err := Backend(c, name, Surroundings{Tools: p.tools.of(b.MCPServers), Memory: p.Store, Log: log})
		if err != nil {
			return nil, c.Problem("backends."+name, err.Error())
		}
		if end, ok := made.(io.Closer); ok {
			p.ending = append(p.ending, end)
		}
		if o.Wrap != nil {
			made = o.Wrap(name, made)
		}
		backends[name] = turn.Backend{Backend: made, Tools: tools}
	}
	for _, name := range c.Channels.Names() {
		a, err := Channel(name, c.Channels.Get(name), log, p.Store)
		if err != nil {
			return nil, c.Problem("channels."+name, err.Error())
		}
		p.Adapters = append(p.Adapters, a)
	}
	p.Hub, err = turn.New(turn.Options{Store: p.Store, Events: p.Events, Channels: p.Adapters, Backends: backends,
		Settings: Settings(c), Log: log, Metrics: m})
	if err != nil {
		return nil, err
	}
	p.Beats = heartbeat.New(p.Hub, p.Store, log)
	p.Hub.SetHeartbeats(p.Beats)
	return p, p.Update(c)
}

// Update takes over what a reload can change (O5). An error keeps everything as it was.
func (p *Parts) Update(c *config.Config) error {
	schedules, err := Heartbeats(c)
	if err != nil {
		return err
	}
	p.Hub.Update(Settings(c))
	p.Beats.Update(schedules, progress.Lang(c.Progress.Language))
	return nil
}

// Run serves until ctx ends, then shuts down within 10 s (C5).
func (p *Parts) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Beats.Run(ctx)
	}()
	err := p.Hub.Run(ctx)
	stop()
	<-done
	return err
}

// Close ends agents and tool servers, and closes the store. The hub has ended by then.
func (p *Parts) Close() error {
	var errs []error
	for _, end := range p.ending {
		errs = append(errs, end.Close())
	}
	if p.tools != nil {
		errs = append(errs, p.tools.close())
	}
	if p.Events != nil {
		p.Events.Close()
	}
	if p.Store != nil {
		errs = append(errs, p.Store.Close())
	}
	return errors.Join(errs...)
}
