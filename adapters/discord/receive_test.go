package discord_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"typist/adapters"
	"typist/adapters/discord"
	"typist/adapters/sim"
	simdiscord "typist/adapters/sim/discord"
)

func TestS7_OnlyChangedTextIsAnEdit(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		id := r.say(sim.Say{Chat: simdiscord.DM, Text: "see https://example.com"})
		if err := r.server.Unfurl(simdiscord.DM, id); err != nil {
			t.Fatal(err)
		}
		if err := r.server.EditMessage(simdiscord.DM, simdiscord.Ann, id, "see https://example.com"); err != nil {
			t.Fatal(err)
		}
		r.settle(time.Second)
		if n := len(r.sink.list()); n != 1 {
			t.Fatalf("a preview and an unchanged edit became events: %+v", r.sink.list())
		}
		if err := r.server.EditMessage(simdiscord.DM, simdiscord.Ann, id, "see nothing"); err != nil {
			t.Fatal(err)
		}
		if err := r.server.Unfurl(simdiscord.DM, id); err != nil { // its edited_timestamp is set now
			t.Fatal(err)
		}
		r.settle(time.Second)
		if n := len(r.sink.list()); n != 2 {
			t.Fatalf("got %+v", r.sink.list())
		}
		if e := last[adapters.Edited](r); e.Text != "see nothing" || e.ID != id {
			t.Errorf("got %+v", e)
		}
	})
}

func TestS7_EditAfterARestartArrives(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		id := r.say(sim.Say{Chat: simdiscord.General, Thread: simdiscord.Thread, Text: "first"})
		other := r.say(sim.Say{Chat: simdiscord.DM, Text: "https://example.com"})
		r.settle(5 * time.Second)
		r.stop()
		r.renew()
		r.start()
		if err := r.server.Unfurl(simdiscord.DM, other); err != nil {
			t.Fatal(err)
		}
		if err := r.server.EditMessage(simdiscord.General, simdiscord.Ann, id, "<@"+simdiscord.BotID+"> second"); err != nil {
			t.Fatal(err)
		}
		if e := last[adapters.Edited](r); e.Text != "second" || e.Chat != threadChat || !e.Mentioned {
			t.Errorf("got %+v", e)
		}
	})
}

func TestC1_RoleMentionOfTheBotsRole(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		r.say(sim.Say{Chat: simdiscord.General, Text: "<@&" + simdiscord.RoleTypes + "> are you there?"})
		if m := last[adapters.Message](r); !m.Mentioned || m.Text != "are you there?" {
			t.Errorf("the bot's role: %+v", m)
		}
		r.say(sim.Say{Chat: simdiscord.General, Text: "<@&" + simdiscord.RoleOps + "> are you there?"})
		r.until("the second", func() bool { return len(r.sink.texts()) == 2 })
		if m := last[adapters.Message](r); m.Mentioned {
			t.Errorf("another role: %+v", m)
		}
		r.say(sim.Say{Chat: simdiscord.General, Text: "@everyone hello"})
		r.until("the third", func() bool { return len(r.sink.texts()) == 3 })
		if m := last[adapters.Message](r); m.Mentioned {
			t.Errorf("everybody is not the bot: %+v", m)
		}
	})
}

func TestC1_MentionsOfOthersBecomeNames(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		r.say(sim.Say{Chat: simdiscord.General, Text: "ask <@" + simdiscord.Ben + "> in <#" + simdiscord.General + ">", Mention: true})
		if m := last[adapters.Message](r); m.Text != "ask @Ben in #general" {
			t.Errorf("got %q", m.Text)
		}
	})
}

func TestC1_WithoutContentIntentMentionsStillArrive(t *testing.T) {
	inBubble(t, simdiscord.Options{NoContentIntent: true}, func(r *rig) {
		id := r.say(sim.Say{Chat: simdiscord.General, Text: "not for the bot"})
		r.say(sim.Say{Chat: simdiscord.General, Text: "for the bot", Mention: true})
		r.say(sim.Say{Chat: simdiscord.DM, Text: "direct"})
		if err := r.server.EditMessage(simdiscord.General, simdiscord.Ann, id, "still not for it"); err != nil {
			t.Fatal(err)
		}
		r.settle(5 * time.Second)
		if got := strings.Join(r.sink.texts(), "|"); got != "for the bot|direct" || len(r.sink.list()) != 2 {
			t.Errorf("got %q in %d events", got, len(r.sink.list()))
		}
		r.stop()
		r.renew()
		r.start()
		if err := r.server.EditMessage(simdiscord.General, simdiscord.Ann, id, "and again"); err != nil {
			t.Fatal(err)
		}
		r.settle(5 * time.Second)
		if n := len(r.sink.list()); n != 0 {
			t.Errorf("after a restart: %+v", r.sink.list())
		}
	})
}

