package discord_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"typist/adapters"
	simdiscord "typist/adapters/sim/discord"
)

// The payloads in testdata have the shapes that Discord publishes (npm discord-api-types), with
// the extra fields it sends besides.
func TestC3_PublishedShapesAreUnderstood(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		files, err := filepath.Glob("testdata/*.json")
		if err != nil || len(files) < 10 {
			t.Fatalf("%d payloads: %v", len(files), err)
		}
		for _, name := range files {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			event, _, _ := strings.Cut(filepath.Base(name), ".")
			if event == "ready" { // starts a session; the connection of this test has its own
				continue
			}
			r.server.Emit(strings.ToUpper(event), json.RawMessage(data))
		}
		r.settle(5 * time.Second)
		var got []string
		for _, ev := range r.sink.list() {
			switch e := ev.(type) {
			case adapters.Message:
				if e.Text != "and more?" || e.From.Name != "Annie" || e.From.Roles[0] != "2401" || !e.Mentioned || e.Chat != groupChat || e.ChatName != "#general" ||
					e.ReplyTo == nil || !e.ReplyTo.ToBot || e.ReplyTo.Text != "an answer" || len(e.Files) != 1 || e.Files[0].MIME != "image/png" || e.Files[0].Size != 90 ||
					!e.At.Equal(time.Date(2024, 11, 30, 13, 58, 49, 123e6, time.UTC)) {
					t.Errorf("message: %+v, reply %+v", e, e.ReplyTo)
				}
				got = append(got, "message")
			case adapters.Press:
				if e.Data != "stop/1" || e.Chat != threadChat || e.ID != "1312345678901230000" || e.From.Locale != "de" || e.From.Name != "Ann" {
					t.Errorf("press: %+v", e)
				}
				got = append(got, "press")
			case adapters.Command:
				switch e.Name {
				case "typing":
					if e.Args != "thinking 4" || e.Kind != adapters.Direct || e.Chat != directChat || e.From.Locale != "ja" {
						t.Errorf("command: %+v", e)
					}
				case "branch":
					if e.Target != "1312345678901230000" || e.Chat != groupChat {
						t.Errorf("message command: %+v", e)
					}
				}
				got = append(got, e.Name)
			default:
				t.Errorf("got %T %+v", ev, ev)
			}
		}
		if strings.Join(got, " ") != "typing press branch message" && len(got) != 4 {
			t.Errorf("got %v", got)
		}
	})
}
