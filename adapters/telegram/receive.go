package telegram

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"typist/adapters"
)

// ackTimeout bounds answerCallbackQuery, which the client waits for with a spinner.
const ackTimeout = 10 * time.Second

// Run polls until ctx ends. One worker delivers, in Telegram's order.
func (a *Adapter) Run(ctx context.Context, sink adapters.Sink) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	status := &statusReporter{sink: sink, log: a.log}
	p := &poller{a: a, ledger: newLedger(), sink: sink, stop: stop, status: status}
	if err := p.begin(ctx); err != nil {
		return fatalOnly(err)
	}
	r := &receiver{a: a, sink: sink, ledger: p.ledger, work: make(chan *models.Update)}
	b, err := bot.New(a.cfg.Token, bot.WithSkipGetMe(), bot.WithServerURL(a.cfg.APIURL),
		bot.WithHTTPClient(a.cfg.PollTimeout, p), bot.WithAllowedUpdates(allowedUpdates),
		bot.WithNotAsyncHandlers(), bot.WithErrorsHandler(a.libraryError),
		bot.WithDefaultHandler(func(ctx context.Context, _ *bot.Bot, u *models.Update) {
			select {
			case r.work <- u:
			case <-ctx.Done():
			}
		}))
	if err != nil {
		return &adapters.FatalError{Channel: channel, Sentence: "the bot token can't be used", Err: errors.New(a.mask(err.Error()))}
	}
	var wg sync.WaitGroup
	wg.Go(func() { r.run(ctx) })
	b.Start(ctx)
	wg.Wait()
	r.acks.Wait()
	if a.own != nil {
		a.own.CloseIdleConnections()
	}
	return fatalOnly(context.Cause(ctx))
}

// fatalOnly: Run ends with a *FatalError, or with nil because it was told to.
func fatalOnly(err error) error {
	var fatal *adapters.FatalError
	if errors.As(err, &fatal) {
		return fatal
	}
	return nil
}

// begin asks who the bot is and makes way for polling; both until they work.
func (p *poller) begin(ctx context.Context) error {
	webhook := ""
	steps := []func(context.Context) error{
		func(ctx context.Context) error {
			_, err := p.a.askSelf(ctx)
			return err
		},
		func(ctx context.Context) (err error) {
			webhook, err = p.a.webhook(ctx)
			return err
		},
		func(ctx context.Context) error {
			if webhook == "" {
				return nil
			}
			return p.a.removeWebhook(ctx)
		},
	}
	for _, step := range steps {
		for {
			err := step(ctx)
			if err == nil {
				break
			}
			if ctx.Err() != nil || !p.failed(ctx, err) {
				return context.Cause(ctx)
			}
		}
	}
	p.failures, p.failing = 0, false
	p.status.connected()
	return nil
}

// receiver turns updates into events and delivers them, on one goroutine.
type receiver struct {
	a      *Adapter
	sink   adapters.Sink
	ledger *ledger
	work   chan *models.Update
	lines  map[string]*line // chat key → what waits there
	acks   sync.WaitGroup
}

func (r *receiver) run(ctx context.Context) {
	r.lines = map[string]*line{}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(r.untilDue())
		select {
		case u := <-r.work:
			r.process(ctx, u)
		case <-timer.C:
			r.flushDue(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// process never panics: an update that makes it do so is passed over.
func (r *receiver) process(ctx context.Context, u *models.Update) {
	if u == nil {
		return
	}
	defer r.survive(u.ID)
	me, err := r.a.self(ctx)
	if err != nil {
		me = models.User{ID: r.a.bot.ID()}
	}
	switch {
	case u.CallbackQuery != nil:
		r.acknowledge(ctx, u.CallbackQuery.ID)
		if press, ok := decodePress(u.ID, u.CallbackQuery); ok {
			r.deliver(ctx, press, u.ID)
			return
		}
	case u.Message != nil:
		r.a.forums.note(ctx, r.a, u.Message.Chat)
		if m, ok := decodeMessage(u.ID, u.Message, me); ok {
			r.accept(ctx, u.ID, u.Message, m)
			return
		}
	case u.EditedMessage != nil:
		if m, ok := decodeMessage(u.ID, u.EditedMessage, me); ok {
			r.closeLine(ctx, m.Chat.Key())
			r.deliver(ctx, adapters.Edited{Origin: m.Origin, ID: m.ID, Text: m.Text, Mentioned: m.Mentioned}, u.ID)
			return
		}
	}
	r.ledger.deliver(u.ID)
}

// survive keeps the worker alive through a panic of decoding or of the sink.
func (r *receiver) survive(ids ...int64) {
	if v := recover(); v != nil {
		r.a.log.Error("an update could not be handled", "updates", ids, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
		r.ledger.deliver(ids...)
	}
}

// acknowledge answers a callback query beside the worker, so that a slow answer delays nothing.
func (r *receiver) acknowledge(ctx context.Context, id string) {
	r.acks.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, ackTimeout)
		defer cancel()
		err := r.a.call(ctx, func(ctx context.Context) error {
			_, err := r.a.bot.AnswerCallbackQuery(ctx, &bot.AnswerCallbackQueryParams{CallbackQueryID: id})
			return err
		})
		if err != nil && ctx.Err() == nil && codeOf(err) != http.StatusBadRequest { // 400: too old, or redelivered
			r.a.log.Warn("a pressed button could not be acknowledged", "error", err.Error())
		}
	})
}

// deliver hands an event to the sink until it takes it; only then are its updates confirmed.
func (r *receiver) deliver(ctx context.Context, ev adapters.Event, ids ...int64) {
	for failures := 1; ctx.Err() == nil; failures++ {
		err := r.sink.Deliver(ctx, ev)
		if err == nil {
			r.ledger.deliver(ids...)
			return
		}
		r.a.log.Warn("an event was not taken; it is offered again", "update", ids[0], "error", err.Error())
		sleep(ctx, backoff(failures))
	}
}

func eventID(update int64) string { return strconv.FormatInt(update, 10) }
