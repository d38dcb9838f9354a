package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"typist/adapters/sim"
	simdiscord "typist/adapters/sim/discord"
)

// allow writes a config in which only these may use the bot, with more keys of the channel.
func (s *stage) allow(t *testing.T, name, keys string) {
	t.Helper()
	at := s.on[name]
	body := fmt.Sprintf("dataDir: %s/data\nhttp: {listen: \"\"}\nbackends:\n%s\n%s\nchannels:\n  %s:\n    apiURL: %q\n%s\n", s.dir, s.backend, s.more, name, at.platform.URL(), keys)
	for key, value := range at.platform.Credentials() {
		body += fmt.Sprintf("    %s: %q\n", key, value)
	}
	s.write(t, body)
}

// stranger gives a person who is not Ann a direct chat with the bot.
func stranger(t *testing.T, at place) (person, chat string) {
	t.Helper()
	world := at.platform.World()
	switch p := at.platform.(type) {
	case *simdiscord.Server:
		p.AddDirect("2102", simdiscord.Ben)
		return simdiscord.Ben, "2102"
	default:
		for _, c := range world.Chats() {
			for _, m := range c.Members {
				if m != at.ann && m != world.Bot().ID && !c.Direct {
					chat := m // Telegram: a private chat has its person's id
					if at.platform.Name() == "slack" {
						chat = "D0BOB"
					}
					p, _ := world.Person(m)
					world.AddChat(sim.Chat{ID: chat, Name: p.Name, Direct: true, Members: []string{m}})
					return m, chat
				}
			}
		}
	}
	t.Fatal("no stranger")
	return "", ""
}

// TestC2_StrangersSeeNothing: no answer, no indicator; the log has the id. In a group only those
// who are listed for it, and only in listed groups.
func TestC2_StrangersSeeNothing(t *testing.T) {
	alone(t, "otherwise:\n  say 1ms: Answer to {{input}}\n", quick, func(t *testing.T, s *stage, at place) {
		name := at.platform.Name()
		person, chat := stranger(t, at)
		s.program.end(interrupt)
		s.allow(t, name, fmt.Sprintf("    allowFrom: [%q]\n    groups: {%q: {allowFrom: [%q]}}", at.ann, at.group, person))
		s.start(t)
		at.speak(t, sim.Say{Chat: chat, Person: person, Text: "let me in please"})
		at.say(t, "hello")
		at.answer(t, at.direct, "Answer to hello")
		at.mention(t, "from Ann")
		at.speak(t, sim.Say{Chat: at.group, Person: person, Text: "from the other", Mention: true})
		at.sees(t, at.group, "Answer to from the other")
		at.quiet(t, quietTime)
		if at.says(at.group, "from Ann") {
			t.Error("a group's own allow-list does not hold")
		}
		if len(at.bots(chat)) > 0 || len(at.platform.World().Timeline(chat, "")) > 0 {
			t.Error("a stranger saw something")
		}
		for _, m := range at.platform.World().Messages(chat, "*") {
			if len(m.Reactions) > 0 {
				t.Error("a stranger saw a reaction")
			}
		}
		if !strings.Contains(s.program.log.String(), "person="+person) {
			t.Errorf("the log does not name the stranger:\n%s", s.program.log)
		}
	})
}

var pairingCode = regexp.MustCompile(`\b\d{6}\b`)

// TestC2_Pairing: a stranger gets a code once; the owner approves it with the command, or by
// replying to the bot's notice.
func TestC2_Pairing(t *testing.T) {
	alone(t, "otherwise:\n  say 1ms: Answer to {{input}}\n", quick, func(t *testing.T, s *stage, at place) {
		name := at.platform.Name()
		person, chat := stranger(t, at)
		s.program.end(interrupt)
		s.allow(t, name, fmt.Sprintf("    allowFrom: [%q]\n    pairing: true", at.ann))
		s.start(t)
		at.say(t, "I am the owner")
		at.answer(t, at.direct, "Answer to I am the owner")
		at.speak(t, sim.Say{Chat: chat, Person: person, Text: "let me in please"})
		offer := at.sees(t, chat, "I don't know you yet.")
		code := pairingCode.FindString(offer.Text)
		notice := at.sees(t, at.direct, "would like to talk to me. Reply with "+code)
		at.speak(t, sim.Say{Chat: chat, Person: person, Text: "hello? anyone?"})
		at.speak(t, sim.Say{Chat: chat, Person: person, Text: code}) // nobody approves themselves
		at.quiet(t, quietTime)
		if n := len(at.bots(chat)); n != 1 {
			t.Errorf("the stranger got %d messages", n)
		}
		if at.platform.Name() == "telegram" { // one by reply, the others by the command
			at.speak(t, sim.Say{Chat: at.direct, Person: at.ann, Text: code, ReplyTo: notice.ID})
			at.sees(t, at.direct, "may talk to me now.")
		} else {
			out, err := typist("pair", "--config", s.config, code)
			if err != nil || !strings.Contains(out, "may talk to the bot now") {
				t.Errorf("%s %v", out, err)
			}
			if out, err := typist("pair", "--config", s.config, "000000"); err == nil || !strings.Contains(out, "no request with this code is open") {
				t.Errorf("a wrong code: %s %v", out, err)
			}
		}
		at.sees(t, chat, "You may talk to me now.")
		at.speak(t, sim.Say{Chat: chat, Person: person, Text: "thanks"})
		at.sees(t, chat, "Answer to thanks")
		s.restart(t)
		at.speak(t, sim.Say{Chat: chat, Person: person, Text: "still"})
		at.sees(t, chat, "Answer to still")
	})
}

// TestC2_DiscordRoles: role:ID lets in whoever has that role.
func TestC2_DiscordRoles(t *testing.T) {
	t.Parallel()
	s := newStage(t, "otherwise:\n  say 1ms: Answer to {{input}}\n", quick, "discord")
	at := s.on["discord"]
	s.allow(t, "discord", fmt.Sprintf("    allowFrom: [\"role:%s\"]\n    groups: {\"*\": {}}", simdiscord.RoleCrew))
	s.start(t)
	at.mention(t, "from Ann")
	at.speak(t, sim.Say{Chat: at.group, Person: simdiscord.Ben, Text: "from Ben", Mention: true})
	at.sees(t, at.group, "Answer to from Ben")
	at.quiet(t, quietTime)
	if at.says(at.group, "from Ann") {
		t.Error("somebody without the role was let in")
	}
	s.stop(t)
}

// typist runs a command of the program and gives what it printed.
func typist(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, binary, args...).CombinedOutput()
	return string(out), err
}
