package turn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"typist/adapters"
	"typist/agent"
	"typist/agent/eventlog"
	"typist/agent/metrics"
	"typist/agent/progress"
	"typist/agent/store"
)

// Hub takes what the channels receive, lets in what may come in, and owns the chats' lanes. It is
// the adapters' Sink.
type Hub struct {
	store    *store.Store
	beats    Heartbeats // nil: there are none
	events   *eventlog.Log
	backends map[string]Backend
	channels map[string]*channel
	log      *slog.Logger
	metrics  *metrics.Metrics
	set      atomic.Pointer[Settings]

	mu    sync.Mutex
	lanes map[adapters.Chat]*lane
	rates map[string]*personRate

	group    sync.WaitGroup
	runCtx   context.Context // runs; ends with ErrInterrupted at shutdown
	endRuns  context.CancelCauseFunc
	callCtx  context.Context // calls to platforms and the store; ends last
	endCalls context.CancelFunc
	lanesEnd chan struct{}
	closing  atomic.Bool
	active   atomic.Int64 // runs
}

// channel is a platform connection as the turn code sees it.
type channel struct {
	adapter adapters.Adapter
	caps    adapters.Capabilities
	pacer   *pacer
	status  *rate.Limiter // changed status texts (T6); nil: no bound
	mu      sync.Mutex
	state   adapters.Status
	denied  error // the newest refusal of the indicator (T11)
}

// New makes a hub. Nothing runs before Run.
func New(o Options) (*Hub, error) {
	h := &Hub{
		store: o.Store, events: o.Events, backends: o.Backends, log: o.Log, metrics: o.Metrics,
		channels: map[string]*channel{}, lanes: map[adapters.Chat]*lane{}, rates: map[string]*personRate{},
		lanesEnd: make(chan struct{}),
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.runCtx, h.endRuns = context.WithCancelCause(context.Background())
	h.callCtx, h.endCalls = context.WithCancel(context.Background())
	for _, a := range o.Channels {
		if err := adapters.Check(a); err != nil {
			return nil, err
		}
		caps := a.Capabilities()
		c := &channel{adapter: a, caps: caps, pacer: newPacer(caps)}
		if caps.PulsesPerSecond > 0 {
			c.status = rate.NewLimiter(rate.Limit(caps.PulsesPerSecond), max(1, int(caps.PulsesPerSecond)))
		}
		h.channels[a.Name()] = c
	}
	h.Update(o.Settings)
	return h, nil
}

// Update puts other settings into force (O5); turns in work keep the ones they began with.
func (h *Hub) Update(s Settings) { h.set.Store(&s) }

func (h *Hub) settings() *Settings { return h.set.Load() }

func (h *Hub) words() *progress.Table { return progress.Words(h.settings().Lang) }

// agent is the configured one of that name, else agents.defaults.
func (s *Settings) agent(name string) Agent {
	if a, ok := s.Agents[name]; ok {
		return a
	}
	return s.Agents[""]
}

// Run serves the channels until ctx ends, then shuts down within 10 s (C5). A channel that its
// platform refuses for good stops alone; the others go on (C4). It returns an error when no
// channel is left.
func (h *Hub) Run(ctx context.Context) error {
	for _, c := range h.channels {
		h.go_(func() { c.pacer.run(h.callCtx) })
	}
	if err := h.recover(ctx); err != nil {
		h.shutdown()
		return err
	}
	intake, stopIntake := context.WithCancel(ctx)
	defer stopIntake()
	ended := make(chan error, len(h.channels))
	for _, c := range h.channels {
		h.setCommands(intake, c)
		go func() { ended <- h.serve(intake, c) }()
	}
	var failed []error
	for range h.channels {
		if err := <-ended; err != nil {
			failed = append(failed, err)
		}
	}
	h.shutdown()
	if len(failed) == len(h.channels) && len(failed) > 0 && ctx.Err() == nil {
		return fmt.Errorf("every channel has stopped: %w", errors.Join(failed...))
	}
	return nil
}

// serve runs one adapter. A panic in it ends the connection, not the bot.
func (h *Hub) serve(ctx context.Context, c *channel) (err error) {
	name := c.adapter.Name()
	for try := 1; ; try++ {
		err = h.serveOnce(ctx, c)
		var fatal *adapters.FatalError
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &fatal):
			h.log.Error("the channel stops: "+fatal.Sentence, "channel", name, "error", agent.Mask(fmt.Sprint(fatal.Err)))
			h.Status(name, adapters.Status{Since: time.Now(), Err: fatal})
			return err
		}
		h.log.Error("the channel failed and is started again", "channel", name, "error", err)
		h.Status(name, adapters.Status{Since: time.Now(), Err: err})
		if !waitFor(ctx, backoff(min(try, 6))) {
			return nil
		}
	}
}

