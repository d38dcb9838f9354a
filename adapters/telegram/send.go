package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"typist/adapters"
)

// target is where a post goes, as the library's params want it.
type target struct {
	chat   any
	thread int
	reply  *models.ReplyParameters
	markup models.ReplyMarkup
	silent bool
}

func aim(chat adapters.Chat, post adapters.Post) (target, error) {
	t := target{silent: post.Silent}
	var err error
	if t.chat, err = chatID(chat); err != nil {
		return t, err
	}
	if t.thread, err = threadID(chat); err != nil {
		return t, err
	}
	if id, err := strconv.Atoi(post.ReplyTo); err == nil && id != 0 {
		t.reply = &models.ReplyParameters{MessageID: id, AllowSendingWithoutReply: true}
	}
	t.markup, err = keyboard(post.Buttons)
	return t, err
}

// keyboard is nil for no buttons: a typed nil would be sent as null.
func keyboard(rows [][]adapters.Button) (models.ReplyMarkup, error) {
	var out models.InlineKeyboardMarkup
	for _, row := range rows {
		var line []models.InlineKeyboardButton
		for _, b := range row {
			if len(b.Data) > 64 {
				return nil, errInvalid(fmt.Sprintf("button %q carries %d bytes; 64 are possible", b.Text, len(b.Data)))
			}
			line = append(line, models.InlineKeyboardButton{Text: b.Text, CallbackData: b.Data, Style: string(b.Style)})
		}
		if len(line) > 0 {
			out.InlineKeyboard = append(out.InlineKeyboard, line)
		}
	}
	if len(out.InlineKeyboard) == 0 {
		return nil, nil
	}
	return &out, nil
}

// marked tries markup first and plain text where Telegram refuses the markup (P13). A refused
// message was surely not posted.
func marked(r rendered, try func(text string, mode models.ParseMode) error) error {
	err := try(r.html, models.ParseModeHTML)
	if errors.Is(err, errMarkup) {
		return try(r.plain, "")
	}
	return err
}

// Send posts a message. Files come first and the text last; one file with a short text is one
// message.
func (a *Adapter) Send(ctx context.Context, chat adapters.Chat, post adapters.Post) (adapters.Ref, error) {
	t, err := aim(chat, post)
	if err != nil {
		return adapters.Ref{}, err
	}
	r := render(post.Doc)
	if len(post.Files) == 1 && r.units <= maxCaption {
		return a.sendFile(ctx, chat, t, r, post.Files[0])
	}
	if len(post.Files) > 0 {
		ref, err := a.sendFiles(ctx, chat, t, post.Files)
		if err != nil || strings.TrimSpace(r.plain) == "" {
			return ref, err
		}
	}
	if strings.TrimSpace(r.plain) == "" {
		return adapters.Ref{}, errInvalid("a message without text")
	}
	var sent *models.Message
	err = marked(r, func(text string, mode models.ParseMode) error {
		return a.goOn(ctx, len(post.Files) > 0, func(ctx context.Context) (err error) {
			sent, err = a.bot.SendMessage(ctx, &bot.SendMessageParams{ChatID: t.chat, MessageThreadID: t.thread, Text: text,
				ParseMode: mode, LinkPreviewOptions: noPreview, DisableNotification: t.silent, ReplyParameters: t.reply, ReplyMarkup: t.markup})
			return err
		})
	})
	return refOf(chat, sent), err
}

// outagePause is the time between two tries while Telegram can't be reached.
const outagePause = 3 * time.Second

// goOn is call for one of several messages of a post. Once an earlier one stands, a 429 and an
// outage are waited out here: whoever tried the post again would post that one twice.
func (a *Adapter) goOn(ctx context.Context, begun bool, f func(context.Context) error) error {
	for {
		err := a.call(ctx, f)
		var limited *adapters.RateLimitError
		wait := outagePause
		switch {
		case !begun:
			return err
		case errors.As(err, &limited):
			wait = limited.RetryAfter
		case !errors.Is(err, adapters.ErrNeverSent):
			return err
		}
		if !sleep(ctx, wait) {
			return err
		}
	}
}

var noPreview = &models.LinkPreviewOptions{IsDisabled: bot.True()}

func refOf(chat adapters.Chat, m *models.Message) adapters.Ref {
	if m == nil {
		return adapters.Ref{}
	}
	return adapters.Ref{Chat: chat, ID: strconv.Itoa(m.ID)}
}

// sendFile sends one file with a caption; an image that Telegram does not take as a photo goes as
// a document.
func (a *Adapter) sendFile(ctx context.Context, chat adapters.Chat, t target, r rendered, f adapters.File) (adapters.Ref, error) {
	var sent *models.Message
	send := func(photo bool) error {
		return marked(r, func(text string, mode models.ParseMode) error {
			return a.call(ctx, func(ctx context.Context) (err error) {
				if photo {
					sent, err = a.bot.SendPhoto(ctx, &bot.SendPhotoParams{ChatID: t.chat, MessageThreadID: t.thread, Photo: upload(f),
						Caption: text, ParseMode: mode, DisableNotification: t.silent, ReplyParameters: t.reply, ReplyMarkup: t.markup})
				} else {
					sent, err = a.bot.SendDocument(ctx, &bot.SendDocumentParams{ChatID: t.chat, MessageThreadID: t.thread, Document: upload(f),
						Caption: text, ParseMode: mode, DisableNotification: t.silent, ReplyParameters: t.reply, ReplyMarkup: t.markup})
				}
				return err
			})
		})
	}
	photo := isPhoto(f)
	err := send(photo)
	if photo && errors.Is(err, errPhoto) {
		err = send(false)
	}
	return refOf(chat, sent), err
}

