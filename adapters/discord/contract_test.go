package discord_test

import (
	"net/http"
	"testing"

	"typist/adapters"
	"typist/adapters/adaptertest"
	"typist/adapters/discord"
	"typist/adapters/sim"
	simdiscord "typist/adapters/sim/discord"
	"typist/adapters/sim/simnet"
)

// commandList is what the tests register.
var commandList = []adapters.CommandSpec{
	{Name: "stop", Description: map[string]string{"en": "Stop what runs", "de": "Anhalten"}},
	{Name: "typing", Description: map[string]string{"en": "Set the typing mode", "zh": "输入"}, Args: "[mode|default] [seconds]", Choices: []string{"never", "instant", "thinking", "message", "default"}},
	{Name: "branch", Description: map[string]string{"en": "Go on from a message"}, OnMessage: true},
}

func TestContract(t *testing.T) {
	adaptertest.RunInBubble(t, harness)
}

func harness(t *testing.T) adaptertest.Harness {
	listener := simnet.Listen()
	server, err := simdiscord.New(simdiscord.Options{Listener: listener, Unlimited: true})
	if err != nil {
		t.Fatal(err)
	}
	make := func(t *testing.T, token string) *discord.Adapter {
		client := listener.HTTPClient()
		t.Cleanup(client.CloseIdleConnections)
		a, err := discord.New(discord.Config{Token: token, APIURL: server.URL(), MessageContent: true},
			discord.Deps{HTTP: client.Transport, Dial: listener.Dial, Memory: newMemory()})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	return adaptertest.Harness{
		Platform: server,
		New: func(t *testing.T) adapters.Adapter {
			a := make(t, server.Credentials()["botToken"])
			if err := a.SetCommands(t.Context(), commandList); err != nil {
				t.Fatal(err)
			}
			return a
		},
		BadToken: func(t *testing.T) adapters.Adapter { return make(t, "wrong") },
		Direct:   adaptertest.Place{Chat: simdiscord.DM},
		Group:    adaptertest.Place{Chat: simdiscord.General},
		Topic:    adaptertest.Place{Chat: simdiscord.General, Thread: simdiscord.Thread},
		Person:   simdiscord.Ann,
		Other:    simdiscord.Ben,
		Mention:  "<@" + simdiscord.BotID + ">",
		Pings: []string{"@everyone", "@here", "<@" + simdiscord.Ann + ">", "<@!" + simdiscord.Ann + ">", "<@&" + simdiscord.RoleOps + ">",
			"`@everyone`", "```\n@everyone\n```", "[@everyone](https://example.com)", "> @here"},
		Noise: func(t *testing.T) {
			server.Emit("SOMETHING_NEW", map[string]any{"a": 1})
			server.Emit("MESSAGE_CREATE", nil)
			server.Emit("MESSAGE_CREATE", map[string]any{"id": 5})
			server.Emit("MESSAGE_UPDATE", map[string]any{"id": "77", "channel_id": simdiscord.General, "embeds": []any{}})
			server.Emit("INTERACTION_CREATE", map[string]any{"id": "1", "type": 99})
		},
		RefuseMarkup: func(n int) {
			server.World().Inject(sim.Fault{Op: sim.OpSend, Times: n, Status: http.StatusBadRequest})
		},
		PasteUnit: 2000,
	}
}
