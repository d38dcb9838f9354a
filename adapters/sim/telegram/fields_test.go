package telegram

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// published is what the platform's published types say: testdata/fields.json lists the fields of
// each object and the parameters of each method, taken from @grammyjs/types.
type published struct {
	Types   map[string][]string `json:"types"`
	Methods map[string][]string `json:"methods"`
}

func readPublished(t *testing.T) published {
	t.Helper()
	raw, err := os.ReadFile("testdata/fields.json")
	if err != nil {
		t.Fatal(err)
	}
	var p published
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestObjectsHaveThePublishedFields(t *testing.T) {
	p := readPublished(t)
	for name, v := range map[string]any{
		"Message": Message{}, "User": User{}, "UserFromGetMe": Me{}, "ChatFullInfo": Chat{}, "MessageEntity": Entity{},
		"PhotoSize": PhotoSize{}, "Document": Document{}, "File": File{}, "ForumTopicCreated": TopicCreated{},
		"InlineKeyboardMarkup": InlineKeyboard{}, "InlineKeyboardButton": InlineButton{}, "CallbackQuery": CallbackQuery{},
		"BotCommand": Command{}, "ReactionTypeEmoji": Reaction{}, "MessageReactionUpdated": ReactionUpdate{},
		"ReplyParameters": ReplyParameters{}, "WebhookInfo": WebhookInfo{},
	} {
		known := p.Types[name]
		if len(known) == 0 {
			t.Errorf("no published type %s", name)
		}
		for _, field := range jsonFields(reflect.TypeOf(v)) {
			if !slices.Contains(known, field) {
				t.Errorf("%s has no field %q", name, field)
			}
		}
	}
}

func jsonFields(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			out = append(out, jsonFields(f.Type)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}

func TestMethodsHaveThePublishedParameters(t *testing.T) {
	p := readPublished(t)
	seen := 0
	for name, params := range p.Methods {
		m, ok := methods[strings.ToLower(name)]
		if !ok {
			t.Errorf("method %s is not built", name)
			continue
		}
		seen++
		for _, field := range strings.Fields(m.fields) {
			if !slices.Contains(params, field) {
				t.Errorf("%s has no parameter %q", name, field)
			}
		}
	}
	if seen != len(methods) {
		t.Errorf("%d methods are built, %d are published", len(methods), seen)
	}
}

// TestPayloadsHaveThePublishedFields keeps the folder of payloads honest.
func TestPayloadsHaveThePublishedFields(t *testing.T) {
	p := readPublished(t)
	files, err := filepath.Glob("testdata/updates/*.json")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d payloads, %v", len(files), err)
	}
	// Fields of old that Telegram still sends, and those made up to test what is unknown.
	extra := []string{"new_chat_participant", "new_chat_member", "brand_new", "some_future_update", "all_members_are_administrators"}
	check := func(file, typ string, v any) {
		o, _ := v.(map[string]any)
		for field := range o {
			if !slices.Contains(p.Types[typ], field) && !slices.Contains(extra, field) {
				t.Errorf("%s: %s has no field %q", file, typ, field)
			}
		}
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var u map[string]any
		if err := json.Unmarshal(raw, &u); err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for kind, v := range u {
			if kind == "update_id" {
				continue
			}
			if !slices.Contains(p.Types["Update"], kind) && !slices.Contains(extra, kind) {
				t.Errorf("%s: no update %q", file, kind)
			}
			o, _ := v.(map[string]any)
			switch kind {
			case "message", "edited_message", "channel_post":
				check(file, "Message", v)
			case "callback_query":
				check(file, "CallbackQuery", v)
				check(file, "Message", o["message"])
			case "message_reaction":
				check(file, "MessageReactionUpdated", v)
			}
			check(file, "User", o["from"])
			check(file, "ChatFullInfo", o["chat"])
			for _, list := range []any{o["entities"], o["caption_entities"]} {
				items, _ := list.([]any)
				for _, e := range items {
					check(file, "MessageEntity", e)
				}
			}
			// What this server speaks, it can also read.
			if body, err := json.Marshal(v); err == nil && (kind == "message" || kind == "edited_message") {
				var m Message
				if err := json.Unmarshal(body, &m); err != nil || m.MessageID == 0 || m.Chat.ID == 0 || m.Date == 0 {
					t.Errorf("%s: %+v, %v", file, m, err)
				}
			}
		}
	}
}
