package telegram

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Limits are the flood limits of messages (sent, edited or deleted).
// https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
type Limits struct {
	ChatPerSecond  float64 // messages a second in one chat
	ChatBurst      int     // that many at once
	GroupPerMinute int     // messages in any 60 s of one group
	PerSecond      float64 // of the whole bot
	Burst          int
}

// RealLimits are the documented ones: 1 a second per chat with short bursts, 20 a minute per
// group, about 30 a second overall.
func RealLimits() Limits {
	return Limits{ChatPerSecond: 1, ChatBurst: 3, GroupPerMinute: 20, PerSecond: 30, Burst: 30}
}

// limiter counts messages against Limits.
type limiter struct {
	limits Limits
	mu     sync.Mutex
	all    bucket
	chats  map[string]*bucket
	groups map[string][]time.Time
}

type bucket struct {
	tokens float64
	at     time.Time
}

func newLimiter(l Limits) *limiter {
	return &limiter{limits: l, chats: map[string]*bucket{}, groups: map[string][]time.Time{}}
}

// wait says how long until the bucket has a token; 0 = now.
func (b *bucket) wait(now time.Time, rate float64, burst int) time.Duration {
	if b.at.IsZero() {
		b.tokens = float64(burst)
	} else {
		b.tokens = min(float64(burst), b.tokens+now.Sub(b.at).Seconds()*rate)
	}
	b.at = now
	if b.tokens >= 1-1e-9 {
		return 0
	}
	return time.Duration((1 - b.tokens) / rate * float64(time.Second))
}

// takeAll counts an album's messages: it is let in where its first one is, and owes the rest.
func (l *limiter) takeAll(chat string, group bool, n int) error {
	if err := l.take(chat, group, true); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if own := l.chats[chat]; own != nil {
		own.tokens -= float64(n - 1)
	}
	l.all.tokens -= float64(n - 1)
	for range n - 1 {
		if group && l.limits.GroupPerMinute > 0 {
			l.groups[chat] = append(l.groups[chat], time.Now())
		}
	}
	return nil
}

// take counts a message; a refused one counts nowhere.
func (l *limiter) take(chat string, group, perChat bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	var wait time.Duration
	own := l.chats[chat]
	if l.limits.ChatPerSecond > 0 && perChat {
		if own == nil {
			own = &bucket{}
			l.chats[chat] = own
		}
		wait = max(wait, own.wait(now, l.limits.ChatPerSecond, l.limits.ChatBurst))
	}
	if l.limits.PerSecond > 0 {
		wait = max(wait, l.all.wait(now, l.limits.PerSecond, l.limits.Burst))
	}
	if group && perChat && l.limits.GroupPerMinute > 0 {
		recent := l.groups[chat]
		for len(recent) > 0 && now.Sub(recent[0]) >= time.Minute {
			recent = recent[1:]
		}
		l.groups[chat] = recent
		if len(recent) >= l.limits.GroupPerMinute {
			wait = max(wait, recent[0].Add(time.Minute).Sub(now))
		}
	}
	if wait > 0 {
		return tooMany(wait)
	}
	if own != nil && perChat {
		own.tokens--
	}
	l.all.tokens--
	if group && perChat && l.limits.GroupPerMinute > 0 {
		l.groups[chat] = append(l.groups[chat], now)
	}
	return nil
}

// tooMany is a 429; the wait is told in whole seconds, rounded up.
func tooMany(wait time.Duration) *apiError {
	seconds := int((wait + time.Second - 1) / time.Second)
	return &apiError{code: http.StatusTooManyRequests, retryAfter: seconds,
		text: fmt.Sprintf("Too Many Requests: retry after %d", seconds)}
}
