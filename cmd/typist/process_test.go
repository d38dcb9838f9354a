package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"typist/config"
)

const (
	goodConfig = "dataDir: data\nchannels: {telegram: {botToken: \"${T}\", allowFrom: [1]}}\nbackends: {a: {type: script}}\nhttp: {listen: \"\"}\n"
	someToken  = "1234567:token-of-a-bot"
)

func tokenEnv(name string) (string, bool) {
	switch name {
	case "T":
		return someToken, true
	case "HOME":
		return os.TempDir(), true
	}
	return "", false
}

// frame is a process in a test.
type frame struct {
	*process
	svc     *fakeService
	log     *record
	signals chan os.Signal
	exits   chan int
	ended   chan error // what run returned
}

func newFrame(t *testing.T) *frame {
	t.Helper()
	path := filepath.Join(t.TempDir(), "typist.yaml")
	write(t, path, goodConfig)
	c, err := config.Load(path, tokenEnv)
	if err != nil {
		t.Fatal(err)
	}
	f := &frame{svc: &fakeService{}, log: new(record), signals: make(chan os.Signal, 4), exits: make(chan int, 4), ended: make(chan error, 1)}
	secrets := new(secretList)
	secrets.set(c.Secrets())
	f.process = &process{
		config: c, build: building(f.svc), log: logFlags{LogLevel: "info"}.logger(f.log, secrets), secrets: secrets,
		signals: f.signals, exit: func(code int) { f.exits <- code }, getenv: tokenEnv,
	}
	return f
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// loop runs the frame without its sockets, so that it can live in a synctest bubble.
func (f *frame) start(ctx context.Context) {
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- f.svc.Run(serving) }()
	go func() { f.ended <- f.loop(ctx, stop, f.svc, ended) }()
}

func TestC5_SignalEndsTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, s := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
			f := newFrame(t)
			f.start(t.Context())
			f.signals <- s
			if err := <-f.ended; err != nil {
				t.Errorf("%s: %v", s, err)
			}
			if len(f.exits) > 0 {
				t.Errorf("%s: the program was ended the hard way", s)
			}
		}
	})
}

func TestC5_SecondSignalEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFrame(t)
		f.svc.linger = make(chan struct{})
		defer close(f.svc.linger)
		f.start(t.Context())
		f.signals <- syscall.SIGTERM
		f.signals <- syscall.SIGHUP // no signal to end
		began := time.Now()
		synctest.Wait()
		f.signals <- syscall.SIGTERM
		if code := <-f.exits; code != exitFailed || time.Since(began) != 0 {
			t.Errorf("exit %d after %s", code, time.Since(began))
		}
		<-f.ended
	})
}

func TestC5_ShutdownTakesTenSecondsAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFrame(t)
		f.svc.linger = make(chan struct{})
		defer close(f.svc.linger)
		f.start(t.Context())
		f.signals <- syscall.SIGTERM
		began := time.Now()
		code := <-f.exits
		if took := time.Since(began); code != exitFailed || took != 10*time.Second {
			t.Errorf("exit %d after %s", code, took)
		}
		<-f.ended
		f.log.wants(t, "the shutdown takes too long")
	})
}

func TestProcess_ServiceThatFailsEndsTheProgram(t *testing.T) {
	f := newFrame(t)
	f.svc.runErr = errors.New("every channel has stopped")
	if err := f.run(t.Context()); !errors.Is(err, f.svc.runErr) {
		t.Errorf("run = %v", err)
	}
	if !f.svc.closed {
		t.Error("the service was not closed")
	}
}

func TestO5_ReloadsOnSignalAndOnChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFrame(t)
		f.start(t.Context())

		// Nothing has changed.
		f.signals <- syscall.SIGHUP
		synctest.Wait()
		if n := f.svc.updated(); n != 0 {
			t.Errorf("%d updates without a change", n)
		}
		f.log.wants(t, "nothing has changed")

		// What can change without a restart is taken over, on a signal at once.
		write(t, f.config.File, strings.Replace(goodConfig, "[1]", "[1, 2]", 1))
		f.signals <- syscall.SIGHUP
		synctest.Wait()
		if n := f.svc.updated(); n != 1 {
			t.Fatalf("%d updates after a signal", n)
		}
		if got := f.svc.updates[0].Channels.Telegram.AllowFrom; len(got) != 2 {
			t.Errorf("allowFrom = %q", got)
		}
		f.log.wants(t, "keys=channels.telegram.allowFrom")

		// And without a signal within 2 s.
		write(t, f.config.File, goodConfig+"progress: {view: detail}\n")
		<-time.After(watchInterval)
		synctest.Wait()
		if n := f.svc.updated(); n != 2 {
			t.Fatalf("%d updates after a change", n)
		}
		<-time.After(10 * watchInterval)
		if n := f.svc.updated(); n != 2 {
			t.Errorf("one change was taken over %d times", n-1)
		}

		// What needs a restart is named, each time.
		write(t, f.config.File, goodConfig+"progress: {view: detail}\nmcpServers: {m: {command: [x]}}\n")
		f.signals <- syscall.SIGHUP
		synctest.Wait()
		f.log.wants(t, `msg="changes that need a restart"`, "keys=mcpServers.m")
		if n := f.svc.updated(); n != 2 {
			t.Errorf("%d updates for a change that needs a restart", n)
		}
		f.signals <- syscall.SIGTERM
		<-f.ended
		if strings.Contains(f.log.String(), someToken) {
			t.Error("the token stands in the log")
		}
	})
}

func TestO5_WrongConfigKeepsTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFrame(t)
		f.start(t.Context())
		for _, wrong := range []string{"progress: {view: big}\nnope: 1\n", "backends: {}", "a: ["} {
			write(t, f.config.File, wrong)
			f.signals <- syscall.SIGHUP
			synctest.Wait()
		}
		if err := os.Remove(f.config.File); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * watchInterval) // a file that is away for a moment is no news
		f.signals <- syscall.SIGHUP     // but a wish to reload it is
		synctest.Wait()
		if n := f.svc.updated(); n != 0 {
			t.Errorf("%d updates", n)
		}
		f.log.wants(t, "progress.view: unknown value", "nope: unknown key", "channels: typist run needs at least one", "is not YAML", "can't be read", "stays as it was")

		// A service that can't take it over keeps its own, and hears of it again.
		f.svc.refuse = errors.New("no such backend")
		write(t, f.config.File, goodConfig+"progress: {view: detail}\n")
		<-time.After(watchInterval)
		synctest.Wait()
		f.log.wants(t, "no such backend")
		f.svc.mu.Lock()
		f.svc.refuse = nil
		f.svc.mu.Unlock()
		f.signals <- syscall.SIGHUP
		synctest.Wait()
		if n := f.svc.updated(); n != 1 {
			t.Errorf("%d updates after the service could", n)
		}
		f.signals <- syscall.SIGTERM
		<-f.ended
	})
}
