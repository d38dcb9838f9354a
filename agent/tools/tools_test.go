package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"typist/agent"
)

// TestMain is also the MCP server that the tests start: the test binary, started again.
func TestMain(m *testing.M) {
	if os.Getenv("MCP_TEST_SERVER") != "" {
		serveStdio()
		return
	}
	goleak.VerifyTestMain(m)
}

type noArgs struct{}

// testServer has the tools that the tests need.
func testServer(started chan<- struct{}) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	say := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	mcp.AddTool(server, &mcp.Tool{Name: "echo", Title: "Echo it", Description: "Says it again"},
		func(_ context.Context, _ *mcp.CallToolRequest, in struct {
			Text string `json:"text"`
		}) (*mcp.CallToolResult, any, error) {
			return say("echo " + in.Text + " " + os.Getenv("EXTRA")), nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "fail", Annotations: &mcp.ToolAnnotations{Title: "Fail it"}},
		func(context.Context, *mcp.CallToolRequest, noArgs) (*mcp.CallToolResult, any, error) {
			return nil, nil, errors.New("no disk")
		})
	mcp.AddTool(server, &mcp.Tool{Name: "picture"},
		func(context.Context, *mcp.CallToolRequest, noArgs) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{
				&mcp.TextContent{Text: "here"},
				&mcp.ImageContent{MIMEType: "image/png", Data: []byte("png")},
				&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a/notes.txt", MIMEType: "text/plain", Text: "inside"}},
				&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a/data.bin", MIMEType: "application/x-data", Blob: []byte{1, 2}}},
				&mcp.ResourceLink{URI: "https://example.com/x", Name: "x", Description: "far away"},
			}}, nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "wait"},
		func(ctx context.Context, _ *mcp.CallToolRequest, _ noArgs) (*mcp.CallToolResult, any, error) {
			if started != nil {
				started <- struct{}{}
			}
			<-ctx.Done()
			if started != nil {
				started <- struct{}{}
			}
			return nil, nil, ctx.Err()
		})
	mcp.AddTool(server, &mcp.Tool{Name: "die"},
		func(context.Context, *mcp.CallToolRequest, noArgs) (*mcp.CallToolResult, any, error) {
			fmt.Fprintln(os.Stderr, "dying, token=sk-proj-abcdefghijklmnopqrstuvwxyz0123456789")
			os.Exit(3)
			return nil, nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "grow"},
		func(context.Context, *mcp.CallToolRequest, noArgs) (*mcp.CallToolResult, any, error) {
			mcp.AddTool(server, &mcp.Tool{Name: "new"}, func(context.Context, *mcp.CallToolRequest, noArgs) (*mcp.CallToolResult, any, error) {
				return say("new"), nil, nil
			})
			return say("grown"), nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "structured"},
		func(context.Context, *mcp.CallToolRequest, noArgs) (*mcp.CallToolResult, map[string]int, error) {
			return nil, map[string]int{"n": 7}, nil
		})
	return server
}

func serveStdio() {
	if os.Getenv("MCP_TEST_SERVER") == "stuck" {
		signal.Ignore(syscall.SIGTERM)
		child := exec.Command("sleep", "1000")
		if err := child.Start(); err != nil {
			panic(err)
		}
		_ = os.WriteFile(os.Getenv("PID_FILE"), fmt.Appendf(nil, "%d %d", os.Getpid(), child.Process.Pid), 0o600)
		_ = testServer(nil).Run(context.Background(), &mcp.StdioTransport{})
		select {} // its input is closed, and it does not care
	}
	if err := testServer(nil).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

func stdio(t *testing.T, name string, env map[string]string) Config {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"MCP_TEST_SERVER": "1"}
	for k, v := range env {
		all[k] = v
	}
	return Config{Name: name, Command: []string{exe, "-test.run=^$"}, Env: all, Dir: t.TempDir()}
}

func open(t *testing.T, c Config, log *slog.Logger) *Server {
	s := NewServer(c, log)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// overHTTP starts a streamable HTTP server.
func overHTTP(t *testing.T, server *mcp.Server, seen func(*http.Request)) string {
	handler := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		if seen != nil {
			seen(r)
		}
		return server
	}, nil)
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	return s.URL
}

func call(t *testing.T, b *Toolbox, name, args string) agent.ToolResult {
	t.Helper()
	result, err := b.Call(context.Background(), agent.ToolCall{ID: "1", Name: name, Args: agent.ToolArgs(args)})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return result
}

