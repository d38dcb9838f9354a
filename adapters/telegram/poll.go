package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"typist/adapters"
)

// allowedUpdates are the kinds that are asked for; everything else Telegram keeps to itself.
var allowedUpdates = []string{"message", "edited_message", "callback_query"}

const (
	firstBackoff = 200 * time.Millisecond
	maxBackoff   = 15 * time.Second
	// holdPoll is the pace of polls while parts of an album or a paste are awaited. Nothing of it
	// is confirmed by then, so Telegram answers these polls at once.
	holdPoll = 100 * time.Millisecond
	// pollGrace is added to the time that the server may hold a poll.
	pollGrace = 15 * time.Second
)

// poller is the library's HTTP client for getUpdates. The library confirms updates as soon as it
// has queued them, repeats a refused poll for ever, and trips over what it can't decode. So the
// poller asks for itself: its offset confirms only what was delivered (C4), it waits and gives up
// by our rules, and hands the library updates that it can read and has not had.
type poller struct {
	a      *Adapter
	ledger *ledger
	sink   adapters.Sink
	stop   context.CancelCauseFunc // ends Run
	status *statusReporter

	failures int       // since polls last went well for a while
	failing  bool      // the last poll failed
	calm     time.Time // since when none has
	conflict conflict
}

func (p *poller) Do(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if !strings.HasSuffix(req.URL.Path, "/getUpdates") {
		return p.a.http.Do(req)
	}
	for {
		updates, err := p.next(ctx, req)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			if !p.failed(ctx, err) {
				return nil, context.Canceled // the library ends on that
			}
			continue
		}
		p.succeeded()
		if len(updates) > 0 {
			return respond(req, updates)
		}
	}
}

// next makes one poll and gives what is new in its answer.
func (p *poller) next(ctx context.Context, req *http.Request) ([]json.RawMessage, error) {
	offset, held, err := p.ledger.ready(ctx)
	if err != nil {
		return nil, err
	}
	hold := p.a.cfg.PollTimeout
	switch {
	case held:
		hold = 0
		if !p.ledger.waitChange(ctx, holdPoll) {
			return nil, ctx.Err()
		}
		if offset, held, err = p.ledger.ready(ctx); err != nil {
			return nil, err
		} else if !held {
			hold = p.a.cfg.PollTimeout
		}
	case p.failing:
		hold = 0 // the first answer after a failure should come at once
	case p.conflict.open():
		// It ends when it is time to see that nobody else polls any more.
		hold = min(hold, max(time.Second, calmAfter-time.Since(p.calm)+time.Second-1))
	}
	body, err := json.Marshal(map[string]any{"offset": offset, "timeout": int(hold.Seconds()), "allowed_updates": allowedUpdates})
	if err != nil {
		return nil, fmt.Errorf("building a poll: %w", err)
	}
	var o outcome
	pollCtx, cancel := context.WithTimeout(ctx, hold+pollGrace)
	defer cancel()
	ask, err := http.NewRequestWithContext(pollCtx, http.MethodPost, req.URL.String(), bytes.NewReader(body))
	if err != nil {
		return nil, p.a.mapError(ctx, &o, err)
	}
	ask.Header.Set("Content-Type", "application/json")
	resp, err := p.a.do(ask, &o)
	if err != nil {
		return nil, p.a.mapError(ctx, &o, err)
	}
	defer resp.Body.Close()
	if o.code != http.StatusOK {
		return nil, p.a.mapError(ctx, &o, errors.New(http.StatusText(o.status)))
	}
	var answer struct {
		Result []json.RawMessage `json:"result"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("telegram: a poll's answer is no JSON: %w", adapters.ErrUnknownOutcome)
	}
	return p.fresh(answer.Result)
}

// fresh keeps the updates that were not seen. One that the library could not decode is replaced by
// an empty one of the same id, so that it is passed over once and not for ever.
func (p *poller) fresh(list []json.RawMessage) ([]json.RawMessage, error) {
	var out []json.RawMessage
	nameless := 0
	for _, raw := range list {
		id, ok := updateID(raw)
		if !ok {
			nameless++
			p.a.log.Warn("an update without an id is passed over")
			continue
		}
		if !p.ledger.take(id) {
			continue
		}
		var u models.Update
		if err := json.Unmarshal(raw, &u); err != nil {
			p.a.log.Warn("an update that can't be read is passed over", "update", id)
			raw = fmt.Appendf(nil, `{"update_id":%d}`, id)
		}
		out = append(out, raw)
	}
	if nameless > 0 && nameless == len(list) {
		return nil, errors.New("telegram: a poll's answer has no update ids") // or it would spin
	}
	return out, nil
}

func updateID(raw json.RawMessage) (int64, bool) {
	var head struct {
		ID int64 `json:"update_id"`
	}
	if err := json.Unmarshal(raw, &head); err != nil || head.ID == 0 {
		return 0, false
	}
	return head.ID, true
}

// succeeded notes a poll that went well. After a conflict the channel is connected only when no
// other has come for a while: two pollers shut each other out in turns, and both succeed between.
func (p *poller) succeeded() {
	p.failing = false
	if p.calm.IsZero() {
		p.calm = time.Now()
	}
	calm := time.Since(p.calm)
	if calm >= calmAfter {
		p.failures = 0
	}
	if !p.conflict.open() || calm >= calmAfter {
		p.status.connected()
	}
	if calm >= max(calmAfter, p.a.cfg.ConflictWait) {
		p.conflict = conflict{}
	}
}

// failed waits after a failed poll; false = Run ends.
func (p *poller) failed(ctx context.Context, err error) bool {
	p.failures++
	p.failing, p.calm = true, time.Time{}
	wait := backoff(p.failures)
	told := err
	fatal := p.a.fatal(err)
	switch {
	case fatal == nil:
		p.conflict = conflict{}
	case codeOf(err) == http.StatusConflict:
		wait = p.conflict.next()
		told = errors.New(fatal.Error()) // says what to do, and no more than that: it may pass
		if time.Since(p.conflict.since) < p.a.cfg.ConflictWait {
			fatal = nil
		}
	}
	p.status.failed(told)
	if fatal != nil {
		p.stop(fatal)
		return false
	}
	var limited *adapters.RateLimitError
	if errors.As(err, &limited) {
		wait = limited.RetryAfter
	}
	p.a.log.Debug("poll failed", "error", err.Error(), "wait", wait)
	return sleep(ctx, wait)
}

func codeOf(err error) int {
	var e *apiError
	if errors.As(err, &e) {
		return e.code
	}
	return 0
}

// backoff doubles up to maxBackoff.
func backoff(failures int) time.Duration {
	d := maxBackoff
	if failures < 8 {
		d = min(maxBackoff, firstBackoff<<(failures-1))
	}
	return jitter(d)
}

// jitter is ±25 %.
func jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.75 + rand.Float64()/2))
}

// sleep waits; false = ctx has ended.
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

func respond(req *http.Request, updates []json.RawMessage) (*http.Response, error) {
	body, err := json.Marshal(map[string]any{"ok": true, "result": updates})
	if err != nil {
		return nil, fmt.Errorf("handing updates on: %w", err)
	}
	return &http.Response{Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)), Request: req}, nil
}
