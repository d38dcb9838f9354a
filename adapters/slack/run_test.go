package slack

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	simslack "typist/adapters/sim/slack"
)

func TestC4_PermanentErrorsEndTheChannel(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   []string
	}{
		{"bad bot token", func(c *Config) { c.BotToken = "xoxb-wrong" }, []string{"botToken", "invalid_auth", "install the app"}},
		{"bad app token", func(c *Config) { c.AppToken = "xapp-wrong" }, []string{"appToken", "invalid_auth", "connections:write"}},
		{"wrong address", func(c *Config) { c.APIURL = strings.TrimSuffix(c.APIURL, "api/") + "wrong/" }, []string{"404", "apiURL"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				r := newRig(t, simslack.Options{}, c.change)
				start := time.Now()
				err := r.a.Run(t.Context(), r.sink)
				var fatal *adapters.FatalError
				if !errors.As(err, &fatal) || fatal.Channel != "slack" {
					t.Fatalf("got %v", err)
				}
				for _, want := range c.want {
					if !strings.Contains(fatal.Sentence, want) {
						t.Errorf("%q says nothing of %q", fatal.Sentence, want)
					}
				}
				if strings.Contains(err.Error()+r.logs.String(), "xoxb-wrong") || strings.Contains(err.Error()+r.logs.String(), "xapp-wrong") {
					t.Errorf("the token shows: %v", err)
				}
				if time.Since(start) > time.Second {
					t.Errorf("it took %s", time.Since(start))
				}
				states := r.sink.reported()
				if len(states) == 0 || states[len(states)-1].Connected || states[len(states)-1].Err == nil {
					t.Errorf("states %+v", states)
				}
			})
		})
	}
}

// What no retry changes ends the channel, also where slack-go would go on for ever.
func TestC4_RefusedSocketEndsTheChannel(t *testing.T) {
	for _, refusal := range []string{"missing_scope", "not_allowed_token_type", "socket_mode_disabled", "account_inactive"} {
		in(t, func(t *testing.T) {
			r := newRig(t, simslack.Options{SocketRefusal: refusal})
			var fatal *adapters.FatalError
			if err := r.a.Run(t.Context(), r.sink); !errors.As(err, &fatal) || !strings.Contains(fatal.Sentence, refusal) {
				t.Errorf("%s: got %v", refusal, err)
			}
		})
	}
}

func TestC4_FatalSentences(t *testing.T) {
	for _, code := range []string{
		"invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive", "not_allowed_token_type", "missing_scope", "team_disabled", "socket_mode_disabled",
	} {
		if f := fatal("appToken", slackError(code)); f == nil || !strings.Contains(f.Error(), code) {
			t.Errorf("%s: %v", code, f)
		}
	}
	for _, code := range []string{"internal_error", "ratelimited", "service_unavailable", "some_new_error"} {
		if f := fatal("appToken", slackError(code)); f != nil {
			t.Errorf("%s ends the channel: %v", code, f)
		}
	}
}

// Each way to lose the connection: it comes back, and what was said meanwhile arrives.
func TestC4_ComesBack(t *testing.T) {
	for name, lose := range map[string]func(r *rig){
		"refresh":   func(r *rig) { r.sim.Refresh() },
		"cut":       func(r *rig) { r.sim.Disconnect(0) },
		"away":      func(r *rig) { r.sim.Disconnect(20 * time.Second) },
		"away long": func(r *rig) { r.sim.Disconnect(3 * time.Minute) },
		"garbage": func(r *rig) {
			r.sim.WriteRaw("{not json")
			r.sim.WriteRaw(`{"type":"of tomorrow"}`)
			r.sim.WriteRaw(`""`)
		},
		"server bad": func(r *rig) {
			r.sim.World().Inject(sim.Fault{Op: sim.OpReceive, Status: 503, Times: 3})
			r.sim.Disconnect(0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T) {
				r := newRig(t, simslack.Options{})
				r.run()
				lose(r)
				if _, err := r.sim.Say(sim.Say{Chat: simslack.DM, Person: simslack.Ann, Text: "while away"}); err != nil {
					t.Fatal(err)
				}
				<-time.After(8 * time.Minute)
				if !r.sink.connected() || r.sim.Connections() != 1 {
					t.Fatalf("connected %t, %d connections; log:\n%s", r.sink.connected(), r.sim.Connections(), r.logs)
				}
				if m := one[adapters.Message](r); m.Text != "while away" {
					t.Errorf("got %+v", m)
				}
				r.say(sim.Say{Chat: simslack.DM, Person: simslack.Ann, Text: "afterwards"})
				if m := one[adapters.Message](r); m.Text != "afterwards" {
					t.Errorf("got %+v", m)
				}
			})
		})
	}
}