func names(t *testing.T, b *Toolbox) []string {
	t.Helper()
	list, err := b.List(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, tool := range list {
		out = append(out, tool.Name)
	}
	slices.Sort(out)
	return out
}

func TestA3_ToolsOfStdioAndHTTPServers(t *testing.T) {
	var token atomic.Value
	local := stdio(t, "local files", map[string]string{"EXTRA": "extra"})
	local.Approve = true
	remote := Config{Name: "remote", URL: overHTTP(t, testServer(nil), func(r *http.Request) { token.Store(r.Header.Get("Authorization")) }), Headers: map[string]string{"Authorization": "Bearer x"}}
	b := New(open(t, local, nil), open(t, remote, nil))
	list, err := b.List(context.Background())
	if err != nil || len(list) != 14 {
		t.Fatalf("%d tools, %v", len(list), err)
	}
	byName := map[string]agent.Tool{}
	for _, tool := range list {
		byName[tool.Name] = tool
	}
	echo := byName["local_files__echo"]
	if echo.Title != "Echo it" || echo.Description != "Says it again" || !echo.Approve || !strings.Contains(string(echo.InputSchema), `"text"`) {
		t.Errorf("%+v", echo)
	}
	if other := byName["remote__fail"]; other.Title != "Fail it" || other.Approve || !strings.Contains(string(other.InputSchema), `"properties":{}`) {
		t.Errorf("%+v %s", other, other.InputSchema)
	}
	if got := byName["remote__die"].Title; got != "die" {
		t.Errorf("title %q", got)
	}
	if got := call(t, b, "local_files__echo", `{"text":"hi"}`); got.Content != "echo hi extra" || got.IsError {
		t.Errorf("%+v", got)
	}
	if got := call(t, b, "remote__echo", `{"text":"hi"}`); got.Content != "echo hi " || token.Load() != "Bearer x" {
		t.Errorf("%+v, token %v", got, token.Load())
	}
	for name, want := range map[string]string{"remote__fail": "no disk", "remote__nothing": "There is no tool"} {
		if got := call(t, b, name, ``); !got.IsError || !strings.Contains(got.Content, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := call(t, b, "remote__echo", `{"text":7}`); !got.IsError {
		t.Errorf("wrong arguments: %+v", got)
	}
	if got := call(t, b, "remote__structured", `{}`); got.Content != `{"n":7}` {
		t.Errorf("%+v", got)
	}
	if found, err := b.servers[1].Probe(context.Background()); err != nil || found != "7 tools" {
		t.Errorf("%q, %v", found, err)
	}
}

func TestC7_PicturesAndResourcesBecomeFiles(t *testing.T) {
	b := New(open(t, Config{Name: "s", URL: overHTTP(t, testServer(nil), nil)}, nil))
	got := call(t, b, "s__picture", `{}`) // without a List before
	want := "here\n[picture-1.png, image/png, 3 bytes: sent to the chat]\nfile:///a/notes.txt:\ninside\n[data.bin, application/x-data, 2 bytes: sent to the chat]\nx: https://example.com/x far away"
	if got.Content != want || len(got.Files) != 2 || got.Files[0].Name != "picture-1.png" || string(got.Files[0].Data) != "png" || got.Files[1].MIME != "application/x-data" {
		t.Errorf("%q\n%+v", got.Content, got.Files)
	}
}

func TestA3_ADeadServerIsStartedAgain(t *testing.T) {
	var log syncBuffer
	s := open(t, stdio(t, "s", nil), slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	b := New(s)
	first := names(t, b)
	s.mu.Lock()
	gone := s.current.gone
	s.mu.Unlock()
	if got, err := b.Call(context.Background(), agent.ToolCall{Name: "s__die"}); err == nil {
		t.Errorf("a call whose server died has a result: %+v", got)
	}
	<-gone
	if got := call(t, b, "s__echo", `{"text":"again"}`); got.Content != "echo again " {
		t.Errorf("%+v", got)
	}
	if !slices.Equal(first, names(t, b)) {
		t.Error("other tools after the restart")
	}
	if l := log.String(); !strings.Contains(l, "MCP server is gone") || !strings.Contains(l, "dying") || strings.Contains(l, "sk-proj-abc") {
		t.Errorf("log: %s", l)
	}
}

// syncBuffer is a buffer for a logger of several goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}
func (s *syncBuffer) String() string { s.mu.Lock(); defer s.mu.Unlock(); return s.b.String() }

func TestA3_AServerThatCannotStartLeavesTheOthers(t *testing.T) {
	var log syncBuffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	missing := open(t, Config{Name: "missing", Command: []string{"no-such-program-anywhere"}}, logger)
	refused := open(t, Config{Name: "refused", URL: "http://127.0.0.1:1/mcp"}, logger)
	neither := open(t, Config{Name: "neither"}, logger)
	silent := open(t, Config{Name: "silent", Command: []string{"false"}}, logger)
	b := New(missing, refused, neither, silent, open(t, Config{Name: "s", URL: overHTTP(t, testServer(nil), nil)}, logger))
	if got := names(t, b); len(got) != 7 {
		t.Errorf("%v", got)
	}
	for _, s := range []string{"missing", "refused", "neither", "silent"} {
		if !strings.Contains(log.String(), "mcpServer="+s) {
			t.Errorf("nothing in the log about %s", s)
		}
	}
	// It is left alone for a while, not started for every message.
	before := missing.until
	if _, err := missing.Probe(context.Background()); err == nil || missing.until != before {
		t.Errorf("tried again at once: %v", err)
	}
}

func TestA3_ListChangedIsHeeded(t *testing.T) {
	for kind, c := range map[string]Config{"stdio": stdio(t, "s", nil), "http": {Name: "s", URL: overHTTP(t, testServer(nil), nil)}} {
		t.Run(kind, func(t *testing.T) {
			s := open(t, c, nil)
			b := New(s)
			if slices.Contains(names(t, b), "s__new") {
				t.Fatal("too early")
			}
			call(t, b, "s__grow", `{}`)
			deadline := time.Now().Add(5 * time.Second)
			for !s.changed.Load() && time.Now().Before(deadline) {
				call(t, b, "s__echo", `{"text":"are you there yet"}`) // the notification comes by another way
			}
			if !slices.Contains(names(t, b), "s__new") {
				t.Error("the new tool is not listed")
			}
		})
	}
}

func TestS2_A5_StopCancelsTheCall(t *testing.T) {
	started := make(chan struct{}, 2)
	b := New(open(t, Config{Name: "s", URL: overHTTP(t, testServer(started), nil)}, nil))
	names(t, b)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan error)
	go func() {
		_, err := b.Call(ctx, agent.ToolCall{Name: "s__wait"})
		ended <- err
	}()
	<-started
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	<-started // the server's own context ended too
}

func TestS2_AStuckServerIsKilledWithItsChildren(t *testing.T) {
	pidFile := filepath.Join(t.TempDir(), "pids")
	c := stdio(t, "s", map[string]string{"PID_FILE": pidFile})
	c.Env["MCP_TEST_SERVER"] = "stuck"
	s := open(t, c, nil)
	b := New(s)
	names(t, b)
	ended := make(chan error)
	go func() {
		_, err := b.Call(context.Background(), agent.ToolCall{Name: "s__wait"})
		ended <- err
	}()
	data, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	_ = s.Close()
	if d := time.Since(begun); d > 6*time.Second {
		t.Errorf("Close took %v", d)
	}
	if err := <-ended; err == nil {
		t.Error("the call had a result")
	}
	for _, field := range strings.Fields(string(data)) {
		pid, _ := strconv.Atoi(field)
		if err := gone(pid); err != nil {
			t.Error(err)
		}
	}
	if _, err := b.Call(context.Background(), agent.ToolCall{Name: "s__echo"}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("a call after Close: %v", err)
	}
}

// gone waits until a process has ended, or is a zombie that only its new parent can bury.
func gone(pid int) error {
	deadline := time.Now().Add(3 * time.Second)
	for time.Now().Before(deadline) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return nil
		}
	}
	return fmt.Errorf("process %d lives", pid)
}

func TestS2_StopWhileConnecting(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a server sees its client go only then
		stop()
		<-r.Context().Done()
	}))
	defer s.Close()
	server := open(t, Config{Name: "s", URL: s.URL}, nil)
	if _, err := New(server).List(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if server.failure != nil {
		t.Errorf("the stop is held against the server: %v", server.failure)
	}
}

