package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"time"

	"typist/agent/metrics"
	"typist/config"
)

// shutdownLimit is how long a shutdown may take (C5); what still runs then is left to the next
// start (S9).
const shutdownLimit = 10 * time.Second

// process is the frame around a service: signals, reloads, the servers, the end.
type process struct {
	config  *config.Config
	build   builder
	log     *slog.Logger
	secrets *secretList
	metrics *metrics.Metrics
	signals <-chan os.Signal
	exit    func(code int) // ends the program at once
	getenv  func(string) (string, bool)
}

// run builds the service and serves until a signal, ctx's end or a failure.
func (p *process) run(ctx context.Context) (err error) {
	svc, err := p.build(ctx, p.config, p.log, p.metrics)
	if err != nil {
		return fmt.Errorf("start: %w", err)
	}
	defer func() {
		if closing := svc.Close(); closing != nil && err == nil {
			err = fmt.Errorf("close: %w", closing)
		}
	}()
	serving, stop := context.WithCancel(ctx)
	defer stop()

	if p.config.HTTP.Listen != "" {
		s, err := serve(serving, p.config.HTTP.Listen, routes(svc, p.metrics, p.config.HTTP.Token), p.log)
		switch {
		case err == nil:
			p.log.Info("listening", "address", s.listener.Addr().String())
		case p.config.Written("http.listen"):
			return err
		default: // nobody has asked for this address
			p.log.Warn("no health checks and no metrics", "error", err)
		}
		defer s.close()
		defer stop()
	}
	socket, err := control(serving, p.config.DataDir, svc, p.log)
	if err != nil {
		p.log.Warn("typist pair and typist heartbeat can't reach this process", "error", err)
	}
	defer socket.close()
	defer stop()

	ended := make(chan error, 1)
	go func() { ended <- svc.Run(serving) }()
	p.log.Info("started", "version", version(), "config", p.config.File, "dataDir", p.config.DataDir, "channels", strings.Join(p.config.Channels.Names(), ","))
	notify(p.getenv, "READY=1")
	return p.loop(ctx, stop, svc, ended)
}

// loop reloads until the service ends or has to.
func (p *process) loop(ctx context.Context, stop func(), svc service, ended <-chan error) error {
	r := newReloader(p, svc)
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-ctx.Done():
			return p.shutDown(stop, ended)
		case s := <-p.signals:
			if s == syscall.SIGHUP {
				r.reload("signal")
				continue
			}
			p.log.Info("shutting down", "signal", s.String())
			return p.shutDown(stop, ended)
		case <-tick.C:
			if r.changed() {
				r.reload("file changed")
			}
		}
	}
}

// shutDown waits for the service to end; a second signal ends the program at once.
func (p *process) shutDown(stop func(), ended <-chan error) error {
	notify(p.getenv, "STOPPING=1")
	stop()
	limit := time.NewTimer(shutdownLimit)
	defer limit.Stop()
	for {
		select {
		case err := <-ended:
			p.log.Info("stopped")
			return err
		case s := <-p.signals:
			if s == syscall.SIGHUP {
				continue
			}
			p.log.Warn("ended by a second signal", "signal", s.String())
			p.exit(exitFailed)
			return errReported
		case <-limit.C:
			p.log.Error("the shutdown takes too long, ending now", "limit", shutdownLimit)
			p.exit(exitFailed)
			return errReported
		}
	}
}
