// Package discord is a miniature Discord: its REST API (versions 9 and 10) and its gateway, for
// one bot. It is strict where Discord is strict: lengths, components, nonces, rate limits,
// intents, acknowledgement deadlines of interactions, sessions that resume or are lost.
//
// Numbers come from Discord's developer documentation and from PLATFORMS.md; payload shapes from
// its published types (npm discord-api-types), kept as examples in testdata.
package discord

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"typist/adapters/sim"
	"typist/adapters/sim/simnet"
)

// Token is what the bot has to present when Options.Token is empty.
const Token = "MTk5.sim.discord"

const (
	indicatorLife   = 10 * time.Second
	interactionDue  = 3 * time.Second
	interactionLife = 15 * time.Minute
	nonceLife       = 5 * time.Minute
	oldMessage      = time.Hour
	oldEdits        = 3 // edits that a message older than oldMessage takes per hour
)

// Options set up a Server. The zero value is the default world on a loopback port.
type Options struct {
	// Listener to serve on, e.g. simnet.Listen() inside a synctest bubble; nil = loopback.
	Listener *simnet.Listener
	Token    string
	// Heartbeat is the interval that HELLO demands; 0 = 41.25 s, Discord's.
	Heartbeat time.Duration
	// ResumeWindow is how long a session without connection can be resumed; 0 = 2 min.
	ResumeWindow time.Duration
	// NoContentIntent: the Message Content switch in the developer portal is off. Asking for the
	// intent closes the gateway with 4014; unmentioned guild messages come without content.
	NoContentIntent bool
	// Unlimited turns the rate limits off.
	Unlimited bool
	// CloudflareLimits answers a 429 the way Discord's edge does: no JSON.
	CloudflareLimits bool
	// EmptyWorld leaves the default people and chats out.
	EmptyWorld bool
}

// Server is a running miniature Discord.
type Server struct {
	opts     Options
	listener *simnet.Listener
	http     *http.Server
	world    *sim.World
	limits   *limiter
	closing  chan struct{}
	served   sync.WaitGroup

	mu           sync.Mutex
	lastID       int64
	epoch        int64
	channels     map[string]*channel
	records      map[string]*record
	recordOrder  []string
	nonces       map[string]nonceUse
	files        map[string]sim.File // attachment id → content
	interactions map[string]*interaction
	commands     []command
	overwrites   int
	roles        map[string][]string // person → role ids

	gate gateway
}

var _ sim.Platform = (*Server)(nil)

// New starts a server.
func New(opts Options) (*Server, error) {
	if opts.Token == "" {
		opts.Token = Token
	}
	if opts.Heartbeat == 0 {
		opts.Heartbeat = 41250 * time.Millisecond
	}
	if opts.ResumeWindow == 0 {
		opts.ResumeWindow = 2 * time.Minute
	}
	listener := opts.Listener
	if listener == nil {
		var err error
		if listener, err = simnet.Loopback(); err != nil {
			return nil, fmt.Errorf("sim discord: %w", err)
		}
	}
	s := &Server{
		opts:         opts,
		listener:     listener,
		world:        sim.NewWorld(sim.Person{ID: BotID, Name: "Typist", Username: "typist"}),
		closing:      make(chan struct{}),
		epoch:        discordEpoch,
		channels:     map[string]*channel{},
		records:      map[string]*record{},
		nonces:       map[string]nonceUse{},
		files:        map[string]sim.File{},
		interactions: map[string]*interaction{},
		roles:        map[string][]string{},
	}
	if now := time.Now().UnixMilli(); now < discordEpoch { // the clock of a synctest bubble
		s.epoch = now - int64(24*time.Hour/time.Millisecond)
	}
	s.limits = newLimiter(opts.Unlimited)
	s.gate.init(s)
	if !opts.EmptyWorld {
		s.populate()
	}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve)}
	s.served.Go(func() { _ = s.http.Serve(listener) })
	return s, nil
}

// Name is "discord".
func (s *Server) Name() string { return "discord" }

// URL is the apiURL to configure.
func (s *Server) URL() string { return s.listener.URL() }

// Credentials are the bot's config keys.
func (s *Server) Credentials() map[string]string {
	return map[string]string{"botToken": s.opts.Token}
}

// World is what people see.
func (s *Server) World() *sim.World { return s.world }

// Disconnect cuts every connection and refuses new ones for a while. Sessions can be resumed.
func (s *Server) Disconnect(refuse time.Duration) { s.listener.Break(refuse) }

// Close stops the server and waits for its goroutines.
func (s *Server) Close() error {
	s.mu.Lock()
	select {
	case <-s.closing:
		s.mu.Unlock()
		return nil
	default:
	}
	close(s.closing)
	s.mu.Unlock()
	err := s.http.Close()
	s.listener.Close()
	s.served.Wait()
	return err
}

// serve sends gateway connections and REST calls their ways.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.served.Add(1)
	defer s.served.Done()
	if r.URL.Path == "/" && r.Header.Get("Upgrade") != "" {
		s.gate.serve(w, r)
		return
	}
	s.rest(w, r)
}
