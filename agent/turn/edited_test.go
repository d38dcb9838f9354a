package turn

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
)

// TestS7_OnlyAChangedTextCounts: what the platform changes by itself, commands, empty texts, late
// edits and messages that the bot did not answer do nothing.
func TestS7_OnlyAChangedTextCounts(t *testing.T) {
	for _, c := range []struct {
		name   string
		to     string
		wait   time.Duration
		set    func(*Settings)
		branch bool
		says   string
	}{
		{"changed", "uno", 0, nil, true, ""},
		{"the same", "one", 0, nil, false, ""},
		{"a command", "/stop", 0, nil, false, ""},
		{"empty", "  ", 0, nil, false, ""},
		{"edits ignored", "uno", 0, func(s *Settings) { s.OnEdit = EditIgnore }, false, ""},
		{"in the window", "uno", time.Minute, func(s *Settings) { s.EditWindow = 5 * time.Minute }, true, ""},
		{"too late", "uno", 10 * time.Minute, func(s *Settings) { s.EditWindow = 5 * time.Minute }, false, "Your edit came too late"},
		{"the same, too late", "one", 10 * time.Minute, func(s *Settings) { s.EditWindow = 5 * time.Minute }, false, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: backendFunc(echo), settings: c.set})
			id := b.write("dm", "one")
			after(3*time.Second + c.wait)
			b.edit("dm", id, c.to)
			after(5 * time.Second)
			if got := strings.Contains(b.text("dm"), "[2/2]"); got != c.branch {
				t.Errorf("%s: branched %t:\n%s", c.name, got, b.text("dm"))
			}
			if c.says != "" {
				b.want("dm", c.says)
			} else if n := len(b.bot("dm")); n != 1 {
				t.Errorf("%s: %d messages", c.name, n)
			}
		})
	}
}

// TestS7_AnUnansweredMessage that is edited is none of the bot's business.
func TestS7_AnUnansweredMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(echo), settings: func(s *Settings) {
			c := s.Channels["telegram"]
			c.Groups = map[string]Group{"*": {RequireMention: true}}
			s.Channels["telegram"] = c
		}})
		id := b.write("room", "to somebody else")
		after(time.Second)
		b.edit("room", id, "to somebody else!")
		after(5 * time.Second)
		if got := b.bot("room"); len(got) != 0 {
			t.Errorf("got %q", got)
		}
	})
}

// TestS7_AReplyIsComparedWithoutItsQuote, and keeps it.
func TestS7_AReplyIsComparedWithoutItsQuote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(echo)})
		id := b.write("dm", "and this?", func(m *adapters.Message) { m.ReplyTo = &adapters.Reply{ID: "0", Text: "first\n\nsecond"} })
		after(3 * time.Second)
		b.want("dm", "u=> first", "> second", "and this?")
		b.edit("dm", id, "and this?")
		after(3 * time.Second)
		b.wantNot("dm", "[2/2]")
		b.edit("dm", id, "and that?")
		after(3 * time.Second)
		b.want("dm", "u=> first", "> second", "and that? [◀] [2/2]")
	})
}

// TestS7_OneOfSeveralMessages that became one turn: the others stay as they are.
func TestS7_OneOfSeveralMessages(t *testing.T) {
	for _, running := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var got []string
			b := start(t, setup{settings: func(s *Settings) { s.Queue = Collect }, backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
				got = texts([]agent.Message{req.History[len(req.History)-1]})
				return working(5*time.Second, "Answer to "+strings.Join(got, "+"))(ctx, req, emit)
			})})
			b.write("dm", "first")
			after(time.Second)
			two := b.write("dm", "two")
			b.write("dm", "three")
			after(7 * time.Second)
			if !slices.Equal(got, []string{"two", "three"}) {
				t.Fatalf("collected %q", got)
			}
			if !running {
				after(10 * time.Second)
			}
			b.edit("dm", two, "two") // changes nothing
			after(time.Second)
			b.edit("dm", two, "TWO")
			after(15 * time.Second)
			if !slices.Equal(got, []string{"TWO", "three"}) {
				t.Errorf("running %t: after the edit the turn is %q", running, got)
			}
			b.want("dm", "Answer to TWO+three")
			b.wantNot("dm", "Answer to two+three", "3/3")
		})
	}
}

