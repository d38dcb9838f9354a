package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"time"

	"typist/adapters"
)

// outcome is what became of one request, read off the wire: the library's errors keep neither the
// status nor whether the request left.
type outcome struct {
	asked      bool // handed to the HTTP client
	connected  bool // a connection was there: from here on it may have left
	status     int  // of HTTP; 0 = no answer
	read       bool // the answer was read whole
	code       int  // error_code of the answer, else status
	text       string
	retryAfter time.Duration
}

type outcomeKey struct{}

// call makes one call through the library and maps its error (adapters/errors.go).
func (a *Adapter) call(ctx context.Context, f func(context.Context) error) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, callTimeout)
		defer cancel()
	}
	var o outcome
	err := f(context.WithValue(ctx, outcomeKey{}, &o))
	if err == nil {
		return nil
	}
	return a.mapError(ctx, &o, err)
}

// caller is the library's HTTP client for everything but polling.
type caller struct{ a *Adapter }

func (c caller) Do(req *http.Request) (*http.Response, error) {
	o, _ := req.Context().Value(outcomeKey{}).(*outcome)
	if o == nil {
		o = &outcome{}
	}
	return c.a.do(req, o)
}

// do sends a request and notes its outcome; the answer's body comes back read.
func (a *Adapter) do(req *http.Request, o *outcome) (*http.Response, error) {
	o.asked = true
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { o.connected = true }}
	resp, err := a.http.Do(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err != nil {
		return nil, err
	}
	o.status, o.code = resp.StatusCode, resp.StatusCode
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	o.read = true
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
		o.retryAfter = time.Duration(s) * time.Second
	}
	var answer struct {
		OK          bool   `json:"ok"`
		ErrorCode   int    `json:"error_code"`
		Description string `json:"description"`
		Parameters  struct {
			RetryAfter int `json:"retry_after"`
		} `json:"parameters"`
	}
	if json.Unmarshal(body, &answer) == nil && !answer.OK {
		o.text = answer.Description
		if answer.ErrorCode != 0 {
			o.code = answer.ErrorCode
		}
		if answer.Parameters.RetryAfter > 0 {
			o.retryAfter = time.Duration(answer.Parameters.RetryAfter) * time.Second
		}
	}
	return resp, nil
}

// defaultRetryAfter stands where a 429 does not say how long.
const defaultRetryAfter = time.Second

// apiError is an error with what the platform said. It keeps no reference to the library's error,
// whose text may hold the token.
type apiError struct {
	kind  error // one of adapters' errors
	code  int
	text  string // masked
	cause error  // context.Canceled, context.DeadlineExceeded or nil
}

func (e *apiError) Error() string {
	if e.code != 0 {
		return fmt.Sprintf("telegram: %v: %d %s", e.kind, e.code, e.text)
	}
	return fmt.Sprintf("telegram: %v: %s", e.kind, e.text)
}

func (e *apiError) Unwrap() []error {
	if e.cause != nil {
		return []error{e.kind, e.cause}
	}
	return []error{e.kind}
}

func errInvalid(text string) error { return &apiError{kind: adapters.ErrInvalid, text: text} }

// mapError reads codes; only a 400 is told apart by its text, since Telegram gives nothing else.
func (a *Adapter) mapError(ctx context.Context, o *outcome, err error) error {
	e := &apiError{code: o.code, text: a.mask(o.text), cause: ctx.Err()}
	if e.text == "" {
		e.text = a.mask(cleanText(err))
	}
	switch {
	case !o.asked:
		e.kind = adapters.ErrInvalid // the request could not be built
		if e.cause != nil {
			e.kind = adapters.ErrNeverSent
		}
	case o.status == 0 && (!o.connected || isDial(err)):
		e.kind = adapters.ErrNeverSent
	case !o.read || o.code >= 500 || o.code < 400:
		e.kind = adapters.ErrUnknownOutcome
	case o.code == http.StatusTooManyRequests:
		wait := o.retryAfter
		if wait <= 0 {
			wait = defaultRetryAfter
		}
		e.kind = errTooMany
		return &adapters.RateLimitError{RetryAfter: wait, Err: e}
	case o.code == http.StatusUnauthorized, o.code == http.StatusForbidden, o.code == http.StatusNotFound:
		e.kind = adapters.ErrDenied // 404 is a token that Telegram can't read
	case o.code == http.StatusBadRequest:
		e.kind = badRequest(o.text)
	default:
		e.kind = adapters.ErrInvalid
	}
	return e
}

var errTooMany = errors.New("too many requests")

// badRequest tells the kinds of 400 apart.
func badRequest(text string) error {
	text = strings.ToLower(text)
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(text, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("message is not modified"):
		return errNotModified
	case has("message to edit not found", "message to delete not found", "message to react not found", "message not found",
		"message_id_invalid", "chat not found", "message thread not found", "topic_deleted", "topic_closed",
		"group chat was upgraded", "group chat was deactivated"):
		return adapters.ErrGone
	case has("message can't be edited", "message can't be deleted", "message_edit_time_expired"):
		return adapters.ErrTooOld
	case has("can't parse entities", "entity_", "entities_", "entity begins", "entity ends"):
		return errMarkup
	case has("there is no text in the message"):
		return errNoText
	case has("photo_", "image_process_failed"):
		return errPhoto
	case has("not enough rights", "chat_write_forbidden", "chat_admin_required", "have no rights", "chat_restricted"):
		return adapters.ErrDenied
	}
	return adapters.ErrInvalid
}

// What a 400 can mean beyond the shared errors; the last three are ErrInvalid to others.
var (
	errNotModified = errors.New("not modified")
	errMarkup      = fmt.Errorf("markup: %w", adapters.ErrInvalid)
	errNoText      = fmt.Errorf("no text to edit: %w", adapters.ErrInvalid)
	errPhoto       = fmt.Errorf("photo: %w", adapters.ErrInvalid)
)

// isDial: the connection was never made, so nothing left.
func isDial(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns)
}

// cleanText is an error's text without the URL that net/http puts in front.
func cleanText(err error) string {
	var u *url.Error
	if errors.As(err, &u) && u.Err != nil {
		return u.Err.Error()
	}
	return err.Error()
}

// fatal turns an error that will not get better into one for people; nil = it may get better.
func (a *Adapter) fatal(err error) *adapters.FatalError {
	var e *apiError
	if !errors.As(err, &e) {
		return nil
	}
	switch e.code {
	case http.StatusUnauthorized:
		return &adapters.FatalError{Channel: channel, Err: err,
			Sentence: "Telegram does not accept the bot token; get a valid one from @BotFather and set channels.telegram.botToken"}
	case http.StatusNotFound:
		return &adapters.FatalError{Channel: channel, Err: err,
			Sentence: "there is no such bot at " + a.mask(a.cfg.APIURL) + "; check channels.telegram.botToken and apiURL"}
	case http.StatusConflict:
		sentence := "another program polls with this token: stop it, or use another bot"
		if strings.Contains(strings.ToLower(e.text), "webhook") { // set since the start
			sentence = "another program has set a webhook for this bot, which shuts polling out: stop it and restart this one, or use another bot"
		}
		return &adapters.FatalError{Channel: channel, Err: err, Sentence: sentence}
	}
	return nil
}
