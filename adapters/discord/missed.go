package discord

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"typist/adapters"
)

// What is fetched after a lost session or a restart is bounded.
const (
	missedAge      = 24 * time.Hour // as long as Telegram keeps updates
	missedChannels = 100
	missedPages    = 3 // of 100 messages, per channel
	fetchTries     = 5
)

// started is READY: a new session. Messages since the cursor did not come over the gateway and
// are fetched: those of direct chats now, those of a server when its channels are known.
func (r *receiver) started(ctx context.Context, d ready) {
	clear(r.expect)
	clear(r.members)
	if !r.cursor.Started { // nothing came before: the first session begins where the servers are
		r.cursor.Started, r.cursor.dirty = true, true
		return
	}
	for _, g := range d.Guilds {
		r.expect[g.ID] = true
	}
	for _, id := range slices.Clone(r.cursor.Direct) {
		r.fetch(ctx, channel{ID: id, Type: typeDM}, r.cursor.after(id))
	}
}

// guild fetches what a server's channels have that is newer than the cursor.
func (r *receiver) guild(ctx context.Context, data json.RawMessage) {
	var g guild
	if err := json.Unmarshal(data, &g); err != nil {
		r.a.log.Warn("server is malformed", "error", err)
		return
	}
	fetch := r.expect[g.ID]
	delete(r.expect, g.ID)
	var behind []channel
	for _, c := range slices.Concat(g.Channels, g.Threads) {
		if c.LastMessageID == nil || !c.holdsMessages() {
			continue
		}
		switch {
		case !fetch: // first contact: what stands there is history
			r.cursor.taken(c.ID, *c.LastMessageID)
		case newer(*c.LastMessageID, r.cursor.after(c.ID)):
			c.GuildID = g.ID
			behind = append(behind, c)
		}
	}
	slices.SortFunc(behind, func(a, b channel) int {
		if newer(*a.LastMessageID, *b.LastMessageID) {
			return -1
		}
		return 1
	})
	if len(behind) > missedChannels {
		r.a.log.Warn("too many channels with missed messages", "channels", len(behind), "fetched", missedChannels)
		behind = behind[:missedChannels]
	}
	after := map[string]string{} // the cursor moves while channels are fetched
	for _, c := range behind {
		after[c.ID] = r.cursor.after(c.ID)
	}
	for _, c := range behind {
		r.fetch(ctx, c, after[c.ID])
	}
}

// fetch takes the messages of a channel behind after, oldest first.
func (r *receiver) fetch(ctx context.Context, c channel, after string) {
	for range missedPages {
		var page []message
		err := r.insist(ctx, func() error {
			return r.a.call(ctx, http.MethodGet, "channels/"+c.ID+"/messages?limit=100&after="+after, nil, &page)
		})
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, adapters.ErrDenied) && !errors.Is(err, adapters.ErrGone) {
				r.a.log.Warn("missed messages could not be fetched", "chat", c.ID, "error", err)
			}
			return
		}
		for _, m := range slices.Backward(page) {
			after = m.ID
			m.GuildID = c.GuildID
			if time.Since(m.Timestamp.Time) > missedAge {
				continue
			}
			r.message(ctx, m)
			if ctx.Err() != nil {
				return
			}
		}
		if len(page) < 100 {
			return
		}
	}
}

// insist repeats a call that is rate limited or failing for a while.
func (r *receiver) insist(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if err == nil || try == fetchTries || errors.Is(err, adapters.ErrDenied) || errors.Is(err, adapters.ErrGone) || errors.Is(err, adapters.ErrInvalid) {
			return err
		}
		wait := time.Duration(try) * time.Second
		var limit *adapters.RateLimitError
		if errors.As(err, &limit) {
			wait = min(limit.RetryAfter, time.Minute)
		}
		if !sleep(ctx, wait) {
			return ctx.Err()
		}
	}
}

// channel is a channel that a message came from.
func (r *receiver) channel(ctx context.Context, id string) (channel, bool) {
	var c channel
	err := r.insist(ctx, func() (err error) {
		c, err = r.a.lookup(ctx, id)
		return err
	})
	if err != nil {
		r.a.log.Warn("a message from an unknown channel", "chat", id, "error", err)
		return channel{}, false
	}
	return c, true
}

// member is a person's membership, which fetched messages do not carry; access may hang on roles.
func (r *receiver) member(ctx context.Context, guild, person string) *member {
	key := guild + "/" + person
	if m, ok := r.members[key]; ok {
		return &m
	}
	var m member
	err := r.insist(ctx, func() error {
		return r.a.call(ctx, http.MethodGet, "guilds/"+guild+"/members/"+person, nil, &m)
	})
	if err != nil {
		return nil
	}
	r.members[key] = m
	return &m
}
