// Package tools makes the tools of MCP servers an agent.Toolbox (A3). Servers are processes that
// speak over stdio, or are reached by streamable HTTP. They are connected when they are first
// needed and again after they died.
package tools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"typist/agent"
	"typist/agent/backend/process"
)

const (
	// connectTimeout bounds starting a server and shaking hands: npx may have to unpack it first.
	connectTimeout = 90 * time.Second
	// maxTools bounds what one server may list.
	maxTools = 1000
	// firstRest and maxRest bound how long a server is left alone after it could not be connected;
	// the time doubles with each failure.
	firstRest = time.Second
	maxRest   = time.Minute
)

// Config names an MCP server. Exactly one of Command and URL is set.
type Config struct {
	Name    string
	Command []string          // stdio: program and arguments
	Env     map[string]string // stdio: added to the own environment
	Dir     string            // stdio: working directory; "" = the own
	URL     string            // streamable HTTP
	Headers map[string]string // streamable HTTP: added to requests to the URL's host
	Approve bool              // every call needs a person's approval (A4)
}

// Server is a client of one MCP server, which several toolboxes may share. Use NewServer; safe for
// concurrent use.
type Server struct {
	config  Config
	log     *slog.Logger
	turn    chan struct{} // held while connecting and listing
	changed atomic.Bool   // the server says that its list is no longer right
	closing context.Context
	close   context.CancelFunc

	mu      sync.Mutex
	current *session
	tools   []*mcp.Tool
	rest    time.Duration // after the last failure
	until   time.Time     // not connected again before
	failure error
	ending  sync.WaitGroup
}

// session is one connection.
type session struct {
	*mcp.ClientSession
	end  func() // ends it and everything it started
	gone chan struct{}
}

// NewServer prepares a client; nothing is started before it is needed. log may be nil.
func NewServer(c Config, log *slog.Logger) *Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Server{config: c, log: log.With("mcpServer", c.Name), turn: make(chan struct{}, 1)}
	s.closing, s.close = context.WithCancel(context.Background())
	return s
}

// connected returns the session, made now if there is none.
func (s *Server) connected(ctx context.Context) (*session, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return s.connectedInTurn(ctx)
}

func (s *Server) connectedInTurn(ctx context.Context) (*session, error) {
	if err := s.closing.Err(); err != nil {
		return nil, fmt.Errorf("MCP server %s: closed", s.config.Name)
	}
	s.mu.Lock()
	current, failure, until := s.current, s.failure, s.until
	s.mu.Unlock()
	if current != nil {
		return current, nil
	}
	if failure != nil && time.Now().Before(until) {
		return nil, failure
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	defer context.AfterFunc(s.closing, cancel)()
	next, err := s.connect(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		err = fmt.Errorf("MCP server %s: %w", s.config.Name, err)
		if !errors.Is(ctx.Err(), context.Canceled) { // a stop says nothing about the server
			s.rest = min(max(2*s.rest, firstRest), maxRest)
			s.failure, s.until = err, time.Now().Add(s.rest)
		}
		return nil, err
	}
	s.current, s.tools, s.failure, s.rest = next, nil, nil, 0
	s.ending.Go(func() { s.watch(next) })
	return next, nil
}

// connect starts the server or opens the connection, and shakes hands.
func (s *Server) connect(ctx context.Context) (*session, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "typist", Version: "1"}, &mcp.ClientOptions{
		Capabilities:           &mcp.ClientCapabilities{}, // no roots, no sampling: nothing to ask us for
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { s.changed.Store(true) },
	})
	var transport mcp.Transport
	var kill func()
	if s.config.URL != "" {
		httpClient, closeIdle, err := httpClient(s.config)
		if err != nil {
			return nil, err
		}
		transport, kill = &mcp.StreamableClientTransport{Endpoint: s.config.URL, HTTPClient: httpClient}, closeIdle
	} else {
		cmd, err := command(s.config, s.log)
		if err != nil {
			return nil, err
		}
		transport, kill = &mcp.CommandTransport{Command: cmd, TerminateDuration: time.Second}, func() { process.KillGroup(cmd) }
	}
	c, err := client.Connect(ctx, transport, nil)
	if err != nil {
		kill()
		return nil, err
	}
	return &session{ClientSession: c, gone: make(chan struct{}), end: sync.OnceFunc(func() {
		_ = c.Close() // ends a process gently first; how it exits is of no interest
		kill()
	})}, nil
}

