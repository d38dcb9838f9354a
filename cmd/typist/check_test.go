package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"unicode/utf8"

	"typist/adapters"
	"typist/agent"
	"typist/agent/metrics"
	"typist/agent/store"
	"typist/config"
)

func TestO4_TableSaysWhatToDo(t *testing.T) {
	const secret = "secret-of-the-bot"
	secrets := new(secretList)
	secrets.set([]string{secret})
	answer := func(found string, err error) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return found, err }
	}
	rows := reachAll(t.Context(), []probe{
		{name: "channel telegram", reach: answer("bot @typist, privacy mode on", nil)},
		{name: "channel discord", reach: answer("", &adapters.FatalError{Channel: "discord", Sentence: "The token is wrong: make a new one under Bot."})},
		{name: "channel slack", reach: answer("", fmt.Errorf("auth.test with %s: %w\nmore", secret, adapters.ErrDenied))},
		{name: "backend main", reach: answer("", &agent.Failure{Kind: agent.NeverSent, Err: &url.Error{Op: "Get", URL: "http://x", Err: errors.New("connection refused")}, Detail: "Get http://x: connection refused"})},
		{name: "backend claude", reach: answer("", &agent.Failure{Kind: agent.Unauthorized, Status: 401})},
		{name: "backend other", reach: answer("", &agent.Failure{Kind: agent.NotFound, Detail: `"qwen" is not among its models: a, b`})},
		{name: "http.listen", mild: true, reach: answer("", &localError{"in use", "choose another"})},
		{name: "mcpServer x", reach: func(context.Context) (string, error) { panic("in a library") }},
	}, secrets)
	var out strings.Builder
	if table(&out, rows) {
		t.Error("the table says that all is well")
	}
	for _, want := range []string{
		"✓ channel telegram bot @typist, privacy mode on ✗",
		"✗ channel discord The token is wrong make a new one under Bot.",
		"check the token and the bot's rights",
		"can't be reached (connection refused) is the server running? check baseURL",
		"refuses the key (HTTP 401) check apiKey",
		`"qwen" is not among its models: a, b set model to one that is there`,
		"! http.listen in use choose another",
		"✗ mcpServer x does not work (panic: in a library)",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
			t.Errorf("the table lacks %q", want)
		}
	}
	if strings.Contains(out.String(), secret) || strings.Contains(out.String(), "see the") {
		t.Error("a secret, or advice that is none, stands in the table")
	}
	if t.Failed() {
		t.Log(out.String())
	}
	if !table(&out, []finding{rows[0], rows[6]}) {
		t.Error("a table without a fault says that something is wrong")
	}
}

func TestO4_TheTableStaysNarrow(t *testing.T) {
	var out strings.Builder
	table(&out, []finding{
		{name: "channel telegram", found: strings.Repeat("many words stand here ", 12), todo: strings.Repeat("there are some here as well ", 9)},
		{name: "store", found: "/a/path/" + strings.Repeat("x", 300), todo: "short"},
		{name: "config", found: "fine"},
	})
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > tableWidth {
			t.Errorf("%d characters: %s", n, line)
		}
	}
	if joined := strings.Join(strings.Fields(out.String()), ""); strings.Count(joined, "x") != 300 || strings.Count(out.String(), "many") != 12 || strings.Count(out.String(), "as well") > 9 {
		t.Errorf("something is lost:\n%s", out.String())
	}
}

