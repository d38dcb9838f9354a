package slack

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"typist/adapters"
)

const (
	emojiTyping  = "hourglass_flowing_sand" // stands for the indicator where Slack refuses the status
	emojiWaiting = "eyes"
	// reactionRenewal: a reaction stays by itself, so a pulse sets it again only this rarely.
	reactionRenewal = 50 * time.Second
	// refusalLife is how long a refused status is not asked for again.
	refusalLife = 30 * time.Minute
	maxStatuses = 2000
	memoryKey   = "slack/typing-reaction/" // + channel/ts
)

// statuses remembers where indicators show, and where Slack refuses the status.
type statuses struct {
	mu       sync.Mutex
	chats    map[string]adapters.Chat // channel/thread of a status → its chat
	reacted  map[string]time.Time     // channel/anchor → when the reaction was set last
	refused  map[string]time.Time     // channel, or "" for all → until when
	last     map[string]string        // channel → its last message that can stand in for an anchor
	standIns map[string]string        // channel → the one that does
	warned   bool
}

func newStatuses() *statuses {
	return &statuses{
		chats: map[string]adapters.Chat{}, reacted: map[string]time.Time{}, refused: map[string]time.Time{},
		last: map[string]string{}, standIns: map[string]string{},
	}
}

func (s *statuses) shows(channel, thread string, chat adapters.Chat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.chats) >= maxStatuses {
		clear(s.chats)
	}
	s.chats[channel+"/"+thread] = chat
}

func (s *statuses) chatOf(channel, thread string) (adapters.Chat, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, ok := s.chats[channel+"/"+thread]
	return chat, ok
}

func (s *statuses) isRefused(channel string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	return now.Before(s.refused[""]) || now.Before(s.refused[channel])
}

// refuse notes a refusal, and says whether it is the first, which is worth a warning.
func (s *statuses) refuse(where string) (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.refused) >= maxStatuses {
		clear(s.refused)
	}
	s.refused[where] = time.Now().Add(refusalLife)
	first = !s.warned
	s.warned = true
	return first
}

// Error codes of assistant.threads.setStatus that say something about the app or the kind of
// chat: the reaction takes over (T11: no failure).
var (
	codesNoFeature = []string{
		"missing_scope", "not_allowed_token_type", "feature_not_enabled", "unknown_method", "method_deprecated", "deprecated_endpoint",
		"assistant_not_enabled", "app_not_assistant", "not_an_assistant_app",
	}
	codesNoStatusHere = []string{
		"channel_type_not_supported", "method_not_supported_for_channel_type", "invalid_thread_ts", "thread_not_found", "not_supported",
		"invalid_arguments", "not_in_channel", "not_assistant_thread",
	}
)

// Pulse shows or renews the status of the chat's thread, or of the anchor outside threads (without
// one, of the chat's last message). Where
// Slack refuses it for want of a feature or a scope, a reaction on the anchor stands for it.
func (a *Adapter) Pulse(ctx context.Context, chat adapters.Chat, ind adapters.Indication) error {
	if ind.Anchor == "" && chat.Thread == "" {
		ind.Anchor = a.standIn(ctx, chat)
	}
	thread := statusThread(chat, ind.Anchor)
	if thread != "" && !a.status.isRefused(chat.ID) {
		a.status.shows(chat.ID, thread, chat)
		err := a.setStatus(ctx, chat.ID, thread, statusText(ind.Text))
		where := chat.ID
		switch c := code(err); {
		case err == nil:
			return nil
		case slices.Contains(codesNoFeature, c):
			where = ""
		case slices.Contains(codesNoStatusHere, c):
		default:
			return wrap("assistant.threads.setStatus", err)
		}
		if a.status.refuse(where) {
			a.log.Warn("the typing status is refused; a reaction stands for it (give the app the scope chat:write and reinstall it, or declare it an agent)",
				"error", err, "detail", strings.TrimSpace(detail(err)))
		}
	}
	if ind.Anchor == "" {
		return nil // nothing to put a reaction on
	}
	return a.pulseReaction(ctx, chat.ID, ind.Anchor)
}

// statusThread is where a status shows: Slack wants a thread, and outside threads takes the
// person's message for one.
func statusThread(chat adapters.Chat, anchor string) string {
	if chat.Thread != "" {
		return chat.Thread
	}
	return anchor
}

