package turn

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
)

// posting remembers the posts as they were sent.
type posting struct {
	*fake
	sent *[]adapters.Post
}

func newPosting(name string) posting { return posting{newFake(name), &[]adapters.Post{}} }

func (p posting) Send(ctx context.Context, chat adapters.Chat, post adapters.Post) (adapters.Ref, error) {
	*p.sent = append(*p.sent, post)
	return p.fake.Send(ctx, chat, post)
}

// TestP12_NewMessageOrEdit: where an indicator may still show and can't be cleared, and after a long
// run, the answer is a new message; else the progress message becomes it.
func TestP12_NewMessageOrEdit(t *testing.T) {
	for _, c := range []struct {
		name    string
		slack   bool // clears
		never   bool // no indicator showed
		take    time.Duration
		fresh   bool   // the answer is a new message
		summary string // what the progress message became; "" = deleted, or the answer
	}{
		{"Telegram, short", false, false, 5 * time.Second, true, ""},
		{"Telegram, short, no indicator", false, true, 5 * time.Second, false, ""},
		{"Telegram, long", false, false, 20 * time.Second, true, "Worked for 20s · 1 step"},
		{"Telegram, long, no indicator", false, true, 20 * time.Second, true, "Worked for 20s · 1 step"},
		{"Slack, short", true, false, 5 * time.Second, false, ""},
		{"Slack, long", true, false, 20 * time.Second, true, "Worked for 20s · 1 step"},
		{"Slack, exactly the limit", true, false, 15 * time.Second, false, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := setup{backend: working(c.take, "Done."), settings: mode(0)}
			if c.never {
				s.settings = mode(1)
			}
			if c.slack {
				k := newClearing("slack")
				s.fake, s.adapter = k.fake, k
			}
			b := start(t, s)
			b.write("dm", "hi")
			after(3 * time.Second)
			first := sim.FromBot(b.chat.world.Messages("dm", "*"))[0]
			after(time.Minute)
			now := sim.FromBot(b.chat.world.Messages("dm", "*"))
			answer := now[len(now)-1]
			if answer.Text != "Done." || (answer.ID != first.ID) != c.fresh {
				t.Errorf("%s: a new message: %t, %q", c.name, answer.ID != first.ID, b.bot("dm"))
			}
			if c.summary == "" && len(now) != 1 || c.summary != "" && (len(now) != 2 || now[0].Text != c.summary || now[0].ID != first.ID) {
				t.Errorf("%s: %q", c.name, b.bot("dm"))
			}
			if c.fresh && answer.Silent {
				t.Errorf("%s: the answer does not notify", c.name)
			}
			if len(answer.Buttons) > 0 {
				t.Errorf("%s: buttons %v", c.name, answer.Buttons)
			}
			b.noGhost(t, "dm")
		})
	}
}

// TestP12_WhatNotifies: answers do, progress messages, notes and answers to commands don't; on
// Discord the answer to a long run is a reply that pings.
func TestP12_WhatNotifies(t *testing.T) {
	for _, c := range []struct {
		name  string
		take  time.Duration
		pings bool
		reply bool
	}{{"discord", 5 * time.Second, true, false}, {"discord", 20 * time.Second, true, true}, {"telegram", 20 * time.Second, false, false}} {
		synctest.Test(t, func(t *testing.T) {
			f := newPosting(c.name)
			f.caps.PingReplies = c.pings
			b := start(t, setup{fake: f.fake, adapter: f, backend: working(c.take, "Done.")})
			id := b.write("dm", "hi")
			after(time.Second)
			b.write("dm", "/status")
			after(time.Minute)
			for _, p := range *f.sent {
				answer := show(p) == "Done."
				if p.Silent == answer {
					t.Errorf("%s: silent %t: %q", c.name, p.Silent, show(p))
				}
				if answer && (p.Ping != c.reply || (p.ReplyTo == id) != c.reply) {
					t.Errorf("%s after %v: ping %t, reply to %q", c.name, c.take, p.Ping, p.ReplyTo)
				}
				if !answer && p.Ping {
					t.Errorf("%s: %q pings", c.name, show(p))
				}
			}
		})
	}
}

