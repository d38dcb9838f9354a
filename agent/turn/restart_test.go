package turn

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
	"typist/agent/store"
)

// TestC5_ShutdownEndsRunsAsInterrupted within 10 s, edits their progress messages and says nothing
// of an error, whatever the backend makes of it.
func TestC5_ShutdownEndsRunsAsInterrupted(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
				say(emit, "0", "So far.")
				emit(agent.ToolCallStarted{ID: "t", Name: "Bash"})
				emit(agent.ToolCallEnded{ID: "t"})
				if deaf {
					ctx = context.WithoutCancel(ctx)
				}
				waitFor(ctx, time.Minute)
				return ctx.Err()
			})})
			b.hub.log = slog.New(slog.DiscardHandler)
			b.write("dm", "hi")
			b.write("room", "hi", mentioned)
			after(3 * time.Second)
			b.write("dm", "later")
			began := time.Now()
			b.shut()
			if took := time.Since(began); took > 10*time.Second || !deaf && took > 3*time.Second {
				t.Errorf("deaf %t: the shutdown took %v", deaf, took)
			}
			for _, chat := range []string{"dm", "room"} {
				b.want(chat, "Interrupted", "So far.", "[Resume]")
				b.wantNot(chat, "[Stop]", "Working…", "Bash")
			}
			if rows, err := b.store.Unfinished(t.Context()); len(rows) != 1 || rows[0].State != store.InputWaiting || err != nil {
				t.Errorf("deaf %t: unfinished %+v, %v", deaf, rows, err)
			}
			if err := b.chat.sink.Deliver(t.Context(), adapters.Message{Origin: b.origin("dm"), ID: "9", Text: "too late"}); err == nil {
				t.Error("a message was taken after the shutdown")
			}
			if deaf {
				after(time.Minute)
			}
		})
	}
}

// TestS9_IndicatorsOfTheLastProcessAreCleared where the platform can, and signs that a message waits.
func TestS9_IndicatorsAndSignsAreCleared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		c := newClearing("slack")
		b := start(t, setup{fake: c.fake, adapter: c, backend: working(time.Hour, ""), store: openStore(t, dir)})
		b.write("dm", "hi")
		after(3 * time.Second)
		b.write("dm", "later")
		after(time.Second)
		if !b.typing("dm") || b.waitingSigns() != 1 {
			t.Fatal("nothing to clear")
		}
		b.crash()
		next := clearing{c.again()}
		next.caps = c.caps
		b = start(t, setup{fake: next.fake, adapter: next, backend: answering(5*time.Second, "Answer."), store: openStore(t, dir)})
		after(20 * time.Second)
		b.want("dm", "Interrupted", "Answer.")
		if b.typing("dm") || b.waitingSigns() != 0 {
			t.Errorf("indicator %t, %d signs", b.typing("dm"), b.waitingSigns())
		}
	})
}

// TestS9_TheStatusIsClearedAtOnce, though nothing is posted that would take it away.
func TestS9_TheStatusIsClearedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		c := newClearing("slack")
		b := start(t, setup{fake: c.fake, adapter: c, backend: working(time.Hour, ""), store: openStore(t, dir)})
		b.write("dm", "hi")
		after(3 * time.Second)
		b.crash()
		if !b.typing("dm") {
			t.Fatal("nothing to clear")
		}
		next := clearing{c.again()}
		next.caps = c.caps
		b = start(t, setup{fake: next.fake, adapter: next, backend: answering(0, ""), store: openStore(t, dir)})
		after(2 * time.Second)
		if b.typing("dm") {
			t.Error("the last process's status stands")
		}
	})
}

