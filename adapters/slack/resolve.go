package slack

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"typist/adapters"
)

const resolvePages = 50

// Resolve finds a chat: a channel's, direct chat's or person's id, "#name" or "@name" (a person's
// handle or display name).
func (a *Adapter) Resolve(ctx context.Context, target string) (adapters.Chat, adapters.Kind, error) {
	target = strings.TrimSpace(target)
	switch {
	case target == "":
		return adapters.Chat{}, "", fmt.Errorf("slack: no chat to look for")
	case target[0] == '#':
		return a.resolveChannel(ctx, target[1:])
	case target[0] == '@':
		return a.resolvePerson(ctx, target[1:])
	case target[0] == 'U' || target[0] == 'W':
		return a.openDirect(ctx, target)
	}
	info, err := a.api.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: target})
	if err != nil {
		return adapters.Chat{}, "", wrap("conversations.info", err)
	}
	kind := adapters.Group
	if info.IsIM {
		kind = adapters.Direct
	}
	return adapters.Chat{Channel: channelName, ID: info.ID}, kind, nil
}

func (a *Adapter) resolveChannel(ctx context.Context, name string) (adapters.Chat, adapters.Kind, error) {
	name = strings.ToLower(name)
	cursor := ""
	for range resolvePages {
		list, next, err := a.api.GetConversationsContext(ctx, &slack.GetConversationsParameters{
			Cursor: cursor, Limit: 200, ExcludeArchived: true, Types: []string{"public_channel", "private_channel"},
		})
		if err != nil {
			return adapters.Chat{}, "", wrap("conversations.list", err)
		}
		for _, c := range list {
			if strings.ToLower(c.Name) != name {
				continue
			}
			if !c.IsMember {
				return adapters.Chat{}, "", fmt.Errorf("slack: the bot is not in #%s: invite it there: %w", name, adapters.ErrDenied)
			}
			return adapters.Chat{Channel: channelName, ID: c.ID}, adapters.Group, nil
		}
		if cursor = next; cursor == "" {
			break
		}
	}
	return adapters.Chat{}, "", fmt.Errorf("slack: no channel #%s: %w", name, adapters.ErrGone)
}

func (a *Adapter) resolvePerson(ctx context.Context, name string) (adapters.Chat, adapters.Kind, error) {
	pages := a.api.GetUsersPaginated(slack.GetUsersOptionLimit(200))
	for range resolvePages {
		var err error
		pages, err = pages.Next(ctx)
		if pages.Done(err) {
			break
		}
		if err != nil {
			return adapters.Chat{}, "", wrap("users.list", err)
		}
		for _, u := range pages.Users {
			if u.Deleted || u.IsBot {
				continue
			}
			if slices.ContainsFunc([]string{u.Name, u.Profile.DisplayName, u.RealName}, func(n string) bool { return n != "" && strings.EqualFold(n, name) }) {
				return a.openDirect(ctx, u.ID)
			}
		}
	}
	return adapters.Chat{}, "", fmt.Errorf("slack: nobody is called @%s: %w", name, adapters.ErrGone)
}

func (a *Adapter) openDirect(ctx context.Context, user string) (adapters.Chat, adapters.Kind, error) {
	c, _, _, err := a.api.OpenConversationContext(ctx, &slack.OpenConversationParameters{Users: []string{user}, ReturnIM: true})
	if err != nil {
		return adapters.Chat{}, "", wrap("conversations.open", err)
	}
	return adapters.Chat{Channel: channelName, ID: c.ID}, adapters.Direct, nil
}

// wantedScopes are what the bot token needs for everything the adapter does.
var wantedScopes = []string{
	"app_mentions:read", "channels:history", "channels:read", "chat:write", "files:read", "files:write", "im:history", "im:write",
	"reactions:write", "users:read",
}

// Probe calls auth.test and asks for a Socket Mode connection, without opening it.
func (a *Adapter) Probe(ctx context.Context) (string, error) {
	test, err := a.api.AuthTestContext(ctx)
	if err != nil {
		return "", probeError("botToken", "auth.test", err)
	}
	if _, _, err := a.api.StartSocketModeContext(ctx); err != nil {
		return "", probeError("appToken", "apps.connections.open", err)
	}
	found := fmt.Sprintf("bot @%s in %s, Socket Mode on", test.User, test.Team)
	if header := test.Header.Get("X-Oauth-Scopes"); header != "" {
		var missing []string
		for _, scope := range wantedScopes {
			if !slices.ContainsFunc(strings.Split(header, ","), func(s string) bool { return strings.TrimSpace(s) == scope }) {
				missing = append(missing, scope)
			}
		}
		if len(missing) > 0 {
			found += "; scopes missing: " + strings.Join(missing, ", ")
		}
	}
	return found, nil
}

func probeError(token, call string, err error) error {
	if stop := fatal(token, err); stop != nil {
		return stop
	}
	return wrap(call, err)
}