// TestS7_AWaitingMessageJustGetsItsNewText.
func TestS7_AWaitingMessageJustGetsItsNewText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(byText)})
		b.write("dm", "5 first")
		after(time.Second)
		id := b.write("dm", "2 second")
		after(time.Second)
		b.edit("dm", id, "1 SECOND")
		after(20 * time.Second)
		b.want("dm", "Answer to 1 SECOND")
		b.wantNot("dm", "Answer to 2 second", "[2/2]")
		for _, m := range b.chat.world.Messages("dm", "*") {
			if len(m.Reactions) > 0 {
				t.Errorf("%q still shows that it waits", m.Text)
			}
		}
	})
}

// TestS7_TheAnswerIsAReplyAndTheOldOneGoes, or shrinks to one line where it can't.
func TestS7_TheAnswerIsAReplyAndTheOldOneGoes(t *testing.T) {
	for _, deletes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: backendFunc(echo)})
			b.chat.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) {
				return map[bool]error{true: adapters.ErrTooOld}[!deletes && op == sim.OpDelete], false
			}
			id := b.write("dm", "one")
			after(3 * time.Second)
			old := sim.FromBot(b.chat.world.Messages("dm", "*"))[0].ID
			b.write("dm", "more")
			after(3 * time.Second)
			b.edit("dm", id, "uno")
			after(5 * time.Second)
			msgs := sim.FromBot(b.chat.world.Messages("dm", "*"))
			answer := msgs[len(msgs)-1]
			if answer.ReplyTo != id || answer.Text != "Answer to u=uno" {
				t.Errorf("the answer %q replies to %q", answer.Text, answer.ReplyTo)
			}
			m, _ := b.chat.world.Message("dm", old)
			if deletes != m.Deleted || !deletes && m.Text != "—" {
				t.Errorf("the old answer: deleted %t, %q", m.Deleted, m.Text)
			}
			b.want("dm", "more")
		})
	}
}

// TestS7_EditAgain and again, also after the shown version was switched: one answer stands.
func TestS7_EditAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(echo)})
		id := b.write("dm", "one")
		after(3 * time.Second)
		b.edit("dm", id, "two")
		after(5 * time.Second)
		b.press("dm", "◀")
		after(3 * time.Second)
		b.want("dm", "Answer to u=one [1/2] [▶]")
		b.edit("dm", id, "three")
		after(5 * time.Second)
		if got := b.bot("dm"); len(got) != 1 || got[0] != "Answer to u=three" {
			t.Errorf("got %q", got)
		}
		b.want("dm", "[3/3]")
	})
}

// TestS7_S3_AnEditLeavesARetryThatWaits alone: both are about the same message.
func TestS7_S3_AnEditLeavesARetryThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			if n++; n == 1 {
				return &agent.Failure{Kind: agent.Overloaded}
			}
			return working(5*time.Second, "Answer to "+textOf(req.History[len(req.History)-1]))(ctx, req, emit)
		})})
		id := b.write("dm", "one")
		after(2 * time.Second)
		b.write("dm", "long")
		after(2 * time.Second)
		b.press("dm", "Retry")
		after(time.Second)
		b.edit("dm", id, "uno")
		b.edit("dm", id, "UNO")
		after(time.Minute)
		b.want("dm", "Answer to long", "Answer to UNO")
		b.settled(t)
	})
}

// TestS3_WhatCanNeverBegin holds nothing up.
func TestS3_WhatCanNeverBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: answering(time.Second, "Hello")})
		b.hub.log = slog.New(slog.DiscardHandler)
		in := input{Kind: "retry", From: "nothing", Message: adapters.Message{Origin: b.origin("dm")}}
		if err := b.hub.accept(t.Context(), in, time.Now()); err != nil {
			t.Fatal(err)
		}
		after(5 * time.Second)
		b.write("dm", "hi")
		after(5 * time.Second)
		b.want("dm", "There is nothing to retry here.", "typist: Hello")
		b.settled(t)
	})
}
