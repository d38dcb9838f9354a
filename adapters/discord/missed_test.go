package discord_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	simdiscord "typist/adapters/sim/discord"
)

// everywhere says something in each kind of place.
func (r *rig) everywhere(what string) []string {
	r.say(sim.Say{Chat: simdiscord.DM, Text: what + " direct"})
	r.say(sim.Say{Chat: simdiscord.General, Person: simdiscord.Ben, Text: what + " group", Mention: true})
	r.say(sim.Say{Chat: simdiscord.General, Thread: simdiscord.Thread, Text: what + " thread"})
	return []string{what + " direct", what + " group", what + " thread"}
}

func sorted(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return out
}

func (r *rig) wantHeard(want []string) {
	r.Helper()
	r.until(fmt.Sprint(want), func() bool { return len(r.sink.texts()) >= len(want) })
	r.settle(10 * time.Second)
	if got := sorted(r.sink.texts()); !slices.Equal(got, sorted(want)) {
		r.Errorf("got %q, want %q", got, want)
	}
}

func TestC4_LostSessionIsFetched(t *testing.T) {
	lose := map[string]func(r *rig){
		"op 9":         func(r *rig) { r.server.InvalidateSessions() },
		"close 4009":   func(r *rig) { r.server.CloseGateway(4009) },
		"close 4007":   func(r *rig) { r.server.CloseGateway(4007) },
		"away too far": func(r *rig) { r.server.Disconnect(10 * time.Minute) },
	}
	for name, how := range lose {
		t.Run(name, func(t *testing.T) {
			inBubble(t, simdiscord.Options{}, func(r *rig) {
				want := r.everywhere("before")
				r.wantHeard(want)
				how(r)
				r.server.LoseSessions()
				want = append(want, r.everywhere("meanwhile")...)
				r.settle(11 * time.Minute)
				want = append(want, r.everywhere("after")...)
				r.wantHeard(want)
				for _, ev := range r.sink.list() {
					m := ev.(adapters.Message)
					if m.Chat.ID == simdiscord.General && len(m.From.Roles) != 1 {
						t.Errorf("%q came with the roles %v", m.Text, m.From.Roles)
					}
					if m.Text == "meanwhile thread" && m.Chat != threadChat {
						t.Errorf("%q came from %+v", m.Text, m.Chat)
					}
				}
			})
		})
	}
}

func TestC4_RestartFetchesWhatCameMeanwhile(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		r.wantHeard(r.everywhere("before"))
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
		want := r.everywhere("meanwhile")
		r.renew()
		r.start()
		r.wantHeard(want)
		if texts := r.sink.texts(); slices.Index(texts, "meanwhile direct") != 0 {
			t.Errorf("got %q", texts)
		}
	})
}

func TestC4_FirstStartTakesNoHistory(t *testing.T) {
	setUp(t, simdiscord.Options{}, func(r *rig) {
		r.everywhere("long ago")
		r.start()
		r.wantHeard(nil)
		r.server.InvalidateSessions()
		r.until("its end", func() bool { return !r.sink.connected() })
		r.until("the connection", r.sink.connected)
		r.wantHeard(nil)
		r.wantHeard(r.everywhere("now"))
	})
}

func TestC4_FirstMessageOfAllMayBeMissedToo(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		r.settle(5 * time.Second)
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
		r.say(sim.Say{Chat: simdiscord.General, Text: "the very first"})
		r.renew()
		r.start()
		r.wantHeard([]string{"the very first"})
	})
}

func TestC4_CatchingUpIsBounded(t *testing.T) {
	inBubble(t, simdiscord.Options{Unlimited: true}, func(r *rig) {
		r.wantHeard(r.everywhere("before"))
		r.stop()
		r.say(sim.Say{Chat: simdiscord.General, Text: "too old"})
		r.settle(25 * time.Hour)
		for i := range 350 {
			r.say(sim.Say{Chat: simdiscord.General, Text: fmt.Sprint("number ", i)})
		}
		r.renew()
		r.start()
		r.settle(time.Minute)
		got := r.sink.texts()
		if len(got) != 299 || got[0] != "number 0" || got[298] != "number 298" {
			t.Errorf("%d messages came, from %q to %q", len(got), got[0], got[len(got)-1])
		}
	})
}

func TestC4_CatchingUpSurvivesLimitsAndFaults(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		want := r.everywhere("before")
		r.wantHeard(want)
		r.server.Disconnect(0)
		r.server.LoseSessions()
		want = append(want, r.everywhere("meanwhile")...)
		r.server.World().Inject(sim.Fault{Op: sim.OpOther, Chat: simdiscord.General, Times: 2, Status: 429, RetryAfter: 3 * time.Second})
		r.server.World().Inject(sim.Fault{Op: sim.OpOther, Chat: simdiscord.DM, Times: 2, Status: 502})
		r.settle(time.Minute)
		r.wantHeard(want)
	})
}

func TestC3_RefusedEventsComeAgainInOrder(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		r.sink.mu.Lock()
		r.sink.refuse = true
		r.sink.mu.Unlock()
		var want []string
		for i := range 5 {
			want = append(want, fmt.Sprint("number ", i))
			r.say(sim.Say{Chat: simdiscord.DM, Text: want[i]})
		}
		r.settle(time.Minute)
		r.sink.mu.Lock()
		r.sink.refuse = false
		r.sink.mu.Unlock()
		r.until("all", func() bool { return len(r.sink.texts()) == 5 })
		if got := r.sink.texts(); !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	})
}

func TestC4_CrashLosesNothingAndRepeatsTheSameIDs(t *testing.T) {
	inBubble(t, simdiscord.Options{}, func(r *rig) {
		r.wantHeard(r.everywhere("before"))
		r.sink.mu.Lock()
		r.sink.block = make(chan struct{}) // what comes now is never durable
		r.sink.mu.Unlock()
		want := r.everywhere("in flight")
		r.settle(5 * time.Second)
		r.stop()
		r.renew()
		r.start()
		r.wantHeard(want)
	})
}

func TestC3_FullQueueIsFetchedLater(t *testing.T) {
	inBubble(t, simdiscord.Options{Unlimited: true}, func(r *rig) {
		r.wantHeard(r.everywhere("before"))
		before := len(r.sink.texts())
		r.a.LimitQueue(20)
		block := make(chan struct{})
		r.sink.mu.Lock()
		r.sink.block = block
		r.sink.mu.Unlock()
		for i := range 60 {
			r.say(sim.Say{Chat: simdiscord.DM, Text: fmt.Sprint("number ", i)})
		}
		r.settle(20 * time.Second)
		r.sink.mu.Lock()
		r.sink.block = nil
		r.sink.mu.Unlock()
		close(block)
		r.until("all of it", func() bool { return len(r.sink.texts()) >= before+60 })
		r.settle(time.Minute)
		got := r.sink.texts()[before:]
		if len(got) != 60 || got[0] != "number 0" || got[59] != "number 59" {
			t.Errorf("got %d: %q", len(got), got)
		}
	})
}
