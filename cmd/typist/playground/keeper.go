package playground

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"typist/adapters"
	"typist/agent"
	"typist/agent/eventlog"
	"typist/agent/turn"
	"typist/cmd/typist/assemble"
	"typist/config"
)

// errDown: there is no bot at the moment.
var errDown = errors.New("the bot is down")

// keeper starts the bot, kills it and starts it again. The page talks to it, never to a bot.
type keeper struct {
	towns  []*town
	mirror *mirror
	log    *slog.Logger

	mu       sync.Mutex
	config   *config.Config // as the knobs have it
	bot      *bot           // nil while it is down
	starts   int
	beats    int
	problem  string
	ended    bool
	again    *time.Timer
	dying    sync.WaitGroup // killed bots that still wind down
	changed  chan struct{}  // closed when bot changes
	existing context.Context
	end      context.CancelFunc
}

func newKeeper(c *config.Config, towns []*town, m *mirror, log *slog.Logger) *keeper {
	k := &keeper{towns: towns, mirror: m, log: log, config: c, changed: make(chan struct{})}
	k.existing, k.end = context.WithCancel(context.Background())
	return k
}

// bot is one life of the bot: it dies once.
type bot struct {
	parts   *assemble.Parts
	gates   []*gate
	backend *breakable
	log     *muted
	stop    context.CancelFunc
	done    chan struct{}
}

// Start starts the bot.
func (k *keeper) Start(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.start(ctx)
}

// start is called with mu held.
func (k *keeper) start(ctx context.Context) error {
	if k.ended {
		return errDown
	}
	b := &bot{log: newMuted(k.log), backend: newBreakable(), done: make(chan struct{})}
	c := *k.config
	if err := k.connect(&c, b); err != nil {
		b.shut()
		return err
	}
	parts, err := assemble.New(ctx, &c, slog.New(b.log), nil, assemble.Options{Wrap: b.backend.wrap})
	if err != nil {
		b.shut()
		return err
	}
	b.parts = parts
	var running context.Context
	running, b.stop = context.WithCancel(k.existing)
	go func() {
		defer close(b.done)
		if err := parts.Run(running); err != nil {
			k.fail(b, err)
		}
	}()
	k.bot, k.problem = b, ""
	k.starts++
	k.tell()
	return nil
}

// connect opens gates to the platforms and points the config's channels at them.
func (k *keeper) connect(c *config.Config, b *bot) error {
	c.Channels = config.Channels{}
	for _, t := range k.towns {
		scheme, rest, _ := strings.Cut(t.URL(), "://")
		host, path, _ := strings.Cut(rest, "/")
		g, err := openGate(host)
		if err != nil {
			return err
		}
		b.gates = append(b.gates, g)
		url := scheme + "://" + g.address()
		if strings.Contains(rest, "/") {
			url += "/" + path
		}
		credentials := t.Credentials()
		ch := &config.Channel{
			BotToken: credentials["botToken"], AppToken: credentials["appToken"], ThreadReplies: "channels", APIURL: url,
			AllowFrom: []string{"*"}, Groups: map[string]config.Group{"*": {RequireMention: true}},
		}
		switch t.Name() {
		case "telegram":
			c.Channels.Telegram = ch
		case "discord":
			c.Channels.Discord = ch
		case "slack":
			c.Channels.Slack = ch
		default:
			return fmt.Errorf("playground: no channel for the platform %s", t.Name())
		}
	}
	return nil
}

func (b *bot) shut() {
	for _, g := range b.gates {
		g.close()
	}
}

