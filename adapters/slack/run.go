package slack

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"typist/adapters"
)

const (
	// deliverBudget is what storing an event may take: with the names before it and the way back
	// it stays within the 3 s that Slack waits.
	deliverBudget = 1500 * time.Millisecond
	callTimeout   = 15 * time.Second
	minBackoff    = time.Second
	maxBackoff    = 30 * time.Second
	// A connection that ended sooner than this does not reset the backoff. It is short, since what
	// is sent while nobody is connected comes again only after a minute.
	steady = 10 * time.Second
	// After maxBrief in a row that ended sooner than brief, the next comes after a pause.
	brief    = 5 * time.Second
	maxBrief = 3
	// Slack pings every few seconds; slack-go's default of 30 s is kept.
	readLimit = 16 << 20
)

// errFlapping ends slack-go's own reconnecting, which knows no pause after a connection that
// began well and ended at once.
var errFlapping = errors.New("the connection ended as soon as it had begun")

// Run receives until ctx ends or Slack refuses for good. slack-go reconnects by itself when Slack
// asks it to (every few hours); everything else comes back here, and is tried again with a
// growing, jittered pause.
func (a *Adapter) Run(ctx context.Context, sink adapters.Sink) error {
	defer a.http.CloseIdleConnections()
	backoff := minBackoff
	state := &reporter{sink: sink}
	for {
		began := time.Now()
		err := a.connect(ctx, state)
		if ctx.Err() != nil {
			state.tell(false, nil)
			return nil
		}
		var stop *adapters.FatalError
		if errors.As(err, &stop) {
			state.tell(false, stop)
			return stop
		}
		if time.Since(began) > steady {
			backoff = minBackoff
		}
		wait := backoff/2 + rand.N(backoff/2)
		var limited *slack.RateLimitedError
		if errors.As(err, &limited) {
			wait = max(wait, limited.RetryAfter)
		}
		backoff = min(2*backoff, maxBackoff)
		a.log.Debug("not connected", "error", err, "retryIn", wait.Round(time.Millisecond))
		state.tell(false, fmt.Errorf("not connected to Slack: %w", err))
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// reporter tells the sink of the connection (O1). Since stands while only the error changes.
type reporter struct {
	sink  adapters.Sink
	last  adapters.Status
	brief int // connections in a row that ended soon
}

func (r *reporter) tell(connected bool, err error) {
	st := adapters.Status{Connected: connected, Since: r.last.Since, Err: err}
	if st.Since.IsZero() || connected != r.last.Connected {
		st.Since = time.Now()
	}
	r.last = st
	r.sink.Status(channelName, st)
}

// connect serves Socket Mode until it ends, and says why.
func (a *Adapter) connect(ctx context.Context, state *reporter) error {
	self, err := a.whoami(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	client := socketmode.New(a.api, socketmode.OptionDialer(a.dialer), socketmode.OptionReadLimit(readLimit),
		socketmode.OptionLog(log.New(discard{}, "", 0)))
	ended := make(chan error, 1)
	go func() { ended <- client.RunContext(ctx) }()
	defer func() {
		cancel()
		// slack-go gives its events up when the context ends, so nothing has to read them.
		if err := <-ended; err != nil {
			a.log.Debug("socket mode ended", "error", err)
		}
	}()
	s := &session{adapter: a, self: self, client: client, sink: state.sink, state: state}
	for {
		select {
		case ev := <-client.Events:
			if err := s.handle(ctx, ev); err != nil {
				return err
			}
		case err := <-ended:
			ended <- err
			for { // what came before the end still counts
				select {
				case ev := <-client.Events:
					if err := s.handle(ctx, ev); err != nil {
						return err
					}
					continue
				default:
				}
				break
			}
			if stop := fatal("appToken", err); stop != nil {
				return stop
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (a *Adapter) whoami(ctx context.Context) (*identity, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	self, err := a.identify(ctx)
	if err == nil {
		return self, nil
	}
	if stop := fatal("botToken", err); stop != nil {
		return nil, stop
	}
	return nil, err
}

// session is one run of slack-go's Socket Mode client.
type session struct {
	adapter *Adapter
	self    *identity
	client  *socketmode.Client
	sink    adapters.Sink
	state   *reporter
	hello   time.Time // of the connection that stands
}

// handle takes one event of the client; an error ends the session.
func (s *session) handle(ctx context.Context, ev socketmode.Event) error {
	switch ev.Type {
	case socketmode.EventTypeConnecting: // also when Slack asks for it: no change of state worth telling
		if s.hello.IsZero() {
			return nil
		}
		life := time.Since(s.hello)
		s.hello = time.Time{}
		s.state.brief++
		if life >= brief {
			s.state.brief = 0
		}
		if life < minBackoff || s.state.brief > maxBrief {
			return errFlapping
		}
	case socketmode.EventTypeHello:
		s.hello = time.Now()
		s.state.tell(true, nil)
	case socketmode.EventTypeConnectionError:
		// slack-go would wait up to 5 min, and try for ever what no retry changes.
		if e, ok := ev.Data.(*slack.ConnectionErrorEvent); ok {
			if stop := fatal("appToken", e.ErrorObj); stop != nil {
				return stop
			}
			return fmt.Errorf("opening a connection: %w", e.ErrorObj)
		}
	case socketmode.EventTypeEventsAPI, socketmode.EventTypeInteractive, socketmode.EventTypeSlashCommand:
		if ev.Request != nil {
			s.take(ctx, envelope{ID: ev.Request.EnvelopeID, Type: ev.Request.Type, Payload: ev.Request.Payload})
		}
	case socketmode.EventTypeErrorBadMessage:
		// Also what slack-go has no type for; unacknowledged, Slack would send it again and again.
		if bad, ok := ev.Data.(*socketmode.ErrorBadMessage); ok {
			var e envelope
			if err := read(bad.Message, &e); err == nil && e.ID != "" {
				s.take(ctx, e)
			}
		}
	case socketmode.EventTypeErrorWriteFailed:
		s.adapter.log.Warn("an acknowledgement was lost; Slack will send the event again")
	}
	return nil
}

// take delivers what is in an envelope and acknowledges it: afterwards, so that Slack sends again
// what could not be stored; buttons before, since people wait. What can't be read is acknowledged
// too: it would not be readable the next time.
func (s *session) take(ctx context.Context, e envelope) {
	events, ackFirst, err := s.decode(ctx, e)
	if err != nil {
		s.adapter.log.Warn("an event that can't be read is dropped", "type", e.Type, "error", err)
	}
	if ackFirst {
		s.ack(ctx, e.ID)
	}
	for _, ev := range events {
		id := ev.About().EventID
		if s.adapter.taken.contains(id) {
			continue // the second of app_mention and message, or sent again though it is stored
		}
		if err := s.deliver(ctx, ev); err != nil {
			s.adapter.log.Error("an event was not taken", "event", id, "error", err)
			return
		}
		s.adapter.taken.add(id)
	}
	if !ackFirst {
		s.ack(ctx, e.ID)
	}
}

// decode guards against panics: one odd event must not end the channel.
func (s *session) decode(ctx context.Context, e envelope) (events []adapters.Event, ackFirst bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			events, err = nil, fmt.Errorf("panic: %v", r)
		}
	}()
	return s.adapter.decode(ctx, s.self, e)
}

func (s *session) deliver(ctx context.Context, ev adapters.Event) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, deliverBudget)
	defer cancel()
	return s.sink.Deliver(ctx, ev)
}

func (s *session) ack(ctx context.Context, envelopeID string) {
	if envelopeID == "" {
		return
	}
	if err := s.client.AckCtx(ctx, envelopeID, nil); err != nil && ctx.Err() == nil {
		s.adapter.log.Warn("acknowledging failed", "error", err)
	}
}
