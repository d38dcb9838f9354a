package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"typist/adapters"
)

// Discord's error codes that mean something of their own here.
const (
	codeUnknownMessage = 10008
	codeUnknownEmoji   = 10014
	codeOldEdits       = 30046 // too many edits of a message older than an hour; comes with status 429
	codeTooLarge       = 40005
	codeAckedAlready   = 40060
	codeArchived       = 50083
)

// defaultWait stands in where a 429 does not say how long (Cloudflare's, which are not JSON).
const defaultWait = 5 * time.Second

var errUnexpected = errors.New("unexpected answer")

// refusal is an answer that refuses, in Discord's own numbers.
type refusal struct {
	call   string
	status int
	code   int
	text   string
	kind   error // of adapters
}

func (r *refusal) Error() string {
	return fmt.Sprintf("discord %s: %d %s (code %d): %s", r.call, r.status, http.StatusText(r.status), r.code, r.text)
}

func (r *refusal) Unwrap() error { return r.kind }

// explain turns what came of a failed call into the errors of package adapters.
func explain(call string, s *seen, err error) error {
	var withURL *url.Error
	if errors.As(err, &withURL) { // its text would show the path, tokens included
		err = withURL.Err
	}
	if s.status == 0 {
		if !s.connected {
			return fmt.Errorf("discord %s: %w: %w", call, adapters.ErrNeverSent, err)
		}
		return unclear(call, err)
	}
	if s.status < 300 { // it was carried out; only the answer could not be read
		return unclear(call, err)
	}
	var body struct {
		Code       int     `json:"code"`
		Message    string  `json:"message"`
		RetryAfter float64 `json:"retry_after"`
		Global     bool    `json:"global"`
	}
	isJSON := json.Unmarshal(s.body, &body) == nil
	r := &refusal{call: call, status: s.status, code: body.Code, text: body.Message}
	switch {
	case body.Code == codeOldEdits, body.Code == codeArchived:
		r.kind = adapters.ErrTooOld
	case s.status == http.StatusTooManyRequests:
		wait := time.Duration(body.RetryAfter * float64(time.Second))
		if wait <= 0 {
			if n, err := strconv.ParseFloat(s.header.Get("Retry-After"), 64); err == nil {
				wait = time.Duration(n * float64(time.Second))
			}
		}
		if wait <= 0 {
			wait = defaultWait
		}
		// A 429 of Cloudflare's bans the address: nothing gets through before it ends.
		global := body.Global || !isJSON || s.header.Get("X-RateLimit-Global") != ""
		return &adapters.RateLimitError{RetryAfter: wait, Global: global, Err: r}
	case s.status == http.StatusUnauthorized, s.status == http.StatusForbidden:
		r.kind = adapters.ErrDenied
	case s.status == http.StatusNotFound:
		r.kind = adapters.ErrGone
	case s.status >= 500, s.status == http.StatusRequestTimeout:
		r.kind = adapters.ErrUnknownOutcome
	default:
		r.kind = adapters.ErrInvalid
	}
	return r
}

// unclear is an error after the request left.
func unclear(call string, err error) error {
	return fmt.Errorf("discord %s: %w: %w", call, adapters.ErrUnknownOutcome, err)
}

func invalid(err error) error { return fmt.Errorf("discord: %w: %w", adapters.ErrInvalid, err) }

// codeOf is Discord's error code of an error; 0 = none.
func codeOf(err error) int {
	var r *refusal
	if errors.As(err, &r) {
		return r.code
	}
	return 0
}

// fatal is the sentence for a close code after which no connection can succeed; "" for others.
// The codes are those of Discord's gateway documentation.
func fatal(code int) string {
	switch code {
	case 4004:
		return "Discord refuses the bot token. Copy it again from the developer portal (Bot → Reset Token) into channels.discord.botToken."
	case 4010, 4011:
		return "Discord refuses this connection because of sharding: the bot is in too many servers for one connection."
	case 4012:
		return "Discord no longer accepts this version of its gateway. Update typist."
	case 4013:
		return "Discord refuses the requested intents as invalid. In the developer portal open Bot → Privileged Gateway Intents and check that Message Content Intent can be switched on for this bot."
	case 4014:
		return "The bot may not read message contents. In the developer portal open Bot → Privileged Gateway Intents and switch Message Content Intent on, or set requireMention: true for every group."
	}
	return ""
}
