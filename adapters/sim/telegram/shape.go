package telegram

import "encoding/json"

// The objects as they travel, with the fields that this server uses. Numbers of ids are int64 as
// in the documentation.

// User is https://core.telegram.org/bots/api#user.
type User struct {
	ID           int64  `json:"id"`
	IsBot        bool   `json:"is_bot"`
	FirstName    string `json:"first_name"`
	Username     string `json:"username,omitempty"`
	LanguageCode string `json:"language_code,omitempty"`
}

// Me is the user that getMe answers.
type Me struct {
	User
	CanJoinGroups           bool `json:"can_join_groups"`
	CanReadAllGroupMessages bool `json:"can_read_all_group_messages"`
	SupportsInlineQueries   bool `json:"supports_inline_queries"`
}

// Chat is https://core.telegram.org/bots/api#chat.
type Chat struct {
	ID        int64  `json:"id"`
	Type      string `json:"type"`
	Title     string `json:"title,omitempty"`
	Username  string `json:"username,omitempty"`
	FirstName string `json:"first_name,omitempty"`
	IsForum   bool   `json:"is_forum,omitempty"`
}

// Entity is https://core.telegram.org/bots/api#messageentity; offset and length in UTF-16 units.
type Entity struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	URL      string `json:"url,omitempty"`
	User     *User  `json:"user,omitempty"`
	Language string `json:"language,omitempty"`
}

// Message is https://core.telegram.org/bots/api#message.
type Message struct {
	MessageID         int             `json:"message_id"`
	MessageThreadID   int             `json:"message_thread_id,omitempty"`
	From              *User           `json:"from,omitempty"`
	Date              int64           `json:"date"`
	Chat              Chat            `json:"chat"`
	IsTopicMessage    bool            `json:"is_topic_message,omitempty"`
	ReplyToMessage    *Message        `json:"reply_to_message,omitempty"`
	EditDate          int64           `json:"edit_date,omitempty"`
	MediaGroupID      string          `json:"media_group_id,omitempty"`
	Text              string          `json:"text,omitempty"`
	Entities          []Entity        `json:"entities,omitempty"`
	Caption           string          `json:"caption,omitempty"`
	CaptionEntities   []Entity        `json:"caption_entities,omitempty"`
	Photo             []PhotoSize     `json:"photo,omitempty"`
	Document          *Document       `json:"document,omitempty"`
	NewChatMembers    []User          `json:"new_chat_members,omitempty"`
	PinnedMessage     *Message        `json:"pinned_message,omitempty"`
	ForumTopicCreated *TopicCreated   `json:"forum_topic_created,omitempty"`
	ReplyMarkup       *InlineKeyboard `json:"reply_markup,omitempty"`
}

// TopicCreated is https://core.telegram.org/bots/api#forumtopiccreated.
type TopicCreated struct {
	Name      string `json:"name"`
	IconColor int    `json:"icon_color"`
}

// PhotoSize is https://core.telegram.org/bots/api#photosize.
type PhotoSize struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	Width        int    `json:"width"`
	Height       int    `json:"height"`
	FileSize     int    `json:"file_size,omitempty"`
}

// Document is https://core.telegram.org/bots/api#document.
type Document struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	FileName     string `json:"file_name,omitempty"`
	MimeType     string `json:"mime_type,omitempty"`
	FileSize     int    `json:"file_size,omitempty"`
}

// File is https://core.telegram.org/bots/api#file.
type File struct {
	FileID       string `json:"file_id"`
	FileUniqueID string `json:"file_unique_id"`
	FileSize     int    `json:"file_size,omitempty"`
	FilePath     string `json:"file_path,omitempty"`
}

// InlineKeyboard is https://core.telegram.org/bots/api#inlinekeyboardmarkup.
type InlineKeyboard struct {
	InlineKeyboard [][]InlineButton `json:"inline_keyboard"`
}

// InlineButton is https://core.telegram.org/bots/api#inlinekeyboardbutton.
type InlineButton struct {
	Text         string `json:"text"`
	Style        string `json:"style,omitempty"`
	URL          string `json:"url,omitempty"`
	CallbackData string `json:"callback_data,omitempty"`
}

// CallbackQuery is https://core.telegram.org/bots/api#callbackquery.
type CallbackQuery struct {
	ID           string   `json:"id"`
	From         User     `json:"from"`
	Message      *Message `json:"message,omitempty"`
	ChatInstance string   `json:"chat_instance"`
	Data         string   `json:"data,omitempty"`
}

// Command is https://core.telegram.org/bots/api#botcommand.
type Command struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

// WebhookInfo is https://core.telegram.org/bots/api#webhookinfo.
type WebhookInfo struct {
	URL               string   `json:"url"` // "" = no webhook is set
	CustomCertificate bool     `json:"has_custom_certificate"`
	Pending           int      `json:"pending_update_count"`
	AllowedUpdates    []string `json:"allowed_updates,omitempty"`
}

// Reaction is https://core.telegram.org/bots/api#reactiontypeemoji.
type Reaction struct {
	Type  string `json:"type"`
	Emoji string `json:"emoji"`
}

// ReactionUpdate is https://core.telegram.org/bots/api#messagereactionupdated.
type ReactionUpdate struct {
	Chat        Chat       `json:"chat"`
	MessageID   int        `json:"message_id"`
	User        *User      `json:"user,omitempty"`
	Date        int64      `json:"date"`
	OldReaction []Reaction `json:"old_reaction"`
	NewReaction []Reaction `json:"new_reaction"`
}

// ReplyParameters is https://core.telegram.org/bots/api#replyparameters.
type ReplyParameters struct {
	MessageID                int  `json:"message_id"`
	AllowSendingWithoutReply bool `json:"allow_sending_without_reply"`
}

// update is one update: its id, its kind (the name of its only field), and its whole JSON.
type update struct {
	id   int64
	kind string
	raw  json.RawMessage
}
