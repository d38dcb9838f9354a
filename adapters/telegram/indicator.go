package telegram

import (
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"typist/adapters"
)

// Pulse shows "typing…" for 5 s at most. In a forum it shows only in the topic that it names, and
// General has a name here, though messages to it must not carry one.
func (a *Adapter) Pulse(ctx context.Context, chat adapters.Chat, _ adapters.Indication) error {
	id, err := chatID(chat)
	if err != nil {
		return err
	}
	thread, err := threadID(chat)
	if err != nil {
		return err
	}
	if thread == 0 && a.forums.is(ctx, a, chat) {
		thread = 1
	}
	return a.call(ctx, func(ctx context.Context) error {
		_, err := a.bot.SendChatAction(ctx, &bot.SendChatActionParams{ChatID: id, MessageThreadID: thread, Action: models.ChatActionTyping})
		return err
	})
}

// forums knows which chats have topics: from the messages that came in, from an earlier life, or
// from Telegram.
type forums struct {
	mu    sync.Mutex
	known map[string]bool
}

func (f *forums) get(chat string) (forum, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	forum, ok = f.known[chat]
	return forum, ok
}

func (f *forums) set(chat string, forum bool) (changed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = map[string]bool{}
	}
	was, ok := f.known[chat]
	f.known[chat] = forum
	return !ok || was != forum
}

// note learns from a chat that a message came from.
func (f *forums) note(ctx context.Context, a *Adapter, c models.Chat) {
	if c.Type != models.ChatTypeSupergroup {
		return
	}
	id := strconv.FormatInt(c.ID, 10)
	if f.set(id, c.IsForum) && a.memory != nil {
		if err := a.memory.Save(ctx, "telegram/forum/"+id, strconv.FormatBool(c.IsForum)); err != nil {
			a.log.Warn("a chat could not be remembered", "error", a.mask(err.Error()))
		}
	}
}

// is says whether a chat has topics. Only supergroups can, and their ids begin with -100.
func (f *forums) is(ctx context.Context, a *Adapter, chat adapters.Chat) bool {
	if !strings.HasPrefix(chat.ID, "-100") {
		return false
	}
	if forum, ok := f.get(chat.ID); ok {
		return forum
	}
	if a.memory != nil {
		if v, err := a.memory.Load(ctx, "telegram/forum/"+chat.ID); err == nil && v != "" {
			f.set(chat.ID, v == "true")
			return v == "true"
		}
	}
	info, err := a.chatInfo(ctx, chat.ID)
	if err != nil {
		return false
	}
	f.note(ctx, a, models.Chat{ID: info.ID, Type: info.Type, IsForum: info.IsForum})
	return info.IsForum
}
