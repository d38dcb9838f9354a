package discord_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	simdiscord "typist/adapters/sim/discord"
)

// discordgo's Open deadlocks on these before READY.
func TestC4_PacketsBeforeReadyDoNotLockUp(t *testing.T) {
	for _, ops := range [][]int{{11}, {7}, {1}, {1, 11}, {9}, {11, 7}} {
		t.Run(fmt.Sprint(ops), func(t *testing.T) {
			setUp(t, simdiscord.Options{}, func(r *rig) {
				r.server.Misbehave(simdiscord.Trouble{Times: 1, BeforeReady: ops})
				began := time.Now()
				r.start()
				if took := time.Since(began); took > 15*time.Second {
					t.Errorf("connected after %s", took)
				}
				r.say(sim.Say{Chat: simdiscord.DM, Text: "hello"})
				r.until("the message", func() bool { return r.heard("hello") })
			})
		})
	}
}

func TestC4_SilentGatewayIsGivenUp(t *testing.T) {
	setUp(t, simdiscord.Options{}, func(r *rig) {
		r.server.Misbehave(simdiscord.Trouble{Times: 1, NoHello: true})
		began := time.Now()
		r.start()
		if took := time.Since(began); took > 45*time.Second {
			t.Errorf("connected after %s", took)
		}
	})
}

// Closed before the first heartbeat, discordgo's heartbeat goroutine closes the next connection
// with 1000, which would end the session.
func TestC4_EarlyClosesKeepTheSession(t *testing.T) {
	for name, code := range map[string]int{"closed": 1006, "restart": 1012, "op 7": -7} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, simdiscord.Options{}, func(r *rig) {
				if code == 1006 {
					r.server.Misbehave(simdiscord.Trouble{Times: 4, AfterReady: 4000})
				} else {
					r.server.Misbehave(simdiscord.Trouble{Times: 4, AfterReady: code})
				}
				r.server.AskReconnect()
				for i := range 12 {
					r.settle(500 * time.Millisecond)
					r.say(sim.Say{Chat: simdiscord.DM, Text: fmt.Sprint("number ", i)})
				}
				r.settle(30 * time.Second)
				if !r.sink.connected() {
					t.Fatal("it is not connected")
				}
				if ids, resumes := r.server.Identified(); ids != 1 || resumes < 4 {
					t.Errorf("%d identifies and %d resumes", ids, resumes)
				}
				var want []string
				for i := range 12 {
					want = append(want, fmt.Sprint("number ", i))
				}
				if got := r.sink.texts(); !slices.Equal(got, want) {
					t.Errorf("got %v", got)
				}
			})
		})
	}
}

func TestC4_DeadConnectionIsNoticed(t *testing.T) {
	setUp(t, simdiscord.Options{Heartbeat: 10 * time.Second}, func(r *rig) {
		r.server.Misbehave(simdiscord.Trouble{Times: 1, NoAcks: true})
		r.start()
		r.settle(time.Second)
		r.say(sim.Say{Chat: simdiscord.DM, Text: "into the void"})
		began := time.Now()
		r.until("what was lost", func() bool { return r.heard("into the void") })
		if took := time.Since(began); took > 25*time.Second {
			t.Errorf("noticed after %s; the heartbeat interval is 10s", took)
		}
		if ids, _ := r.server.Identified(); ids != 1 {
			t.Errorf("%d identifies: the session was thrown away", ids)
		}
	})
}

func TestC4_HealthyConnectionStays(t *testing.T) {
	inBubble(t, simdiscord.Options{Heartbeat: 5 * time.Second}, func(r *rig) {
		r.settle(3 * time.Hour)
		if ids, resumes := r.server.Identified(); ids != 1 || resumes != 0 {
			t.Errorf("%d identifies and %d resumes in three quiet hours", ids, resumes)
		}
		r.say(sim.Say{Chat: simdiscord.DM, Text: "still there?"})
		r.until("the message", func() bool { return r.heard("still there?") })
	})
}

