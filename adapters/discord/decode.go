package discord

import (
	"encoding/json"
	"strings"
	"time"
)

// The gateway's payloads as far as they matter here. They are decoded here and not by discordgo,
// whose typed decoding fails as a whole on one component or field it does not know, and hands
// out a nil message then. Unknown fields are ignored; shapes are in testdata.

type user struct {
	ID         string  `json:"id"`
	Username   string  `json:"username"`
	GlobalName *string `json:"global_name"`
	Bot        bool    `json:"bot"`
	System     bool    `json:"system"`
}

// name is what people see.
func (u *user) name() string {
	if u.GlobalName != nil && *u.GlobalName != "" {
		return *u.GlobalName
	}
	return u.Username
}

type member struct {
	User  *user    `json:"user"`
	Nick  *string  `json:"nick"`
	Roles []string `json:"roles"`
}

type attachment struct {
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	Size        int64  `json:"size"`
	URL         string `json:"url"`
}

type message struct {
	ID              string       `json:"id"`
	ChannelID       string       `json:"channel_id"`
	GuildID         string       `json:"guild_id"`
	Type            int          `json:"type"`
	Author          *user        `json:"author"`
	Member          *member      `json:"member"`
	Content         string       `json:"content"`
	Timestamp       when         `json:"timestamp"`
	EditedTimestamp *string      `json:"edited_timestamp"`
	Mentions        []user       `json:"mentions"`
	MentionRoles    []string     `json:"mention_roles"`
	Attachments     []attachment `json:"attachments"`
	WebhookID       string       `json:"webhook_id"`
	Nonce           nonce        `json:"nonce"`
	Reference       *struct {
		Type      int    `json:"type"`
		MessageID string `json:"message_id"`
	} `json:"message_reference"`
	Referenced *message `json:"referenced_message"`
	Snapshots  []struct {
		Message message `json:"message"`
	} `json:"message_snapshots"`
}

// when is a time that never fails to decode: a bad one is zero.
type when struct{ time.Time }

func (w *when) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		w.Time, _ = time.Parse(time.RFC3339Nano, text)
	}
	return nil
}

// nonce is a string or a number.
type nonce string

func (n *nonce) UnmarshalJSON(b []byte) error {
	*n = nonce(strings.Trim(string(b), `"`))
	if *n == "null" {
		*n = ""
	}
	return nil
}

func (n nonce) is(key string) bool { return key != "" && string(n) == key }

type channel struct {
	ID            string  `json:"id"`
	Type          int     `json:"type"`
	GuildID       string  `json:"guild_id"`
	ParentID      *string `json:"parent_id"`
	Name          *string `json:"name"`
	LastMessageID *string `json:"last_message_id"`
	Recipients    []user  `json:"recipients"`
}

// Channel types of Discord.
const (
	typeText         = 0
	typeDM           = 1
	typeVoice        = 2
	typeAnnouncement = 5
	typeNewsThread   = 10
	typePublic       = 11
	typePrivate      = 12
)

func (c *channel) isThread() bool {
	return c.Type == typeNewsThread || c.Type == typePublic || c.Type == typePrivate
}

// holdsMessages reports whether people write in a channel of this type.
func (c *channel) holdsMessages() bool {
	return c.isThread() || c.Type == typeText || c.Type == typeVoice || c.Type == typeAnnouncement
}

type guild struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"`
	Unavailable bool      `json:"unavailable"`
	Channels    []channel `json:"channels"`
	Threads     []channel `json:"threads"`
	Members     []member  `json:"members"`
}

type ready struct {
	User        user    `json:"user"`
	Guilds      []guild `json:"guilds"`
	Application struct {
		ID string `json:"id"`
	} `json:"application"`
}

type interaction struct {
	ID            string  `json:"id"`
	ApplicationID string  `json:"application_id"`
	Type          int     `json:"type"`
	Token         string  `json:"token"`
	GuildID       string  `json:"guild_id"`
	ChannelID     string  `json:"channel_id"`
	Channel       channel `json:"channel"`
	Member        *member `json:"member"`
	User          *user   `json:"user"`
	Locale        string  `json:"locale"`
	Message       *struct {
		ID string `json:"id"`
	} `json:"message"`
	Data struct {
		Name     string   `json:"name"`
		Type     int      `json:"type"`
		CustomID string   `json:"custom_id"`
		TargetID string   `json:"target_id"`
		Options  []option `json:"options"`
	} `json:"data"`
}

type option struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// text is an option's value as it would be typed.
func (o option) text() string {
	var s string
	if json.Unmarshal(o.Value, &s) == nil {
		return s
	}
	return string(o.Value)
}

// Interaction types of Discord.
const (
	kindCommand   = 2
	kindComponent = 3
)

// Message types of Discord that people write.
const (
	typeDefault = 0
	typeReply   = 19
)
