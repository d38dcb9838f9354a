package slack

import (
	"testing"
	"time"

	"typist/adapters"
	"typist/adapters/adaptertest"
	"typist/adapters/sim"
	"typist/adapters/sim/simnet"
	simslack "typist/adapters/sim/slack"
)

func TestContract(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		adaptertest.RunInBubble(t, func(t *testing.T) adaptertest.Harness { return harness(t, simnet.Listen(), simslack.Options{}) })
	})
	t.Run("short connections", func(t *testing.T) {
		adaptertest.RunInBubble(t, func(t *testing.T) adaptertest.Harness {
			return harness(t, simnet.Listen(), simslack.Options{ConnectionLife: 10 * time.Minute})
		})
	})
	t.Run("loopback", func(t *testing.T) {
		adaptertest.Run(t, func(t *testing.T) adaptertest.Harness {
			ln, err := simnet.Loopback()
			if err != nil {
				t.Fatal(err)
			}
			return harness(t, ln, simslack.Options{AckDeadline: 500 * time.Millisecond})
		})
	})
}

func harness(t *testing.T, ln *simnet.Listener, opts simslack.Options) adaptertest.Harness {
	t.Helper()
	opts.Listener, opts.RetryScale, opts.NoLimits = ln, 0.01, true
	s, err := simslack.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	// The thread is older than the app: a message that nobody is connected for would come again, in
	// the middle of a case.
	topic, err := s.Remember(sim.Say{Chat: simslack.General, Person: simslack.Bob, Text: "a thread"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Remember(sim.Say{Chat: simslack.General, Person: simslack.Ann, Text: "its first reply", Thread: topic}); err != nil {
		t.Fatal(err)
	}
	make := func(t *testing.T, botToken string) adapters.Adapter {
		a, err := New(Config{BotToken: botToken, AppToken: s.Credentials()["appToken"], APIURL: s.URL()}, Deps{Dial: ln.Dial})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(a.http.CloseIdleConnections)
		return a
	}
	return adaptertest.Harness{
		Platform: s,
		New:      func(t *testing.T) adapters.Adapter { return make(t, s.Credentials()["botToken"]) },
		BadToken: func(t *testing.T) adapters.Adapter { return make(t, "xoxb-unknown") },
		Direct:   adaptertest.Place{Chat: simslack.DM},
		Group:    adaptertest.Place{Chat: simslack.General},
		Topic:    adaptertest.Place{Chat: simslack.General, Thread: topic},
		Person:   simslack.Ann,
		Other:    simslack.Bob,
		Mention:  "@typist",
		Pings: []string{
			"<!channel>", "<!here|here>", "<!everyone>", "<@" + simslack.Ann + ">", "<@" + simslack.Ann + "|ann>", "<!subteam^S0DEVS>",
			"&lt;!channel&gt;", "[x](<!channel>)", "`<!channel>`", "```\n<!channel>\n```", "| <!channel> |\n|---|\n| <!here> |",
		},
		Noise: func(t *testing.T) {
			for _, inner := range []map[string]any{
				{"type": "reaction_added", "user": simslack.Ann, "reaction": "eyes", "item": map[string]any{"type": "message", "channel": simslack.General, "ts": topic}},
				{"type": "message", "subtype": "channel_join", "channel": simslack.General, "user": simslack.Bob, "text": "joined", "ts": "1700000000.000001"},
				{"type": "message", "subtype": "bot_message", "channel": simslack.General, "bot_id": "B0OTHER", "text": "beep", "ts": "1700000000.000002"},
				{"type": "message", "channel": simslack.General, "user": "U0OTHERBOT", "bot_id": "B0OTHER", "text": "boop", "ts": "1700000000.000003"},
				{"type": "app_mention", "channel": simslack.General, "user": "U0OTHERBOT", "bot_id": "B0OTHER", "text": "<@U0TYPIST> loop", "ts": "1700000000.000004"},
				{"type": "message", "subtype": "message_replied", "channel": simslack.General, "ts": "1700000000.000005", "message": map[string]any{"type": "message", "user": simslack.Ann, "text": "x", "ts": topic}},
				{"type": "member_joined_channel", "user": simslack.Bob, "channel": simslack.General},
				{"type": "file_created", "file_id": "F1", "file": map[string]any{"id": "F1"}},
				{"type": "event_of_tomorrow"},
				{},
			} {
				s.Emit(inner)
			}
			if err := s.Unfurl(simslack.General, topic); err != nil {
				t.Error(err)
			}
		},
		RefuseMarkup: s.RefuseBlocks,
	}
}