func isPhoto(f adapters.File) bool {
	switch f.MIME {
	case "image/jpeg", "image/png", "image/webp":
		return len(f.Data) <= maxPhoto
	}
	return false
}

// sendFiles sends several files as albums of documents.
func (a *Adapter) sendFiles(ctx context.Context, chat adapters.Chat, t target, list []adapters.File) (adapters.Ref, error) {
	var ref adapters.Ref
	for len(list) > 0 {
		n := min(albumSize, len(list))
		part := list[:n]
		list = list[n:]
		if n == 1 { // an album has two at least
			one := t
			one.markup = nil
			r, err := a.sendFile(ctx, chat, one, rendered{}, part[0])
			if err != nil {
				return ref, err
			}
			ref = r
			continue
		}
		media := make([]models.InputMedia, 0, n)
		used := map[string]bool{"chat_id": true, "message_thread_id": true, "media": true, "disable_notification": true, "reply_parameters": true}
		for i, f := range part {
			name := upload(f).Filename
			if used[name] { // the library names the form's part as the file, so names must differ
				name = strconv.Itoa(i+1) + "-" + name
			}
			used[name] = true
			media = append(media, &models.InputMediaDocument{Media: "attach://" + name, MediaAttachment: bytes.NewReader(f.Data)})
		}
		var sent []*models.Message
		err := a.goOn(ctx, ref.ID != "", func(ctx context.Context) (err error) {
			sent, err = a.bot.SendMediaGroup(ctx, &bot.SendMediaGroupParams{ChatID: t.chat, MessageThreadID: t.thread, Media: media,
				DisableNotification: t.silent, ReplyParameters: t.reply})
			return err
		})
		if err != nil {
			return ref, err
		}
		if len(sent) > 0 {
			ref = refOf(chat, sent[0])
		}
	}
	return ref, nil
}

// Edit replaces text and buttons; a message with a file has a caption instead of a text.
func (a *Adapter) Edit(ctx context.Context, ref adapters.Ref, post adapters.Post) error {
	t, err := aim(ref.Chat, adapters.Post{Buttons: post.Buttons})
	if err != nil {
		return err
	}
	id, err := messageID(ref)
	if err != nil {
		return err
	}
	r := render(post.Doc)
	if strings.TrimSpace(r.plain) == "" {
		return errInvalid("an edit without text")
	}
	err = marked(r, func(text string, mode models.ParseMode) error {
		return a.call(ctx, func(ctx context.Context) error {
			_, err := a.bot.EditMessageText(ctx, &bot.EditMessageTextParams{ChatID: t.chat, MessageID: id, Text: text,
				ParseMode: mode, LinkPreviewOptions: noPreview, ReplyMarkup: t.markup})
			return err
		})
	})
	if errors.Is(err, errNoText) && r.units <= maxCaption {
		err = marked(r, func(text string, mode models.ParseMode) error {
			return a.call(ctx, func(ctx context.Context) error {
				_, err := a.bot.EditMessageCaption(ctx, &bot.EditMessageCaptionParams{ChatID: t.chat, MessageID: id, Caption: text,
					ParseMode: mode, ReplyMarkup: t.markup})
				return err
			})
		})
	}
	if errors.Is(err, errNotModified) {
		return nil
	}
	return err
}

// Delete deletes a message of the bot; one that is gone counts as deleted.
func (a *Adapter) Delete(ctx context.Context, ref adapters.Ref) error {
	chat, err := chatID(ref.Chat)
	if err != nil {
		return err
	}
	id, err := messageID(ref)
	if err != nil {
		return err
	}
	err = a.call(ctx, func(ctx context.Context) error {
		_, err := a.bot.DeleteMessage(ctx, &bot.DeleteMessageParams{ChatID: chat, MessageID: id})
		return err
	})
	if errors.Is(err, adapters.ErrGone) {
		return nil
	}
	return err
}

// emoji of the reactions; Telegram takes only those of its own list (#reactiontypeemoji).
var emoji = map[adapters.Reaction]string{adapters.ReactionWaiting: "👀"}

// React sets or removes the bot's reaction; bots have one per message.
func (a *Adapter) React(ctx context.Context, ref adapters.Ref, reaction adapters.Reaction, on bool) error {
	chat, err := chatID(ref.Chat)
	if err != nil {
		return err
	}
	id, err := messageID(ref)
	if err != nil {
		return err
	}
	sign, ok := emoji[reaction]
	if !ok {
		return errInvalid("reaction " + strconv.Quote(string(reaction)))
	}
	set := []models.ReactionType{}
	if on {
		set = append(set, models.ReactionType{Type: models.ReactionTypeTypeEmoji, ReactionTypeEmoji: &models.ReactionTypeEmoji{Emoji: sign}})
	}
	err = a.call(ctx, func(ctx context.Context) error {
		_, err := a.bot.SetMessageReaction(ctx, &bot.SetMessageReactionParams{ChatID: chat, MessageID: id, Reaction: set})
		return err
	})
	if errors.Is(err, errNotModified) {
		return nil
	}
	return err
}
