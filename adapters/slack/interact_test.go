package slack

import (
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"typist/adapters"
	"typist/adapters/rich"
	"typist/adapters/sim"
	simslack "typist/adapters/sim/slack"
)

func slackError(code string) error { return slack.SlackErrorResponse{Err: code} }

func TestC8_SlashCommands(t *testing.T) {
	for _, c := range []struct{ name, args, wantName, wantArgs string }{
		{"stop", "", "stop", ""},
		{"typing", "thinking  4", "typing", "thinking  4"},
		{"typist", "status", "status", ""},
		{"typist", "/view detail", "view", "detail"},
		{"typist", "", "help", ""},
		{"new", "a < b & @bob", "new", "a < b & @Bob"},
	} {
		in(t, func(t *testing.T) {
			r := newRig(t, simslack.Options{})
			r.run()
			if err := r.sim.Command(sim.CommandUse{Chat: simslack.General, Person: simslack.Bob, Name: c.name, Args: c.args}); err != nil {
				t.Fatal(err)
			}
			r.tick()
			cmd := one[adapters.Command](r)
			if cmd.Name != c.wantName || cmd.Args != c.wantArgs || cmd.Chat != channel || cmd.From.ID != simslack.Bob || cmd.Target != "" {
				t.Errorf("/%s %s: got %+v", c.name, c.args, cmd)
			}
			if cmd.Answer == nil {
				t.Fatal("no way to answer")
			}
			if err := cmd.Answer(adapters.Post{Doc: rich.Parse("**nothing** runs <!channel>"), Buttons: [][]adapters.Button{{{Text: "Retry", Data: "retry:1"}}}}); err != nil {
				t.Fatal(err)
			}
			m := last(t, r, channel)
			if m.Private != simslack.Bob || m.Text != "nothing runs <!channel>" || len(m.Pings) > 0 || len(m.Buttons) != 1 {
				t.Errorf("answered %+v", m)
			}
			if err := r.sim.Press(channel.ID, simslack.Bob, m.ID, "retry:1"); err != nil {
				t.Fatal(err)
			}
			r.tick() // it is acknowledged before it is delivered
			if p := one[adapters.Press](r); p.Data != "retry:1" || p.ID != "" {
				t.Errorf("pressed below an answer only one sees: %+v", p)
			}
		})
	}
}

func TestC8_AnswerWithRefusedBlocks(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{RefuseBlocks: []string{"rich_text"}})
		r.run()
		if err := r.sim.Command(sim.CommandUse{Chat: simslack.DM, Person: simslack.Ann, Name: "help"}); err != nil {
			t.Fatal(err)
		}
		r.tick()
		cmd := one[adapters.Command](r)
		if cmd.Kind != adapters.Direct {
			t.Errorf("got %+v", cmd)
		}
		if err := cmd.Answer(adapters.Post{Doc: rich.Parse("**help**")}); err != nil {
			t.Fatal(err)
		}
		if m := last(t, r, direct); m.Text != "help" {
			t.Errorf("answered %+v", m)
		}
	})
}

// Slack answers 404 once the address is used up; the address itself is a secret.
func TestC8_AnswerAddressIsSecret(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		if err := r.sim.Command(sim.CommandUse{Chat: simslack.DM, Person: simslack.Ann, Name: "help"}); err != nil {
			t.Fatal(err)
		}
		r.tick()
		cmd := one[adapters.Command](r)
		<-time.After(time.Hour)
		err := cmd.Answer(adapters.Post{Doc: rich.Plain("late")})
		if err == nil || strings.Contains(err.Error(), "/respond/") {
			t.Errorf("got %v", err)
		}
		r.sim.Disconnect(time.Minute)
		err = cmd.Answer(adapters.Post{Doc: rich.Plain("later")})
		if err == nil || strings.Contains(err.Error(), "/respond/") {
			t.Errorf("got %v", err)
		}
	})
}

func TestC8_CommandAsTextInAThread(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		chat, head := r.thread()
		for _, text := range []string{"@typist stop", "@typist: stop", "@typist, stop"} {
			r.say(sim.Say{Chat: chat.ID, Person: simslack.Bob, Text: text, Thread: head})
			if m := one[adapters.Message](r); m.Text != "stop" || !m.Mentioned || m.Chat != chat {
				t.Errorf("%q: got %+v", text, m)
			}
		}
	})
}

func TestS8_MessageShortcut(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		chat, head := r.thread()
		answer := r.send(chat, "answer")
		top := r.send(channel, "good morning")
		for _, c := range []struct {
			target string
			want   adapters.Chat
		}{{head, chat}, {answer.ID, chat}, {top.ID, channel}} {
			if err := r.sim.Command(sim.CommandUse{Chat: channel.ID, Person: simslack.Ann, Name: "Branch", Target: c.target}); err != nil {
				t.Fatal(err)
			}
			r.tick()
			cmd := one[adapters.Command](r)
			if cmd.Name != "branch" || cmd.Target != c.target || cmd.Chat != c.want || cmd.From.ID != simslack.Ann {
				t.Errorf("got %+v, want chat %+v", cmd, c.want)
			}
		}
	})
}

// A pressed button is acknowledged before anything else, even where storing it fails.
func TestS2_PressIsAcknowledgedAtOnce(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		chat, _ := r.thread()
		ref, err := r.a.Send(t.Context(), chat, adapters.Post{Doc: rich.Plain("Working…"), Buttons: [][]adapters.Button{{{Text: "Stop", Data: "stop:run1"}}}})
		if err != nil {
			t.Fatal(err)
		}
		r.sink.slow(time.Second)
		start := time.Now()
		if err := r.sim.Press(chat.ID, simslack.Bob, ref.ID, "stop:run1"); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 100*time.Millisecond {
			t.Errorf("acknowledged after %s", took)
		}
		<-time.After(2 * time.Second)
		if p := one[adapters.Press](r); p.ID != ref.ID || p.Data != "stop:run1" || p.Chat != chat || p.From.ID != simslack.Bob {
			t.Errorf("got %+v", p)
		}
	})
}

func TestC6_PressOnAPostInTheChannel(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		ref, err := r.a.Send(t.Context(), channel, adapters.Post{Doc: rich.Plain("news"), Buttons: [][]adapters.Button{{{Text: "Details", Data: "details:1"}}}})
		if err != nil {
			t.Fatal(err)
		}
		r.say(sim.Say{Chat: channel.ID, Person: simslack.Ann, Text: "a reply", Thread: ref.ID})
		r.sink.all()
		if err := r.sim.Press(channel.ID, simslack.Ann, ref.ID, "details:1"); err != nil {
			t.Fatal(err)
		}
		r.tick()
		if p := one[adapters.Press](r); p.Chat != channel {
			t.Errorf("got %+v", p)
		}
	})
}
