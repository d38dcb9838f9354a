package adapters

import (
	"errors"
	"fmt"
	"time"
)

// Errors of calls to a platform; read them with errors.Is and errors.As. An error that is none
// of these counts as ErrUnknownOutcome; adapters map 5xx, time-outs and cut connections to it.
var (
	// ErrGone: the message, chat or thread does not exist (any more).
	ErrGone = errors.New("message is gone")
	// ErrTooOld: the platform does not let this message be edited any more, or not so often.
	ErrTooOld = errors.New("message is too old to edit")
	// ErrDenied: 401 or 403: the token or the bot's rights do not allow the call (T11).
	ErrDenied = errors.New("not allowed")
	// ErrUnknownOutcome: the request left, no answer came: it may have been carried out (P11, S3).
	ErrUnknownOutcome = errors.New("outcome unknown")
	// ErrNeverSent: the request surely did not leave (DNS, refused connection).
	ErrNeverSent = errors.New("never sent")
	// ErrInvalid: the platform refuses this content for good (other 4xx).
	ErrInvalid = errors.New("refused by the platform")
)

// RateLimitError is a 429: no call to this chat (Global: to this platform) before RetryAfter.
type RateLimitError struct {
	RetryAfter time.Duration
	Global     bool
	Err        error
}

func (e *RateLimitError) Error() string {
	return fmt.Sprintf("rate limited, retry after %s", e.RetryAfter)
}

func (e *RateLimitError) Unwrap() error { return e.Err }

// FatalError ends a channel for good (C4): bad token, missing intent, 409. Sentence tells a
// person what is wrong and what to do.
type FatalError struct {
	Channel  string
	Sentence string
	Err      error
}

func (e *FatalError) Error() string { return e.Channel + ": " + e.Sentence }

func (e *FatalError) Unwrap() error { return e.Err }
