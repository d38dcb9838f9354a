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
	"typist/agent/store"
)

// waitingSigns counts the reactions that stand.
func (b *bench) waitingSigns() (n int) {
	for _, chat := range []string{"dm", "room"} {
		for _, m := range b.chat.world.Messages(chat, "*") {
			n += len(m.Reactions)
		}
	}
	return n
}

// TestS10_Modes: what becomes of messages that come while a run is in work.
func TestS10_Modes(t *testing.T) {
	for _, c := range []struct {
		queue  Queue
		steers bool
		asked  string
		signs  int // while the first run is in work
	}{
		{Followup, false, "4 a|1 b|1 c", 2},
		{Collect, false, "4 a|1 b+1 c", 2},
		{Interrupt, false, "4 a|1 b|1 c", 0},
		{Steer, false, "4 a|1 b|1 c", 2}, // followup where it can't
		{Steer, true, "4 a", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			var asked []string
			run := backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
				got := strings.Join(texts([]agent.Message{req.History[len(req.History)-1]}), "+")
				asked = append(asked, got)
				return working(time.Duration(got[0]-'0')*time.Second, "Answer to "+got)(ctx, req, emit)
			})
			s := setup{backend: run, settings: func(s *Settings) { s.Queue = c.queue }}
			var given []string
			if c.steers {
				s.backend = steering{run, &given}
			}
			b := start(t, s)
			b.write("dm", "4 a")
			after(time.Second)
			b.write("dm", "1 b")
			if c.queue == Interrupt {
				after(200 * time.Millisecond)
			}
			b.write("dm", "1 c")
			after(200 * time.Millisecond)
			if n := b.waitingSigns(); n != c.signs {
				t.Errorf("%s, steers %t: %d signs", c.queue, c.steers, n)
			}
			after(time.Minute)
			if got := strings.Join(asked, "|"); got != c.asked {
				t.Errorf("%s, steers %t: asked %q", c.queue, c.steers, got)
			}
			if n := b.waitingSigns(); n != 0 {
				t.Errorf("%s: %d signs are left", c.queue, n)
			}
			if c.queue == Interrupt {
				b.wantNot("dm", "Answer to 4 a", "Answer to 1 b")
			}
			b.wantNot("dm", "Working…", "Stopped", "Stopping…", "[Stop]")
			if c.steers && strings.Join(given, "|") != "1 b|1 c" {
				t.Errorf("handed over %q", given)
			}
			if n, err := b.store.CountWaiting(t.Context(), "telegram/dm"); n != 0 || err != nil {
				t.Errorf("%s: %d wait: %v", c.queue, n, err)
			}
		})
	}
}

// steering is a backend that takes messages in mid-run.
type steering struct {
	backendFunc
	given *[]string
}

func (s steering) Steer(ctx context.Context, _ string, msg agent.Message) (bool, error) {
	if textOf(msg) == "1 b" { // the first one takes longer
		waitFor(ctx, 100*time.Millisecond)
	}
	*s.given = append(*s.given, textOf(msg))
	return true, nil
}

// TestS10_Cap: the twenty-first message that would wait is refused in words; the others are
// answered, in order.
func TestS10_Cap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			asked = append(asked, textOf(req.History[len(req.History)-1]))
			return working(30*time.Second, "Done.")(ctx, req, emit)
		}), settings: func(s *Settings) {
			s.NotifyAfter = time.Hour
			mode(1)(s)
		}})
		for i := range 22 {
			b.write("dm", fmt.Sprintf("m%02d", i))
			after(2500 * time.Millisecond / 22)
		}
		after(20 * time.Second)
		b.want("dm", "20 messages wait already.")
		after(30 * time.Minute)
		if len(asked) != 21 {
			t.Fatalf("%d runs", len(asked))
		}
		for i, a := range asked {
			if a != fmt.Sprintf("m%02d", i) {
				t.Errorf("run %d is for %s", i, a)
			}
		}
	})
}

