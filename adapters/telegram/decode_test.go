package telegram

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"

	"typist/adapters"
)

var typist = models.User{ID: 9001, IsBot: true, Username: "typist_bot"}

const payloads = "../sim/telegram/testdata/updates/"

// decoded is what one update becomes; nil = nothing.
func decoded(u *models.Update) adapters.Event {
	switch {
	case u.CallbackQuery != nil:
		if p, ok := decodePress(u.ID, u.CallbackQuery); ok {
			return p
		}
	case u.Message != nil:
		if m, ok := decodeMessage(u.ID, u.Message, typist); ok {
			return m
		}
	case u.EditedMessage != nil:
		if m, ok := decodeMessage(u.ID, u.EditedMessage, typist); ok {
			return adapters.Edited{Origin: m.Origin, ID: m.ID, Text: m.Text, Mentioned: m.Mentioned}
		}
	}
	return nil
}

func readPayload(t *testing.T, name string) *models.Update {
	t.Helper()
	raw, err := os.ReadFile(payloads + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var u models.Update
	if err := json.Unmarshal(raw, &u); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return &u
}

// wanted is what a payload should become.
type wanted struct {
	text      string
	mentioned bool
	kind      adapters.Kind
	chat      string // Chat.Key without the channel
	reply     *adapters.Reply
	files     int
}

func TestC1_RealPayloads(t *testing.T) {
	direct, group := adapters.Direct, adapters.Group
	want := map[string]wanted{
		"private_text":                   {text: "Hello, what can you do?", kind: direct, chat: "1001"},
		"group_command_for_us":           {text: "/start deep-link", mentioned: true, kind: group, chat: "-4001234567"},
		"group_mention_after_emoji":      {text: "👨‍👩‍👧 🎉 what do you think of https://example.com/a?b=1", mentioned: true, kind: group, chat: "-1001234567890"},
		"group_text_mention":             {text: "please look", mentioned: true, kind: group, chat: "-1001234567890"},
		"group_mention_of_somebody_else": {text: "ask @typist_bot_fan or mail typist_bot@example.com", kind: group, chat: "-1001234567890"},
		"photo_with_caption_mention":     {text: "what is on it?", mentioned: true, kind: group, chat: "-1001234567890", files: 1},
		"document":                       {kind: direct, chat: "1001", files: 1},
		"album_item":                     {text: "three pictures", kind: direct, chat: "1001", files: 1},
		"voice":                          {kind: direct, chat: "1001", files: 1},
		"topic_implicit_reply":           {text: "in the topic", kind: group, chat: "-1002234567890/7"},
		"topic_reply_to_bot":             {text: "and now?", mentioned: true, kind: group, chat: "-1002234567890/7", reply: &adapters.Reply{ID: "56", Text: "answer", ToBot: true}},
		"forum_general":                  {text: "in General", kind: group, chat: "-1002234567890"},
		"supergroup_reply_thread":        {text: "a reply that is no topic", kind: group, chat: "-1001234567890", reply: &adapters.Reply{ID: "4412", Text: "first"}},
		"forwarded":                      {text: "a forwarded text", kind: direct, chat: "1001"},
		"rich_message":                   {text: "Plan\nAsk for help\n1. first\n2. second", mentioned: true, kind: group, chat: "-1001234567890"},
		"unknown_fields":                 {text: "from the future", kind: direct, chat: "1001"},
		"entity_out_of_range":            {text: "hi @typist_bot", kind: group, chat: "-1001234567890"},
		"edited_message":                 {text: "Hello, what can you really do?", kind: direct, chat: "1001"},
	}
	presses := map[string]string{"callback_query": "1001", "callback_query_topic": "-1002234567890/7", "callback_query_inaccessible": "-1001234567890"}
	files, err := filepath.Glob(payloads + "*.json")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d payloads, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		u := readPayload(t, name)
		switch ev := decoded(u).(type) {
		case nil:
			if _, ok := want[name]; ok || presses[name] != "" {
				t.Errorf("%s became nothing", name)
			}
		case adapters.Press:
			if presses[name] == "" || ev.Chat.Key() != "telegram/"+presses[name] || ev.Data != "stop/r1" || ev.From.ID != "1001" || ev.ID == "" {
				t.Errorf("%s became %+v", name, ev)
			}
		case adapters.Message:
			w, ok := want[name]
			got := wanted{ev.Text, ev.Mentioned, ev.Kind, strings.TrimPrefix(ev.Chat.Key(), "telegram/"), ev.ReplyTo, len(ev.Files)}
			if !ok || !reflect.DeepEqual(got, w) {
				t.Errorf("%s became %+v, want %+v", name, got, w)
			}
			if ev.EventID != eventID(u.ID) || ev.At.IsZero() || ev.From.ID == "" {
				t.Errorf("%s became %+v", name, ev)
			}
		case adapters.Edited:
			if w := want[name]; name != "edited_message" || ev.Text != w.text || ev.ID != "12" {
				t.Errorf("%s became %+v", name, ev)
			}
		default:
			t.Errorf("%s became %T", name, ev)
		}
	}
}

