// Package telegram connects a Telegram bot by long polling, through github.com/go-telegram/bot.
// Numbers and oddities come from https://core.telegram.org/bots/api.
package telegram

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"typist/adapters"
)

const channel = "telegram"

const (
	defaultAPI = "https://api.telegram.org"
	// defaultPoll is how long the server may hold a poll; it answers at once when there is news.
	defaultPoll = 50 * time.Second
	// callTimeout bounds a call whose context has no deadline; uploads take the longest.
	callTimeout = 60 * time.Second
	maxIdle     = 256 // connections kept open; HTTP/2 needs one
)

// Config says which bot, and where.
type Config struct {
	Token       string
	APIURL      string        // default https://api.telegram.org
	HTTPClient  *http.Client  // default: one of its own; must not have a Timeout below PollTimeout
	PollTimeout time.Duration // how long a poll is held, whole seconds; default 50 s
	// ConflictWait is how long another program that polls (409) is waited for, also when polls
	// succeed in between; default 60 s.
	ConflictWait time.Duration
	// IsStop tells stop words. What it knows, and every command, waits for no album or paste.
	// nil = commands only.
	IsStop func(text string) bool
	// AllMessages: some group is served without mention, which privacy mode would keep away.
	AllMessages bool
}

// Deps are what the adapter uses. All may be nil.
type Deps struct {
	Log    *slog.Logger    // says which channel it is of
	Memory adapters.Memory // remembers which chats are forums
}

// Adapter is one bot. It is safe for concurrent use.
type Adapter struct {
	cfg    Config
	log    *slog.Logger
	memory adapters.Memory
	http   *http.Client
	own    *http.Transport // of its own client; nil where the caller gave one
	bot    *bot.Bot        // for calls; polling has its own (poll.go)
	forums forums

	mu sync.Mutex
	me models.User // as getMe told; ID 0 = not asked yet
}

var (
	_ adapters.Adapter     = (*Adapter)(nil)
	_ adapters.Editor      = (*Adapter)(nil)
	_ adapters.Deleter     = (*Adapter)(nil)
	_ adapters.Indicator   = (*Adapter)(nil)
	_ adapters.Reactor     = (*Adapter)(nil)
	_ adapters.Fetcher     = (*Adapter)(nil)
	_ adapters.CommandMenu = (*Adapter)(nil)
	_ adapters.Resolver    = (*Adapter)(nil)
	_ adapters.Prober      = (*Adapter)(nil)
	_ adapters.Sweeper     = (*Adapter)(nil)
	_ adapters.Reclaimer   = (*Adapter)(nil)
)

// New makes an adapter; it reaches nothing yet.
func New(cfg Config, deps Deps) (*Adapter, error) {
	cfg.Token = strings.TrimSpace(cfg.Token)
	if cfg.Token == "" {
		return nil, errors.New("telegram: no bot token")
	}
	if cfg.APIURL == "" {
		cfg.APIURL = defaultAPI
	}
	cfg.APIURL = strings.TrimRight(cfg.APIURL, "/")
	if u, err := url.Parse(cfg.APIURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("telegram: apiURL %q: want http://host:port or https://host", cfg.APIURL)
	}
	if cfg.PollTimeout < time.Second {
		cfg.PollTimeout = defaultPoll
	}
	if cfg.ConflictWait <= 0 {
		cfg.ConflictWait = time.Minute
	}
	if cfg.IsStop == nil {
		cfg.IsStop = func(string) bool { return false }
	}
	a := &Adapter{cfg: cfg, log: deps.Log, memory: deps.Memory, http: cfg.HTTPClient}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if a.http == nil {
		a.own = http.DefaultTransport.(*http.Transport).Clone()
		a.own.MaxIdleConns, a.own.MaxIdleConnsPerHost = maxIdle, maxIdle // many chats at once, one host
		a.http = &http.Client{Transport: a.own}
	}
	b, err := bot.New(cfg.Token, bot.WithSkipGetMe(), bot.WithServerURL(cfg.APIURL),
		bot.WithHTTPClient(cfg.PollTimeout, caller{a}), bot.WithErrorsHandler(a.libraryError))
	if err != nil {
		return nil, errors.New("telegram: " + a.mask(err.Error()))
	}
	a.bot = b
	return a, nil
}

// Name is "telegram".
func (a *Adapter) Name() string { return channel }

// libraryError takes what the library would log. Its texts can carry whole updates, which have no
// place in a log, so only the fact is kept.
func (a *Adapter) libraryError(error) {
	a.log.Warn("the library reported an error that no call returned")
}

// mask takes the token out of a text.
func (a *Adapter) mask(text string) string {
	text = strings.ReplaceAll(text, a.cfg.Token, "***")
	if _, secret, ok := strings.Cut(a.cfg.Token, ":"); ok && len(secret) >= 8 {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}

// self is the bot's own account, asked for once.
func (a *Adapter) self(ctx context.Context) (models.User, error) {
	a.mu.Lock()
	me := a.me
	a.mu.Unlock()
	if me.ID != 0 {
		return me, nil
	}
	return a.askSelf(ctx)
}

func (a *Adapter) askSelf(ctx context.Context) (models.User, error) {
	var me *models.User
	err := a.call(ctx, func(ctx context.Context) (err error) {
		me, err = a.bot.GetMe(ctx)
		return err
	})
	if err != nil {
		return models.User{}, err
	}
	if me == nil || me.ID == 0 {
		return models.User{}, errors.New("telegram: getMe answered without a bot")
	}
	a.mu.Lock()
	a.me = *me
	a.mu.Unlock()
	return *me, nil
}

// Probe says which bot the token belongs to.
func (a *Adapter) Probe(ctx context.Context) (string, error) {
	me, err := a.askSelf(ctx)
	if err != nil {
		if fatal := a.fatal(err); fatal != nil {
			return "", fatal
		}
		return "", err
	}
	privacy := "on"
	if me.CanReadAllGroupMessages {
		privacy = "off"
	}
	found := "bot @" + me.Username + ", privacy mode " + privacy
	if a.cfg.AllMessages && !me.CanReadAllGroupMessages {
		return found, &adapters.FatalError{Channel: channel, Sentence: "privacy mode is on, so a group with requireMention: false shows the bot only " +
			"what is addressed to it; send /setprivacy to @BotFather, choose Disable, then remove the bot from its groups and add it again"}
	}
	return found, nil
}

// chatID is the chat_id of a call: a number, or @name.
func chatID(chat adapters.Chat) (any, error) {
	if strings.HasPrefix(chat.ID, "@") {
		return chat.ID, nil
	}
	id, err := strconv.ParseInt(chat.ID, 10, 64)
	if err != nil {
		return nil, errInvalid("chat id " + strconv.Quote(chat.ID))
	}
	return id, nil
}

// generalTopic is the id of a forum's first topic. Messages go there without a thread id.
const generalTopic = "1"

// threadID is message_thread_id of a message; 0 = none.
func threadID(chat adapters.Chat) (int, error) {
	if chat.Thread == "" || chat.Thread == generalTopic {
		return 0, nil
	}
	id, err := strconv.Atoi(chat.Thread)
	if err != nil {
		return 0, errInvalid("topic id " + strconv.Quote(chat.Thread))
	}
	return id, nil
}

func messageID(ref adapters.Ref) (int, error) {
	id, err := strconv.Atoi(ref.ID)
	if err != nil {
		return 0, errInvalid("message id " + strconv.Quote(ref.ID))
	}
	return id, nil
}
