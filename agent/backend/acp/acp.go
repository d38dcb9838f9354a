// Package acp runs external agents that speak the Agent Client Protocol over stdio (A2):
// https://agentclientprotocol.com.
//
// Each chat's session has a process of its own, so that killing an agent that does not heed a stop
// (S2), or one that crashes, ends no other chat's run; a quiet one is ended after a while. The
// agent keeps the conversation itself. Where a request's history is not what its session has seen
// (a branch, an edit, a retry, a crash), a new session begins and is told what was said until then.
//
// The connection is our own and not the ACP SDK's. That one queues at most 1024 notifications and
// drops the connection if an agent is faster, handles an approval's question before the updates
// that precede it, and logs what it cannot parse, message texts included.
package acp

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"typist/agent"
)

// protocolVersion is the version of ACP that is spoken here.
const protocolVersion = 1

const (
	// idleTime is how long an agent's process is kept without a run.
	idleTime = 10 * time.Minute
	// maxIdle bounds the processes that are kept without a run.
	maxIdle = 8
)

// Config describes an agent.
type Config struct {
	Name       string            // of the backend: tells its sessions from those of others
	Command    []string          // program and arguments
	Env        map[string]string // added to the own environment
	Cwd        string            // working directory of the agent and its sessions; "" = the own
	MCPServers []MCPServer       // tool servers that the agent is to connect to
	Memory     Memory            // keeps sessions across restarts; nil: they are begun anew
	Log        *slog.Logger      // nil: nothing is logged
}

// MCPServer is a tool server for the agent. Exactly one of Command and URL is set; only agents
// that say so take a URL.
type MCPServer struct {
	Name    string
	Command []string
	Env     map[string]string
	URL     string
	Headers map[string]string
}

// Memory keeps small values across restarts. Load returns "" for an unknown key.
type Memory interface {
	Load(ctx context.Context, key string) (string, error)
	Save(ctx context.Context, key, value string) error
}

// Backend is an agent.Backend, Prober and io.Closer. Use New.
type Backend struct {
	config Config
	log    *slog.Logger

	mu     sync.Mutex
	chats  map[string]*chat
	closed bool
	ending sync.WaitGroup
}

// New makes a backend. It starts nothing.
func New(c Config) *Backend {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Backend{config: c, log: c.Log.With("agent", c.Name), chats: map[string]*chat{}}
}

// Run implements agent.Backend. A stop is passed on to the agent, which has 4 s to end its turn
// before it is killed together with all that it started (S2).
func (b *Backend) Run(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
	c, err := b.chat(req.Session)
	if err != nil {
		return err
	}
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer b.rest(c)
	return c.run(ctx, req, emit)
}

func (b *Backend) chat(session string) (*chat, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, fmt.Errorf("backend %s: closed", b.config.Name)
	}
	c := b.chats[session]
	if c == nil {
		c = &chat{backend: b, key: "acp/" + b.config.Name + "/" + session, turn: make(chan struct{}, 1)}
		b.chats[session] = c
	}
	return c, nil
}

// rest ends a run's turn, and the processes that are of no use any more.
func (b *Backend) rest(c *chat) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c.since = time.Now()
	if c.idle != nil {
		c.idle.Stop()
	}
	c.idle = time.AfterFunc(idleTime, func() { b.retire(c) })
	<-c.turn
	if b.closed {
		c.idle.Stop()
		return
	}
	var idle []*chat
	for _, other := range b.chats {
		if len(other.turn) == 0 && other.alive() {
			idle = append(idle, other)
		}
	}
	if len(idle) > maxIdle {
		oldest := slices.MinFunc(idle, func(x, y *chat) int { return x.since.Compare(y.since) })
		b.ending.Go(func() { oldest.retire(0) })
	}
}

// retire ends the process of a chat that had no run for idleTime.
func (b *Backend) retire(c *chat) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.ending.Go(func() { c.retire(idleTime) })
	}
}

// Probe implements agent.Prober: it starts the agent and begins a session, which shows whether it
// wants a sign-in (O4).
func (b *Backend) Probe(ctx context.Context) (string, error) {
	c := &chat{backend: b, turn: make(chan struct{}, 1)}
	p, err := start(ctx, b.config, c, b.log)
	if err != nil {
		return "", err
	}
	if _, err := c.begin(ctx, p); err != nil {
		return "", p.failed(ctx, err)
	}
	p.end()
	found := "answers"
	if info := p.agent.Info; info != nil {
		found = strings.TrimSpace(cmp.Or(info.Title, info.Name) + " " + info.Version)
	}
	if left := b.unusable(p.agent); len(left) > 0 {
		found += "; takes no tool servers by URL: " + strings.Join(left, ", ")
	}
	return found, nil
}

// Close ends all processes; runs in work fail.
func (b *Backend) Close() error {
	b.mu.Lock()
	b.closed = true
	for _, c := range b.chats {
		if c.idle != nil {
			c.idle.Stop()
		}
		b.ending.Go(c.close)
	}
	b.mu.Unlock()
	b.ending.Wait()
	return nil
}

// unusable are the configured tool servers that an agent can't connect to.
func (b *Backend) unusable(a initialized) []string {
	var names []string
	for _, s := range b.config.MCPServers {
		if s.URL != "" && !a.Capabilities.MCP.HTTP {
			names = append(names, s.Name)
		}
	}
	return names
}

// workplace is what sessions begin with.
func (b *Backend) workplace(a initialized) (map[string]any, error) {
	cwd, err := b.cwd()
	if err != nil {
		return nil, err
	}
	type pair struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	pairs := func(m map[string]string) []pair {
		out := []pair{}
		for name, value := range m {
			out = append(out, pair{name, value})
		}
		slices.SortFunc(out, func(x, y pair) int { return strings.Compare(x.Name, y.Name) })
		return out
	}
	servers := []map[string]any{}
	for _, s := range b.config.MCPServers {
		switch {
		case s.URL == "":
			servers = append(servers, map[string]any{"name": s.Name, "command": s.Command[0], "args": append([]string{}, s.Command[1:]...), "env": pairs(s.Env)})
		case a.Capabilities.MCP.HTTP:
			servers = append(servers, map[string]any{"type": "http", "name": s.Name, "url": s.URL, "headers": pairs(s.Headers)})
		default:
			b.log.Warn("the agent takes no tool servers by URL", "mcpServer", s.Name)
		}
	}
	return map[string]any{"cwd": cwd, "mcpServers": servers}, nil
}

// cwd is the absolute working directory: the protocol wants one.
func (b *Backend) cwd() (string, error) {
	if b.config.Cwd == "" {
		return os.Getwd()
	}
	return filepath.Abs(b.config.Cwd)
}
