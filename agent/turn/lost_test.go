package turn

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
)

func TestC2_ATitleOpensNoGroup(t *testing.T) {
	ch := Channel{Groups: map[string]Group{"-100123": {AllowFrom: []string{"*"}}, "#ops": {}}}
	if _, ok := ch.group("-9", "-100123"); ok {
		t.Error("a group that calls itself by another's id is served")
	}
	if _, ok := ch.group("-9", "ops"); !ok {
		t.Error("a listed name is not served")
	}
}

func TestP11_ARefusedEditDoesNotKeepTheMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("telegram")
		refused := false
		f.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) {
			if op == sim.OpEdit && !refused {
				refused = true
				return adapters.ErrDenied, false
			}
			return nil, false
		}
		var ended bool
		b := start(t, setup{fake: f, backend: slowBackend(20*time.Second, &ended)})
		b.write("dm", "go")
		after(time.Minute)
		if got := b.text("dm"); !refused || strings.Contains(got, "Bash") || strings.Contains(got, "Stop]") || !strings.Contains(got, "Done.") {
			t.Errorf("chat:\n%s", got)
		}
	})
}

func TestS3_WhatNeverLeftIsSentWhenTheNetworkIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("telegram")
		away := time.Now().Add(20 * time.Minute)
		f.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) {
			if op == sim.OpSend && time.Now().Before(away) {
				return adapters.ErrNeverSent, false
			}
			return nil, false
		}
		b := start(t, setup{fake: f, backend: backendFunc(echo)})
		b.write("dm", "hi")
		after(22 * time.Minute)
		if got := strings.Count(b.text("dm"), "Answer to"); got != 1 {
			t.Errorf("%d answers:\n%s", got, b.text("dm"))
		}
	})
}

func TestS3_ARestartWhileTheNetworkIsAwayLosesNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f := newFake("telegram")
		f.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) { return adapters.ErrNeverSent, false }
		b := start(t, setup{fake: f, backend: backendFunc(echo), store: openStore(t, dir)})
		b.write("dm", "hi")
		after(20 * time.Second)
		b.crash()
		b = start(t, setup{fake: f.again(), backend: backendFunc(echo), store: openStore(t, dir)})
		after(20 * time.Second)
		if got := strings.Count(b.text("dm"), "Answer to"); got != 1 {
			t.Errorf("%d answers:\n%s", got, b.text("dm"))
		}
	})
}

func TestS3_RetryDeliversWhatMayBeLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("telegram")
		f.fail = func(op sim.Op, _ adapters.Chat, text string) (error, bool) {
			if op == sim.OpSend && strings.Contains(text, "Answer") {
				f.fail = nil
				return adapters.ErrUnknownOutcome, false
			}
			return nil, false
		}
		runs := 0
		b := start(t, setup{fake: f, backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			runs++
			return echo(ctx, req, emit)
		})})
		b.write("dm", "hi")
		after(time.Minute)
		b.write("dm", "/retry")
		after(time.Minute)
		if got := strings.Count(b.text("dm"), "Answer to"); got != 1 || runs != 1 {
			t.Errorf("%d answers, %d runs:\n%s", got, runs, b.text("dm"))
		}
	})
}

func TestP8_DetailsNeverReplaceTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClearing("slack")
		var ended bool
		b := start(t, setup{fake: c.fake, adapter: c, backend: slowBackend(5*time.Second, &ended)})
		b.write("dm", "go")
		after(4 * time.Second)
		m := sim.FromBot(c.world.Messages("dm", "*"))[0]
		data := m.Buttons[0][1].Data
		after(10 * time.Second)
		b.pressData("dm", m.ID, data)
		after(5 * time.Second)
		if got := b.text("dm"); !strings.Contains(got, "Done.") || strings.Contains(got, "Worked for") {
			t.Errorf("chat:\n%s", got)
		}
	})
}

func TestS2_AStopReachesTheBackendThoughTheStoreIsBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended bool
		dir := t.TempDir()
		st := openStore(t, dir)
		b := start(t, setup{backend: slowBackend(time.Hour, &ended), store: st})
		b.write("dm", "go")
		after(5 * time.Second)
		_ = st.Close()
		b.press("dm", "Stop")
		after(time.Second)
		if !ended {
			t.Error("the backend runs on")
		}
	})
}

// searching is a fake whose lost posts can be looked for between two ids, as Telegram's.
type searching struct{ *fake }

func (s searching) Reclaim(_ context.Context, chat adapters.Chat, after, before string, post adapters.Post, keep func(string) bool) (adapters.Ref, bool, bool, error) {
	for _, m := range sim.FromBot(s.world.Messages(chat.ID, "*")) {
		if m.ID > after && m.ID < before && m.Text == show(post) && !keep(m.ID) {
			return adapters.Ref{Chat: chat, ID: m.ID}, true, true, nil
		}
	}
	return adapters.Ref{}, false, true, nil
}

func TestS9_AnAnswerOnItsWayInACrashIsNeitherLostNorDoubled(t *testing.T) {
	for _, arrived := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			f := newFake("telegram")
			stuck := make(chan struct{})
			f.fail = func(op sim.Op, _ adapters.Chat, text string) (error, bool) {
				if op == sim.OpSend && strings.Contains(text, "Answer to") {
					<-stuck // the process ends before it knows
					return adapters.ErrUnknownOutcome, arrived
				}
				return nil, false
			}
			b := start(t, setup{fake: f, adapter: searching{f}, backend: backendFunc(echo), store: openStore(t, dir)})
			b.write("dm", "hi")
			after(5 * time.Second)
			_ = b.store.Close()
			close(stuck)
			b.shut()
			again := f.again()
			b = start(t, setup{fake: again, adapter: searching{again}, backend: backendFunc(echo), store: openStore(t, dir)})
			after(10 * time.Second)
			if got := b.bot("dm"); len(got) != 1 || got[0] != "Answer to u=hi" {
				t.Errorf("arrived %v:\n%s", arrived, b.text("dm"))
			}
		})
	}
}