// Away for a while: growing pauses with jitter, never longer than half a minute.
func TestC4_Backoff(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{NoLimits: true})
		r.run()
		r.sim.World().Inject(sim.Fault{Op: sim.OpReceive, Status: 503})
		before := len(r.sim.World().Calls(sim.OpReceive))
		r.sim.Disconnect(0)
		<-time.After(10 * time.Minute)
		calls := r.sim.World().Calls(sim.OpReceive)[before:]
		if n := len(calls); n < 20 || n > 60 {
			t.Errorf("%d tries in 10 min", n)
		}
		for i := 1; i < len(calls); i++ {
			if gap := calls[i].At.Sub(calls[i-1].At); gap > maxBackoff+time.Second {
				t.Errorf("a pause of %s", gap)
			}
		}
	})
}

// Told to wait before connecting, it waits that long.
func TestC4_RetryAfterOfTheConnection(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{NoLimits: true})
		r.run()
		<-time.After(time.Minute) // a connection that ends at once ends the session, perhaps before the answer
		r.sim.World().Inject(sim.Fault{Op: sim.OpReceive, Status: 429, RetryAfter: 2 * time.Minute, Times: 1})
		before := len(r.sim.World().Calls(sim.OpReceive))
		r.sim.Disconnect(0)
		<-time.After(119 * time.Second)
		if n := len(r.sim.World().Calls(sim.OpReceive)) - before; n != 1 || r.sink.connected() {
			t.Errorf("%d tries before the time", n)
		}
		<-time.After(5 * time.Second)
		if !r.sink.connected() {
			t.Error("not back")
		}
	})
}

// Slack asks for a new connection every few hours: that is no outage.
func TestO1_RefreshIsNoOutage(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		<-time.After(time.Hour)
		r.sim.Refresh()
		<-time.After(time.Minute)
		for _, st := range r.sink.reported() {
			if !st.Connected {
				t.Errorf("told of %+v", st)
			}
		}
	})
}

// A server that takes the connection and drops it soon is not hammered.
func TestC4_FlappingIsSlowedDown(t *testing.T) {
	for _, life := range []time.Duration{5 * time.Millisecond, 2 * time.Second} {
		in(t, func(t *testing.T) {
			r := newRig(t, simslack.Options{NoLimits: true})
			r.run()
			stop := make(chan struct{})
			go func() {
				for {
					select {
					case <-stop:
						return
					case <-time.After(life):
						r.sim.Refresh()
					}
				}
			}()
			before := len(r.sim.World().Calls(sim.OpReceive))
			<-time.After(5 * time.Minute)
			close(stop)
			if n := len(r.sim.World().Calls(sim.OpReceive)) - before; n > 80 {
				t.Errorf("%d calls in 5 min, dropped after %s", n, life)
			}
		})
	}
}

// How long it is away is counted from the first failure.
func TestO1_AwaySinceTheFirstFailure(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{NoLimits: true})
		r.run()
		r.sim.World().Inject(sim.Fault{Op: sim.OpReceive, Status: 503})
		r.sim.Disconnect(0)
		<-time.After(10 * time.Minute)
		states := r.sink.reported()
		if away := time.Since(states[len(states)-1].Since); away < 9*time.Minute {
			t.Errorf("away for %s, it says", away)
		}
	})
}

// A quiet connection stays: Slack's pings keep it.
func TestC4_QuietConnectionStays(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		r.run()
		<-time.After(3 * time.Hour)
		if n := len(r.sim.World().Calls(sim.OpReceive)); n != 2 { // the address and the socket
			t.Errorf("%d calls to connect", n)
		}
	})
}

// A connection without pings is dead.
func TestC4_SilentConnectionIsReplaced(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{PingEvery: 24 * time.Hour, NoLimits: true})
		r.run()
		<-time.After(5 * time.Minute)
		if n := len(r.sim.World().Calls(sim.OpReceive)); n < 4 {
			t.Errorf("%d calls to connect", n)
		}
	})
}

func TestC4_LifeOfAConnection(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{ConnectionLife: time.Hour, NoLimits: true})
		r.run()
		for i := range 200 {
			<-time.After(time.Minute)
			r.say(sim.Say{Chat: simslack.DM, Person: simslack.Ann, Text: "tick"})
			if i%7 == 0 {
				<-time.After(10 * time.Second)
			}
		}
		<-time.After(10 * time.Minute)
		if n := len(r.sink.take()); n != 200 {
			t.Errorf("%d of 200 messages arrived", n)
		}
	})
}

func TestC5_EndsAtOnce(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.a.Run(ctx, r.sink) }()
		synctest.Wait()
		start := time.Now()
		stop()
		if err := <-done; err != nil {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("took %s", took)
		}
		if r.sink.connected() {
			t.Error("still said to be connected")
		}
	})
}

// A panic below must not end the channel.
func TestC4_PanicOfTheSinkIsSurvived(t *testing.T) {
	in(t, func(t *testing.T) {
		r := newRig(t, simslack.Options{})
		panics := true
		r.sink.fail = func(adapters.Event) error {
			if panics {
				panics = false
				panic("boom")
			}
			return nil
		}
		r.run()
		r.say(sim.Say{Chat: simslack.DM, Person: simslack.Ann, Text: "hello"})
		<-time.After(10 * time.Second)
		if m := one[adapters.Message](r); m.Text != "hello" {
			t.Errorf("got %+v", m)
		}
	})
}
