package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"typist/adapters/sim"
	"typist/adapters/sim/slack"
)

// soakScript is what people's messages of each kind make the agent do. The answer has no blank, so
// that it comes in one piece or not at all.
const soakScript = `on "^fast (\w+)":
  say 1ms: Answer:{{input}}
on "^think ":
  think 400ms: I should look at the Makefile first, and then at the tests.
  say 1ms: Answer:{{input}}
on "^tool ":
  say 50ms: I look.
  tool 400ms Bash {"command":"make","description":"Build with tests"} => ok
  tool-fail 200ms Read {"path":"missing.txt"} => no such file
  say 1ms: Answer:{{input}}
on "^long ":
  step Prepare
  wait 1500ms
  end-step
  parallel {
    tool 900ms Bash {"command":"make"} => ok
    subagent reviewer {
      think 300ms: The change is small.
      tool 300ms Read {"path":"a.go"} => ok
    }
  }
  say 1ms: Answer:{{input}}
on "^silent ":
  wait 100ms
  silence
on "^stop ":
  tool 5m Bash {"command":"sleep 300"} => ok
otherwise:
  say 1ms: Answer:{{input}}
`

// talk is one person in one chat who writes, waits for the answer, and writes again.
type talk struct {
	soak     *soak
	platform sim.Platform
	chat     string
	person   string
	direct   bool
	rng      *rand.Rand
}

// soak is what all talks of a run share.
type soak struct {
	numbers  atomic.Int64
	mu       sync.Mutex
	problems []string
	counts   map[string]int
}

func (s *soak) problem(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.problems) < 50 {
		s.problems = append(s.problems, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
	}
}

func (s *soak) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
}

// Bounds of one exchange. What a person does about a lost connection or a restart is in it.
const (
	answerLimit = 90 * time.Second
	personPace  = 2200 * time.Millisecond // a person may send 30 messages a minute
)

// run talks until ctx ends; the last exchange is brought to its end.
func (t *talk) run(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		kinds := []string{"fast", "fast", "think", "tool", "long", "silent", "stop", "burst"}
		switch kind := kinds[t.rng.IntN(len(kinds))]; kind {
		case "burst":
			var texts []string
			for range 3 {
				texts = append(texts, t.say("fast"))
				pause(50 * time.Millisecond)
			}
			for i, text := range texts {
				t.awaitAnswer(text, i == len(texts)-1)
			}
			began = began.Add(2 * personPace)
		case "silent":
			t.say(kind)
			pause(time.Duration(500+t.rng.IntN(1500)) * time.Millisecond)
		case "stop":
			if t.direct { // in a group others talk at the same time
				t.awaitStop(t.say(kind))
			}
		default:
			t.awaitAnswer(t.say(kind), true)
		}
		pause(time.Until(began.Add(personPace)) + time.Duration(t.rng.IntN(1500))*time.Millisecond)
	}
}

// say writes one message and returns its text.
func (t *talk) say(kind string) string {
	text := fmt.Sprintf("%s q%dq", kind, t.soak.numbers.Add(1))
	if _, err := t.platform.Say(sim.Say{Chat: t.chat, Person: t.person, Text: text, Mention: !t.direct}); err != nil {
		t.soak.problem("%s: %v", t.platform.Name(), err)
	}
	t.soak.count("messages")
	return text
}

// answers are the standing answers to a message, without progress messages that show it.
func (t *talk) answers(text string) (out []sim.Message) {
	for _, m := range sim.FromBot(t.platform.World().Messages(t.chat, "*")) {
		if strings.Contains(m.Text, "Answer:"+text) && !hasButton(m, "Stop") {
			out = append(out, m)
		}
	}
	return out
}

func hasButton(m sim.Message, label string) bool {
	_, ok := buttonOf(m, label)
	return ok
}

func buttonOf(m sim.Message, label string) (data string, ok bool) {
	for _, row := range m.Buttons {
		for _, b := range row {
			if b.Text == label {
				return b.Data, true
			}
		}
	}
	return "", false
}

// awaitAnswer waits for the answer, and does what a person would do meanwhile: resume what a
// restart interrupted, and after a long silence insist. Last: nothing else of this person waits.
func (t *talk) awaitAnswer(text string, last bool) {
	began := time.Now()
	for try := range 2 {
		end := time.Now().Add(answerLimit / 2)
		for time.Now().Before(end) {
			if list := t.answers(text); len(list) > 0 {
				t.soak.count("answers")
				if last {
					t.checkGhost(stands(list[0]))
				}
				if list = t.answers(text); len(list) != 1 {
					t.soak.problem("%s/%s: %d answers to %q", t.platform.Name(), t.chat, len(list), text)
				}
				return
			}
			t.pressAny("Resume")
			t.pressAny("Retry")
			pause(100 * time.Millisecond)
		}
		if try == 0 {
			t.insist(text, began)
		}
	}
	t.soak.problem("%s/%s: no answer to %q:%s", t.platform.Name(), t.chat, text, t.lately())
}

