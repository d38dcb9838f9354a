package typing

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// model plays a lane, its network and the platform around one controller, and holds the rules
// against everything that happens, from its own bookkeeping.
type model struct {
	*rapid.T
	p   Params
	c   Controller
	now time.Time

	ended, paused bool
	inFlight      bool
	doneAt        time.Time // when the pulse in flight comes back …
	landsAt       time.Time // … and when the platform carries it out
	result        Result
	retryAfter    time.Duration

	started   bool
	failures  int
	denied    bool
	waitUntil time.Time // told to wait, or backing off
	stretch   time.Time // since when the indicator should stand without a gap
	shownTill time.Time // what a person sees, at the latest
	pulses    int
}

func (m *model) active() bool { return m.started && !m.ended && !m.denied && m.failures < maxFailures }

// check holds at every moment.
func (m *model) check() {
	at, ok := m.c.Due()
	if ok && (m.inFlight || m.ended || m.paused || !m.active()) {
		m.Fatalf("due with inFlight=%t ended=%t paused=%t active=%t", m.inFlight, m.ended, m.paused, m.active())
	}
	if ok && at.Before(m.waitUntil) {
		m.Fatalf("due %s before the wait is over", m.waitUntil.Sub(at))
	}
	if m.c.Active() != m.active() {
		m.Fatalf("Active %t, want %t", m.c.Active(), m.active())
	}
	if m.now.Before(m.shownTill) && !m.c.MayShow(m.now) {
		m.Fatalf("a person sees it for another %s, MayShow says no", m.shownTill.Sub(m.now))
	}
	if m.active() && !m.paused && !m.inFlight && m.p.Max == 0 {
		if !ok {
			m.Fatalf("active and nothing due")
		}
		from := m.stretch
		if from.Before(m.waitUntil) {
			from = m.waitUntil
		}
		if gap := at.Sub(from); gap > m.p.Life {
			m.Fatalf("a gap of %s, life %s", gap, m.p.Life)
		}
	}
}

// land is the platform carrying a pulse out.
func (m *model) land() {
	if m.result != Limited && m.result != Denied {
		m.shownTill = m.landsAt.Add(m.p.Life)
	}
	m.landsAt = time.Time{}
}

func (m *model) send() {
	if !m.c.Begin(m.now) {
		m.Fatalf("a due pulse was refused")
	}
	if m.c.Begin(m.now) {
		m.Fatalf("two pulses in flight")
	}
	m.pulses++
	m.inFlight = true
	m.stretch = m.now
	d := time.Duration(rapid.Int64Range(0, int64(9*time.Second)).Draw(m.T, "latency"))
	if rapid.IntRange(0, 3).Draw(m.T, "quick") > 0 {
		d /= 100
	}
	m.doneAt = m.now.Add(d)
	m.landsAt = m.now.Add(time.Duration(rapid.Int64Range(0, int64(d)).Draw(m.T, "lands")))
	m.result = rapid.SampledFrom([]Result{OK, OK, OK, OK, OK, OK, Limited, Failed, Failed, Cancelled, Denied}).Draw(m.T, "result")
	m.retryAfter = 0
	if m.result == Limited {
		m.retryAfter = time.Duration(rapid.Int64Range(1, int64(time.Minute)).Draw(m.T, "retryAfter"))
	}
}

func (m *model) back() {
	m.c.Done(m.now, m.result, m.retryAfter)
	m.inFlight = false
	m.stretch = m.now
	switch m.result {
	case OK:
		m.failures = 0
	case Limited:
		m.waitUntil = m.now.Add(m.retryAfter)
	case Denied:
		m.denied = true
	case Failed:
		m.failures++
		m.waitUntil = m.now.Add(time.Second << (m.failures - 1))
	case Cancelled:
	}
}

// pass lets time go on, sending what is due and bringing back what was sent.
func (m *model) pass(d time.Duration) {
	until := m.now.Add(d)
	for {
		next, act := until, func() {}
		if m.inFlight && !m.doneAt.After(next) {
			next, act = m.doneAt, m.back
		}
		if !m.landsAt.IsZero() && !m.landsAt.After(next) {
			next, act = m.landsAt, m.land
		}
		if at, ok := m.c.Due(); ok && !at.After(next) {
			next, act = at, m.send
		}
		arrived := next.Equal(until) || next.After(until)
		if next.After(m.now) {
			m.now = next
		}
		act()
		m.check()
		if at, ok := m.c.Due(); arrived && (!ok || at.After(m.now)) && !(m.inFlight && !m.doneAt.After(m.now)) && (m.landsAt.IsZero() || m.landsAt.After(m.now)) {
			return
		}
	}
}

func (m *model) starts(s Signal) bool {
	if m.p.Mode == Never || m.p.Mode == Unset || m.p.Life == 0 {
		return false
	}
	return m.p.Heartbeat || m.p.Mode == Instant || s == Execution || s == Text || s == Reasoning && m.p.Mode == Thinking
}

