package slack

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/slack-go/slack"

	"typist/adapters"
)

const (
	findSlack  = time.Minute // clocks differ
	findPage   = 200
	findMaxPer = 20 // pages; more is no answer
)

// Find looks for a message with that key in its metadata, in the chat's thread or in the channel.
func (a *Adapter) Find(ctx context.Context, chat adapters.Chat, key string, since time.Time) (adapters.Ref, bool, error) {
	if key == "" {
		return adapters.Ref{}, false, fmt.Errorf("slack: looking for a post: %w: no key", adapters.ErrInvalid)
	}
	oldest := ""
	if !since.IsZero() {
		oldest = formatTS(since.Add(-findSlack))
	}
	place, cursor := chat, ""
	for range findMaxPer {
		messages, next, err := a.messagesSince(ctx, place, oldest, cursor)
		if code(err) == "thread_not_found" { // its head was deleted: a post then stands in the channel
			place.Thread, cursor = "", ""
			continue
		}
		if err != nil {
			return adapters.Ref{}, false, wrap("conversations.history", err)
		}
		for _, m := range messages {
			if m.Metadata.EventType == metadataType && m.Metadata.EventPayload["key"] == key {
				a.own.add(chat.ID + "/" + m.Timestamp)
				return adapters.Ref{Chat: chat, ID: m.Timestamp}, true, nil
			}
		}
		if next == "" {
			return adapters.Ref{}, false, nil
		}
		cursor = next
	}
	return adapters.Ref{}, false, fmt.Errorf("slack: looking for a post in %s: more than %d messages since %s", chat.ID, findMaxPer*findPage, since.UTC().Format(time.RFC3339))
}

func (a *Adapter) messagesSince(ctx context.Context, chat adapters.Chat, oldest, cursor string) ([]slack.Message, string, error) {
	if chat.Thread != "" {
		messages, _, next, err := a.api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
			ChannelID: chat.ID, Timestamp: chat.Thread, Oldest: oldest, Cursor: cursor, Limit: findPage, IncludeAllMetadata: true,
		})
		return messages, next, err
	}
	page, err := a.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{
		ChannelID: chat.ID, Oldest: oldest, Cursor: cursor, Limit: findPage, IncludeAllMetadata: true,
	})
	if err != nil {
		return nil, "", err
	}
	return page.Messages, page.ResponseMetaData.NextCursor, nil
}

func formatTS(t time.Time) string {
	micro := t.UnixMicro()
	return strconv.FormatInt(micro/1e6, 10) + fmt.Sprintf(".%06d", micro%1e6)
}