func TestC6_UnknownThreadIsLookedUp(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		r.server.AddHiddenThread(simdiscord.General, "2399", "Quiet")
		r.say(sim.Say{Chat: simdiscord.General, Thread: "2399", Text: "in a thread nobody told about"})
		m := last[adapters.Message](r)
		if m.Chat.ID != simdiscord.General || m.Chat.Thread != "2399" || m.ChatName != "Quiet" {
			t.Errorf("got %+v", m)
		}
	})
}

func TestC3_PartsOfAPasteAreOneMessage(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		word := strings.Repeat("abcdefghi ", 450)
		r.say(sim.Say{Chat: simdiscord.DM, Text: word, Parts: 3})
		r.say(sim.Say{Chat: simdiscord.General, Text: "elsewhere"}) // another chat does not wait
		r.settle(100 * time.Millisecond)
		if !r.heard("elsewhere") {
			t.Error("a paste holds another chat up")
		}
		r.settle(2 * time.Second)
		if got := r.sink.texts(); len(got) != 2 || strings.ReplaceAll(got[0]+got[1], " ", "") != strings.ReplaceAll(word+"elsewhere", " ", "") {
			t.Errorf("got %d messages", len(got))
		}
		// A long message alone comes alone, and another person's is not its rest.
		r.say(sim.Say{Chat: simdiscord.General, Text: strings.Repeat("x", 1950)})
		r.say(sim.Say{Chat: simdiscord.General, Person: simdiscord.Ben, Text: "short"})
		r.settle(100 * time.Millisecond)
		if got := r.sink.texts(); len(got) != 4 || got[3] != "short" {
			t.Errorf("got %d messages", len(got))
		}
	})
}

// TestC8_ForeignCommandsAreNotRemovedSilently.
func TestC8_ForeignCommandsAreNotRemovedSilently(t *testing.T) {
	setUp(t, simdiscord.Options{}, func(r *rig) {
		var log bytes.Buffer
		client := r.listen.HTTPClient()
		defer client.CloseIdleConnections()
		a, err := discord.New(r.cfg, discord.Deps{Log: slog.New(slog.NewTextHandler(&log, nil)), HTTP: client.Transport, Dial: r.listen.Dial})
		if err != nil {
			t.Fatal(err)
		}
		foreign := adapters.CommandSpec{Name: "dice", Description: map[string]string{"en": "Roll"}}
		if err := a.SetCommands(r.Context(), append([]adapters.CommandSpec{foreign}, commandList...)); err != nil {
			t.Fatal(err)
		}
		if log.Len() > 0 {
			t.Errorf("logged: %s", log.String())
		}
		for range 2 { // the second time nothing is left to tell
			if err := a.SetCommands(r.Context(), commandList); err != nil {
				t.Fatal(err)
			}
		}
		if strings.Count(log.String(), "level=WARN") != 1 || !strings.Contains(log.String(), "commands=dice") {
			t.Errorf("logged: %s", log.String())
		}
	})
}

// TestC3_AStopIsNoPartOfAPaste, nor does it wait for one.
func TestC3_AStopIsNoPartOfAPaste(t *testing.T) {
	setUp(t, simdiscord.Options{}, func(r *rig) {
		r.cfg.IsStop = func(text string) bool { return text == "halt" }
		r.renew()
		r.start()
		long := strings.Repeat("x", 1950)
		for _, stop := range []string{"halt", "/stop"} {
			before := len(r.sink.texts())
			r.say(sim.Say{Chat: simdiscord.DM, Text: long})
			r.settle(100 * time.Millisecond)
			r.say(sim.Say{Chat: simdiscord.DM, Text: stop})
			r.settle(10 * time.Millisecond)
			if got := r.sink.texts()[before:]; len(got) != 2 || got[0] != long || got[1] != stop {
				t.Errorf("%s: got %d messages", stop, len(got))
			}
			r.settle(2 * time.Second)
		}
	})
}

