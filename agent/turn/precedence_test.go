package turn

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/typing"
)

// TestT2_Precedence sets every level below the one under test to another mode and interval: the
// most specific one that says something wins, for mode and interval separately.
func TestT2_Precedence(t *testing.T) {
	levels := []struct {
		name string
		set  func(s *Settings, m typing.Mode, d time.Duration)
	}{
		{"agents.defaults", func(s *Settings, m typing.Mode, d time.Duration) { s.agentLevel(1, m, d) }},
		{"agents.list.ops", func(s *Settings, m typing.Mode, d time.Duration) { s.agentLevel(0, m, d) }},
		{"session", func(s *Settings, m typing.Mode, d time.Duration) {
			s.SessionTyping.Mode, s.SessionTyping.Interval = m, d
		}},
		{"channels.telegram", func(s *Settings, m typing.Mode, d time.Duration) {
			c := s.Channels["telegram"]
			c.Typing.Mode, c.Typing.Interval = m, d
			s.Channels["telegram"] = c
		}},
	}
	for top := range levels {
		for _, of := range []string{"mode", "interval"} {
			synctest.Test(t, func(t *testing.T) {
				b := start(t, setup{backend: answering(time.Second, "Hello"), settings: func(s *Settings) {
					s.SessionTyping.Name = "session"
					a := s.Agents[""]
					a.Levels = []typing.Level{{Name: "agents.list.ops"}, {Name: "agents.defaults"}}
					s.Agents[""] = a
					for i, l := range levels[:top+1] {
						m, d := typing.Message, 20*time.Second
						if i == top {
							m, d = typing.Never, 2*time.Second
						}
						if of == "mode" {
							d = 0
						} else {
							m = typing.Unset
						}
						l.set(s, m, d)
					}
				}})
				b.write("dm", "/typing")
				after(time.Second)
				want := "never (from " + levels[top].name + "), renewed every 6 s (from the default)"
				if of == "interval" {
					want = "instant (from the kind of chat), renewed every 2 s (from " + levels[top].name + ")"
				}
				b.want("dm", want)
				b.write("dm", "hi")
				after(500 * time.Millisecond)
				if got := b.typing("dm"); got != (of == "interval") {
					t.Errorf("%s: the indicator shows: %t", want, got)
				}
			})
		}
	}
}

func (s *Settings) agentLevel(i int, m typing.Mode, d time.Duration) {
	s.Agents[""].Levels[i].Mode, s.Agents[""].Levels[i].Interval = m, d
}

// TestT2_CommandIsDurablePerChat: /typing goes before all configuration, for this chat only, and
// holds after a restart.
func TestT2_CommandIsDurablePerChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f := newFake("telegram")
		b := start(t, setup{fake: f, backend: answering(time.Second, "Hello"), settings: mode(typing.Instant), store: openStore(t, dir)})
		b.write("dm", "/typing never 2.5")
		after(time.Second)
		b.want("dm", "never", "2.5 s")
		b.write("dm", "hi")
		after(500 * time.Millisecond)
		if b.typing("dm") {
			t.Error("the indicator shows although this chat said never")
		}
		b.write("room", "hi", mentioned)
		after(500 * time.Millisecond)
		if !b.typing("room") {
			t.Error("another chat's setting holds here")
		}
		after(5 * time.Second)
		b.shut()
		if err := b.store.Close(); err != nil {
			t.Fatal(err)
		}

		b = start(t, setup{fake: f.again(), backend: answering(time.Second, "Hello"), settings: mode(typing.Instant), store: openStore(t, dir)})
		n := b.pulses()
		b.write("dm", "hi")
		after(5 * time.Second)
		if b.pulses() != n {
			t.Error("the chat's setting is lost after a restart")
		}
		b.write("dm", "/typing default")
		after(time.Second)
		if got := b.bot("dm"); !strings.Contains(got[len(got)-1], "instant (from channels.telegram), renewed every 6 s") {
			t.Errorf("got %q", got[len(got)-1])
		}
		b.write("dm", "hi")
		after(500 * time.Millisecond)
		if !b.typing("dm") {
			t.Error("no indicator after the setting was taken back")
		}
	})
}

// TestT2_TheIntervalHolds between pulses, bounded by the platform's life (T6).
func TestT2_TheIntervalHolds(t *testing.T) {
	for _, c := range []struct {
		interval time.Duration
		life     time.Duration
		want     time.Duration
	}{
		{0, 5 * time.Second, 4 * time.Second},
		{2 * time.Second, 5 * time.Second, 2 * time.Second},
		{30 * time.Second, 5 * time.Second, 4 * time.Second},
		{0, 10 * time.Second, 6 * time.Second},
		{30 * time.Second, 10 * time.Second, 9 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake("telegram")
			f.caps.IndicatorLife = c.life
			b := start(t, setup{fake: f, backend: answering(95*time.Second, "Hello"), settings: func(s *Settings) {
				s.SessionTyping.Interval = c.interval
				s.Delay = time.Hour // no post in between
			}})
			b.write("dm", "hi")
			after(90 * time.Second)
			if n, want := b.pulses(), int(90*time.Second/c.want)+1; n != want && n != want-1 {
				t.Errorf("interval %v, life %v: %d pulses in 90 s, want %d", c.interval, c.life, n, want)
			}
			if tl := b.chat.world.Timeline("dm", ""); len(tl) != 1 {
				t.Errorf("interval %v, life %v: gaps: %v", c.interval, c.life, tl)
			}
		})
	}
}