func TestA3_NamesAreUniqueAndValid(t *testing.T) {
	long := strings.Repeat("x", 100)
	seen := map[string]bool{}
	for _, c := range []struct{ server, tool, want string }{
		{"files", "read", "files__read"}, {"my files", "read.all/ä", "my_files__read_all___"}, {"my.files", "read.all/ä", ""}, {"s", long + "1", ""}, {"s", long + "2", ""}, {"s", long + "2", ""},
	} {
		name := modelName(c.server, c.tool, func(n string) bool { return seen[n] })
		if seen[name] || len(name) > maxName || c.want != "" && name != c.want {
			t.Errorf("%q %q: %q", c.server, c.tool, name)
		}
		seen[name] = true
	}
}

func TestA3_HeadersStayWithTheirHost(t *testing.T) {
	var leaked atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { leaked.Store(r.Header.Get("X-Key") != "") }))
	defer other.Close()
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer first.Close()
	client, closeIdle, err := httpClient(Config{URL: first.URL, Headers: map[string]string{"X-Key": "secret"}})
	if err != nil {
		t.Fatal(err)
	}
	defer closeIdle()
	resp, err := client.Get(first.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if leaked.Load() {
		t.Error("another host got the key")
	}
}

func TestA3_SchemasAreObjectsWithProperties(t *testing.T) {
	for in, want := range map[string]string{
		`null`:              `{"properties":{},"type":"object"}`,
		`{"type":"object"}`: `{"properties":{},"type":"object"}`,
		`{"type":"object","properties":{"a":{}},"required":["a"]}`: `{"properties":{"a":{}},"required":["a"],"type":"object"}`,
	} {
		tool := &mcp.Tool{}
		if err := json.Unmarshal([]byte(in), &tool.InputSchema); err != nil {
			t.Fatal(err)
		}
		if got := string(schema(tool)); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}
