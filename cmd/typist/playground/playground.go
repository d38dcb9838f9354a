// Package playground runs typist against miniature platforms and shows both in a page (W1–W6):
// what people see comes from the platforms' worlds, the inspector from the event log and the
// store. Nothing leaves the machine.
package playground

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"

	"typist/config"
)

// DefaultListen is the address of the page where nobody asks for another; a free port of
// loopback is taken where this one is in use.
const DefaultListen = "127.0.0.1:7433"

// Options set a playground up. The zero value shows the scripted agent.
type Options struct {
	// Config has the backend that answers and all settings but channels; nil = the scripted agent.
	Config *config.Config
	// Backend is the name of one of Config's backends; "" = what Config says.
	Backend string
	// Listen is the address of the page, on loopback; "" = DefaultListen or a free port.
	Listen string
	// Opened is called once with the page's address, token included.
	Opened func(url string)
	Log    *slog.Logger
}

// Playground is a running playground.
type Playground struct {
	log    *slog.Logger
	towns  []*town
	mirror *mirror
	bot    *keeper
	web    *web
	dir    string
}

// Run serves a playground until ctx ends.
func Run(ctx context.Context, o Options) error {
	p, err := New(ctx, o)
	if err != nil {
		return err
	}
	if o.Opened != nil {
		o.Opened(p.URL())
	}
	<-ctx.Done()
	return p.Close()
}

// New starts a playground.
func New(ctx context.Context, o Options) (p *Playground, err error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p = &Playground{log: o.Log, mirror: newMirror()}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
			p = nil
		}
	}()
	listener, err := listen(ctx, o.Listen)
	if err != nil {
		return p, err
	}
	p.web = newWeb(p, listener)
	if p.dir, err = os.MkdirTemp("", "typist-playground-"); err != nil {
		return p, fmt.Errorf("playground: %w", err)
	}
	if p.towns, err = startTowns(); err != nil {
		return p, err
	}
	base, err := baseConfig(o)
	if err != nil {
		return p, err
	}
	base.DataDir = p.dir
	p.bot = newKeeper(base, p.towns, p.mirror, o.Log)
	if err := p.bot.Start(ctx); err != nil {
		return p, err
	}
	for _, t := range p.towns {
		t.watch(p.mirror)
	}
	p.web.start()
	return p, nil
}

// URL is the address to open, with the token that lets the browser in.
func (p *Playground) URL() string { return p.web.openURL() }

// Close ends the bot, the platforms and the page, and removes what they stored.
func (p *Playground) Close() error {
	var errs []error
	if p.web != nil {
		errs = append(errs, p.web.close())
	}
	if p.bot != nil {
		errs = append(errs, p.bot.Close())
	}
	for _, t := range p.towns {
		errs = append(errs, t.close())
	}
	if p.dir != "" {
		errs = append(errs, os.RemoveAll(p.dir))
	}
	return errors.Join(errs...)
}

// listen opens the page's port, on loopback only.
func listen(ctx context.Context, address string) (net.Listener, error) {
	wanted := address
	if wanted == "" {
		wanted = DefaultListen
	}
	host, _, err := net.SplitHostPort(wanted)
	if err != nil {
		return nil, fmt.Errorf("--listen %q: want host:port, such as %s", wanted, DefaultListen)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("--listen %q: the playground is served on loopback only, such as %s", wanted, DefaultListen)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", wanted)
	if err != nil && address == "" {
		l, err = new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("--listen %s: %w", wanted, err)
	}
	return l, nil
}

// demoConfig is what the playground runs with where no config is given.
const demoConfig = "backends: {demo: {type: script}}\n"

// baseConfig is the config without channels: the caller's own, or the scripted agent's.
func baseConfig(o Options) (*config.Config, error) {
	if o.Config == nil {
		return config.Parse("playground", []byte(demoConfig), func(string) (string, bool) { return "", false })
	}
	c := *o.Config
	if o.Backend != "" {
		if _, ok := c.Backends[o.Backend]; !ok {
			return nil, fmt.Errorf("--backend %q: %s has no backend of that name", o.Backend, c.File)
		}
		c.Agents.Defaults.Backend = o.Backend
	}
	c.HTTP = config.HTTP{}
	return &c, nil
}
