package typing

import (
	"slices"
	"testing"
	"time"
)

const (
	telegram = 5 * time.Second
	discord  = 10 * time.Second
	slack    = 120 * time.Second
)

func s(n ...float64) []time.Duration {
	var out []time.Duration
	for _, f := range n {
		out = append(out, time.Duration(f*float64(time.Second)))
	}
	return out
}

func started(life time.Duration) *driver {
	d := newDriver(Params{Mode: Instant, Life: life})
	d.c.Signal(d.now, LoopStarted)
	return d
}

func wantSent(t *testing.T, d *driver, want []time.Duration) {
	t.Helper()
	if got := d.at(); !slices.Equal(got, want) {
		t.Errorf("%d pulses at %v, want %v", len(got), got[:min(len(got), len(want)+3)], want)
	}
}

func TestT6_Period(t *testing.T) {
	for _, c := range []struct{ interval, life, want float64 }{
		{6, 5, 4}, {6, 10, 6}, {9.5, 10, 9}, {3, 10, 3}, {0, 10, 6}, {0.2, 10, 1},
		{6, 120, 60}, {90, 120, 60}, {6, 60, 30}, {6, 59, 6}, {6, 1, 0.5}, {6, 0, 0},
	} {
		d := s(c.interval, c.life, c.want)
		if got := Period(d[0], d[1]); got != d[2] {
			t.Errorf("Period(%s, %s) = %s, want %s", d[0], d[1], got, d[2])
		}
	}
}

func TestT6_RenewedWithinThePlatformsLife(t *testing.T) {
	d := started(telegram)
	d.run(13 * time.Second)
	wantSent(t, d, s(0, 4, 8, 12))
}

func TestT6_LongLivedIndicatorIsRenewedAtHalfLifeAndAChangeSentAtOnce(t *testing.T) {
	d := started(slack)
	d.run(130 * time.Second)
	wantSent(t, d, s(0, 60, 120))
	d.c.Changed(d.now)
	d.run(70 * time.Second)
	wantSent(t, d, s(0, 60, 120, 130, 190))
}

func TestT6_ChangeInFlightIsSentOnceTheCallIsBack(t *testing.T) {
	d := started(slack)
	d.latency = 2 * time.Second
	d.run(time.Second)
	d.c.Changed(d.now)
	d.run(5 * time.Second)
	wantSent(t, d, s(0, 2))
}

func TestT7_APostHastensTheNextPulse(t *testing.T) {
	d := started(telegram)
	d.run(1500 * time.Millisecond)
	d.c.Posted(d.now)
	d.run(5 * time.Second)
	wantSent(t, d, s(0, 1.5, 5.5))
}

func TestT7_APostWhileAPulseIsInFlightIsFollowedByAnother(t *testing.T) {
	d := started(telegram)
	d.latency = time.Second
	d.run(500 * time.Millisecond)
	d.c.Posted(d.now)
	d.run(2 * time.Second)
	wantSent(t, d, s(0, 1))
}

func TestT7_APostDoesNotHastenWhilePausedOrToldToWait(t *testing.T) {
	paused := started(telegram)
	paused.run(time.Second)
	paused.c.Pause(paused.now)
	paused.c.Posted(paused.now)
	paused.run(9 * time.Second)
	wantSent(t, paused, s(0))

	limited := started(telegram)
	limited.result = func(n int) (Result, time.Duration) { return Limited, 7 * time.Second }
	limited.run(time.Second)
	limited.c.Posted(limited.now)
	limited.run(7 * time.Second)
	wantSent(t, limited, s(0, 7))
}

func TestT7_APostBeforeTheStartStartsNothing(t *testing.T) {
	c := NewController(Params{Mode: Message, Life: telegram})
	c.Posted(t0)
	c.Changed(t0)
	c.Pause(t0)
	c.Resume(t0)
	if _, ok := c.Due(); ok || c.Active() {
		t.Error("started by a post")
	}
}

func TestT8_NoPulseAfterEnd(t *testing.T) {
	d := started(telegram)
	d.run(time.Second)
	if e := d.c.End(d.now); e != (Ending{Shown: true}) {
		t.Errorf("ending %+v", e)
	}
	for _, sig := range []Signal{LoopStarted, Reasoning, Execution, Text} {
		d.c.Signal(d.now, sig)
	}
	d.c.Posted(d.now)
	d.c.Changed(d.now)
	d.c.Pause(d.now)
	d.c.Resume(d.now)
	d.run(time.Hour)
	wantSent(t, d, s(0))
	if d.c.Begin(d.now) || d.c.Active() {
		t.Error("alive after the end")
	}
}

func TestT8_EndBeforeTheStartForbidsIt(t *testing.T) {
	c := NewController(Params{Mode: Instant, Life: telegram})
	if e := c.End(t0); e != (Ending{}) {
		t.Errorf("ending %+v of what never started", e)
	}
	c.Signal(t0, LoopStarted)
	if _, ok := c.Due(); ok {
		t.Error("started after the end")
	}
}

func TestT8_EndNamesThePulseInFlightAndIsIdempotent(t *testing.T) {
	d := started(slack)
	d.latency = 8 * time.Second
	d.run(time.Second)
	for range 2 {
		if e := d.c.End(d.now); e != (Ending{InFlight: true, Shown: true}) {
			t.Fatalf("ending %+v", e)
		}
	}
	d.c.Posted(d.now)
	d.c.Done(d.now.Add(time.Second), Cancelled, 0)
	if e := d.c.End(d.now.Add(time.Second)); e != (Ending{Shown: true}) {
		t.Errorf("ending %+v after the late pulse, want shown: it must be cleared once more", e)
	}
}