func TestC1_TheHeadOfATopicIsNoReply(t *testing.T) {
	u := readPayload(t, "topic_implicit_reply")
	u.Message.ReplyToMessage.ForumTopicCreated = nil // as for a topic made before the bot came
	if m := decoded(u).(adapters.Message); m.ReplyTo != nil || m.Mentioned {
		t.Errorf("got %+v, reply %+v", m, m.ReplyTo)
	}
}

func TestP15_LocaleAndNames(t *testing.T) {
	m := decoded(readPayload(t, "private_text")).(adapters.Message)
	want := adapters.User{ID: "1001", Name: "Ann Smith", Username: "ann_smith", Locale: "en"}
	if !reflect.DeepEqual(m.From, want) || m.ChatName != "Ann Smith" {
		t.Errorf("got %+v in %q", m.From, m.ChatName)
	}
	if m := decoded(readPayload(t, "group_text_mention")).(adapters.Message); m.From.Locale != "de-AT" || m.ChatName != "Team" {
		t.Errorf("got %+v in %q", m.From, m.ChatName)
	}
}

func TestC7_TheLargestPhotoIsTaken(t *testing.T) {
	m := decoded(readPayload(t, "photo_with_caption_mention")).(adapters.Message)
	want := []adapters.File{{Name: "photo-4413.jpg", MIME: "image/jpeg", Size: 90211, Source: "AgACAgIAAxkBAAIBx"}}
	if !reflect.DeepEqual(m.Files, want) {
		t.Errorf("got %+v", m.Files)
	}
}

func TestC1_MentionsAreCutOut(t *testing.T) {
	entity := func(kind models.MessageEntityType, text, part string) []models.MessageEntity {
		at := strings.Index(text, part)
		return []models.MessageEntity{{Type: kind, Offset: len(units(text[:at])), Length: len(units(part)), User: &typist}}
	}
	for _, c := range []struct {
		text, part string
		kind       models.MessageEntityType
		want       string
		mentioned  bool
		other      bool
	}{
		{"@typist_bot", "@typist_bot", "mention", "", true, false},
		{"@TYPIST_bot: hi", "@TYPIST_bot", "mention", "hi", true, false},
		{"𝒶 @typist_bot 𝒷", "@typist_bot", "mention", "𝒶 𝒷", true, false},
		{"(@typist_bot)", "@typist_bot", "mention", "()", true, false},
		{"/stop@typist_bot", "/stop@typist_bot", "bot_command", "/stop", true, false},
		{"/stop@Other_bot", "/stop@Other_bot", "bot_command", "/stop@Other_bot", false, true},
		{"/stop", "/stop", "bot_command", "/stop", false, false},
		{"please /stop@other_bot", "/stop@other_bot", "bot_command", "please /stop@other_bot", false, false},
		{"Typist, hi", "Typist", "text_mention", "hi", true, false},
	} {
		got := addressed(c.text, entity(c.kind, c.text, c.part), typist)
		if got.text != c.want || got.mentioned != c.mentioned || got.other != c.other {
			t.Errorf("%q: got %+v", c.text, got)
		}
	}
	if got := addressed("@", []models.MessageEntity{{Type: "mention", Offset: 0, Length: 1}}, models.User{}); got.mentioned {
		t.Error("a bot without a name was mentioned")
	}
}

// FuzzUpdate: whatever comes in, decoding neither panics nor makes an event without its ids.
func FuzzUpdate(f *testing.F) {
	files, err := filepath.Glob(payloads + "*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		updateID(raw)
		var u models.Update
		if json.Unmarshal(raw, &u) != nil {
			return
		}
		ev := decoded(&u)
		if ev == nil {
			return
		}
		o := ev.About()
		if o.Chat.ID == "" || o.EventID == "" || o.From.ID == "" || o.Kind != adapters.Direct && o.Kind != adapters.Group {
			t.Errorf("%s became %+v", raw, ev)
		}
		if m, ok := ev.(adapters.Message); ok && m.Text == "" && len(m.Files) == 0 && !m.Mentioned {
			t.Errorf("%s became an empty message", raw)
		}
	})
}