func (m *model) signal(s Signal) {
	m.c.Signal(m.now, s)
	if !m.started && !m.ended && m.starts(s) {
		m.started = true
		m.stretch = m.now
	}
}

func TestT6T7T8T11T12_AnySequenceOfSignalsAndTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Params{
			Mode:      rapid.SampledFrom([]Mode{Unset, Never, Instant, Thinking, Message}).Draw(t, "mode"),
			Heartbeat: rapid.Bool().Draw(t, "heartbeat"),
			Interval:  rapid.SampledFrom(s(0, 1, 4, 6, 30)).Draw(t, "interval"),
			Life:      rapid.SampledFrom([]time.Duration{0, telegram, discord, slack}).Draw(t, "life"),
			Max:       rapid.SampledFrom(s(0, 0, 0, 20)).Draw(t, "max"),
		}
		if p.Heartbeat && p.Mode == Unset {
			p.Mode = Instant // what Resolve makes of it
		}
		m := &model{T: t, p: p, c: NewController(p), now: t0}
		pulsesAtEnd := -1
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			m.pass(time.Duration(rapid.Int64Range(0, int64(12*time.Second)).Draw(t, "wait")))
			switch rapid.IntRange(0, 11).Draw(t, "what") {
			case 0, 1, 2, 3:
				m.signal(rapid.SampledFrom([]Signal{LoopStarted, Reasoning, Execution, Text}).Draw(t, "signal"))
			case 4, 5:
				m.c.Posted(m.now)
				m.shownTill = time.Time{}
				if at, ok := m.c.Due(); ok && at.After(m.now) && !m.now.Before(m.waitUntil) {
					t.Fatalf("no pulse at once after a post")
				}
			case 6:
				m.c.Changed(m.now)
			case 7:
				m.c.Pause(m.now)
				m.paused = true
			case 8, 9:
				if m.paused {
					m.stretch = m.now
				}
				m.c.Resume(m.now)
				m.paused = false
			case 10:
				if m.c.Begin(m.now) {
					t.Fatalf("a pulse that was not due began")
				}
			case 11:
				if rapid.IntRange(0, 3).Draw(t, "really end") > 0 {
					continue
				}
				e := m.c.End(m.now)
				m.ended = true
				if e.InFlight != m.inFlight || m.now.Before(m.shownTill) && !e.Shown {
					t.Fatalf("ending %+v with inFlight=%t", e, m.inFlight)
				}
				if pulsesAtEnd < 0 {
					pulsesAtEnd = m.pulses
				}
			}
			m.check()
		}
		if pulsesAtEnd >= 0 && m.pulses != pulsesAtEnd {
			t.Fatalf("%d pulses after the end", m.pulses-pulsesAtEnd)
		}
		if (p.Mode == Never || p.Mode == Unset || p.Life == 0) && m.pulses > 0 {
			t.Fatalf("%d pulses in mode %s, life %s", m.pulses, p.Mode, p.Life)
		}
	})
}

func TestT6_WithQuickCallsAPersonSeesItWithoutAGap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		life := rapid.SampledFrom([]time.Duration{telegram, discord, slack}).Draw(t, "life")
		interval := rapid.SampledFrom(s(0, 1, 3, 6, 60)).Draw(t, "interval")
		d := newDriver(Params{Mode: Instant, Interval: interval, Life: life})
		d.latency = time.Duration(rapid.Int64Range(0, int64(margin)).Draw(t, "latency"))
		d.c.Signal(d.now, LoopStarted)
		d.run(time.Duration(rapid.Int64Range(0, int64(10*time.Minute)).Draw(t, "run")))
		for i := range d.sent {
			end := d.now
			if i+1 < len(d.sent) {
				end = d.sent[i+1].Add(d.latency) // carried out as late as can be
			}
			if shown := d.sent[i].Add(life); end.After(shown) { // carried out as early as can be
				t.Fatalf("a gap of %s after pulse %d", end.Sub(shown), i)
			}
		}
	})
}

func TestT5_AHeldPrefixGivesNoPulse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.SampledFrom([]string{"NO_REPLY", "**no_reply**", "Heartbeat_OK.", " \n`NO_REPLY`"}).Draw(t, "token")
		cut := rapid.IntRange(0, len(token)).Draw(t, "cut")
		f := NewSilentFilter(defaults)
		d := newDriver(Params{Mode: rapid.SampledFrom([]Mode{Thinking, Message}).Draw(t, "mode"), Life: telegram})
		d.c.Signal(d.now, LoopStarted)
		for rest := token[:cut]; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if f.Push(rest[:n]) != "" {
				d.c.Signal(d.now, Text)
			}
			rest = rest[n:]
			d.run(time.Second)
		}
		if len(d.sent) > 0 {
			t.Fatalf("%q started the indicator", token[:cut])
		}
		if f.Push("Xyz") != "" {
			d.c.Signal(d.now, Text)
		}
		d.run(time.Second)
		if len(d.sent) != 1 {
			t.Fatal("divergence did not start the indicator")
		}
	})
}