// Kill ends the bot as kill -9 does: no call reaches a platform any more and nothing is stored
// any more, from this moment on. After down it is started again.
func (k *keeper) Kill(down time.Duration) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.bot
	if b == nil {
		return errDown
	}
	b.log.mute()
	b.shut()
	closing := b.parts.Store.Close()
	k.bot = nil
	b.parts.Events.Close()
	k.tell()
	k.dying.Go(func() {
		b.stop()
		<-b.done
		_ = b.parts.Close() // its store is closed already, which is what it says
	})
	k.again = time.AfterFunc(down, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.bot != nil || k.ended {
			return
		}
		if err := k.start(k.existing); err != nil {
			k.problem = err.Error()
			k.log.Error("the bot could not be started again", "error", err)
			k.tell()
		}
	})
	return closing
}

// fail notes that a bot ended by itself.
func (k *keeper) fail(b *bot, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.bot == b {
		k.problem = err.Error()
		k.tell()
	}
}

// Close shuts the bot down in good order.
func (k *keeper) Close() error {
	k.mu.Lock()
	k.ended = true
	b := k.bot
	k.bot = nil
	if k.again != nil {
		k.again.Stop()
	}
	k.mu.Unlock()
	var err error
	if b != nil {
		b.stop()
		<-b.done
		err = b.parts.Close()
		b.shut()
	}
	k.end()
	k.dying.Wait()
	return err
}

// with calls f with the bot that is up.
func (k *keeper) with(f func(*assemble.Parts) error) error {
	k.mu.Lock()
	b := k.bot
	k.mu.Unlock()
	if b == nil {
		return errDown
	}
	return f(b.parts)
}

// events is the log of the bot that is up (nil while it is down) and a channel that is closed
// when that changes.
func (k *keeper) events() (*eventlog.Log, <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.bot == nil {
		return nil, k.changed
	}
	return k.bot.parts.Events, k.changed
}

// Heartbeat begins a heartbeat in a chat, as the clock would.
func (k *keeper) Heartbeat(ctx context.Context, chat adapters.Chat, kind adapters.Kind, prompt string) error {
	k.mu.Lock()
	k.beats++
	slot := fmt.Sprintf("playground-%d-%d", time.Now().UnixNano(), k.beats)
	k.mu.Unlock()
	return k.with(func(p *assemble.Parts) error {
		return p.Hub.Heartbeat(ctx, chat, kind, turn.Heartbeat{Agent: config.DefaultAgent, Slot: slot, Prompt: prompt, Deliver: true})
	})
}

// BreakBackend makes every run in work lose its backend, and says how many there were.
func (k *keeper) BreakBackend() (n int, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.bot == nil {
		return 0, errDown
	}
	return k.bot.backend.breakAll(), nil
}

// Knobs change settings as a reload of the config does (O5).
func (k *keeper) Knobs(change func(*config.Config)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := *k.config
	change(&c)
	k.config = &c
	defer k.tell()
	if k.bot == nil {
		return nil // it will start with them
	}
	live := c
	live.Channels = k.bot.parts.Config.Channels
	return k.bot.parts.Update(&live)
}

// tell puts the bot's state into the mirror; called with mu held.
func (k *keeper) tell() {
	close(k.changed)
	k.changed = make(chan struct{})
	c := k.config
	k.mirror.put("bot", "bot", botView{
		Up: k.bot != nil, Starts: k.starts, Problem: agent.Mask(k.problem), Backend: c.BackendOf(c.Agents.Defaults),
		TypingMode: c.Session.TypingMode, TypingSeconds: c.Session.TypingInterval.Seconds(), View: c.Progress.View,
		Language: c.Progress.Language, Queue: c.Session.Queue, Reasoning: c.Agents.Defaults.ReasoningLevel,
	})
}

// botView is the bot's state and the knobs, as the page gets them.
type botView struct {
	Up            bool    `json:"up"`
	Starts        int     `json:"starts"`
	Problem       string  `json:"problem,omitempty"`
	Backend       string  `json:"backend"`
	TypingMode    string  `json:"typingMode"`
	TypingSeconds float64 `json:"typingSeconds"`
	View          string  `json:"view"`
	Language      string  `json:"language"`
	Queue         string  `json:"queue"`
	Reasoning     string  `json:"reasoning"`
}