// lately is the end of the chat, with what was deleted.
func (t *talk) lately() string {
	var chat strings.Builder
	list := t.platform.World().Everything(t.chat, "*")
	for _, m := range list[max(0, len(list)-12):] {
		fmt.Fprintf(&chat, "\n    %s %s %s deleted=%v edited=%s %q %v", m.At.Format("15:04:05.000"), m.ID, m.From.Name, m.Deleted, m.EditedAt.Format("15:04:05.000"), m.Text, m.Buttons)
	}
	return chat.String()
}

// insist is what a person does who gets no answer, for a reason that no bot can do anything about.
// Telegram: a post whose outcome is unknown counts as sent, and /retry delivers it again (S3).
// Slack: after three refused deliveries an event does not come any more.
func (t *talk) insist(text string, began time.Time) {
	switch t.platform.Name() {
	case "telegram":
		if t.direct {
			t.soak.count("asked again")
			if err := t.platform.Command(sim.CommandUse{Chat: t.chat, Person: t.person, Name: "retry"}); err != nil {
				t.soak.problem("retry: %v", err)
			}
		}
	case "slack":
		for _, c := range t.platform.World().Calls(sim.OpAck) {
			if c.Error == slack.GivenUp && c.Chat == t.chat && c.At.After(began) {
				t.soak.count("given up by Slack")
				if _, err := t.platform.Say(sim.Say{Chat: t.chat, Person: t.person, Text: text, Mention: !t.direct}); err != nil {
					t.soak.problem("slack: %v", err)
				}
				return
			}
		}
	}
}

// pressAny presses a button with this label that stands in the person's direct chat, or in a
// group under what was asked; others press it as well there.
func (t *talk) pressAny(label string) {
	for _, m := range sim.FromBot(t.platform.World().Messages(t.chat, "*")) {
		if data, ok := buttonOf(m, label); ok && !strings.Contains(m.Text, "Stopped") {
			t.soak.count(label)
			_ = t.platform.Press(t.chat, t.person, m.ID, data) // it may be gone by now
			pause(500 * time.Millisecond)
			return
		}
	}
}

// awaitStop stops the run as soon as there is a button, and waits until the chat says so.
func (t *talk) awaitStop(text string) {
	began := time.Now()
	pressed := map[string]bool{}
	for time.Since(began) < answerLimit {
		for _, m := range sim.FromBot(t.platform.World().Messages(t.chat, "*")) {
			if stands(m).Before(began) {
				continue
			}
			if strings.Contains(m.Text, "Stopped after") || strings.Contains(m.Text, "Interrupted") {
				t.soak.count("stops")
				return
			}
			if data, ok := buttonOf(m, "Stop"); ok && !pressed[m.ID] {
				pressed[m.ID] = t.platform.Press(t.chat, t.person, m.ID, data) == nil
			}
		}
		pause(100 * time.Millisecond)
	}
	t.soak.problem("%s/%s: %q was not stopped:%s", t.platform.Name(), t.chat, text, t.lately())
}

// checkGhost looks for an indicator beside an answer: none may show but by a pulse that was in
// flight when the run ended (T8).
func (t *talk) checkGhost(answered time.Time) {
	if !t.direct {
		return
	}
	pause(700 * time.Millisecond) // for a late pulse to show
	world := t.platform.World()
	if t.platform.Name() == "slack" { // a clear that fails is tried again
		for end := answered.Add(10 * time.Second); time.Now().Before(end); pause(50 * time.Millisecond) {
			if on, _ := world.Typing(t.chat, ""); !on {
				return
			}
		}
	}
	for _, show := range world.Timeline(t.chat, "") {
		if show.Start.Before(answered) && !show.End.After(answered.Add(20*time.Millisecond)) || show.Start.After(time.Now()) {
			continue
		}
		late := false
		for _, c := range world.Calls(sim.OpPulse) {
			carried := c.At.Add(c.Took)
			late = late || c.Chat == t.chat && c.At.Before(answered.Add(20*time.Millisecond)) && carried.After(answered.Add(-100*time.Millisecond))
		}
		if late {
			t.soak.count("pulses that came late")
			continue
		}
		t.soak.problem("%s/%s: the indicator shows from %v to %v beside the answer of %v (%s)", t.platform.Name(), t.chat,
			show.Start.Format("15:04:05.000"), show.End.Format("15:04:05.000"), answered.Format("15:04:05.000"), show.Why)
	}
}