// watch forgets a session that has ended, so that the next call connects again.
func (s *Server) watch(dead *session) {
	err := dead.Wait()
	s.mu.Lock()
	lost := s.current == dead
	if lost {
		s.current, s.tools = nil, nil
	}
	s.mu.Unlock()
	if lost && s.closing.Err() == nil {
		s.log.Warn("MCP server is gone; it is connected again when it is needed", "error", errorText(err))
	}
	dead.end()
	close(dead.gone)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return agent.Mask(err.Error())
}

// list returns the server's tools, asked for anew if it said that they changed.
func (s *Server) list(ctx context.Context) ([]*mcp.Tool, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	session, err := s.connectedInTurn(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	known := s.tools
	s.mu.Unlock()
	if known != nil && !s.changed.Swap(false) {
		return known, nil
	}
	s.changed.Store(false)
	list := []*mcp.Tool{}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			s.changed.Store(true)
			return nil, fmt.Errorf("MCP server %s: list its tools: %w", s.config.Name, err)
		}
		if list = append(list, tool); len(list) == maxTools {
			s.log.Warn("MCP server lists too many tools; the rest is left out", "limit", maxTools)
			break
		}
	}
	s.mu.Lock()
	if s.current == session {
		s.tools = list
	}
	s.mu.Unlock()
	return list, nil
}

// Probe implements agent.Prober: it connects and counts the tools (O4).
func (s *Server) Probe(ctx context.Context) (string, error) {
	list, err := s.list(ctx)
	if err != nil {
		return "", err
	}
	if len(list) == 1 {
		return "1 tool", nil
	}
	return fmt.Sprintf("%d tools", len(list)), nil
}

// Close ends the connection. A process gets 1 s to end after its input has been closed, 1 s more
// after SIGTERM; then it and all of its children are killed. Calls in flight end with an error.
func (s *Server) Close() error {
	s.close()
	s.turn <- struct{}{} // a connection in the making was cancelled and ends now
	defer func() { <-s.turn }()
	s.mu.Lock()
	current := s.current
	s.current = nil
	s.mu.Unlock()
	if current != nil {
		current.end()
	}
	s.ending.Wait()
	return nil
}

// command prepares a server's process, in a process group of its own.
func command(c Config, log *slog.Logger) (*exec.Cmd, error) {
	if len(c.Command) == 0 {
		return nil, errors.New("neither a command nor a URL")
	}
	cmd := exec.CommandContext(context.Background(), c.Command[0], c.Command[1:]...) // lives until Close
	cmd.Dir = c.Dir
	cmd.Env = cmd.Environ()
	for name, value := range c.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stderr = &lineLogger{log: log}
	cmd.WaitDelay = time.Second // children may hold stderr open
	process.OwnGroup(cmd)
	return cmd, nil
}

// httpClient adds a server's headers to what goes to its host; a redirect elsewhere does not get
// them.
func httpClient(c Config) (*http.Client, func(), error) {
	address, err := url.Parse(c.URL)
	if err != nil {
		return nil, nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // a compressed stream comes in lumps
	return &http.Client{Transport: &headers{next: transport, host: address.Host, add: c.Headers}}, transport.CloseIdleConnections, nil
}

type headers struct {
	next http.RoundTripper
	host string
	add  map[string]string
}

// RoundTrip implements http.RoundTripper.
func (h *headers) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host == h.host && len(h.add) > 0 {
		req = req.Clone(req.Context())
		for name, value := range h.add {
			req.Header.Set(name, value)
		}
	}
	return h.next.RoundTrip(req)
}
