// Package telegram is a miniature Telegram Bot API server: one bot, the people who talk to it,
// and the rules that the real server keeps (limits in UTF-16 units, markup parsing with
// Telegram's own errors, offsets of long polling, the 5 s life of chat actions, flood limits).
// Field names follow https://core.telegram.org/bots/api, checked against the published type
// package @grammyjs/types 5.0.0 (testdata/fields.json).
//
// It is stricter than the real one in three points: MarkdownV2 and Markdown are refused, a field
// that a method does not have is an error, and so is a method that is not built here.
package telegram

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"typist/adapters/sim"
	"typist/adapters/sim/simnet"
)

// The default world's ids.
const (
	DefaultToken = "9001:SIM-aBcDeFgHiJkLmNoPqRsTuVwXyZ012345"
	BotID        = "9001"
	BotUsername  = "typist_bot"
	Ann          = "1001"
	Ben          = "1002"
	Cleo         = "1003"
	DirectChat   = Ann // a private chat has its person's id
	GroupChat    = "-1002000000001"
	ForumChat    = "-1002000000002"
	TopicPlans   = "7"
	TopicOps     = "9"
)

// Options tune a Server; the zero value is ready to use.
type Options struct {
	Token    string           // default DefaultToken
	Listener *simnet.Listener // default: a loopback one of its own
	Empty    bool             // no default chats and people
	Privacy  bool             // privacy mode: unmentioned group messages are not delivered
	Limits   Limits           // flood limits; zero = none
}

// Server is a running miniature Telegram. It is safe for concurrent use.
type Server struct {
	token    string
	privacy  bool
	world    *sim.World
	listener *simnet.Listener
	http     *http.Server
	closing  chan struct{}
	served   chan struct{}
	once     sync.Once
	limits   *limiter

	mu      sync.Mutex
	queue   []update // not confirmed, oldest first
	again   []update // delivered once more, whatever the offset
	history []update // the last that were made
	lastID  int64    // of an update
	nextMsg map[string]int
	records map[string]*record // chat/message id
	order   []string
	files   map[string]sim.File // file id
	menus   map[string][]Command
	queries map[string]bool // callback query id → answered
	allowed []string
	webhook string
	poll    chan struct{} // closed when a newer poll takes over
	wake    chan struct{} // closed when an update arrives
	locale  map[string]string
	blocked map[string]bool // chats that the bot may not write to
	refusal int             // how many more texts with markup are refused
}

var _ sim.Platform = (*Server)(nil)

// New starts a server.
func New(opts Options) (*Server, error) {
	if opts.Token == "" {
		opts.Token = DefaultToken
	}
	id, _, ok := strings.Cut(opts.Token, ":")
	if !ok {
		return nil, fmt.Errorf("token %q: want <bot id>:<secret>", opts.Token)
	}
	if opts.Listener == nil {
		l, err := simnet.Loopback()
		if err != nil {
			return nil, err
		}
		opts.Listener = l
	}
	s := &Server{
		token:    opts.Token,
		privacy:  opts.Privacy,
		world:    sim.NewWorld(sim.Person{ID: id, Name: "Typist", Username: BotUsername, Bot: true}),
		listener: opts.Listener,
		closing:  make(chan struct{}),
		served:   make(chan struct{}),
		limits:   newLimiter(opts.Limits),
		lastID:   700_000_000,
		nextMsg:  map[string]int{},
		records:  map[string]*record{},
		files:    map[string]sim.File{},
		menus:    map[string][]Command{},
		queries:  map[string]bool{},
		poll:     make(chan struct{}),
		wake:     make(chan struct{}),
		locale:   map[string]string{Ann: "en", Ben: "de"},
		blocked:  map[string]bool{},
	}
	if !opts.Empty {
		s.populate()
	}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(s.listener) // ends with ErrServerClosed
	}()
	return s, nil
}

func (s *Server) populate() {
	s.world.AddPerson(sim.Person{ID: Ann, Name: "Ann", Username: "ann_smith"})
	s.world.AddPerson(sim.Person{ID: Ben, Name: "Ben", Username: "ben_jones"})
	s.world.AddPerson(sim.Person{ID: Cleo, Name: "Cleo"})
	s.world.AddChat(sim.Chat{ID: DirectChat, Name: "Ann", Direct: true, Members: []string{Ann}})
	everyone := []string{Ann, Ben, Cleo}
	s.world.AddChat(sim.Chat{ID: GroupChat, Name: "Team", Members: everyone})
	s.world.AddChat(sim.Chat{ID: ForumChat, Name: "Forum", Members: everyone, Threads: []sim.Thread{
		{ID: TopicPlans, Name: "Plans"}, {ID: TopicOps, Name: "Ops"},
	}})
	s.nextMsg[ForumChat] = 20 // above the ids of its topics' heads
}

// Name is "telegram".
func (s *Server) Name() string { return "telegram" }

// URL is the apiURL of the channel's config.
func (s *Server) URL() string { return s.listener.URL() }

// Credentials holds botToken.
func (s *Server) Credentials() map[string]string { return map[string]string{"botToken": s.token} }

// World is what people see.
func (s *Server) World() *sim.World { return s.world }

// Client is an HTTP client that reaches this server, in memory too.
func (s *Server) Client() *http.Client { return s.listener.HTTPClient() }

// Disconnect cuts every connection and refuses new ones for that long.
func (s *Server) Disconnect(refuse time.Duration) { s.listener.Break(refuse) }

// Close stops the server; calls that it holds end without an answer.
func (s *Server) Close() error {
	s.once.Do(func() {
		close(s.closing)
		s.listener.Close()
		s.http.Close()
	})
	<-s.served
	return nil
}

// Block makes the bot lose (or regain) the right to write to a chat: calls answer 403.
func (s *Server) Block(chat string, blocked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blocked[chat] = blocked
}

// RefuseMarkup refuses the next n texts that come with markup, whatever it is.
func (s *Server) RefuseMarkup(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal = n
}

// SetLocale sets a person's language_code.
func (s *Server) SetLocale(person, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.locale[person] = code
}

// Commands is the command menu for a language code ("" = the default one).
func (s *Server) Commands(language string) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Command(nil), s.menus[language]...)
}