func TestC4_HeartbeatsThatDiscordAsksFor(t *testing.T) {
	inBubble(t, simdiscord.Options{Heartbeat: 5 * time.Second}, func(r *rig) {
		for range 20 {
			r.server.AskHeartbeat(3)
			r.settle(700 * time.Millisecond)
		}
		if ids, resumes := r.server.Identified(); ids != 1 || resumes != 0 {
			t.Errorf("%d identifies and %d resumes", ids, resumes)
		}
	})
}

func TestC4_FatalCloseCodesStopTheChannel(t *testing.T) {
	for code, want := range map[int]string{4004: "token", 4010: "shard", 4011: "shard", 4012: "version", 4013: "intents", 4014: "Message Content Intent"} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			setUp(t, simdiscord.Options{}, func(r *rig) {
				r.server.Misbehave(simdiscord.Trouble{IdentifyCode: code})
				r.begin()
				synctest.Wait()
				err := r.stop()
				var fatal *adapters.FatalError
				if !errors.As(err, &fatal) || !strings.Contains(fatal.Sentence, want) {
					t.Fatalf("Run ended with %v", err)
				}
				if r.sink.status.Err == nil || r.sink.status.Connected {
					t.Errorf("the status is %+v", r.sink.status)
				}
			})
		})
	}
}

func TestC4_MissingIntentSaysWhichSwitch(t *testing.T) {
	setUp(t, simdiscord.Options{NoContentIntent: true}, func(r *rig) {
		r.cfg.MessageContent = true
		r.renew()
		err := r.a.Run(r.Context(), r.sink)
		if err == nil || !strings.Contains(err.Error(), "Message Content Intent") {
			t.Fatalf("Run ended with %v", err)
		}
		if _, err := r.a.Probe(r.Context()); err == nil {
			t.Error("the probe sees nothing wrong")
		}
	})
}

func TestC4_RevokedTokenStopsTheChannel(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		r.server.RevokeToken("another")
		r.server.CloseGateway(4004)
		r.settle(time.Minute)
		var fatal *adapters.FatalError
		if err := r.stop(); !errors.As(err, &fatal) {
			t.Fatalf("Run ended with %v", err)
		}
	})
}

func TestC4_ReconnectsBackOff(t *testing.T) {
	setUp(t, simdiscord.Options{}, func(r *rig) {
		r.server.Disconnect(time.Hour)
		r.begin()
		r.settle(59 * time.Minute)
		n := len(r.sink.states)
		if n < 40 || n > 100 {
			t.Errorf("%d attempts in an hour", n)
		}
		if r.sink.status.Err == nil {
			t.Error("the status says that all is well")
		}
		r.until("the connection", r.sink.connected)
	})
}

func TestC4_FreshSessionsKeepTheirDistance(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		began := time.Now()
		for range 3 {
			r.server.InvalidateSessions()
			r.until("its end", func() bool { return !r.sink.connected() })
			r.until("the connection", r.sink.connected)
		}
		if took := time.Since(began); took < 15*time.Second {
			t.Errorf("four identifies within %s", took)
		}
		if n := len(r.server.World().Calls(sim.OpReceive)); n != 3 {
			t.Errorf("%d connections ended; a lost session is not tried again", n)
		}
	})
}

func TestC5_ShutdownEndsTheSessionQuickly(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		began := time.Now()
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("it took %s", took)
		}
		if r.server.Sessions() != 0 {
			t.Error("the bot still looks online")
		}
	})
}

func TestC4_RunEndsDuringAHangingOpen(t *testing.T) {
	setUp(t, simdiscord.Options{}, func(r *rig) {
		r.server.Misbehave(simdiscord.Trouble{NoHello: true})
		ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
		defer cancel()
		began := time.Now()
		if err := r.a.Run(ctx, r.sink); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 11*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}
