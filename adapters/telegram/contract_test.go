package telegram_test

import (
	"testing"

	"typist/adapters"
	"typist/adapters/adaptertest"
	"typist/adapters/sim"
	"typist/adapters/sim/simnet"
	simtelegram "typist/adapters/sim/telegram"
	"typist/adapters/telegram"
)

func TestContract(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T) adaptertest.Harness { return harness(t, nil) })
}

func TestContractInABubble(t *testing.T) {
	adaptertest.RunInBubble(t, func(t *testing.T) adaptertest.Harness { return harness(t, simnet.Listen()) })
}

// harness is the adapter against a fresh Telegram, on loopback or on the given listener.
func harness(t *testing.T, l *simnet.Listener) adaptertest.Harness {
	t.Helper()
	srv, err := simtelegram.New(simtelegram.Options{Listener: l})
	if err != nil {
		t.Fatal(err)
	}
	return adaptertest.Harness{
		Platform: srv,
		New:      func(t *testing.T) adapters.Adapter { return connect(t, srv, simtelegram.DefaultToken) },
		Direct:   adaptertest.Place{Chat: simtelegram.DirectChat},
		Group:    adaptertest.Place{Chat: simtelegram.GroupChat},
		Topic:    adaptertest.Place{Chat: simtelegram.ForumChat, Thread: simtelegram.TopicPlans},
		Person:   simtelegram.Ann,
		Other:    simtelegram.Ben,
		Mention:  "@" + simtelegram.BotUsername,
		Pings:    []string{"[you](tg://user?id=" + simtelegram.Ann + ")", "a,@ann_smith.", "@ben_jones@ann_smith"},
		Noise: func(t *testing.T) {
			noise(t, srv)
		},
		BadToken:     func(t *testing.T) adapters.Adapter { return connect(t, srv, "9001:not-the-token-at-all") },
		RefuseMarkup: srv.RefuseMarkup,
		PasteUnit:    4096,
	}
}

// connect makes an adapter whose connections end with the test.
func connect(t *testing.T, srv *simtelegram.Server, token string) *telegram.Adapter {
	t.Helper()
	client := srv.Client()
	t.Cleanup(client.CloseIdleConnections)
	return newAdapter(t, telegram.Config{Token: token, APIURL: srv.URL(), HTTPClient: client}, telegram.Deps{})
}

func newAdapter(t *testing.T, cfg telegram.Config, deps telegram.Deps) *telegram.Adapter {
	t.Helper()
	a, err := telegram.New(cfg, deps)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// noise is what must never become an event.
func noise(t *testing.T, srv *simtelegram.Server) {
	t.Helper()
	id, err := srv.Say(sim.Say{Chat: simtelegram.ForumChat, Thread: simtelegram.TopicOps, Person: simtelegram.Ann, Text: "/start@another_bot"})
	if err != nil {
		t.Fatal(err)
	}
	steps := []error{
		srv.React(simtelegram.ForumChat, simtelegram.Ben, id, "👍", true),
		srv.Service(simtelegram.GroupChat, "", simtelegram.Ben, func(m *simtelegram.Message) {
			m.NewChatMembers = []simtelegram.User{{ID: 1004, FirstName: "Dora"}}
		}),
		srv.Service(simtelegram.GroupChat, "", simtelegram.Ben, func(m *simtelegram.Message) {
			m.PinnedMessage = &simtelegram.Message{MessageID: 1, Chat: m.Chat, Date: m.Date, Text: "pinned"}
		}),
		srv.Service(simtelegram.ForumChat, simtelegram.TopicOps, simtelegram.Ben, func(m *simtelegram.Message) {
			m.ForumTopicCreated = &simtelegram.TopicCreated{Name: "Ops", IconColor: 1}
		}),
		srv.Service(simtelegram.GroupChat, "", simtelegram.Ben, func(m *simtelegram.Message) {
			m.From.IsBot, m.Text = true, "I am another bot"
		}),
	}
	for i, err := range steps {
		if err != nil {
			t.Fatalf("noise %d: %v", i, err)
		}
	}
	for _, raw := range []string{
		`{"update_id":%d,"brand_new_kind":{"x":1}}`,
		`{"update_id":%d,"message":{"message_id":"no number"}}`,
		`{"update_id":%d,"message":null}`,
		`{"update_id":%d,"channel_post":{"message_id":5,"date":1,"chat":{"id":-100,"type":"channel","title":"News"},"text":"news"}}`,
		`{"update_id":%d,"callback_query":{"id":"1","from":{"id":1001,"is_bot":false,"first_name":"Ann"},"chat_instance":"1","data":"x"}}`,
		`{"update_id":%d,"message":{"message_id":6,"date":1,"chat":{"id":-100,"type":"group","title":"G"},"text":"nobody said this"}}`,
	} {
		srv.Inject(raw)
	}
}
