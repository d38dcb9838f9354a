package turn

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
)

// TestS8_SwitchingAnswersOfDifferentLength: the answer is edited in place whatever the number of
// its messages, back and forth, and after a restart.
func TestS8_SwitchingAnswersOfDifferentLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f := newFake("telegram")
		f.limit = 60
		n := 0
		long := "Long part one of this answer, which is here.\n\nLong part two of this answer, which is here.\n\nLong part three of this answer, here."
		backend := backendFunc(func(_ context.Context, _ agent.Request, emit func(agent.Event)) error {
			if n++; n == 1 {
				say(emit, "1", long)
				return nil
			}
			say(emit, "1", fmt.Sprint("Short ", n))
			return nil
		})
		b := start(t, setup{fake: f, backend: backend, store: openStore(t, dir)})
		id := b.write("dm", "go")
		after(20 * time.Second)
		b.edit("dm", id, "go again")
		after(20 * time.Second)
		short := func() {
			t.Helper()
			if got := b.bot("dm"); len(got) != 1 || got[0] != "Short 2" {
				t.Errorf("the short version: %q", got)
			}
			b.want("dm", "Short 2 [◀] [2/2]")
		}
		whole := func() {
			t.Helper()
			if got := b.bot("dm"); len(got) != 3 || strings.Join(got, "\n\n") != long {
				t.Errorf("the long version: %q", got)
			}
			b.want("dm", "here. [1/2] [▶]")
			if strings.Count(b.text("dm"), "[1/2]") != 1 {
				t.Errorf("buttons:\n%s", b.text("dm"))
			}
		}
		short()
		first := sim.FromBot(b.chat.world.Messages("dm", "*"))[0].ID
		b.press("dm", "◀")
		after(10 * time.Second)
		whole()
		if now := sim.FromBot(b.chat.world.Messages("dm", "*"))[0].ID; now != first {
			t.Error("the answer was not edited in place")
		}
		b.press("dm", "▶")
		after(10 * time.Second)
		short()
		b.press("dm", "◀")
		after(10 * time.Second)
		b.shut()
		_ = b.store.Close()
		f = f.again()
		f.limit = 60
		b = start(t, setup{fake: f, backend: backend, store: openStore(t, dir)})
		whole()
		b.press("dm", "▶")
		after(10 * time.Second)
		short()
	})
}

// TestS8_TheLeafMoves with the shown version, durably.
func TestS8_TheLeafMovesAndSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f := newFake("telegram")
		b := start(t, setup{fake: f, backend: backendFunc(echo), store: openStore(t, dir)})
		id := b.write("dm", "one")
		after(3 * time.Second)
		b.edit("dm", id, "uno")
		after(5 * time.Second)
		b.press("dm", "◀")
		after(3 * time.Second)
		b.shut()
		_ = b.store.Close()
		b = start(t, setup{fake: f.again(), backend: backendFunc(echo), store: openStore(t, dir)})
		b.write("dm", "next")
		after(3 * time.Second)
		b.want("dm", "u=one | a=Answer to u=one | u=next")
	})
}

// TestS8_NoSwitchWhileARunIsInWork: the chat's branch is fixed then, and the person is told.
func TestS8_NoSwitchWhileARunIsInWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			if textOf(req.History[len(req.History)-1]) == "long" {
				return working(20*time.Second, "Done.")(ctx, req, emit)
			}
			return echo(ctx, req, emit)
		})})
		id := b.write("dm", "one")
		after(3 * time.Second)
		b.edit("dm", id, "uno")
		after(5 * time.Second)
		b.write("dm", "long")
		after(3 * time.Second)
		b.press("dm", "◀")
		after(2 * time.Second) // a note that still waits is said once
		b.write("dm", "/branch", func(m *adapters.Message) { m.ReplyTo = &adapters.Reply{ID: id} })
		after(5 * time.Second)
		if n := strings.Count(b.text("dm"), "Something runs here."); n != 2 {
			t.Errorf("told %d times:\n%s", n, b.text("dm"))
		}
		b.want("dm", "u=uno [◀] [2/2]")
	})
}

// TestS8_BranchFromAnEarlierMessage: as a reply, or by a shortcut on a message; the next message
// goes on from there.
func TestS8_BranchFromAnEarlierMessage(t *testing.T) {
	for _, by := range []string{"reply to the question", "reply to the answer", "shortcut"} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: backendFunc(echo)})
			id := b.write("dm", "one")
			after(3 * time.Second)
			answer := sim.FromBot(b.chat.world.Messages("dm", "*"))[0].ID
			b.write("dm", "two")
			after(3 * time.Second)
			switch by {
			case "shortcut":
				var said string
				b.deliver(adapters.Command{Origin: b.origin("dm"), Name: "branch", Target: answer, Answer: func(p adapters.Post) error { said = show(p); return nil }})
				after(time.Second)
				if said != "Your next message goes on from there." {
					t.Errorf("said %q", said)
				}
			default:
				if by == "reply to the question" {
					answer = id
				}
				b.write("dm", "/branch", func(m *adapters.Message) { m.ReplyTo = &adapters.Reply{ID: answer} })
				after(2 * time.Second)
				b.want("dm", "Your next message goes on from there.")
			}
			b.write("dm", "three")
			after(5 * time.Second)
			b.want("dm", "Answer to u=one | a=Answer to u=one | u=three")
		})
	}
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(echo)})
		b.write("dm", "/branch")
		b.write("dm", "/branch", func(m *adapters.Message) { m.ReplyTo = &adapters.Reply{ID: "nobody's"} })
		after(3 * time.Second)
		b.want("dm", "reply to it with /branch", "I don't know that message")
	})
}
