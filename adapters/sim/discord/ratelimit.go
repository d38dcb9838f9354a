package discord

import (
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// window is a bucket's size: so many calls in so long.
type window struct {
	calls int
	per   time.Duration
}

// windows by kind of route; each is counted per channel (Discord's major parameter). Discord
// tells its numbers only in headers; these are the usual ones (PLATFORMS.md).
var windows = map[string]window{
	"create":   {5, 5 * time.Second},
	"edit":     {5, 5 * time.Second},
	"delete":   {5, time.Second},
	"typing":   {5, 5 * time.Second},
	"reaction": {1, 250 * time.Millisecond},
	"list":     {5, 5 * time.Second},
	"commands": {5, 20 * time.Second},
}

var globalWindow = window{50, time.Second}

// limiter counts calls in fixed windows, as Discord does.
type limiter struct {
	off     bool
	mu      sync.Mutex
	buckets map[string]*bucket
}

type bucket struct {
	window
	used  int
	reset time.Time
}

func newLimiter(off bool) *limiter { return &limiter{off: off, buckets: map[string]*bucket{}} }

// take counts one call. wait > 0 means that it is refused; global says by which limit.
func (l *limiter) take(kind, major string, header http.Header) (wait time.Duration, global bool) {
	if l.off {
		return 0, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if _, wait := l.count("global", globalWindow, now); wait > 0 {
		return wait, true
	}
	w, limited := windows[kind]
	if !limited {
		return 0, false
	}
	b, wait := l.count(kind+"/"+major, w, now)
	left := b.reset.Sub(now).Seconds()
	header.Set("X-RateLimit-Bucket", kind)
	header.Set("X-RateLimit-Limit", strconv.Itoa(b.calls))
	header.Set("X-RateLimit-Remaining", strconv.Itoa(max(0, b.calls-b.used)))
	header.Set("X-RateLimit-Reset", strconv.FormatFloat(float64(b.reset.UnixMilli())/1000, 'f', 3, 64))
	header.Set("X-RateLimit-Reset-After", strconv.FormatFloat(left, 'f', 3, 64))
	return wait, false
}

func (l *limiter) count(key string, w window, now time.Time) (*bucket, time.Duration) {
	b := l.buckets[key]
	if b == nil || !now.Before(b.reset) {
		b = &bucket{window: w, reset: now.Add(w.per)}
		l.buckets[key] = b
	}
	if b.used >= b.calls {
		return b, b.reset.Sub(now)
	}
	b.used++
	return b, 0
}

// limited is the answer to a refused call.
func (s *Server) limited(header http.Header, wait time.Duration, global bool) *failure {
	header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	s.mu.Lock()
	edge := s.opts.CloudflareLimits
	s.mu.Unlock()
	if edge {
		header.Set("Content-Type", "text/html")
		return &failure{status: http.StatusTooManyRequests, raw: "error code: 1015"}
	}
	scope := "user"
	if global {
		header.Set("X-RateLimit-Global", "true")
		scope = "global"
	}
	header.Set("X-RateLimit-Scope", scope)
	return &failure{status: http.StatusTooManyRequests, body: map[string]any{
		"message":     "You are being rate limited.",
		"retry_after": wait.Seconds(),
		"global":      global,
	}}
}

// SetCloudflareLimits switches between JSON and non-JSON answers for 429.
func (s *Server) SetCloudflareLimits(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.CloudflareLimits = on
}
