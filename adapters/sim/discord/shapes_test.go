package discord

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"typist/adapters/sim"
)

// What the server sends has the kinds of values that Discord's payloads have, field by field.
func TestC3_PayloadsHaveThePublishedShapes(t *testing.T) {
	inBubble(t, Options{}, func(c *client) {
		s := c.s
		id, err := s.Say(sim.Say{Chat: General, Person: Ann, Text: "hello", Mention: true, Files: []sim.File{{Name: "plan.png", MIME: "image/png", Data: []byte("x")}}})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := s.Say(sim.Say{Chat: General, Person: Ben, Text: "and more?", ReplyTo: id})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]any{}
		s.gate.sessions["test"] = &session{id: "test", intents: -1}
		ch, _ := s.channel(General)
		s.interact(ch, Ann, kindComponent, id, map[string]any{"component_type": componentButton, "custom_id": "stop/1"})
		for _, f := range s.gate.sessions["test"].buffer {
			seen[fmt.Sprint(f.T)] = f.D
		}
		message := s.messageJSON(s.records[reply], false)
		message["guild_id"], message["member"] = GuildID, s.memberJSON(Ben, false)
		for file, sent := range map[string]any{
			"guild_create.json":                 s.guildJSON(),
			"message_create.reply.json":         message,
			"interaction_create.component.json": seen["INTERACTION_CREATE"],
		} {
			data, err := os.ReadFile("../../discord/testdata/" + file)
			if err != nil {
				t.Fatal(err)
			}
			var published, own any
			if err := json.Unmarshal(data, &published); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(sent)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &own); err != nil {
				t.Fatal(err)
			}
			sameKinds(t, file, published, own)
		}
	})
}

// sameKinds compares the kinds of the values that both have.
func sameKinds(t *testing.T, at string, published, own any) {
	t.Helper()
	if published == nil || own == nil {
		return
	}
	if a, b := fmt.Sprintf("%T", published), fmt.Sprintf("%T", own); a != b {
		t.Errorf("%s is published as %s, sent as %s", at, a, b)
		return
	}
	switch p := published.(type) {
	case map[string]any:
		o := own.(map[string]any)
		for key, value := range p {
			if mine, ok := o[key]; ok {
				sameKinds(t, at+"."+key, value, mine)
			}
		}
	case []any:
		if o := own.([]any); len(p) > 0 && len(o) > 0 {
			sameKinds(t, at+"[0]", p[0], o[0])
		}
	}
}