func TestT9_ControllersShareNothing(t *testing.T) {
	a, b := started(telegram), started(telegram)
	a.run(2 * time.Second)
	b.run(2 * time.Second)
	a.c.End(a.now)
	a.run(10 * time.Second)
	b.run(10 * time.Second)
	wantSent(t, a, s(0))
	wantSent(t, b, s(0, 4, 8))
}

func TestT12_PausesForAPersonAndResumesWithTheDecision(t *testing.T) {
	d := started(telegram)
	d.run(5 * time.Second)
	d.c.Pause(d.now)
	d.c.Pause(d.now)
	d.run(10 * time.Minute)
	wantSent(t, d, s(0, 4))
	if !d.c.Active() {
		t.Error("a pause ended it")
	}
	d.c.Resume(d.now)
	d.run(time.Second)
	wantSent(t, d, s(0, 4, 605))
	d.c.Resume(d.now)
	d.run(time.Second)
	wantSent(t, d, s(0, 4, 605))
}

func TestT12_ResumeDoesNotShortenAWait(t *testing.T) {
	d := started(telegram)
	d.result = func(int) (Result, time.Duration) { return Limited, 30 * time.Second }
	d.run(time.Second)
	d.c.Pause(d.now)
	d.run(time.Second)
	d.c.Resume(d.now)
	d.run(29 * time.Second)
	wantSent(t, d, s(0, 30))
}

func TestT13_NoCeilingOfItsOwn(t *testing.T) {
	d := started(telegram)
	d.run(2 * time.Hour)
	if gap := d.now.Sub(d.sent[len(d.sent)-1]); gap > telegram {
		t.Errorf("the last pulse is %s old", gap)
	}
	if _, ok := d.c.CutAt(); ok {
		t.Error("a cut without typingMaxSeconds")
	}
}

func TestT13_MaxCutsIt(t *testing.T) {
	d := newDriver(Params{Mode: Message, Life: telegram, Max: 10 * time.Second})
	d.c.Signal(d.now, LoopStarted)
	if _, ok := d.c.CutAt(); ok {
		t.Error("cut before the start")
	}
	d.run(3 * time.Second)
	d.c.Signal(d.now, Text)
	if at, ok := d.c.CutAt(); !ok || !at.Equal(t0.Add(13*time.Second)) {
		t.Errorf("cut at %v %t", at, ok)
	}
	d.run(9 * time.Second)
	d.c.Posted(d.now)
	late := d.c
	if late.Begin(d.now.Add(time.Minute)) {
		t.Error("a pulse that was due before the cut began after it")
	}
	d.run(time.Hour)
	wantSent(t, d, s(3, 7, 11, 12))
}

func TestP12_MayShow(t *testing.T) {
	check := func(c *Controller, after float64, want bool) {
		t.Helper()
		if got := c.MayShow(t0.Add(s(after)[0])); got != want {
			t.Errorf("may show at %gs: %t, want %t", after, got, want)
		}
	}
	c := NewController(Params{Mode: Instant, Life: telegram})
	c.Signal(t0, LoopStarted)
	check(&c, 0, false)
	c.Begin(t0)
	check(&c, 0, true)
	check(&c, 60, true) // in flight: it may be carried out at any time
	c.Done(t0.Add(2*time.Second), OK, 0)
	check(&c, 6.9, true)
	check(&c, 7, false)
	c.Posted(t0.Add(3 * time.Second))
	check(&c, 3, false)
	c.Begin(t0.Add(3 * time.Second))
	c.Posted(t0.Add(4 * time.Second)) // may be before the pulse in flight is carried out
	check(&c, 4, true)
	c.End(t0.Add(4 * time.Second))
	check(&c, 4, true)
	c.Done(t0.Add(5*time.Second), Cancelled, 0)
	check(&c, 9.9, true)
	check(&c, 10, false)
}

func TestP12_WhatTheRefusedPulseLeaves(t *testing.T) {
	for r, want := range map[Result]bool{OK: true, Failed: true, Cancelled: true, Limited: false, Denied: false} {
		c := NewController(Params{Mode: Instant, Life: telegram})
		c.Signal(t0, LoopStarted)
		c.Begin(t0)
		c.Done(t0, r, 0)
		if got := c.MayShow(t0); got != want {
			t.Errorf("result %d: may show %t, want %t", r, got, want)
		}
	}
}

func TestT1_NoAllocationPerSignal(t *testing.T) {
	c := NewController(Params{Mode: Thinking, Life: telegram})
	now := t0
	if n := testing.AllocsPerRun(1000, func() { now = step(&c, now) }); n != 0 {
		t.Errorf("%g allocations per signal", n)
	}
}

func step(c *Controller, now time.Time) time.Time {
	now = now.Add(50 * time.Millisecond)
	c.Signal(now, Text)
	if _, ok := c.Due(); ok && c.Begin(now) {
		c.Done(now, OK, 0)
	}
	if c.MayShow(now) {
		c.Changed(now)
	}
	return now
}

func BenchmarkController(b *testing.B) {
	c := NewController(Params{Mode: Thinking, Life: discord})
	now := t0
	b.ReportAllocs()
	for b.Loop() {
		now = step(&c, now)
	}
}
