// Package discord connects Discord: its gateway and REST API through discordgo, with a supervisor
// of our own around discordgo's connection (supervise.go, wire.go).
//
// A chat is a channel or a direct chat. A thread, a channel of its own on Discord, is the
// Chat.Thread of the channel it hangs on; calls go to the thread.
package discord

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bwmarrin/discordgo"

	"typist/adapters"
)

// Name is the channel's name.
const Name = "discord"

// Config is what the operator sets.
type Config struct {
	Token string
	// APIURL is a Discord proxy: scheme and host of every REST call are replaced by its own, the
	// path is kept. The gateway address is what that server's /gateway answers. "" = Discord.
	APIURL string
	// MessageContent asks for the Message Content intent, which messages that do not mention the
	// bot need; it must be switched on in the developer portal.
	MessageContent bool
	// IsStop tells stop words, which wait for no paste and are no part of one. What begins with a
	// slash and a letter is none either. nil = only that.
	IsStop func(text string) bool
}

// Deps are what an adapter is given. All are optional.
type Deps struct {
	Log    *slog.Logger // says which channel it is of
	Memory adapters.Memory
	HTTP   http.RoundTripper                                                 // REST calls; nil = http.DefaultTransport's settings
	Dial   func(ctx context.Context, network, addr string) (net.Conn, error) // gateway connections
}

// Adapter is the Discord channel.
type Adapter struct {
	cfg       Config
	log       *slog.Logger
	memory    adapters.Memory
	api       *discordgo.Session // for REST calls only; never opened
	transport http.RoundTripper
	files     http.RoundTripper // downloads, not sent elsewhere
	dial      func(ctx context.Context, network, addr string) (net.Conn, error)
	dir       *directory
	sent      *sent
	queueCap  atomic.Int64
	tls       *tls.Config // of gateway connections

	mu  sync.Mutex
	bot user
	app string
}

var (
	_ adapters.Adapter     = (*Adapter)(nil)
	_ adapters.Editor      = (*Adapter)(nil)
	_ adapters.Deleter     = (*Adapter)(nil)
	_ adapters.Indicator   = (*Adapter)(nil)
	_ adapters.Reactor     = (*Adapter)(nil)
	_ adapters.Finder      = (*Adapter)(nil)
	_ adapters.Fetcher     = (*Adapter)(nil)
	_ adapters.CommandMenu = (*Adapter)(nil)
	_ adapters.Resolver    = (*Adapter)(nil)
	_ adapters.Prober      = (*Adapter)(nil)
)

// New makes an adapter; it connects in Run.
func New(cfg Config, deps Deps) (*Adapter, error) {
	cfg.Token = strings.TrimPrefix(strings.TrimSpace(cfg.Token), "Bot ")
	if cfg.Token == "" {
		return nil, errors.New("discord: no bot token")
	}
	if cfg.IsStop == nil {
		cfg.IsStop = func(string) bool { return false }
	}
	a := &Adapter{
		cfg: cfg, log: deps.Log, memory: deps.Memory, transport: deps.HTTP, dial: deps.Dial,
		dir: newDirectory(), sent: newSent(),
	}
	a.queueCap.Store(queueCap)
	a.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.MaxIdleConnsPerHost = 16
		a.transport = t
	}
	a.files = a.transport
	if cfg.APIURL != "" {
		to, err := url.Parse(cfg.APIURL)
		if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
			return nil, fmt.Errorf("discord: apiURL %q is not an http or https address", cfg.APIURL)
		}
		a.transport = rehost{base: a.transport, to: to}
	}
	if a.dial == nil {
		a.dial = dialGateway
	}
	api, err := discordgo.New("Bot " + cfg.Token)
	if err != nil {
		return nil, fmt.Errorf("discord: %w", err)
	}
	api.LogLevel = -1 // it would write to the standard logger
	a.api = api
	return a, nil
}

// Name is "discord".
func (a *Adapter) Name() string { return Name }

// identity is who the bot is, asked once.
func (a *Adapter) identity(ctx context.Context) (user, error) {
	a.mu.Lock()
	bot := a.bot
	a.mu.Unlock()
	if bot.ID != "" {
		return bot, nil
	}
	if err := a.call(ctx, http.MethodGet, "users/@me", nil, &bot); err != nil {
		return user{}, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.bot = bot
	return bot, nil
}

func (a *Adapter) botID() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.bot.ID
}

// application is the bot's application id, asked once.
func (a *Adapter) application(ctx context.Context) (string, error) {
	a.mu.Lock()
	app := a.app
	a.mu.Unlock()
	if app != "" {
		return app, nil
	}
	var found struct {
		ID string `json:"id"`
	}
	if err := a.call(ctx, http.MethodGet, "applications/@me", nil, &found); err != nil {
		return "", err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.app = found.ID
	return found.ID, nil
}

// introduce takes in who the bot is from READY.
func (a *Adapter) introduce(r ready) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.User.ID != "" {
		a.bot = r.User
	}
	if r.Application.ID != "" {
		a.app = r.Application.ID
	}
}
