package slack

import (
	"context"

	"github.com/slack-go/slack"

	"typist/adapters"
)

// A run that answers nobody (a heartbeat, T4) has no message for a status to hang on, and Slack
// shows none without. Outside threads the last message stands in for it: in a direct chat anyone's,
// in a channel only the bot's own, since people there would take it for an answer to theirs.

const standInKey = "slack/typing-anchor/" // + chat

// saw notes the last message of a chat that can stand in.
func (s *statuses) saw(chat adapters.Chat, ts string) {
	if chat.Thread != "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.last) >= maxStatuses {
		clear(s.last)
	}
	s.last[chat.ID] = ts
}

// standIn gives the message that an indicator without anchor hangs on; the same one until it is
// cleared. "" = there is none.
func (a *Adapter) standIn(ctx context.Context, chat adapters.Chat) string {
	a.status.mu.Lock()
	ts, used := a.status.standIns[chat.ID]
	if !used {
		ts = a.status.last[chat.ID]
	}
	a.status.mu.Unlock()
	if ts == "" && kindOf(inner{Channel: chat.ID}) == adapters.Direct {
		page, err := a.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{ChannelID: chat.ID, Limit: 1})
		if err == nil && len(page.Messages) > 0 {
			ts = page.Messages[0].Timestamp
		}
	}
	if ts == "" || used {
		return ts
	}
	a.status.mu.Lock()
	if len(a.status.standIns) >= maxStatuses {
		clear(a.status.standIns)
	}
	a.status.standIns[chat.ID] = ts
	a.status.mu.Unlock()
	a.note(ctx, standInKey+chat.ID, ts)
	return ts
}

// takeStandIn gives the message that was used, also by an earlier process, and forgets it.
func (a *Adapter) takeStandIn(ctx context.Context, chat adapters.Chat) string {
	a.status.mu.Lock()
	ts := a.status.standIns[chat.ID]
	delete(a.status.standIns, chat.ID)
	a.status.mu.Unlock()
	if ts == "" && a.memory != nil {
		ts, _ = a.memory.Load(ctx, standInKey+chat.ID) // unknown: a status lapses by itself
	}
	if ts != "" {
		a.note(ctx, standInKey+chat.ID, "")
	}
	return ts
}

// note keeps a value across restarts, if it can.
func (a *Adapter) note(ctx context.Context, key, value string) {
	if a.memory == nil {
		return
	}
	if err := a.memory.Save(ctx, key, value); err != nil {
		a.log.Warn("an indicator could not be noted for after a restart", "error", err)
	}
}