// TestP12_GroupsGetReplies: progress and answer answer their question there.
func TestP12_GroupsGetReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newPosting("telegram")
		b := start(t, setup{fake: f.fake, adapter: f, backend: working(5*time.Second, "Done.")})
		id := b.write("room", "hi", mentioned)
		after(time.Minute)
		if len(*f.sent) != 2 {
			t.Fatalf("%d posts", len(*f.sent))
		}
		for _, p := range *f.sent {
			if p.ReplyTo != id {
				t.Errorf("%q replies to %q", show(p), p.ReplyTo)
			}
		}
	})
}

// TestP12_NoTextAtAll still leaves one message that does not say Working….
func TestP12_NoTextAtAll(t *testing.T) {
	for _, work := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
				if work {
					tool(ctx, emit, "t", "Bash", `{"command":"make"}`, 5*time.Second)
				}
				return nil
			})})
			b.write("dm", "hi")
			after(time.Minute)
			want := "Done. There is nothing to say."
			if work {
				want = "Worked for 5s · 1 step"
			}
			if got := b.bot("dm"); len(got) != 1 || got[0] != want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestP12_AnEditThatIsRefused makes the answer a message of its own, and the old one goes.
func TestP12_AnEditThatIsRefused(t *testing.T) {
	for _, err := range []error{adapters.ErrDenied, adapters.ErrInvalid, adapters.ErrTooOld, adapters.ErrGone} {
		synctest.Test(t, func(t *testing.T) {
			k := newClearing("slack")
			k.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) {
				return map[bool]error{true: err}[op == sim.OpEdit], false
			}
			b := start(t, setup{fake: k.fake, adapter: k, backend: working(5*time.Second, "Done.")})
			b.write("dm", "hi")
			after(time.Minute)
			got := b.bot("dm")
			if errors.Is(err, adapters.ErrGone) {
				got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "Bash") }) // it says that it is gone
			}
			if len(got) != 1 || got[0] != "Done." {
				t.Errorf("%v: %q", err, got)
			}
		})
	}
}

// TestP13_LongAnswersInParts: in order, all of them, code fences closed and reopened, whatever the
// pace and whichever message the first part takes.
func TestP13_LongAnswersInParts(t *testing.T) {
	text := "Begin.\n\n```go\n" + strings.Repeat("line of code\n", 30) + "```\n\n" + strings.Repeat("A sentence of the answer. ", 20) + "\n\nEnd."
	for _, slack := range []bool{true, false} {
		for _, failing := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				f := newFake("telegram")
				s := setup{fake: f, backend: working(5*time.Second, text)}
				if slack {
					k := newClearing("slack")
					f = k.fake
					s.fake, s.adapter = k.fake, k
				}
				f.limit = 200
				fails := 0
				f.fail = func(op sim.Op, _ adapters.Chat, text string) (error, bool) {
					if failing && op == sim.OpSend && strings.Contains(text, "line of code") && fails < 3 {
						fails++
						return adapters.ErrNeverSent, false
					}
					return nil, false
				}
				b := start(t, s)
				b.write("dm", "hi")
				after(3 * time.Minute)
				got := b.bot("dm")
				all := strings.Join(got, "\n")
				if !strings.HasPrefix(got[0], "Begin.") || !strings.HasSuffix(all, "End.") || strings.Count(all, "line of code") != 30 || strings.Count(all, "sentence") != 20 {
					t.Errorf("clears %t, failing %t: %q", slack, failing, got)
				}
				for _, part := range got {
					if len(part) > 200 {
						t.Errorf("a part of %d", len(part))
					}
				}
				if failing && fails == 0 {
					t.Error("nothing failed")
				}
			})
		}
	}
}

// TestP13_APartThatCantBeSent: the rest is not posted out of order, and /retry delivers the answer.
func TestP13_S3_APartThatCantBeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("telegram")
		f.limit = 60
		broken := true
		f.fail = func(op sim.Op, _ adapters.Chat, text string) (error, bool) {
			return map[bool]error{true: adapters.ErrInvalid}[broken && op == sim.OpSend && strings.Contains(text, "second")], false
		}
		b := start(t, setup{fake: f, backend: answering(time.Second, "The first part of this answer is here.\n\nThe second part of this answer is here.\n\nThe third part of this answer is here.")})
		b.write("dm", "hi")
		after(time.Minute)
		b.wantNot("dm", "third")
		broken = false
		b.write("dm", "/retry")
		after(time.Minute)
		b.want("dm", "first", "second", "third")
		if runs, err := b.store.RunsIn(t.Context(), "done"); len(runs) != 1 || runs[0].Failure != "" || err != nil {
			t.Errorf("runs %v, %v", runs, err)
		}
	})
}
