package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"typist/cmd/typist/playground"
	"typist/config"
)

type playgroundCommand struct {
	configFlag
	Backend string `placeholder:"NAME" help:"Backend of the config file that answers (default: a scripted agent)."`
	Listen  string `placeholder:"ADDRESS" help:"Address of the page, on loopback (default: 127.0.0.1:7433, or a free port)."`
	NoOpen  bool   `help:"Don't open a browser."`
	// The page shows what goes on: the terminal stays quiet unless something is wrong.
	LogLevel string `default:"warn" enum:"debug,info,warn,error" help:"Least level that is logged: debug, info, warn or error."`
}

// Run is `typist playground`.
func (p *playgroundCommand) Run(ctx context.Context, std streams) error {
	c, err := p.answering()
	if err != nil {
		return err
	}
	secrets := new(secretList)
	if c != nil {
		secrets.set(c.Secrets())
	}
	log := logFlags{LogFormat: "text", LogLevel: p.LogLevel}.logger(std.err, secrets)
	slog.SetDefault(log) // also what libraries write with package log
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	return playground.Run(ctx, playground.Options{
		Config: c, Backend: p.Backend, Listen: p.Listen, Log: log,
		Opened: func(url string) {
			fmt.Fprintf(std.out, "The playground is at\n\n  %s\n\nIt can be reached from this machine only. Ctrl-C ends it.\n", url)
			if !p.NoOpen {
				openBrowser(ctx, url)
			}
		},
	})
}

// answering is the config with the backend that answers; nil = the scripted agent.
func (p *playgroundCommand) answering() (*config.Config, error) {
	if p.Backend == "" && p.Config == "" {
		return nil, nil
	}
	c, err := p.load()
	if err != nil {
		return nil, err
	}
	_, known := c.Backends[p.Backend]
	switch {
	case p.Backend != "" && !known:
		return nil, &usageError{fmt.Errorf("--backend %s: %s has no backend of that name", p.Backend, c.File)}
	case p.Backend == "" && c.BackendOf(c.Agents.Defaults) == "":
		return nil, &usageError{errors.New("--backend NAME says which of the config's backends answers")}
	}
	return c, nil
}

// openBrowser asks the desktop to show the page. The address is printed too, so it may fail.
func openBrowser(ctx context.Context, url string) {
	var c *exec.Cmd
	switch {
	case runtime.GOOS == "darwin":
		c = exec.CommandContext(ctx, "open", url)
	case runtime.GOOS == "windows":
		c = exec.CommandContext(ctx, "rundll32", "url.dll,FileProtocolHandler", url)
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return // no desktop here
	default:
		c = exec.CommandContext(ctx, "xdg-open", url)
	}
	if c.Start() == nil {
		go func() { _ = c.Wait() }() // what the desktop says of it helps nobody
	}
}
