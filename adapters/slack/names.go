package slack

import (
	"context"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

const (
	nameLife   = time.Hour
	noNameLife = time.Minute
	maxNames   = 10000
)

// names knows what people and channels are called. Asking Slack is bounded by the caller's
// context, since an event waits to be acknowledged meanwhile; without an answer there is no name.
type names struct {
	api *slack.Client

	mu    sync.Mutex
	known map[string]nameEntry
}

type nameEntry struct {
	name, locale string
	until        time.Time
}

func newNames(api *slack.Client) *names { return &names{api: api, known: map[string]nameEntry{}} }

// user gives a person's name and locale.
func (n *names) user(ctx context.Context, id string) (name, locale string) {
	e := n.get(ctx, id, func(ctx context.Context) (nameEntry, error) {
		u, err := n.api.GetUserInfoContext(ctx, id)
		if err != nil {
			return nameEntry{}, err
		}
		e := nameEntry{name: u.Profile.DisplayName, locale: u.Locale}
		if e.name == "" {
			e.name = u.RealName
		}
		if e.name == "" {
			e.name = u.Name
		}
		return e, nil
	})
	return e.name, e.locale
}

// chat gives a channel's name, without #.
func (n *names) chat(ctx context.Context, id string) string {
	return n.get(ctx, id, func(ctx context.Context) (nameEntry, error) {
		c, err := n.api.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: id})
		if err != nil {
			return nameEntry{}, err
		}
		return nameEntry{name: c.Name}, nil
	}).name
}

func (n *names) get(ctx context.Context, id string, ask func(context.Context) (nameEntry, error)) nameEntry {
	if id == "" {
		return nameEntry{}
	}
	n.mu.Lock()
	e, ok := n.known[id]
	n.mu.Unlock()
	if ok && time.Now().Before(e.until) || ctx.Err() != nil {
		return e
	}
	fresh, err := ask(ctx)
	if err != nil {
		fresh = e // an old name is better than none
		fresh.until = time.Now().Add(noNameLife)
	} else {
		fresh.until = time.Now().Add(nameLife)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.known) >= maxNames {
		clear(n.known)
	}
	n.known[id] = fresh
	return fresh
}
