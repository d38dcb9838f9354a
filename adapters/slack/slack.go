// Package slack connects Slack: Socket Mode for what comes in, the Web API for what goes out.
package slack

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"github.com/slack-go/slack"

	"typist/adapters"
)

// channelName is this channel's name in chats, logs and errors.
const channelName = "slack"

// Config is the channel's part of the configuration.
type Config struct {
	BotToken string // xoxb-…
	AppToken string // xapp-…, with the scope connections:write
	APIURL   string // "" = Slack itself; else as "http://host:port/api/"
	// ThreadReplies says where answers to top-level messages go: "channels" (in channels into a
	// thread under the question, in direct chats not; the default), "always" or "never".
	ThreadReplies string
}

// Deps are what the adapter needs from its surroundings. Nil members get a default.
type Deps struct {
	Log *slog.Logger
	// Memory keeps the fallback reactions that stand for the indicator, so that a restart can
	// take them away.
	Memory adapters.Memory
	// Dial replaces the network, for tests.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Adapter is the connection to one Slack workspace. It is safe for concurrent use.
type Adapter struct {
	cfg    Config
	log    *slog.Logger
	memory adapters.Memory
	http   *http.Client
	dialer *websocket.Dialer
	api    *slack.Client
	names  *names
	status *statuses
	shared sharedFiles
	own    *recent // the bot's own messages, "channel/ts"
	taken  *recent // ids of events that are stored
	self   atomic.Pointer[identity]
}

// identity is who the bot is in its workspace.
type identity struct {
	user, bot, name, team string
}

var (
	_ adapters.Adapter   = (*Adapter)(nil)
	_ adapters.Editor    = (*Adapter)(nil)
	_ adapters.Deleter   = (*Adapter)(nil)
	_ adapters.Indicator = (*Adapter)(nil)
	_ adapters.Clearer   = (*Adapter)(nil)
	_ adapters.Reactor   = (*Adapter)(nil)
	_ adapters.Finder    = (*Adapter)(nil)
	_ adapters.Fetcher   = (*Adapter)(nil)
	_ adapters.Resolver  = (*Adapter)(nil)
	_ adapters.Prober    = (*Adapter)(nil)
)

// New makes the adapter; nothing is sent yet.
func New(cfg Config, deps Deps) (*Adapter, error) {
	switch cfg.ThreadReplies {
	case "":
		cfg.ThreadReplies = "channels"
	case "channels", "always", "never":
	default:
		return nil, fmt.Errorf("slack: threadReplies %q: want channels, always or never", cfg.ThreadReplies)
	}
	if !strings.HasPrefix(cfg.BotToken, "xoxb-") {
		return nil, fmt.Errorf("slack: botToken must be a bot token that begins with xoxb- (OAuth & Permissions → Bot User OAuth Token)")
	}
	if !strings.HasPrefix(cfg.AppToken, "xapp-") {
		return nil, fmt.Errorf("slack: appToken must be an app-level token that begins with xapp- (Basic Information → App-Level Tokens)")
	}
	apiURL, err := cleanURL(cfg.APIURL)
	if err != nil {
		return nil, err
	}
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 16
	transport.ResponseHeaderTimeout = 30 * time.Second
	dialer := &websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: 15 * time.Second}
	if deps.Dial != nil {
		transport.Proxy, dialer.Proxy = nil, nil
		transport.DialContext, dialer.NetDialContext = deps.Dial, deps.Dial
	}
	a := &Adapter{
		cfg: cfg, log: deps.Log, memory: deps.Memory,
		http: &http.Client{Transport: transport}, dialer: dialer,
		status: newStatuses(), own: newRecent(2000), taken: newRecent(2000),
	}
	// Never OptionDebug: with it Socket Mode asks for connections that end after 6 minutes.
	a.api = slack.New(cfg.BotToken, slack.OptionAppLevelToken(cfg.AppToken), slack.OptionHTTPClient(&caller{http: a.http}),
		slack.OptionAPIURL(apiURL), slack.OptionLog(log.New(discard{}, "", 0)))
	a.names = newNames(a.api)
	return a, nil
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// cleanURL checks an apiURL and gives it the slash at its end that slack-go counts on.
func cleanURL(raw string) (string, error) {
	if raw == "" {
		return slack.APIURL, nil
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("slack: apiURL %q: want something like http://host:port/api/", raw)
	}
	if !strings.HasSuffix(raw, "/") {
		raw += "/"
	}
	return raw, nil
}

// Name is "slack".
func (a *Adapter) Name() string { return channelName }

// identify asks Slack who the bot is; the answer is kept.
func (a *Adapter) identify(ctx context.Context) (*identity, error) {
	if id := a.self.Load(); id != nil {
		return id, nil
	}
	test, err := a.api.AuthTestContext(ctx)
	if err != nil {
		return nil, err
	}
	id := &identity{user: test.UserID, bot: test.BotID, name: test.User, team: test.Team}
	a.self.Store(id)
	return id, nil
}

// recent remembers the last n strings.
type recent struct {
	mu   sync.Mutex
	ring []string
	next int
	has  map[string]bool
}

func newRecent(n int) *recent { return &recent{ring: make([]string, n), has: map[string]bool{}} }

func (r *recent) add(s string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.has[s] {
		return
	}
	delete(r.has, r.ring[r.next])
	r.ring[r.next] = s
	r.has[s] = true
	r.next = (r.next + 1) % len(r.ring)
}

func (r *recent) contains(s string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.has[s]
}
