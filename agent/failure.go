package agent

import (
	"fmt"
	"time"
)

// FailureKind classifies why a run failed (S3). Classify, in classify.go, is the one place that
// decides.
type FailureKind string

// The kinds of failure.
const (
	NeverSent    FailureKind = "never_sent"   // DNS, refused, TLS: nothing reached the backend
	CutEarly     FailureKind = "cut"          // the stream broke
	ServerError  FailureKind = "server_error" // 5xx: the backend itself failed
	Overloaded   FailureKind = "overloaded"   // 529, or a 503 that says so
	RateLimited  FailureKind = "rate_limited" // 429
	Unauthorized FailureKind = "unauthorized" // 401, 403
	NotFound     FailureKind = "not_found"    // 404: no such model or endpoint
	TooLong      FailureKind = "too_long"     // 413, context length exceeded
	Invalid      FailureKind = "invalid"      // other 4xx
	Malformed    FailureKind = "malformed"    // the backend answered what its protocol does not allow
	TimedOut     FailureKind = "timed_out"    // the run's ceiling (T13)
	Crashed      FailureKind = "crashed"      // the backend's process ended, or it panicked
)

// Failure is a classified error of a run. Its text is for the log; what a person reads comes
// from the language table by Kind (P15). Secrets are masked in Detail.
type Failure struct {
	Kind       FailureKind   `json:"kind"`
	RetryAfter time.Duration `json:"retryAfter,omitempty"` // told by the backend; 0 = not told
	Status     int           `json:"status,omitempty"`     // HTTP status, 0 = none
	Detail     string        `json:"detail,omitempty"`     // the backend's own words, masked, one line
	Err        error         `json:"-"`
}

func (f *Failure) Error() string {
	s := string(f.Kind)
	if f.Status != 0 {
		s = fmt.Sprintf("%s (HTTP %d)", s, f.Status)
	}
	if f.Detail != "" {
		s += ": " + f.Detail
	} else if f.Err != nil {
		s += ": " + f.Err.Error()
	}
	return s
}

func (f *Failure) Unwrap() error { return f.Err }
