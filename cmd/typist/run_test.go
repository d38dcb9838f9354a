package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"typist/agent/metrics"
	"typist/config"
)

// await reads the log until pattern shows and returns its first group.
func (f *frame) await(t *testing.T, pattern string) string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	for {
		text, more := f.log.next()
		if m := re.FindStringSubmatch(text); m != nil {
			return m[len(m)-1]
		}
		select {
		case <-more:
		case err := <-f.ended:
			t.Fatalf("run ended before %s showed: %v\n%s", pattern, err, text)
		}
	}
}

func TestProcess_ServesHealthMetricsAndControl(t *testing.T) {
	f := newFrame(t)
	f.config.HTTP = config.HTTP{Listen: "127.0.0.1:0", Token: "http-token-123"}
	f.metrics = metrics.New("v1")
	f.svc.health = Health{Store: StoreHealth{OK: true}}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { f.ended <- f.run(ctx) }()
	address := f.await(t, `msg=listening address=(\S+)`)
	f.await(t, `msg=(started)`)
	for path, want := range map[string]string{"/healthz": `"ok":true`, "/metrics": "typist_info", "/v1/chats/x/events": "the token is missing or wrong"} {
		resp, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(body), want) {
			t.Errorf("%s: %d %s %v", path, resp.StatusCode, body, err)
		}
	}
	if text, err := ask(ctx, f.config.DataDir, "pair", controlRequest{Code: "123456"}); err != nil || text != "ann may use the bot now" {
		t.Errorf("pair: %q, %v", text, err)
	}
	if _, err := ask(ctx, f.config.DataDir, "pair", controlRequest{Code: "0"}); err == nil || err.Error() != "nobody has this code" {
		t.Errorf("pair with a wrong code: %v", err)
	}
	if text, err := ask(ctx, f.config.DataDir, "heartbeat", controlRequest{Agent: "ops"}); err != nil || text != "heartbeat of ops" {
		t.Errorf("heartbeat: %q, %v", text, err)
	}
	if info, err := os.Stat(filepath.Join(f.config.DataDir, socketName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("control socket: %v %v", info.Mode(), err)
	}
	cancel()
	if err := <-f.ended; err != nil {
		t.Errorf("run = %v", err)
	}
	if _, err := ask(t.Context(), f.config.DataDir, "pair", controlRequest{}); err == nil || !strings.Contains(err.Error(), "start one with typist run") {
		t.Errorf("pair without a process: %v", err)
	}
}

func TestProcess_TakenAddressIsNamed(t *testing.T) {
	f := newFrame(t)
	f.metrics = metrics.New("v1")
	s, err := serve(t.Context(), "127.0.0.1:0", http.NotFoundHandler(), f.process.log)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	f.config.HTTP.Listen = s.listener.Addr().String()
	if err := f.run(t.Context()); err == nil || !strings.Contains(err.Error(), "http.listen") {
		t.Errorf("run = %v", err)
	}
	if !f.svc.closed {
		t.Error("the service was not closed")
	}

	// An address that nobody has asked for keeps nothing from running.
	c, err := config.Parse("typist.yaml", []byte("dataDir: "+t.TempDir()), tokenEnv)
	if err != nil {
		t.Fatal(err)
	}
	c.HTTP.Listen = s.listener.Addr().String()
	f.config = c
	f.svc.runErr = errors.New("it ran")
	if err := f.run(t.Context()); !errors.Is(err, f.svc.runErr) {
		t.Errorf("run = %v", err)
	}
	f.log.wants(t, "no health checks and no metrics")
}

func TestExecute_ExitCodes(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	write(t, "wrong.yaml", "session: {typingMode: sometimes}\nnope: 1\n")
	write(t, "empty.yaml", "")
	const tokens = "channels: {telegram: {botToken: \"${NO_SUCH_TOKEN}\"}}\n"
	write(t, "tokens.yaml", "dataDir: data\n"+tokens)
	write(t, "script.yaml", "channels: {telegram: {botToken: x}}\nbackends:\n  demo:\n    file: missing.script\n    type: script\n")
	write(t, "badscript.yaml", "channels: {telegram: {botToken: x}}\nbackends: {demo: {type: script, file: bad.script}}\ndataDir: data\n")
	write(t, "bad.script", "dance\n")
	for _, test := range []struct {
		args     string
		code     int
		out, err string
	}{
		{"version", 0, "typist ", ""},
		{"--version", 0, "typist ", ""},
		{"help", 0, "Usage: typist <command>", ""},
		{"help run", 0, "Usage: typist run", ""},
		{"--help", 0, "Usage: typist <command>", ""},
		{"run --help", 0, "--log-format", ""},
		{"", 2, "", "See typist --help"},
		{"bogus", 2, "", "unexpected argument bogus"},
		{"run --log-level=loud", 2, "", "debug"},
		{"run", 2, "", "there is no config file: looked for typist.yaml and "},
		{"run --config script.yaml", 2, "", "script.yaml:4: backends.demo.file: there is no file "},
		{"run --config badscript.yaml", 2, "", "badscript.yaml:2: backends.demo: "},
		{"run --config missing.yaml", 2, "", "missing.yaml"},
		{"run --config wrong.yaml", 2, "", "wrong.yaml:2: nope: unknown key"},
		{"check --config wrong.yaml", 2, "", "wrong.yaml:1: session.typingMode: unknown value \"sometimes\" (allowed: never, instant, thinking, message)"},
		{"run --config empty.yaml", 2, "", "channels: typist run needs at least one"},
		{"check --config empty.yaml", 2, "", "backends: typist run needs at least one"},
		{"check --schema", 0, "2020-12", ""},
		{"check --keys", 0, "| `session.typingMode` |", ""},
		{"check --schema --keys", 2, "", "can't be used together"},
		{"pair", 2, "", "<code>"},
		{"pair 1 --list", 2, "", "pair takes one of"},
		{"heartbeat", 2, "", "--now"},
		{"pair --list --config tokens.yaml", 1, "", "start one with typist run"},
		{"pair --revoke 7 --config tokens.yaml", 1, "", "start one with typist run"},
		{"heartbeat --now --config tokens.yaml", 1, "", "start one with typist run"},
		{"run --config tokens.yaml", 2, "", "environment variable NO_SUCH_TOKEN is not set"},
		{"pair 123 --config empty.yaml", 1, "", "start one with typist run"},
	} {
		out, err := new(record), new(record)
		code := execute(t.Context(), strings.Fields(test.args), streams{out: out, err: err})
		if code != test.code || !strings.Contains(out.String(), test.out) || !strings.Contains(err.String(), test.err) {
			t.Errorf("typist %s: exit %d\nout: %s\nerr: %s\nwant %d, %q, %q", test.args, code, out, err, test.code, test.out, test.err)
		}
	}
}

func TestNotify_TellsSystemd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	got := make(chan string, 1)
	conn := listenUnixgram(t, path)
	go func() {
		buf := make([]byte, 64)
		n, err := conn.Read(buf)
		got <- fmt.Sprint(string(buf[:n]), err)
	}()
	notify(func(name string) (string, bool) { return path, name == "NOTIFY_SOCKET" }, "READY=1")
	if s := <-got; s != "READY=1<nil>" {
		t.Errorf("systemd was told %s", s)
	}
	notify(func(string) (string, bool) { return "", false }, "READY=1") // nobody asked
}
