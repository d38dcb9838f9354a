package typing

import (
	"testing"
	"time"
)

func TestT2_MostSpecificLevelWinsForModeAndIntervalSeparately(t *testing.T) {
	levels := []Level{
		{Name: "/typing"},
		{Name: "channels.telegram", Interval: 5 * time.Second},
		{Name: "session", Mode: Message, Interval: 4 * time.Second},
		{Name: "agents.list.ops", Mode: Never},
		{Name: "agents.defaults", Mode: Thinking, Interval: 6 * time.Second},
	}
	got := Resolve(Situation{Direct: true}, levels...)
	want := Resolved{Mode: Message, ModeFrom: "session", Interval: 5 * time.Second, IntervalFrom: "channels.telegram"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	levels[0].Mode = Instant
	if got := Resolve(Situation{}, levels...); got.Mode != Instant || got.ModeFrom != "/typing" || got.IntervalFrom != "channels.telegram" {
		t.Errorf("the chat's own setting: got %+v", got)
	}
}

func TestT3_UnsetModeGoesByTheKindOfChat(t *testing.T) {
	for _, c := range []struct {
		name string
		s    Situation
		want Mode
	}{
		{"direct", Situation{Direct: true}, Instant},
		{"group, mentioned", Situation{Mentioned: true}, Instant},
		{"group", Situation{}, Message},
		{"heartbeat in a group", Situation{Heartbeat: true}, Instant},
	} {
		got := Resolve(c.s, Level{Name: "agents.defaults"})
		want := Resolved{Mode: c.want, ModeFrom: "kind of chat", Interval: DefaultInterval, IntervalFrom: "default"}
		if got != want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, want)
		}
	}
}

func TestT4_WhereAHeartbeatShowsTheIndicator(t *testing.T) {
	for _, mode := range []Mode{Unset, Instant, Thinking, Message} {
		if !(HeartbeatTyping{Mode: mode}).Starts() {
			t.Errorf("mode %s: does not start", mode)
		}
	}
	for name, h := range map[string]HeartbeatTyping{
		"never":        {Mode: Never},
		"target none":  {Mode: Instant, TargetNone: true},
		"unresolved":   {Mode: Instant, Unresolved: true},
		"deliver off":  {Mode: Instant, DeliverOff: true},
		"no indicator": {Mode: Instant, NoIndicator: true},
	} {
		if h.Starts() {
			t.Errorf("%s: starts", name)
		}
	}
}

func TestT4_HeartbeatStartsWithTheRunAndLivesAsLong(t *testing.T) {
	for _, mode := range []Mode{Instant, Thinking, Message} {
		d := newDriver(Params{Mode: mode, Heartbeat: true, Life: 5 * time.Second})
		d.c.Signal(d.now, LoopStarted)
		d.run(time.Hour)
		if len(d.sent) == 0 || !d.sent[0].Equal(t0) {
			t.Fatalf("mode %s: no pulse with the run", mode)
		}
		if gap := d.now.Sub(d.sent[len(d.sent)-1]); gap > 5*time.Second {
			t.Errorf("mode %s: last pulse %s before the end of an hour's run", mode, gap)
		}
	}
	never := NewController(Params{Mode: Never, Heartbeat: true, Life: 5 * time.Second})
	never.Signal(t0, LoopStarted)
	if never.Active() {
		t.Error("never: starts")
	}
	none := NewController(Params{Mode: Instant, Heartbeat: true})
	none.Signal(t0, LoopStarted)
	if none.Active() {
		t.Error("a channel without indicator: starts")
	}
}
