package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"typist/adapters/sim"
	"typist/adapters/sim/discord"
	"typist/adapters/sim/slack"
	"typist/adapters/sim/telegram"
)

var binary string

func TestMain(m *testing.M) {
	if file := os.Getenv(toolServerEnv); file != "" {
		if err := serveTools(file); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	// These tests wait most of their time.
	if err := flag.Set("test.parallel", "24"); err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "typist-e2e")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "typist")
	if out, err := exec.Command("go", "build", "-o", binary, "typist/cmd/typist").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// place is a chat of a platform as a test speaks of it.
type place struct {
	platform sim.Platform
	direct   string
	group    string
	topic    string // thread of group
	ann      string
}

// platforms starts the three miniatures.
func platforms(t testing.TB) map[string]place {
	t.Helper()
	tg, err := telegram.New(telegram.Options{})
	must(t, err)
	dc, err := discord.New(discord.Options{})
	must(t, err)
	sl, err := slack.New(slack.Options{RetryScale: 0.02}) // what is not taken comes again in seconds, not minutes
	must(t, err)
	out := map[string]place{
		"telegram": {platform: tg},
		"discord":  {platform: dc},
		"slack":    {platform: sl},
	}
	for name, p := range out {
		t.Cleanup(func() { _ = p.platform.Close() })
		for _, c := range p.platform.World().Chats() {
			switch {
			case c.Direct && p.direct == "":
				p.direct = c.ID
				for _, m := range c.Members {
					if m != p.platform.World().Bot().ID {
						p.ann = m
					}
				}
			case !c.Direct && p.group == "":
				p.group = c.ID
			}
			if len(c.Threads) > 0 && p.topic == "" && !c.Direct {
				p.topic = c.ID + "/" + c.Threads[0].ID
			}
		}
		out[name] = p
	}
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// configFile writes a configuration for the platforms.
func configFile(t testing.TB, dir string, on map[string]place, backends string, more string) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "dataDir: %s\nhttp: {listen: \"\"}\nbackends:\n%s\n%s\nchannels:\n", filepath.Join(dir, "data"), backends, more)
	for name, p := range on {
		fmt.Fprintf(&b, "  %s:\n    apiURL: %q\n    allowFrom: [\"*\"]\n    groups: {\"*\": {}}\n", name, p.platform.URL())
		for key, value := range p.platform.Credentials() {
			fmt.Fprintf(&b, "    %s: %q\n", key, value)
		}
	}
	file := filepath.Join(dir, "typist.yaml")
	must(t, os.WriteFile(file, []byte(b.String()), 0o600))
	return file
}

// program is a running typist.
type program struct {
	t    testing.TB
	cmd  *exec.Cmd
	log  *logBuffer
	done chan error
}

type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
	grew chan struct{}
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	close(l.grew)
	l.grew = make(chan struct{})
	return len(p), nil
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// wait blocks until the log holds the text n times.
func (l *logBuffer) wait(ctx context.Context, text string, n int) error {
	for {
		l.mu.Lock()
		ok, grew := strings.Count(l.text.String(), text) >= n, l.grew
		l.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-grew:
		case <-ctx.Done():
			return fmt.Errorf("no %q (%d times) in the log", text, n)
		}
	}
}

// run starts the program and waits until its channels are connected.
func run(t testing.TB, config string, channels int, flags ...string) *program {
	t.Helper()
	p := &program{t: t, cmd: exec.Command(binary, append([]string{"run", "--config", config}, flags...)...), log: &logBuffer{grew: make(chan struct{})}, done: make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	must(t, p.cmd.Start())
	go func() { p.done <- p.cmd.Wait() }()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	connected := "msg=connected"
	if slices.Contains(flags, "json") {
		connected = `"level":"INFO","msg":"connected"`
	}
	t.Cleanup(func() {
		p.end(syscall.SIGKILL)
		if t.Failed() {
			t.Logf("log:\n%s", p.log)
		}
	})
	if err := p.log.wait(ctx, connected, channels); err != nil {
		t.Fatalf("%v:\n%s", err, p.log)
	}
	return p
}

// end ends the program with a signal and waits for it.
func (p *program) end(s syscall.Signal) error {
	if p.done == nil {
		return nil
	}
	_ = p.cmd.Process.Signal(s)
	err := <-p.done
	p.done = nil
	return err
}

// eventually waits until the world is as wanted.
func eventually(t testing.TB, p place, what string, limit time.Duration, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := p.platform.World().Wait(ctx, what, ok); err != nil {
		var chat strings.Builder
		for _, c := range p.platform.World().Chats() {
			for _, m := range p.platform.World().Messages(c.ID, "*") {
				fmt.Fprintf(&chat, "%s/%s %s: %q %v\n", m.Chat, m.Thread, m.From.Name, m.Text, m.Buttons)
			}
		}
		t.Fatalf("%v\n%s", err, chat.String())
	}
}

// says reports whether a standing message of the bot contains the text.
func (p place) says(chat, text string) bool {
	for _, m := range sim.FromBot(p.platform.World().Messages(chat, "*")) {
		if strings.Contains(m.Text, text) {
			return true
		}
	}
	return false
}
