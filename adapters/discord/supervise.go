package discord

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"typist/adapters"
)

const (
	openTimeout   = 30 * time.Second // for Open, HELLO and the first event included
	closeTimeout  = 5 * time.Second  // for discordgo to notice an end; it sleeps a second in Close
	stableAfter   = 30 * time.Second // a connection that held so long was a good one
	identifyEvery = 5 * time.Second  // Discord's max_concurrency 1
	firstPause    = 500 * time.Millisecond
	longestPause  = time.Minute
	resumeTries   = 3
)

// link keeps the gateway connected.
type link struct {
	a *Adapter
	r *receiver

	session    *discordgo.Session // nil: the next connection identifies anew
	gone       chan struct{}      // the session has let go of a connection
	identified time.Time
	tries      int // openings of this session that failed in a row

	last adapters.Status

	mu   sync.Mutex
	wire *wire // of the current attempt
}

// Run receives until ctx ends, or Discord refuses for good.
func (a *Adapter) Run(ctx context.Context, sink adapters.Sink) error {
	r, err := newReceiver(ctx, a, sink)
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	tasks.Go(func() { r.work(working) })
	l := &link{a: a, r: r}
	err = l.keep(ctx)
	stop()
	tasks.Wait()
	r.acks.Wait()
	return err
}

// keep connects again and again.
func (l *link) keep(ctx context.Context) error {
	failures := 0
	for {
		held, err := l.once(ctx)
		if ctx.Err() != nil {
			return nil
		}
		var final *adapters.FatalError
		if errors.As(err, &final) {
			l.status(false, final)
			return final
		}
		if held >= stableAfter {
			failures = 0
		}
		pause := min(firstPause<<min(failures, 10), longestPause)
		pause = pause*3/4 + rand.N(pause/2)
		failures++
		l.a.log.Info("connection ended", "error", err, "held", held.Round(time.Millisecond), "againIn", pause.Round(time.Millisecond))
		l.status(false, fmt.Errorf("connecting to Discord again: %w", err))
		if !sleep(ctx, pause) {
			return nil
		}
	}
}

// once makes one connection and waits for its end. held is how long it was up.
func (l *link) once(ctx context.Context) (held time.Duration, err error) {
	if l.session == nil {
		if wait := identifyEvery - time.Since(l.identified); !l.identified.IsZero() && wait > 0 && !sleep(ctx, wait+rand.N(time.Second)) {
			return 0, ctx.Err()
		}
		l.identified, l.tries = time.Now(), 0
		if l.session, err = l.newSession(); err != nil {
			return 0, err
		}
	}
	w, err := l.open(ctx)
	if err != nil {
		if l.tries++; l.tries >= resumeTries {
			l.session = nil
		}
		return 0, l.judge(w, err)
	}
	l.tries = 0
	gone, up := l.gone, time.Now()
	l.status(true, nil)
	select {
	case <-ctx.Done():
		w.goodbye()
	case <-l.r.overflowed:
		l.session = nil // what was dropped is fetched when the new session is ready
		w.goodbye()
	case <-w.ended:
	}
	select {
	case <-gone:
	case <-time.After(closeTimeout):
		l.a.log.Warn("session did not let go of its connection; it is abandoned")
		l.session = nil
	}
	return time.Since(up), l.judge(w, w.why().err)
}

// open runs discordgo's Open, which has no deadline and may lock up, on its own goroutine.
func (l *link) open(ctx context.Context) (*wire, error) {
	l.setWire(nil)
	session, gone, opened := l.session, l.gone, make(chan error, 1)
	select { // a late one of the connection before
	case <-gone:
	default:
	}
	go func() {
		defer func() {
			if p := recover(); p != nil {
				opened <- fmt.Errorf("discordgo panicked: %v", p)
			}
		}()
		opened <- session.Open()
	}()
	timer := time.NewTimer(openTimeout)
	defer timer.Stop()
	var err error
	select {
	case err = <-opened:
	case <-timer.C:
		err = errors.New("no answer from Discord's gateway")
		l.giveUp(opened)
	case <-ctx.Done():
		err = ctx.Err()
		l.giveUp(opened)
	}
	w := l.currentWire()
	if err == nil && w == nil {
		err = errors.New("discordgo connected past the supervisor")
	}
	if err != nil {
		return w, err
	}
	select { // Open also returns on a packet that is no event
	case <-w.firstSeen:
		return w, nil
	case <-w.ended:
		err = w.why().err
	case <-timer.C:
		err = errors.New("no READY from Discord's gateway")
	case <-ctx.Done():
		err = ctx.Err()
	}
	w.Close()
	select {
	case <-gone:
	case <-time.After(closeTimeout):
		l.session = nil
	}
	return w, err
}

// giveUp frees an Open that hangs, or abandons its session.
func (l *link) giveUp(opened <-chan error) {
	if w := l.currentWire(); w != nil {
		w.Close()
	}
	select {
	case err := <-opened:
		l.a.log.Debug("the attempt to connect ended late", "error", err)
	case <-time.After(closeTimeout):
		l.a.log.Warn("session is stuck; it is abandoned")
		l.session = nil
	}
}

// judge decides from the end of a connection whether the session can go on, or nothing can.
func (l *link) judge(w *wire, err error) error {
	if errors.Is(err, discordgo.ErrWSAlreadyOpen) {
		l.session = nil
	}
	if w == nil || w.why() == nil {
		return err
	}
	end := w.why()
	if sentence := fatal(end.code); sentence != "" {
		return &adapters.FatalError{Channel: Name, Sentence: sentence, Err: err}
	}
	if end.lost || end.code == 4003 || end.code == 4007 || end.code == 4009 {
		l.session = nil
	}
	if end.code != 0 {
		return fmt.Errorf("discord closed the connection with code %d", end.code)
	}
	return err
}

// newSession is a discordgo session that leaves everything to the supervisor.
func (l *link) newSession() (*discordgo.Session, error) {
	s, err := discordgo.New("Bot " + l.a.cfg.Token)
	if err != nil {
		return nil, fmt.Errorf("discord: %w", err)
	}
	s.ShouldReconnectOnError, s.ShouldReconnectVoiceOnSessionError, s.ShouldRetryOnRateLimit = false, false, false
	s.MaxRestRetries, s.StateEnabled, s.SyncEvents, s.Compress = 0, false, true, false
	s.LogLevel = -1 // it would write to the standard logger
	s.Identify.Intents = discordgo.IntentsGuilds | discordgo.IntentsGuildMessages | discordgo.IntentsDirectMessages
	if l.a.cfg.MessageContent {
		s.Identify.Intents |= discordgo.IntentsMessageContent
	}
	s.Client = &http.Client{Transport: l.a.transport, Timeout: openTimeout}
	s.Dialer = &websocket.Dialer{NetDialContext: l.dial, NetDialTLSContext: l.dialTLS, HandshakeTimeout: openTimeout}
	gone := make(chan struct{}, 1)
	l.gone = gone
	s.AddHandler(func(*discordgo.Session, *discordgo.Disconnect) {
		select {
		case gone <- struct{}{}:
		default:
		}
	})
	return s, nil
}

func (l *link) setWire(w *wire) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wire = w
}

func (l *link) currentWire() *wire {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wire
}

// status tells the sink; errors show no token. Since stands while only the error changes.
func (l *link) status(connected bool, err error) {
	s := adapters.Status{Connected: connected, Since: l.last.Since, Err: err}
	if s.Since.IsZero() || connected != l.last.Connected {
		s.Since = time.Now()
	}
	l.last = s
	l.r.sink.Status(Name, s)
}

// sleep waits, and reports false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
