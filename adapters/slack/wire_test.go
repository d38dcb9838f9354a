package slack

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"typist/adapters"
)

// payloads are shapes of the platform (docs.slack.dev, @slack/types), shared with the miniature.
const payloads = "../sim/slack/testdata"

func payload(t testing.TB, name string) envelope {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(payloads, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var e envelope
	if err := read(raw, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// offline is an adapter that knows two names and reaches nothing.
func offline(t testing.TB) (*Adapter, *identity) {
	t.Helper()
	a, err := New(Config{BotToken: "xoxb-1", AppToken: "xapp-1", APIURL: "http://sim.invalid/api/"}, Deps{})
	if err != nil {
		t.Fatal(err)
	}
	for id, name := range map[string]string{"U0ANN": "Ann", "U0BOB": "Bob", "C0GENERAL": "general", "C0MPIM": "mpdm"} {
		a.names.known[id] = nameEntry{name: name, until: time.Now().Add(time.Hour)}
	}
	return a, &identity{user: "U0TYPIST", bot: "B0TYPIST"}
}

func at(sec, micro int64) time.Time { return time.Unix(sec, micro*1000) }

func TestC3_RealPayloads(t *testing.T) {
	general := adapters.Chat{Channel: "slack", ID: "C0GENERAL", Thread: "1723740000.000200"}
	dm := adapters.Chat{Channel: "slack", ID: "D0ANN"}
	ann, bob := adapters.User{ID: "U0ANN", Name: "Ann"}, adapters.User{ID: "U0BOB", Name: "Bob"}
	inDM := func(id string, when time.Time) adapters.Origin {
		return adapters.Origin{EventID: "D0ANN:" + id, Chat: dm, Kind: adapters.Direct, ChatName: "Ann", From: ann, At: when}
	}
	inGeneral := func(event string, from adapters.User, when time.Time) adapters.Origin {
		return adapters.Origin{EventID: event, Chat: general, Kind: adapters.Group, ChatName: "general", From: from, At: when}
	}
	mention := adapters.Message{
		Origin: inGeneral("C0GENERAL:1723740000.000200", ann, at(1723740000, 200)), ID: "1723740000.000200",
		Text: "summarise the page (https://example.org/q?a=1&b=2) for @Bob", Mentioned: true,
	}
	cases := map[string]adapters.Event{
		"message_im":      adapters.Message{Origin: inDM("1723739999.112233", at(1723739999, 112233)), ID: "1723739999.112233", Text: "is 1 < 2 & 3?"},
		"message_channel": mention,
		"app_mention":     mention,
		"message_thread": adapters.Message{
			Origin: inGeneral("C0GENERAL:1723740050.000300", bob, at(1723740050, 300)), ID: "1723740050.000300", Text: "and then?",
		},
		"message_thread_of_bot": adapters.Message{
			Origin: adapters.Origin{
				EventID: "C0GENERAL:1723740051.000300", Kind: adapters.Group, ChatName: "general", From: bob, At: at(1723740051, 300),
				Chat: adapters.Chat{Channel: "slack", ID: "C0GENERAL", Thread: "1723730000.000100"},
			},
			ID: "1723740051.000300", Text: "thanks", Mentioned: true, ReplyTo: &adapters.Reply{ID: "1723730000.000100", ToBot: true},
		},
		"message_mpim": adapters.Message{
			Origin: adapters.Origin{
				EventID: "C0MPIM:1723740052.000300", Kind: adapters.Group, ChatName: "mpdm", From: bob, At: at(1723740052, 300),
				Chat: adapters.Chat{Channel: "slack", ID: "C0MPIM", Thread: "1723740052.000300"},
			},
			ID: "1723740052.000300", Text: "all of us",
		},
		"message_thread_broadcast": adapters.Message{
			Origin: inGeneral("C0GENERAL:1723740060.000400", bob, at(1723740060, 400)), ID: "1723740060.000400", Text: "for everybody",
		},
		"message_file_share": adapters.Message{
			Origin: inDM("1723740070.000500", at(1723740070, 500)), ID: "1723740070.000500", Text: "what is this?",
			Files: []adapters.File{
				{Name: "plan.png", MIME: "image/png", Size: 20417, Source: "https://files.slack.com/files-pri/T123ABC456-F07ABCDEF01/download/plan.png"},
				{Name: "F07SHARED", Source: "file:F07SHARED"},
			},
		},
		"message_me":           adapters.Message{Origin: inDM("1723740071.000500", at(1723740071, 500)), ID: "1723740071.000500", Text: "waves"},
		"message_pasted_table": adapters.Message{Origin: inDM("1723740072.000500", at(1723740072, 500)), ID: "1723740072.000500", Text: "sum this up"},
		"message_forwarded": adapters.Message{
			Origin: inDM("1723740073.000500", at(1723740073, 500)), ID: "1723740073.000500", Text: "> the build is red (https://ci.example.org/1)",
		},
		"message_changed_edit": adapters.Edited{
			Origin: inGeneral("edit:C0GENERAL:1723740000.000200:1723740079.000000", ann, at(1723740079, 0)), ID: "1723740000.000200",
			Text: "summarise it shortly", Mentioned: true,
		},
		"app_mention_edited":                nil,
		"message_changed_unfurl_after_edit": nil,
		"message_changed_by_slack":          nil,
		"message_from_other_bot":            nil,
		"message_file_by_bot":               nil,
		"message_changed_unfurl":            nil,
		"message_changed_by_bot":            nil,
		"message_changed_tombstone":         nil,
		"message_deleted":                   nil,
		"message_from_bot":                  nil,
		"message_bot_message":               nil,
		"message_channel_join":              nil,
		"reaction_added":                    nil,
		"event_of_tomorrow":                 nil,
		"hello":                             nil,
		"disconnect":                        nil,
		"agent_session_stopped": adapters.StopRequested{
			Origin: inGeneral("stop:C0GENERAL:1723740000.000200:1723740094.000700", bob, at(1723740094, 700)),
		},
		"block_actions": adapters.Press{
			Origin: inGeneral("press:C0GENERAL:1723740001.000100:U0BOB:typist:0:0:1723740010.123456", bob, at(1723740010, 123456)),
			ID:     "1723740001.000100", Data: "stop:run1",
		},
		"message_action": adapters.Command{
			Origin: inGeneral("command:12466734323.1395872399", bob, at(1723740011, 123456)), Name: "branch", Target: "1723740050.000300",
		},
		"slash_command": adapters.Command{
			Origin: adapters.Origin{EventID: "command:12466734323.1395872400", Chat: adapters.Chat{Channel: "slack", ID: "C0GENERAL"}, Kind: adapters.Group, ChatName: "general", From: bob},
			Name:   "typing", Args: "thinking 4",
		},
	}
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			a, self := offline(t)
			events, ackFirst, err := a.decode(t.Context(), self, payload(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if ackFirst != (name == "block_actions") {
				t.Errorf("acknowledged first: %t", ackFirst)
			}
			var got adapters.Event
			if len(events) == 1 {
				got = events[0]
			} else if len(events) > 1 {
				t.Fatalf("got %d events", len(events))
			}
			if c, ok := got.(adapters.Command); ok {
				if c.Answer == nil {
					t.Error("no way to answer")
				}
				c.Answer = nil
				if name == "slash_command" {
					c.At = time.Time{}
				}
				got = c
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
	all, err := filepath.Glob(payloads + "/*.json")
	if err != nil || len(all) != len(cases) {
		t.Errorf("%d payloads for %d cases, %v", len(all), len(cases), err)
	}
}

// FuzzDecode: whatever comes over the socket, it is decoded or refused; what becomes an event has
// a chat and an id, and is from a person.
func FuzzDecode(f *testing.F) {
	all, err := filepath.Glob(payloads + "/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range all {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(`{"type":"events_api","payload":{"event":{"type":"message","message":null,"channel":{},"files":{}}}}`))
	a, self := offline(f)
	a.names.known = nil // every look-up fails at once
	f.Fuzz(func(t *testing.T, raw []byte) {
		var e envelope
		if read(raw, &e) != nil {
			return
		}
		ctx, cancel := contextDone()
		defer cancel()
		events, _, _ := a.decode(ctx, self, e)
		for _, ev := range events {
			o := ev.About()
			if o.EventID == "" || o.Chat.ID == "" || o.Chat.Channel != "slack" || o.From.ID == "" || o.From.ID == self.user && isMessage(ev) {
				t.Errorf("%s became %+v", raw, ev)
			}
			if key, err := adapters.ParseChat(o.Chat.Key()); err != nil || key != o.Chat {
				t.Errorf("chat %+v does not survive its key: %+v, %v", o.Chat, key, err)
			}
		}
	})
}

func isMessage(ev adapters.Event) bool {
	_, ok := ev.(adapters.Message)
	return ok
}

func FuzzEvenOut(f *testing.F) {
	for _, s := range []string{`{"ok":false}`, `{"ok":true,"messages":[{"ts":"1","metadata":{}}]}`, `{"ok":true,"message":{"blocks":[]}}`, `[]`, `{"ok":"x"}`, ``} {
		f.Add("/api/chat.postMessage", []byte(s))
		f.Add("/api/conversations.history", []byte(s))
	}
	f.Fuzz(func(t *testing.T, path string, body []byte) {
		out := string(evenOut(path, body))
		if strings.Contains(string(body), `"ok":false}`) && !strings.Contains(out, `"ok":false`) {
			t.Errorf("%s lost its failure: %s", body, out)
		}
	})
}