// statusText makes a status of a line of text. It is never empty, which would clear the status,
// and has no comma: the loading messages are joined with commas.
func statusText(text string) string {
	text = strings.NewReplacer(",", " ·", "<", "‹", ">", "›").Replace(strings.Join(strings.Fields(text), " "))
	if text == "" {
		return nothing
	}
	return clip(text, maxStatus)
}

func (a *Adapter) setStatus(ctx context.Context, channel, thread, text string) error {
	params := slack.AssistantThreadsSetStatusParameters{ChannelID: channel, ThreadTS: thread, Status: text}
	if text != "" {
		params.LoadingMessages = []string{text} // else Slack shows words of its own beside ours
	}
	return a.api.SetAssistantThreadsStatusContext(ctx, params)
}

func (a *Adapter) pulseReaction(ctx context.Context, channel, anchor string) error {
	key := channel + "/" + anchor
	a.status.mu.Lock()
	set, ok := a.status.reacted[key]
	a.status.mu.Unlock()
	if ok && time.Since(set) < reactionRenewal {
		return nil
	}
	if !ok { // before it shows: a crash must not leave it for ever
		a.note(ctx, memoryKey+key, emojiTyping)
	}
	err := a.api.AddReactionContext(ctx, emojiTyping, slack.NewRefToMessage(channel, anchor))
	if err != nil && code(err) != "already_reacted" {
		return wrap("reactions.add", err)
	}
	a.status.mu.Lock()
	defer a.status.mu.Unlock()
	if len(a.status.reacted) >= maxStatuses {
		clear(a.status.reacted)
	}
	a.status.reacted[key] = time.Now()
	return nil
}

// Clear takes the indicator away: the status, and a reaction that stood for it, also one that an
// earlier process left.
func (a *Adapter) Clear(ctx context.Context, chat adapters.Chat, anchor string) error {
	if anchor == "" && chat.Thread == "" {
		anchor = a.takeStandIn(ctx, chat)
	}
	var errs []error
	if thread := statusThread(chat, anchor); thread != "" && !a.status.isRefused(chat.ID) {
		err := a.setStatus(ctx, chat.ID, thread, "")
		c := code(err)
		gone := c == "message_not_found" || c == "channel_not_found"
		if err != nil && !gone && !slices.Contains(codesNoFeature, c) && !slices.Contains(codesNoStatusHere, c) {
			errs = append(errs, wrap("assistant.threads.setStatus", err))
		}
	}
	if anchor != "" && a.hasReaction(ctx, chat.ID, anchor) {
		errs = append(errs, a.clearReaction(ctx, chat.ID, anchor))
	}
	return errors.Join(errs...)
}

func (a *Adapter) hasReaction(ctx context.Context, channel, anchor string) bool {
	key := channel + "/" + anchor
	a.status.mu.Lock()
	_, ok := a.status.reacted[key]
	a.status.mu.Unlock()
	if ok || a.status.isRefused(channel) {
		return true
	}
	if a.memory == nil {
		return false
	}
	noted, err := a.memory.Load(ctx, memoryKey+key)
	return err != nil || noted != "" // unknown: look rather than leave one
}

func (a *Adapter) clearReaction(ctx context.Context, channel, anchor string) error {
	key := channel + "/" + anchor
	err := a.api.RemoveReactionContext(ctx, emojiTyping, slack.NewRefToMessage(channel, anchor))
	if c := code(err); err != nil && c != "no_reaction" && c != "message_not_found" && c != "channel_not_found" {
		return wrap("reactions.remove", err)
	}
	a.status.mu.Lock()
	delete(a.status.reacted, key)
	a.status.mu.Unlock()
	a.note(ctx, memoryKey+key, "")
	return nil
}

// React sets or removes the bot's sign on a message.
func (a *Adapter) React(ctx context.Context, ref adapters.Ref, reaction adapters.Reaction, on bool) error {
	emoji := emojiWaiting
	if reaction != adapters.ReactionWaiting {
		emoji = string(reaction)
	}
	item := slack.NewRefToMessage(ref.Chat.ID, ref.ID)
	if on {
		err := a.api.AddReactionContext(ctx, emoji, item)
		if code(err) == "already_reacted" {
			return nil
		}
		return wrap("reactions.add", err)
	}
	err := a.api.RemoveReactionContext(ctx, emoji, item)
	if c := code(err); c == "no_reaction" || c == "message_not_found" {
		return nil
	}
	return wrap("reactions.remove", err)
}