func (h *Hub) serveOnce(ctx context.Context, c *channel) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if err = c.adapter.Run(ctx, h); err == nil {
		err = errors.New("the connection ended")
	}
	return err
}

// Status implements adapters.Sink (O1).
func (h *Hub) Status(name string, s adapters.Status) {
	c := h.channels[name]
	if c == nil {
		return
	}
	c.mu.Lock()
	was := c.state
	c.state = s
	c.mu.Unlock()
	h.metrics.ChannelUp(name, s.Connected)
	switch {
	case s.Connected && !was.Connected:
		h.log.Info("connected", "channel", name)
	case errors.As(s.Err, new(*adapters.FatalError)): // serve has said so
	case !s.Connected && s.Err != nil && (was.Connected || was.Err == nil):
		h.log.Warn("not connected", "channel", name, "error", s.Err)
	}
}

// go_ runs f on a goroutine that shutdown waits for.
func (h *Hub) go_(f func()) {
	h.group.Add(1)
	go func() {
		defer h.group.Done()
		f()
	}()
}

// tell hands a letter to the chat's lane, which is started if need be.
func (h *Hub) tell(chat adapters.Chat, kind adapters.Kind, m letter) {
	c := h.channels[chat.Channel]
	if c == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing.Load() {
		return // what is in the inbox is taken up after the restart
	}
	l := h.lanes[chat]
	if l == nil {
		l = newLane(h, c, chat, kind)
		h.lanes[chat] = l
		h.go_(l.loop)
	}
	if _, ok := m.(inputArrived); ok {
		l.expected.Add(1)
	}
	l.mail.put(m)
}

// retire ends an idle lane, unless a letter has just come.
func (h *Hub) retire(l *lane) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !l.mail.closeIfEmpty() {
		return false
	}
	delete(h.lanes, l.chat)
	return true
}

// shutdownGrace bounds the parts of a shutdown; together they stay under 10 s (C5).
const (
	shutdownDeadline = 4 * time.Second // for a backend; then its run's last messages go out
	runsGrace        = 6 * time.Second
	callsGrace       = 2 * time.Second
)

// shutdown ends runs as interrupted, lets their last messages out and stops (C5).
func (h *Hub) shutdown() {
	h.mu.Lock()
	h.closing.Store(true)
	lanes := make([]*lane, 0, len(h.lanes))
	for _, l := range h.lanes {
		lanes = append(lanes, l)
	}
	h.mu.Unlock()
	h.endRuns(agent.ErrInterrupted)
	settled := make(chan struct{})
	go func() {
		for _, l := range lanes {
			q := quiet{done: make(chan struct{})}
			if l.mail.put(q) {
				select {
				case <-q.done:
				case <-h.lanesEnd:
				}
			}
		}
		close(settled)
	}()
	if !wait(settled, runsGrace) {
		h.log.Warn("not everything was settled before the shutdown; the next start takes it up")
	}
	h.endCalls()
	close(h.lanesEnd)
	all := make(chan struct{})
	go func() { h.group.Wait(); close(all) }()
	if !wait(all, callsGrace) {
		h.log.Warn("something still runs at the end of the shutdown")
	}
}

func wait(done <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// quiet asks a lane to say when nothing is under way any more.
type quiet struct{ done chan struct{} }

func (quiet) isLetter() {}

func (q quiet) read(l *lane) {
	if l.run == nil && len(l.out.slots) == 0 {
		close(q.done)
		return
	}
	// Look again after whatever happens next; the box is only read when something came.
	l.hub.go_(func() {
		if waitFor(l.hub.callCtx, 20*time.Millisecond) {
			l.mail.put(q)
		} else {
			close(q.done)
		}
	})
}

// saveInterval is the time between two stored batches of a run: fewer under load (hop 4).
func (h *Hub) saveInterval() time.Duration {
	return storeInterval * time.Duration(1+h.active.Load()/100)
}

// deny and allow keep the channel's health (T11): red while the indicator is refused.
func (h *Hub) deny(name string, err error) (news bool) {
	c := h.channels[name]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.denied = err
	return true
}

func (h *Hub) allow(name string) {
	c := h.channels[name]
	c.mu.Lock()
	defer c.mu.Unlock()
	c.denied = nil
}