// TestS7_APasteNamesItsParts, and where the text of each begins.
func TestS7_APasteNamesItsParts(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		r.say(sim.Say{Chat: simdiscord.DM, Text: strings.Repeat("abcdefghi ", 450), Parts: 3})
		r.settle(2 * time.Second)
		var m adapters.Message
		for _, ev := range r.sink.list() {
			if got, ok := ev.(adapters.Message); ok {
				m = got
			}
		}
		if len(m.Parts) != 2 || len(m.Cuts) != 2 || m.Parts[0] == m.ID || m.Parts[0] >= m.Parts[1] {
			t.Fatalf("parts %v, cuts %v", m.Parts, m.Cuts)
		}
		sent := r.server.World().Messages(simdiscord.DM, "*")
		for i, id := range m.Parts {
			for _, part := range sent {
				if text := strings.TrimSpace(part.Text); part.ID == id && !strings.HasPrefix(m.Text[m.Cuts[i]:], text) {
					t.Errorf("part %d begins elsewhere", i+2)
				}
			}
		}
	})
}

func TestT10_BotsWebhooksAndServiceMessagesAreNoEvents(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		author := map[string]any{"id": "2050", "username": "other"}
		bot := map[string]any{"id": "2051", "username": "robot", "bot": true}
		for i, m := range []map[string]any{
			{"author": bot, "type": 0}, {"author": author, "type": 0, "webhook_id": "5"}, {"author": author, "type": 7},
			{"author": author, "type": 21}, {"author": nil, "type": 0}, {"type": 0}, {"author": author, "type": 6},
			{"author": author, "type": 0, "content": ""},
		} {
			m["id"], m["channel_id"], m["guild_id"] = string(rune('1'+i))+"000", simdiscord.General, simdiscord.GuildID
			if _, ok := m["content"]; !ok {
				m["content"] = "noise"
			}
			r.server.Emit("MESSAGE_CREATE", m)
			r.server.Emit("MESSAGE_UPDATE", m)
		}
		r.server.Emit("MESSAGE_REACTION_ADD", map[string]any{"user_id": "2001", "emoji": map[string]any{"name": "x"}})
		r.server.Emit("MESSAGE_CREATE", "not an object")
		r.server.Emit("GUILD_CREATE", []int{1})
		r.server.Emit("READY_SOON", nil)
		r.say(sim.Say{Chat: simdiscord.DM, Text: "a person"})
		r.until("the person", func() bool { return r.heard("a person") })
		if n := len(r.sink.list()); n != 1 {
			t.Errorf("got %d events: %+v", n, r.sink.list())
		}
	})
}

// discordgo fails to decode a message with a component it does not know, and hands out nil.
func TestC3_UnknownComponentsDoNotHideAMessage(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		r.server.Emit("MESSAGE_CREATE", map[string]any{
			"id": "9000", "channel_id": simdiscord.DM, "type": 0, "content": "with something new",
			"author":     map[string]any{"id": simdiscord.Ann, "username": "ann"},
			"components": []any{map[string]any{"type": 99, "components": "?"}}, "embeds": "not a list", "flags": "x",
		})
		r.until("the message", func() bool { return r.heard("with something new") })
	})
}

func TestC3_ForwardsCarryTheirText(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		r.server.Emit("MESSAGE_CREATE", map[string]any{
			"id": "9001", "channel_id": simdiscord.DM, "type": 0, "content": "",
			"author":            map[string]any{"id": simdiscord.Ann, "username": "ann"},
			"message_reference": map[string]any{"type": 1, "message_id": "5", "channel_id": "6"},
			"message_snapshots": []any{map[string]any{"message": map[string]any{"content": "forwarded text", "type": 0}}},
		})
		if m := last[adapters.Message](r); m.Text != "forwarded text" || m.ReplyTo != nil {
			t.Errorf("got %+v", m)
		}
	})
}

