package typing

import (
	"testing"
	"time"
)

func TestT11_LimitedWaitsExactlyRetryAfter(t *testing.T) {
	d := started(telegram)
	d.result = func(n int) (Result, time.Duration) {
		if n == 1 {
			return Limited, 17 * time.Second
		}
		return OK, 0
	}
	d.run(26 * time.Second)
	wantSent(t, d, s(0, 4, 21, 25))
}

func TestT11_LimitedNeverGivesUpAndMayLackATime(t *testing.T) {
	d := started(telegram)
	d.result = func(int) (Result, time.Duration) { return Limited, 0 }
	d.run(20500 * time.Millisecond)
	if len(d.sent) != 21 || d.c.GaveUp() {
		t.Errorf("%d pulses, gave up %t", len(d.sent), d.c.GaveUp())
	}
}

func TestT11_DeniedIsNeverTriedAgain(t *testing.T) {
	d := started(telegram)
	d.result = func(int) (Result, time.Duration) { return Denied, 0 }
	d.run(time.Hour)
	d.c.Posted(d.now)
	d.c.Signal(d.now, Text)
	d.run(time.Hour)
	wantSent(t, d, s(0))
	if !d.c.GaveUp() || d.c.Active() || d.c.MayShow(t0) {
		t.Errorf("gave up %t, active %t, may show %t", d.c.GaveUp(), d.c.Active(), d.c.MayShow(t0))
	}
}

func TestT11_FailuresBackOffAndFiveInARowGiveUp(t *testing.T) {
	d := started(telegram)
	d.result = func(int) (Result, time.Duration) { return Failed, 0 }
	d.run(time.Hour)
	wantSent(t, d, s(0, 1, 3, 7, 15))
	if !d.c.GaveUp() {
		t.Error("did not give up")
	}
}

func TestT11_FailedHonoursALongerRetryAfterAndPostsDoNotShortenBackoff(t *testing.T) {
	d := started(telegram)
	d.result = func(int) (Result, time.Duration) { return Failed, 6 * time.Second }
	d.run(time.Second)
	d.c.Posted(d.now)
	d.run(6 * time.Second)
	wantSent(t, d, s(0, 6))
}

func TestT11_ASuccessResetsTheBackoff(t *testing.T) {
	d := started(telegram)
	d.result = func(n int) (Result, time.Duration) {
		if n%5 == 4 {
			return OK, 0
		}
		return Failed, 0
	}
	d.run(35 * time.Second)
	wantSent(t, d, s(0, 1, 3, 7, 15, 19, 20, 22, 26, 34))
	if d.c.GaveUp() {
		t.Error("gave up")
	}
}

func TestT11_ASlowPulseIsNotOvertaken(t *testing.T) {
	d := started(telegram)
	d.latency = 8 * time.Second
	d.run(20 * time.Second)
	wantSent(t, d, s(0, 8, 16))
	if d.c.Begin(d.now) {
		t.Error("a second pulse began while one was in flight")
	}
}

func TestT11_ACancelledPulseIsNoFailure(t *testing.T) {
	d := started(telegram)
	d.result = func(int) (Result, time.Duration) { return Cancelled, 0 }
	d.run(9500 * time.Millisecond)
	if len(d.sent) != 10 || d.c.GaveUp() {
		t.Errorf("%d pulses, gave up %t", len(d.sent), d.c.GaveUp())
	}
}

func TestT11_DoneWithoutAPulseIsIgnored(t *testing.T) {
	d := started(telegram)
	d.c.Done(d.now, Denied, 0)
	if !d.c.Active() || d.c.MayShow(d.now) {
		t.Error("a result of no pulse was counted")
	}
}
