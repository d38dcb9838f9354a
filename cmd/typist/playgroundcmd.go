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
	secrets := new(secretList)
	o := playground.Options{Backend: p.Backend, Listen: p.Listen}
	if p.Backend != "" || p.Config != "" {
		c, err := p.load()
		if err != nil {
			return err
		}
		if p.Backend == "" && len(c.Backends) != 1 && c.Agents.Defaults.Backend == "" {
			return &usageError{errors.New("--backend NAME says which of the config's backends answers")}
		}
		secrets.set(c.Secrets())
		o.Config = c
	}
	o.Log = logFlags{LogFormat: "text", LogLevel: p.LogLevel}.logger(std.err, secrets)
	slog.SetDefault(o.Log) // also what libraries write with package log
	o.Opened = func(url string) {
		fmt.Fprintf(std.out, "The playground is at\n\n  %s\n\nIt can be reached from this machine only. Ctrl-C ends it.\n", url)
		if !p.NoOpen {
			openBrowser(url)
		}
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	return playground.Run(ctx, o)
}

// openBrowser asks the desktop to show the page. The address is printed too, so it may fail.
func openBrowser(url string) {
	var c *exec.Cmd
	switch {
	case runtime.GOOS == "darwin":
		c = exec.Command("open", url)
	case runtime.GOOS == "windows":
		c = exec.Command("rundll32", "url.dll,FileProtocolHandler", url)
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return // no desktop here
	default:
		c = exec.Command("xdg-open", url)
	}
	if c.Start() == nil {
		go func() { _ = c.Wait() }() // what the desktop says of it helps nobody
	}
}
