package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	"typist/adapters/sim"
)

// quietTime without any change on a platform: nothing is under way there.
const quietTime = 1500 * time.Millisecond

// patience is how long a person in these tests waits for anything.
const patience = 20 * time.Second

// say writes in the direct chat.
func (p place) say(t *testing.T, text string) string {
	t.Helper()
	return p.speak(t, sim.Say{Chat: p.direct, Person: p.ann, Text: text})
}

// mention writes to the bot in the group.
func (p place) mention(t *testing.T, text string) string {
	t.Helper()
	return p.speak(t, sim.Say{Chat: p.group, Person: p.ann, Text: text, Mention: true})
}

func (p place) speak(t *testing.T, s sim.Say) string {
	t.Helper()
	id, err := p.platform.Say(s)
	must(t, err)
	return id
}

// bots lists the bot's standing messages of a chat and all its threads.
func (p place) bots(chat string) []sim.Message {
	return sim.FromBot(p.platform.World().Messages(chat, "*"))
}

// find is the newest standing message of the bot that contains the text.
func (p place) find(chat, text string) (sim.Message, bool) {
	all := p.bots(chat)
	for i := len(all) - 1; i >= 0; i-- {
		if strings.Contains(all[i].Text, text) {
			return all[i], true
		}
	}
	return sim.Message{}, false
}

// sees waits for a message of the bot with the text.
func (p place) sees(t *testing.T, chat, text string) sim.Message {
	t.Helper()
	var m sim.Message
	eventually(t, p, "“"+text+"”", patience, func() (ok bool) { m, ok = p.find(chat, text); return ok })
	return m
}

// answer waits for a message of the bot that is just the text.
func (p place) answer(t *testing.T, chat, text string) sim.Message {
	t.Helper()
	var m sim.Message
	eventually(t, p, "the answer “"+text+"”", patience, func() bool {
		for _, m = range p.bots(chat) {
			if strings.TrimSpace(m.Text) == text {
				return true
			}
		}
		return false
	})
	return m
}

// gone waits until no message of the bot contains the text.
func (p place) gone(t *testing.T, chat, text string) {
	t.Helper()
	eventually(t, p, "no more “"+text+"”", patience, func() bool { return !p.says(chat, text) })
}

// count counts the bot's standing messages that contain the text.
func (p place) count(chat, text string) (n int) {
	for _, m := range p.bots(chat) {
		if strings.Contains(m.Text, text) {
			n++
		}
	}
	return n
}

// labelled finds a button by its label, on the newest message that has one.
func (p place) labelled(chat, label string) (sim.Message, sim.Button, bool) {
	all := p.bots(chat)
	for i := len(all) - 1; i >= 0; i-- {
		if b, ok := buttonOf(all[i], label); ok {
			return all[i], b, true
		}
	}
	return sim.Message{}, sim.Button{}, false
}

func buttonOf(m sim.Message, label string) (sim.Button, bool) {
	for _, row := range m.Buttons {
		for _, b := range row {
			if b.Text == label {
				return b, true
			}
		}
	}
	return sim.Button{}, false
}

// button waits for a button.
func (p place) button(t *testing.T, chat, label string) (m sim.Message, b sim.Button) {
	t.Helper()
	eventually(t, p, "a button "+label, patience, func() (ok bool) { m, b, ok = p.labelled(chat, label); return ok })
	return m, b
}

// press waits for a button and presses it.
func (p place) press(t *testing.T, chat, label string) sim.Message {
	t.Helper()
	m, b := p.button(t, chat, label)
	must(t, p.platform.Press(chat, p.ann, m.ID, b.Data))
	return m
}

// command uses a command in the direct chat, as the platform's people do.
func (p place) command(t *testing.T, name, args string) {
	t.Helper()
	p.use(t, sim.CommandUse{Chat: p.direct, Person: p.ann, Name: name, Args: args})
}

// onMessage uses a command on a message: a reply on Telegram, elsewhere a message's own menu.
func (p place) onMessage(t *testing.T, name, message string) {
	t.Helper()
	p.use(t, sim.CommandUse{Chat: p.direct, Person: p.ann, Name: name, Target: message})
}

// quiet waits until the platform has been left alone for d: nothing is under way any more.
func (p place) quiet(t *testing.T, d time.Duration) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		ctx, cancel := context.WithTimeout(context.Background(), d)
		changed := p.platform.World().Changed()
		select {
		case <-changed:
			cancel()
		case <-ctx.Done():
			cancel()
			return
		}
	}
	t.Fatalf("%s never comes to rest", p.platform.Name())
}

func contextFor(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d)
}

// use uses a command, once the bot has registered its menu.
func (p place) use(t *testing.T, c sim.CommandUse) {
	t.Helper()
	var err error
	until(t, "command "+c.Name, func() bool {
		err = p.platform.Command(c)
		return err == nil || !strings.Contains(err.Error(), "has registered no command")
	})
	must(t, err)
}
