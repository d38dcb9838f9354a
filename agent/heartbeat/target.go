package heartbeat

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"typist/adapters"
)

// errNowhere: no person has spoken to the agent yet, so `last` is no chat.
var errNowhere = errors.New("nobody has written to this agent yet")

// resolve finds the chat of a schedule's target. `none` runs in the session of the last chat, and
// shows nothing there.
func (r *Runner) resolve(ctx context.Context, s Schedule) (adapters.Chat, adapters.Kind, error) {
	if s.Target == TargetLast || s.Target == TargetNone {
		info, ok, err := r.store.LastChat(ctx, s.Agent)
		if err != nil {
			return adapters.Chat{}, "", err
		}
		if !ok {
			return adapters.Chat{}, "", errNowhere
		}
		chat, err := adapters.ParseChat(info.Chat)
		return chat, info.Kind, err
	}
	resolver, ok := r.hub.Resolver(s.Target)
	if !ok {
		return adapters.Chat{}, "", fmt.Errorf("the channel %q is not connected", s.Target)
	}
	name, thread := s.To, ""
	if before, after, found := strings.Cut(s.To, "/"); found {
		name, thread = before, after
	}
	chat, kind, err := resolver.Resolve(ctx, name)
	if err != nil {
		return chat, kind, fmt.Errorf("%s in %s: %w", s.To, s.Target, err)
	}
	if thread != "" {
		chat.Thread = thread
	}
	return chat, kind, nil
}
