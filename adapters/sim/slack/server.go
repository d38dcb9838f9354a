// Package slack is a miniature Slack: the Web API and Socket Mode of one workspace with one app,
// strict where the real one is strict. Payload shapes follow @slack/types and @slack/web-api.
package slack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"typist/adapters/sim"
	"typist/adapters/sim/simnet"
)

// Server is a running miniature Slack.
type Server struct {
	opts  Options
	world *sim.World
	ln    *simnet.Listener
	http  *http.Server
	ctx   context.Context // ends when it closes
	stop  context.CancelFunc
	work  sync.WaitGroup

	say sync.Mutex // what people do comes one after the other

	mu        sync.Mutex
	scopes    map[string]bool
	refusal   string // of assistant.threads.setStatus
	refused   int    // how many more rich messages are refused
	messages  map[string]*message
	order     map[string][]*message // per channel, oldest first
	lastTS    int64
	lastID    int64
	files     map[string]*file
	buckets   map[string]*bucket
	tickets   map[string]bool
	conns     []*socket
	events    []event // events_api payloads sent, for Redeliver; bounded
	responses map[string]*responseURL
}

var _ sim.Platform = (*Server)(nil)

// New starts a miniature Slack with its default world.
func New(opts Options) (*Server, error) {
	opts.defaults()
	ln := opts.Listener
	if ln == nil {
		var err error
		if ln, err = simnet.Loopback(); err != nil {
			return nil, fmt.Errorf("miniature Slack: %w", err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{
		opts: opts, ln: ln, ctx: ctx, stop: stop,
		world:     sim.NewWorld(sim.Person{ID: botUserID, Name: "Typist", Username: "typist"}),
		scopes:    map[string]bool{},
		refusal:   opts.AssistantRefusal,
		messages:  map[string]*message{},
		order:     map[string][]*message{},
		files:     map[string]*file{},
		buckets:   map[string]*bucket{},
		tickets:   map[string]bool{},
		responses: map[string]*responseURL{},
	}
	for _, scope := range opts.Scopes {
		s.scopes[scope] = true
	}
	s.world.AddPerson(sim.Person{ID: Ann, Name: "Ann", Username: "ann"})
	s.world.AddPerson(sim.Person{ID: Bob, Name: "Bob", Username: "bob"})
	s.world.AddChat(sim.Chat{ID: DM, Name: "Ann", Direct: true, Members: []string{Ann}})
	s.world.AddChat(sim.Chat{ID: General, Name: "general", Members: []string{Ann, Bob}})
	s.http = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second}
	s.work.Go(func() {
		if err := s.http.Serve(ln); err != nil && !errors.Is(err, http.ErrServerClosed) && s.ctx.Err() == nil {
			panic(fmt.Sprintf("miniature Slack stopped serving: %v", err))
		}
	})
	return s, nil
}

// Name is "slack".
func (s *Server) Name() string { return "slack" }

// URL is the apiURL to configure.
func (s *Server) URL() string { return s.ln.URL() + "/api/" }

// Credentials are the bot's two tokens.
func (s *Server) Credentials() map[string]string {
	return map[string]string{"botToken": BotToken, "appToken": AppToken}
}

// World is what the workspace's people see.
func (s *Server) World() *sim.World { return s.world }

// Disconnect cuts every connection and refuses new ones for that long.
func (s *Server) Disconnect(refuse time.Duration) { s.ln.Break(refuse) }

// SetAssistantRefusal changes what assistant.threads.setStatus answers; "" = it works.
func (s *Server) SetAssistantRefusal(code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal = code
}

// RefuseBlocks makes the next n messages with more than plain sections fail with invalid_blocks.
func (s *Server) RefuseBlocks(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = n
}

// Close stops the server and cuts its connections.
func (s *Server) Close() error {
	s.stop()
	s.mu.Lock()
	conns := s.conns
	s.conns = nil
	s.mu.Unlock()
	for _, c := range conns {
		c.close()
	}
	err := s.http.Close()
	if lnErr := s.ln.Close(); err == nil {
		err = lnErr
	}
	s.work.Wait()
	return err
}

// nextID makes ids such as "F000000012". Callers hold mu.
func (s *Server) nextID(prefix string) string {
	s.lastID++
	return fmt.Sprintf("%s%09d", prefix, s.lastID)
}

// nextTS is the ts of a new message: Slack's clock with a sequence, unique and growing. Callers hold mu.
func (s *Server) nextTS() string {
	s.lastTS = max(s.lastTS+1, time.Now().UnixMicro())
	return formatTS(s.lastTS)
}

func formatTS(micro int64) string { return fmt.Sprintf("%d.%06d", micro/1e6, micro%1e6) }