// TestS10_SeveralAtOnce: all but the first show that they wait, though they came before it began.
func TestS10_SeveralAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: working(10*time.Second, "Done.")})
		l := newLane(b.hub, b.hub.channels["telegram"], adapters.Chat{Channel: "telegram", ID: "dm"}, adapters.Direct)
		for i := range 3 {
			id := b.chat.world.NextID()
			m := adapters.Message{Origin: b.origin("dm"), ID: fmt.Sprint(id), Text: "hi"}
			b.chat.world.Post(simMessage{ID: m.ID, Chat: "dm", From: sim.Person{ID: "ann"}, Text: m.Text})
			in := input{Message: m, Kind: store.InputMessage}
			row := store.Input{EventID: m.EventID, Chat: m.Chat.Key(), MessageID: m.ID, Kind: in.Kind, Payload: in.payload()}
			var err error
			if row.ID, _, err = b.store.Accept(t.Context(), row); err != nil {
				t.Fatal(i, err)
			}
			l.mail.put(inputArrived{row: row, message: m})
		}
		b.hub.mu.Lock()
		b.hub.lanes[l.chat] = l
		b.hub.mu.Unlock()
		b.hub.go_(l.loop)
		after(3 * time.Second)
		if n := b.waitingSigns(); n != 2 {
			t.Errorf("%d signs", n)
		}
		after(time.Minute)
		if n := b.waitingSigns(); n != 0 || len(b.bot("dm")) != 3 {
			t.Errorf("%d signs are left, %q", n, b.bot("dm"))
		}
	})
}

// TestS10_ALetterThatComesLate, after the lane has found its row, marks nothing and interrupts
// nothing.
func TestS10_ALetterThatComesLate(t *testing.T) {
	for _, queue := range []Queue{Followup, Interrupt} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: working(10*time.Second, "Done."), settings: func(s *Settings) { s.Queue = queue }})
			id := b.write("dm", "hi")
			after(time.Second)
			rows, err := b.store.Unfinished(t.Context())
			if err != nil || len(rows) != 1 {
				t.Fatal(rows, err)
			}
			chat := adapters.Chat{Channel: "telegram", ID: "dm"}
			b.hub.tell(chat, adapters.Direct, inputArrived{row: rows[0], message: adapters.Message{ID: id}})
			after(time.Second)
			if n := b.waitingSigns(); n != 0 {
				t.Errorf("%s: %d signs on a message that runs", queue, n)
			}
			after(20 * time.Second)
			b.want("dm", "Done.")
		})
	}
}

// noReactions hides a fake's reactions.
type noReactions struct {
	adapters.Adapter
	adapters.Editor
	adapters.Deleter
	adapters.Indicator
}

// TestS10_ANoteWhereThereAreNoReactions, or where the chat refuses them; it goes when the message's
// turn comes.
func TestS10_ANoteWhereThereAreNoReactions(t *testing.T) {
	for _, refused := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake("telegram")
			s := setup{fake: f, backend: backendFunc(byText)}
			if refused {
				f.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) {
					return map[bool]error{true: adapters.ErrDenied}[op == sim.OpReact], false
				}
			} else {
				f.caps.ReactionsOnInput = false
				s.adapter = noReactions{f, f, f, f}
			}
			b := start(t, s)
			b.write("dm", "5 first")
			after(2 * time.Second)
			id := b.write("dm", "3 second")
			after(time.Second)
			b.want("dm", "Noted. 1 message comes before yours.")
			for _, m := range sim.FromBot(b.chat.world.Messages("dm", "*")) {
				if strings.HasPrefix(m.Text, "Noted") && (!m.Silent || m.ReplyTo != id) {
					t.Errorf("the note: silent %t, reply to %q", m.Silent, m.ReplyTo)
				}
			}
			after(20 * time.Second)
			b.wantNot("dm", "Noted.")
			b.want("dm", "Answer to 3 second")
		})
	}
}

// TestS10_ASlowReaction: the sign does not land after it was taken away.
func TestS10_ASlowReaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("telegram")
		f.slow = 2 * time.Second
		b := start(t, setup{fake: f, backend: working(1500*time.Millisecond, "Done.")})
		b.write("dm", "one")
		after(time.Second)
		b.write("dm", "two")
		after(time.Minute)
		if n := b.waitingSigns(); n != 0 {
			t.Errorf("%d signs are left", n)
		}
	})
}
