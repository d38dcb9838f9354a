package telegram

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"typist/adapters"
	"typist/adapters/rich"
)

// Sizes of a command menu, https://core.telegram.org/bots/api#botcommand.
const (
	maxCommands    = 100
	maxDescription = 256
)

// SetCommands registers the command menu: English for everyone, and each other language for those
// who use it.
func (a *Adapter) SetCommands(ctx context.Context, commands []adapters.CommandSpec) error {
	languages := map[string]bool{"": true}
	for _, c := range commands {
		for lang := range c.Description {
			if lang != "en" {
				languages[lang] = true
			}
		}
	}
	for _, lang := range slices.Sorted(maps.Keys(languages)) {
		list := menu(commands, lang)
		err := a.call(ctx, func(ctx context.Context) error {
			_, err := a.bot.SetMyCommands(ctx, &bot.SetMyCommandsParams{Commands: list, LanguageCode: lang})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func menu(commands []adapters.CommandSpec, lang string) []models.BotCommand {
	list := make([]models.BotCommand, 0, len(commands))
	for _, c := range commands {
		text := c.Description[lang]
		if text == "" {
			text = c.Description["en"]
		}
		if text == "" {
			text = c.Name
		}
		if c.Args != "" {
			text += " " + c.Args
		}
		for rich.UTF16Len(text) > maxDescription {
			r := []rune(text)
			text = string(r[:len(r)-1])
		}
		list = append(list, models.BotCommand{Command: strings.ToLower(c.Name), Description: text})
	}
	return list[:min(len(list), maxCommands)]
}

// Resolve finds a chat by its id, "<id>/<topic>" or the @name of a public group.
func (a *Adapter) Resolve(ctx context.Context, to string) (adapters.Chat, adapters.Kind, error) {
	to = strings.TrimSpace(to)
	id, thread, _ := strings.Cut(to, "/")
	info, err := a.chatInfo(ctx, id)
	if err != nil {
		return adapters.Chat{}, "", err
	}
	kind, ok := kindOf(info.Type)
	if !ok {
		return adapters.Chat{}, "", errInvalid(strconv.Quote(to) + " is neither a person nor a group")
	}
	chat := adapters.Chat{Channel: channel, ID: strconv.FormatInt(info.ID, 10), Thread: thread}
	if _, err := threadID(chat); err != nil {
		return adapters.Chat{}, "", err
	}
	if thread == generalTopic {
		chat.Thread = ""
	}
	return chat, kind, nil
}

func (a *Adapter) chatInfo(ctx context.Context, id string) (*models.ChatFullInfo, error) {
	target, err := chatID(adapters.Chat{ID: id})
	if err != nil {
		return nil, err
	}
	var info *models.ChatFullInfo
	err = a.call(ctx, func(ctx context.Context) (err error) {
		info, err = a.bot.GetChat(ctx, &bot.GetChatParams{ChatID: target})
		return err
	})
	if err == nil && info == nil {
		err = errInvalid("no chat in the answer")
	}
	return info, err
}
