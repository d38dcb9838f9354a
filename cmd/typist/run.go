package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"typist/agent/metrics"
)

type runCommand struct {
	configFlag
	logFlags
}

// Run is `typist run`.
func (r *runCommand) Run(ctx context.Context, std streams) error {
	c, err := r.load()
	if err != nil {
		return err
	}
	if err := c.ForRun(); err != nil {
		return err
	}
	secrets := new(secretList)
	secrets.set(c.Secrets())
	log := r.logger(std.err, secrets)
	slog.SetDefault(log) // also what libraries write with package log

	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	p := &process{
		config: c, build: build, log: log, secrets: secrets, metrics: metrics.New(version()),
		signals: signals, exit: os.Exit, getenv: os.LookupEnv,
	}
	return p.run(ctx)
}