// TestS9_NothingRunsByItself after a crash, and what waited is worked off in order.
func TestS9_NothingRunsByItselfAndTheOrderHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f := newFake("telegram")
		b := start(t, setup{fake: f, backend: working(time.Hour, ""), store: openStore(t, dir)})
		for _, text := range []string{"first", "second", "third"} {
			b.write("dm", text)
			after(2 * time.Second)
		}
		b.crash()
		var asked []string
		start(t, setup{fake: f.again(), store: openStore(t, dir), backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			asked = append(asked, textOf(req.History[len(req.History)-1]))
			return answering(time.Second, "Answer to "+asked[len(asked)-1])(ctx, req, emit)
		})})
		after(time.Minute)
		if got := strings.Join(asked, " "); got != "second third" {
			t.Errorf("asked %q", got)
		}
	})
}

// TestS9_TheFirstTryToEditFails: the orphan is taken care of later, by this process or the next.
func TestS9_TheFirstTryToEditFails(t *testing.T) {
	for _, err := range []error{adapters.ErrNeverSent, adapters.ErrUnknownOutcome, &adapters.RateLimitError{RetryAfter: 20 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			f := newFake("telegram")
			b := start(t, setup{fake: f, backend: working(time.Hour, ""), store: openStore(t, dir)})
			b.write("dm", "hi")
			after(3 * time.Second)
			b.crash()
			next := f.again()
			fails := 0
			next.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) {
				if op == sim.OpEdit && fails < 3 {
					fails++
					return err, false
				}
				return nil, false
			}
			b = start(t, setup{fake: next, backend: answering(0, ""), store: openStore(t, dir)})
			after(3 * time.Minute)
			if got := b.bot("dm"); len(got) != 1 || !strings.HasPrefix(got[0], "Interrupted") {
				t.Errorf("%v: %q", err, got)
			}
			b.want("dm", "[Resume]")
		})
	}
}

// TestS9_AnAnswerThatWasReady when the process died is delivered, once.
func TestS9_AnAnswerThatWasReady(t *testing.T) {
	for _, posted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			f := newFake("discord")
			keys := map[string]string{}
			die := false
			var b *bench
			f.fail = func(op sim.Op, _ adapters.Chat, text string) (error, bool) {
				if die {
					return adapters.ErrDenied, false
				}
				if die = op == sim.OpSend && strings.Contains(text, "Done."); die {
					_ = b.store.Close() // the process dies in mid-call
					return context.Canceled, posted
				}
				return nil, false
			}
			b = start(t, setup{fake: f, adapter: finding{f, keys}, backend: working(3*time.Second, "Done."), store: openStore(t, dir)})
			b.hub.log = slog.New(slog.DiscardHandler)
			b.write("dm", "hi")
			after(3 * time.Second)
			b.shut()
			next := f.again()
			b = start(t, setup{fake: next, adapter: finding{next, keys}, backend: answering(0, "never"), store: openStore(t, dir)})
			after(time.Minute)
			n := 0
			for _, m := range b.bot("dm") {
				if m == "Done." {
					n++
				}
			}
			if n != 1 {
				t.Errorf("posted before %t: %d copies: %q", posted, n, b.bot("dm"))
			}
			b.wantNot("dm", "Interrupted", "Bash", "[Stop]")
		})
	}
}

// TestC4_AChannelThatFails is started again; one that its platform refuses stops alone.
func TestC4_ChannelsFailAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("telegram")
		bad := &failing{fake: newFake("discord"), errs: []error{errors.New("cut"), errors.New("cut again"),
			&adapters.FatalError{Channel: "discord", Sentence: "The token is wrong: set channels.discord.botToken."}}}
		st := openStore(t, t.TempDir())
		hub, err := New(Options{Store: st, Events: nil, Channels: []adapters.Adapter{f, bad}, Settings: settings("telegram")})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- hub.Run(ctx) }()
		after(time.Minute)
		state := hub.Channels()
		if bad.runs != 3 || state["discord"].Connected || state["discord"].Err == nil || !state["telegram"].Connected {
			t.Errorf("%d starts, states %+v", bad.runs, state)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// failing is a fake whose connection ends with one error after the other; nil is a panic.
type failing struct {
	*fake
	errs []error
	runs int
}

func (f *failing) Run(context.Context, adapters.Sink) error {
	err := f.errs[f.runs]
	if f.runs++; f.runs == 2 {
		panic(err)
	}
	return err
}
