package telegram

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"

	"typist/adapters"
)

// decodeMessage makes an event out of a message; false = it is none for the bot: its own, another
// bot's, a service message, a post of a channel, or a command for another bot (T10).
func decodeMessage(update int64, m *models.Message, me models.User) (adapters.Message, bool) {
	if m == nil || m.From == nil || m.From.ID == 0 || m.From.IsBot || m.Chat.ID == 0 || m.SenderChat != nil || m.IsAutomaticForward {
		return adapters.Message{}, false
	}
	kind, ok := kindOf(m.Chat.Type)
	if !ok {
		return adapters.Message{}, false
	}
	out := adapters.Message{
		Origin: adapters.Origin{
			EventID: eventID(update), Chat: chatOf(m), Kind: kind, ChatName: chatName(m.Chat),
			From: user(*m.From), At: time.Unix(int64(m.Date), 0),
		},
		ID:    strconv.Itoa(m.ID),
		Files: files(m),
	}
	text, entities := m.Text, m.Entities
	if text == "" {
		text, entities = m.Caption, m.CaptionEntities
	}
	if text == "" && m.RichMessage != nil {
		text, entities = flatten(m.RichMessage)
	}
	if text == "" && len(out.Files) == 0 {
		return adapters.Message{}, false
	}
	a := addressed(text, entities, me)
	if a.other && !a.mentioned {
		return adapters.Message{}, false
	}
	out.Text, out.Mentioned = a.text, a.mentioned
	if reply := replyOf(m, me); reply != nil {
		out.ReplyTo = reply
		out.Mentioned = out.Mentioned || reply.ToBot
	}
	return out, true
}

// decodePress makes an event out of a pressed button; false = nobody can tell in which chat.
func decodePress(update int64, q *models.CallbackQuery) (adapters.Press, bool) {
	out := adapters.Press{Origin: adapters.Origin{EventID: eventID(update), From: user(q.From), At: time.Now()}, Data: q.Data}
	var chat models.Chat
	switch {
	case q.Message.Message != nil:
		chat = q.Message.Message.Chat
		out.Chat, out.ID = chatOf(q.Message.Message), strconv.Itoa(q.Message.Message.ID)
	case q.Message.InaccessibleMessage != nil:
		chat = q.Message.InaccessibleMessage.Chat
		out.Chat = adapters.Chat{Channel: channel, ID: strconv.FormatInt(chat.ID, 10)}
		out.ID = strconv.Itoa(q.Message.InaccessibleMessage.MessageID)
	default:
		return out, false
	}
	kind, ok := kindOf(chat.Type)
	if !ok || q.From.ID == 0 || q.From.IsBot || q.Data == "" {
		return out, false
	}
	out.Kind, out.ChatName = kind, chatName(chat)
	return out, true
}

func kindOf(t models.ChatType) (adapters.Kind, bool) {
	switch t {
	case models.ChatTypePrivate:
		return adapters.Direct, true
	case models.ChatTypeGroup, models.ChatTypeSupergroup:
		return adapters.Group, true
	}
	return "", false
}

// chatOf: message_thread_id names a topic only with is_topic_message; else it is a reply's thread.
func chatOf(m *models.Message) adapters.Chat {
	c := adapters.Chat{Channel: channel, ID: strconv.FormatInt(m.Chat.ID, 10)}
	if m.IsTopicMessage && m.MessageThreadID != 0 && strconv.Itoa(m.MessageThreadID) != generalTopic {
		c.Thread = strconv.Itoa(m.MessageThreadID)
	}
	return c
}

func chatName(c models.Chat) string {
	if c.Title != "" {
		return c.Title
	}
	return strings.TrimSpace(c.FirstName + " " + c.LastName)
}

func user(u models.User) adapters.User {
	return adapters.User{ID: strconv.FormatInt(u.ID, 10), Name: strings.TrimSpace(u.FirstName + " " + u.LastName),
		Username: u.Username, Locale: u.LanguageCode}
}

// replyOf is what a message answers; in a topic the head stands there by itself and is no reply.
func replyOf(m *models.Message, me models.User) *adapters.Reply {
	r := m.ReplyToMessage
	if r == nil || r.ForumTopicCreated != nil || m.IsTopicMessage && r.ID == m.MessageThreadID {
		return nil
	}
	out := &adapters.Reply{ID: strconv.Itoa(r.ID), Text: r.Text, ToBot: r.From != nil && r.From.ID == me.ID && me.ID != 0}
	if out.Text == "" {
		out.Text = r.Caption
	}
	if m.Quote != nil && m.Quote.Text != "" {
		out.Text = m.Quote.Text
	}
	return out
}

// address says whom a text speaks to.
type address struct {
	text      string // the bot's own mentions removed
	mentioned bool
	other     bool // a command for another bot
}

// addressed reads mentions by their entities. Offsets count UTF-16 units.
func addressed(text string, entities []models.MessageEntity, me models.User) address {
	all := units(text)
	var out address
	cut := make([]bool, len(all))
	for _, e := range entities {
		from, to := e.Offset, e.Offset+e.Length
		if from < 0 || e.Length <= 0 || to > len(all) || to < from {
			continue
		}
		part := string(utf16.Decode(all[from:to]))
		switch e.Type {
		case models.MessageEntityTypeMention:
			if isMe(strings.TrimPrefix(part, "@"), me) {
				out.mentioned = true
				mark(cut, from, to)
			}
		case models.MessageEntityTypeTextMention:
			if e.User != nil && e.User.ID == me.ID && me.ID != 0 {
				out.mentioned = true
				mark(cut, from, to)
			}
		case models.MessageEntityTypeBotCommand:
			name, target, ok := strings.Cut(part, "@")
			switch {
			case !ok || from != 0: // commands stand at the beginning
			case isMe(target, me):
				out.mentioned = true
				mark(cut, from+len(name), to) // command names are ASCII
			default:
				out.other = true
			}
		}
	}
	out.text = without(all, cut)
	return out
}

func isMe(name string, me models.User) bool {
	return me.Username != "" && strings.EqualFold(name, me.Username)
}

func mark(cut []bool, from, to int) {
	for i := from; i < to; i++ {
		cut[i] = true
	}
}

// without joins what is not cut. Of two blanks around a cut one goes; a comma or colon after a
// mention at the beginning goes with it.
func without(all []uint16, cut []bool) string {
	kept := make([]uint16, 0, len(all))
	for i := 0; i < len(all); i++ {
		if !cut[i] {
			kept = append(kept, all[i])
			continue
		}
		for i+1 < len(all) && cut[i+1] {
			i++
		}
		leading := strings.TrimSpace(string(utf16.Decode(kept))) == ""
		if leading && i+1 < len(all) && (all[i+1] == ',' || all[i+1] == ':') {
			i++
		}
		if n := len(kept); n > 0 && kept[n-1] == ' ' && i+1 < len(all) && all[i+1] == ' ' {
			i++
		}
	}
	return strings.TrimSpace(string(utf16.Decode(kept)))
}
