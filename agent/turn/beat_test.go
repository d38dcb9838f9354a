package turn

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/agent"
	"typist/typing"
)

// mute hides a fake's indicator: a channel that has none.
type mute struct{ adapters.Adapter }

func newMute(name string) (mute, *fake) {
	f := newFake(name)
	f.caps.IndicatorLife, f.caps.EditKeepsIndicator, f.caps.ReactionsOnInput = 0, false, false
	return mute{f}, f
}

// TestH5_T4_HeartbeatTyping holds every row: mode × kind of chat × deliver × indicator. A target
// that is none or can't be resolved begins no turn at all or one without delivery (agent/heartbeat).
func TestH5_T4_HeartbeatTyping(t *testing.T) {
	for _, m := range []typing.Mode{typing.Unset, typing.Never, typing.Instant, typing.Thinking, typing.Message} {
		for _, chat := range []string{"dm", "room"} {
			for _, deliver := range []bool{true, false} {
				for _, indicator := range []bool{true, false} {
					synctest.Test(t, func(t *testing.T) {
						s := setup{settings: mode(m), backend: answering(20*time.Second, "News!")}
						if !indicator {
							s.adapter, s.fake = newMute("telegram")
						}
						b := start(t, s)
						if err := b.beat(chat, Heartbeat{Deliver: deliver}); err != nil {
							t.Fatal(err)
						}
						name := fmt.Sprintf("%s, %s, deliver %t, indicator %t", m, chat, deliver, indicator)
						want := m != typing.Never && deliver && indicator
						for range 3 { // for as long as the run lives
							after(6 * time.Second)
							if got := b.typing(chat); got != want {
								t.Errorf("%s: the indicator shows: %t", name, got)
							}
						}
						if got := b.bot(chat); len(got) > 0 {
							t.Errorf("%s: shown before the run's end: %q", name, got)
						}
						after(10 * time.Second)
						if got := b.bot(chat); (len(got) == 1 && got[0] == "News!") != deliver || len(got) > 1 {
							t.Errorf("%s: delivered %q", name, got)
						}
						if b.typing(chat) {
							t.Errorf("%s: the indicator shows after the end", name)
						}
					})
				}
			}
		}
	}
}

// beats is a scheduler that says what it is told to.
type beats struct{ text string }

func (s beats) Text(context.Context, string, string, string) string { return s.text }
func (s beats) Command(_ context.Context, _ adapters.Chat, _ adapters.Kind, _ string, now bool) string {
	return fmt.Sprint("beat now: ", now)
}

// TestH2_NothingIsSaidForASuppressedHeartbeat: its text is held until the run ends, and what the
// scheduler suppresses leaves nothing.
func TestH2_NothingIsSaidForASuppressedHeartbeat(t *testing.T) {
	for _, text := range []string{"", "Only this."} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: working(8*time.Second, "HEARTBEAT_OK and more")})
			b.hub.SetHeartbeats(beats{text})
			if err := b.beat("dm", Heartbeat{Deliver: true}); err != nil {
				t.Fatal(err)
			}
			after(time.Minute)
			if got := b.bot("dm"); text == "" && len(got) > 0 || text != "" && (len(got) != 1 || got[0] != text) {
				t.Errorf("%q: got %q", text, got)
			}
		})
	}
}

// TestH3_SkippedWhileTheChatIsBusy, with a run or with messages that wait; never queued.
func TestH3_SkippedWhileTheChatIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			runs++
			return working(10*time.Second, "Done.")(ctx, req, emit)
		})})
		b.write("dm", "hi")
		after(time.Second)
		if err := b.beat("dm", Heartbeat{Deliver: true}); !errors.Is(err, ErrBusy) {
			t.Errorf("got %v", err)
		}
		if err := b.beat("room", Heartbeat{Deliver: true}); err != nil {
			t.Errorf("another chat: %v", err)
		}
		after(time.Minute)
		if runs != 2 {
			t.Errorf("%d runs", runs)
		}
		if err := b.beat("dm", Heartbeat{Deliver: true}); err != nil {
			t.Errorf("idle again: %v", err)
		}
		after(time.Minute)
		if runs != 3 {
			t.Errorf("%d runs", runs)
		}
	})
}

// TestH3_AHeartbeatThatMeetsARunIsDropped: between the look and the inbox a person was faster.
func TestH3_AHeartbeatThatMeetsARunIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			runs++
			return working(10*time.Second, "Done.")(ctx, req, emit)
		})})
		b.write("dm", "hi")
		after(time.Second)
		in := input{Kind: "heartbeat", Heartbeat: &Heartbeat{Deliver: true, Prompt: "?"}, Message: adapters.Message{Origin: b.origin("dm")}}
		if err := b.hub.accept(t.Context(), in, time.Now()); err != nil {
			t.Fatal(err)
		}
		after(time.Minute)
		if runs != 1 {
			t.Errorf("%d runs", runs)
		}
		if n, err := b.store.CountWaiting(t.Context(), in.Message.Chat.Key()); n != 0 || err != nil {
			t.Errorf("%d wait: %v", n, err)
		}
	})
}

// TestH8_OneRunPerSlot whatever fires twice.
func TestH8_OneRunPerSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: answering(time.Second, "News!")})
		o := b.origin("dm")
		for range 2 {
			if err := b.hub.Heartbeat(t.Context(), o.Chat, o.Kind, Heartbeat{Agent: "ops", Slot: "8:00", Prompt: "?", Deliver: true}); err != nil {
				t.Error(err)
			}
			after(10 * time.Second)
		}
		if got := b.bot("dm"); len(got) != 1 {
			t.Errorf("got %q", got)
		}
	})
}

// TestS2_AStoppedHeartbeatSaysSo: a person who stops it reads that it stopped.
func TestS2_AStoppedHeartbeatSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: working(time.Hour, "News!")})
		if err := b.beat("dm", Heartbeat{Deliver: true}); err != nil {
			t.Fatal(err)
		}
		after(12 * time.Second)
		b.write("dm", "/stop")
		after(3 * time.Second)
		b.want("dm", "Stopped after 12s")
		b.wantNot("dm", "Stopping…", "Nothing runs")
	})
}