func TestC8_CommandsAreAcknowledgedAtOnceAndAnsweredPrivately(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		if err := r.a.SetCommands(r.Context(), commandList); err != nil {
			t.Fatal(err)
		}
		block := make(chan struct{})
		r.sink.block = block // a sink that is busy for longer than Discord waits
		if err := r.server.Command(sim.CommandUse{Chat: simdiscord.General, Thread: simdiscord.Thread, Person: simdiscord.Ben, Name: "typing", Args: "thinking 4"}); err != nil {
			t.Fatal(err)
		}
		r.settle(10 * time.Second)
		close(block)
		c := last[adapters.Command](r)
		if c.Name != "typing" || c.Args != "thinking 4" || c.Chat != threadChat || c.From.ID != simdiscord.Ben || len(c.From.Roles) != 1 || c.From.Locale != "en-US" {
			t.Errorf("got %+v", c)
		}
		if err := c.Answer(text(strings.Repeat("word ", 900))); err != nil {
			t.Fatal(err)
		}
		if err := c.Answer(text("and one more")); err != nil {
			t.Fatal(err)
		}
		list := sim.FromBot(r.server.World().Messages(simdiscord.General, simdiscord.Thread))
		if len(list) != 4 {
			t.Fatalf("people see %+v", list)
		}
		for _, m := range list {
			if m.Private != simdiscord.Ben {
				t.Errorf("%q is not private", m.Text)
			}
		}
		for _, call := range r.server.World().Calls(sim.OpAck) {
			if call.Status >= 400 {
				t.Errorf("acknowledged with %+v", call)
			}
		}
	})
}

func TestC8_MessageCommandNamesItsTarget(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		if err := r.a.SetCommands(r.Context(), commandList); err != nil {
			t.Fatal(err)
		}
		id := r.say(sim.Say{Chat: simdiscord.General, Text: "go on from here"})
		if err := r.server.Command(sim.CommandUse{Chat: simdiscord.General, Person: simdiscord.Ann, Name: "branch", Target: id}); err != nil {
			t.Fatal(err)
		}
		if c := last[adapters.Command](r); c.Name != "branch" || c.Target != id || c.Args != "" {
			t.Errorf("got %+v", c)
		}
	})
}

func TestC8_CommandsAreWrittenOnce(t *testing.T) {
	setUp(t, simdiscord.Options{}, func(r *rig) {
		for range 3 {
			if err := r.a.SetCommands(r.Context(), commandList); err != nil {
				t.Fatal(err)
			}
			r.renew()
		}
		if n := r.server.Overwrites(); n != 1 {
			t.Errorf("written %d times", n)
		}
		changed := append([]adapters.CommandSpec{{Name: "help", Description: map[string]string{"en": "Help"}}}, commandList...)
		if err := r.a.SetCommands(r.Context(), changed); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.server.Commands(), " "); got != "help stop typing branch message:Branch" {
			t.Errorf("registered: %s", got)
		}
	})
}

func TestC8_ButtonsAreAcknowledgedWhileTheSinkIsBusy(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		post := text("a long run")
		post.Buttons = [][]adapters.Button{{{Text: "Stop", Data: "stop/1"}}}
		ref := r.send(threadChat, post)
		block := make(chan struct{})
		r.sink.block = block
		if err := r.server.Press(simdiscord.General, simdiscord.Ann, ref.ID, "stop/1"); err != nil {
			t.Fatal(err)
		}
		r.settle(10 * time.Second)
		close(block)
		if p := last[adapters.Press](r); p.Data != "stop/1" || p.ID != ref.ID || p.Chat != threadChat {
			t.Errorf("got %+v", p)
		}
		for _, m := range r.server.World().Messages(simdiscord.General, simdiscord.Thread) {
			if m.Private != "" {
				t.Errorf("the person was told %q", m.Text)
			}
		}
	})
}

func TestC8_APressThatComesTwiceIsNoFailure(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		post := text("a long run")
		post.Buttons = [][]adapters.Button{{{Text: "Stop", Data: "stop/1"}}}
		ref := r.send(directChat, post)
		if err := r.server.Press(simdiscord.DM, simdiscord.Ann, ref.ID, "stop/1"); err != nil {
			t.Fatal(err)
		}
		r.settle(time.Second)
		if err := r.server.Redeliver(1); err != nil {
			t.Fatal(err)
		}
		r.until("both", func() bool { return len(r.sink.list()) == 2 })
		list := r.sink.list()
		if list[0].About().EventID != list[1].About().EventID {
			t.Errorf("got %+v", list)
		}
		if err := r.a.SetCommands(r.Context(), commandList); err != nil {
			t.Fatal(err)
		}
		if err := r.server.Command(sim.CommandUse{Chat: simdiscord.DM, Person: simdiscord.Ann, Name: "stop"}); err != nil {
			t.Fatal(err)
		}
		r.settle(time.Second)
		if err := r.server.Redeliver(1); err != nil {
			t.Fatal(err)
		}
		r.until("both commands", func() bool { return len(r.sink.list()) == 4 })
		if err := r.sink.list()[3].(adapters.Command).Answer(text("done")); err != nil {
			t.Errorf("the second delivery cannot be answered: %v", err)
		}
	})
}