// TestO4_EveryErrorSaysWhatToDo in words that need no look into the code, the cause at their end.
func TestO4_EveryErrorSaysWhatToDo(t *testing.T) {
	for _, test := range []struct {
		err         error
		found, todo string
	}{
		{fmt.Errorf("telegram: getMe: %w", errors.Join(adapters.ErrNeverSent, errors.New("dial tcp: lookup x"))), "can't be reached (telegram: getMe: ", "check the network"},
		{&adapters.RateLimitError{RetryAfter: 3 * time.Second}, "rate limit", "wait 3s"},
		{&adapters.FatalError{Sentence: "there is no such bot at http://x:80; check channels.telegram.botToken and apiURL"}, "there is no such bot at http://x:80", "check channels.telegram.botToken and apiURL"},
		{&adapters.FatalError{Sentence: "only one part"}, "only one part", "only one part"},
		{&store.Error{Kind: store.ErrCorrupt, Sentence: "The store x is damaged: put back a backup."}, "The store x is damaged", "put back a backup."},
		{errors.New(`calling "initialize": rejected by transport: bad`), "answers, but not as a tool server (MCP) (", "check url"},
		{errors.New(`MCP server b: connection closed: calling "initialize": client is closing: invalid character 'd'`), "does not speak MCP (MCP server b: invalid character 'd')", "check command"},
		{errors.New(`MCP server b: calling "initialize": sending "initialize": Not Found`), "answers, but not as a tool server (MCP) (", "check url"},
		{fmt.Errorf("MCP server b: %w", context.DeadlineExceeded), "gave no answer in time (", "is it a tool server (MCP)?"},
		{errors.New(`calling "tools/list": method not found`), "without tools (", "take it out of mcpServers"},
		{&url.Error{Op: "Post", URL: "http://x/mcp", Err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}, "can't be reached (dial: connection refused)", "is the server running?"},
		{fmt.Errorf("start: %w", &exec.Error{Name: "nope", Err: exec.ErrNotFound}), "the program is not there (", "install it"},
		{io.EOF, "ended without an answer (EOF)", "run the command by hand"},
		{&agent.Failure{Kind: agent.ServerError, Status: 500, Detail: "boom"}, "answers, but fails (HTTP 500: boom)", "the server has trouble"},
	} {
		if found, todo := explain(test.err); !strings.Contains(found, test.found) || !strings.Contains(todo, test.todo) {
			t.Errorf("%v:\n%s\n%s", test.err, found, todo)
		}
	}
}

func TestO4_ProbesHaveALimitAndRunSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		stuck := func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }
		rows := reachAll(t.Context(), []probe{{name: "a", reach: stuck}, {name: "b", reach: stuck}}, new(secretList))
		if took := time.Since(began); took != probeLimit {
			t.Errorf("two stuck probes took %s", took)
		}
		if !strings.Contains(rows[1].todo, "then try again") {
			t.Errorf("row = %+v", rows[1])
		}
	})
}

func TestO4_DataDirIsTried(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	if f := dataDirFinding(dir); f.todo != "" {
		t.Errorf("finding = %+v", f)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	file := filepath.Join(dir, "file")
	write(t, file, "")
	if f := dataDirFinding(file); f.todo == "" {
		t.Error("a file passes for a directory")
	}
}

func TestO4_TheAddressIsFreeOursOrTaken(t *testing.T) {
	if found, err := listenFound(t.Context(), "127.0.0.1:0"); err != nil || !strings.HasSuffix(found, "is free") {
		t.Errorf("%q, %v", found, err)
	}
	for ours, h := range map[bool]http.Handler{
		true: routes(&fakeService{health: Health{Version: "1", Channels: map[string]ChannelHealth{}}}, metrics.New("v"), ""),
		false: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"channels": {}, "status": "someone else"}`)
		}),
	} {
		s, err := serve(t.Context(), "127.0.0.1:0", h, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		found, err := listenFound(t.Context(), s.listener.Addr().String())
		if ours != (err == nil && strings.HasSuffix(found, "in use by a typist that runs")) {
			t.Errorf("ours %t: %q, %v", ours, found, err)
		}
		s.close()
	}
}

func TestO4_AChannelForNobodyIsAWarning(t *testing.T) {
	for text, want := range map[string]int{
		"": 1, "allowFrom: []": 1, "allowFrom: [1]": 0, "pairing: true": 0, "groups: {'*': {}}": 1, "groups: {'*': {allowFrom: [1]}}": 0,
	} {
		c, err := config.Parse("typist.yaml", []byte("channels: {telegram: {botToken: x, "+text+"}}"), tokenEnv)
		if err != nil {
			t.Fatal(err)
		}
		rows := accessFindings(c)
		if len(rows) != want || want > 0 && (!rows[0].mild || !strings.Contains(rows[0].todo, "channels.telegram.allowFrom")) {
			t.Errorf("%s: %+v", text, rows)
		}
	}
}
