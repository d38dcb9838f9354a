package heartbeat

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/agent/progress"
	"typist/agent/store"
	"typist/agent/turn"
)

// hub records the heartbeats that begin.
type hub struct {
	err   error
	began []turn.Heartbeat
	chats []adapters.Chat
	kinds []adapters.Kind
}

func (h *hub) Heartbeat(_ context.Context, chat adapters.Chat, kind adapters.Kind, hb turn.Heartbeat) error {
	if h.err != nil {
		return h.err
	}
	h.began, h.chats, h.kinds = append(h.began, hb), append(h.chats, chat), append(h.kinds, kind)
	return nil
}

func (h *hub) Resolver(channel string) (adapters.Resolver, bool) {
	return resolver{}, channel == "slack"
}

type resolver struct{}

func (resolver) Resolve(_ context.Context, target string) (adapters.Chat, adapters.Kind, error) {
	if target != "#ops" {
		return adapters.Chat{}, "", errors.New("no such channel")
	}
	return adapters.Chat{Channel: "slack", ID: "C1"}, adapters.Group, nil
}

type bench struct {
	*Runner
	hub *hub
	st  *store.Store
	log *strings.Builder
}

func start(t *testing.T, st *store.Store, schedules ...Schedule) *bench {
	t.Helper()
	b := &bench{hub: &hub{}, st: st, log: &strings.Builder{}}
	if st == nil {
		var err error
		if b.st, err = store.Open(t.Context(), store.Options{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.st.Close() })
	}
	b.Runner = New(b.hub, b.st, slog.New(slog.NewTextHandler(b.log, nil)))
	b.Update(schedules, progress.English)
	return b
}

// run lets the runner work for d.
func (b *bench) run(d time.Duration) {
	ctx, stop := context.WithTimeout(context.Background(), d)
	defer stop()
	b.Run(ctx)
}

func (b *bench) spoke(t *testing.T, agent string) {
	t.Helper()
	if err := b.st.SetLastChat(t.Context(), agent, store.ChatInfo{Chat: "telegram/42", Kind: adapters.Direct}); err != nil {
		t.Fatal(err)
	}
}

func TestH1_FiresEveryTickInTheLastChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil, Schedule{Agent: "default", Every: 30 * time.Minute, Target: TargetLast, Deliver: true})
		b.spoke(t, "default")
		b.run(2*time.Hour + time.Minute)
		if len(b.hub.began) != 4 {
			t.Fatalf("%d heartbeats in two hours", len(b.hub.began))
		}
		if hb := b.hub.began[0]; !hb.Deliver || hb.Prompt != DefaultPrompt || b.hub.chats[0] != (adapters.Chat{Channel: "telegram", ID: "42"}) || b.hub.kinds[0] != adapters.Direct {
			t.Errorf("%+v in %+v", hb, b.hub.chats[0])
		}
	})
}

func TestH1_TargetsByNameAndThread(t *testing.T) {
	b := start(t, nil, Schedule{Agent: "ops", Every: time.Hour, Target: "slack", To: "#ops/171.5", Deliver: true})
	if text, err := b.Now(t.Context(), "ops"); err != nil || text != "1 heartbeat began" {
		t.Fatal(text, err)
	}
	if b.hub.chats[0] != (adapters.Chat{Channel: "slack", ID: "C1", Thread: "171.5"}) || b.hub.kinds[0] != adapters.Group {
		t.Errorf("%+v", b.hub.chats[0])
	}
}

func TestT4_UnresolvableTargetIsAWarningWithTheReason(t *testing.T) {
	for _, s := range []Schedule{
		{Agent: "a", Every: time.Hour, Target: "slack", To: "#gone"},
		{Agent: "a", Every: time.Hour, Target: "discord", To: "1"},
		{Agent: "a", Every: time.Hour, Target: TargetLast},
	} {
		b := start(t, nil, s)
		err := b.fire(t.Context(), s, "1")
		if err == nil || len(b.hub.began) > 0 {
			t.Fatalf("%+v began", s)
		}
		b.report(s, err)
		if got := b.log.String(); !strings.Contains(got, "WARN") || !strings.Contains(got, s.Target) {
			t.Errorf("log: %s", got)
		}
	}
}

func TestT4_TargetNoneDeliversNothing(t *testing.T) {
	b := start(t, nil, Schedule{Agent: "a", Every: time.Hour, Target: TargetNone, Deliver: true})
	b.spoke(t, "a")
	if _, err := b.Now(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if b.hub.began[0].Deliver {
		t.Error("a heartbeat without target delivers")
	}
}

func TestH1_ActiveHoursFollowTheWallClock(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	day := Hours{Start: 8 * 60, End: 22 * 60, Zone: berlin}
	night := Hours{Start: 22 * 60, End: 6 * 60, Zone: berlin}
	for _, c := range []struct {
		h    Hours
		at   string
		want bool
	}{
		{day, "2026-01-15T06:59:00Z", false}, {day, "2026-01-15T07:00:00Z", true}, // winter: UTC+1
		{day, "2026-07-15T05:59:00Z", false}, {day, "2026-07-15T06:00:00Z", true}, // summer: UTC+2
		{day, "2026-03-29T06:00:00Z", true}, {day, "2026-03-28T06:30:00Z", false}, // the day the clocks go forward
		{day, "2026-10-25T06:30:00Z", false}, {day, "2026-10-25T07:00:00Z", true}, // and back
		{day, "2026-07-15T20:00:00Z", false},
		{night, "2026-01-15T22:00:00Z", true}, {night, "2026-01-15T12:00:00Z", false}, {night, "2026-01-15T05:00:00Z", false},
		{Hours{}, "2026-01-15T03:00:00Z", true},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.h.Contain(at); got != c.want {
			t.Errorf("%v at %s: %v", c.h, c.at, got)
		}
	}
}

func TestH1_OutsideOfItsHoursNothingFires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the bubble begins at midnight UTC
		b := start(t, nil, Schedule{Agent: "a", Every: time.Hour, Target: TargetLast, Hours: Hours{Start: 8 * 60, End: 10 * 60, Zone: time.UTC}})
		b.spoke(t, "a")
		b.run(23 * time.Hour)
		if len(b.hub.began) != 2 {
			t.Errorf("%d heartbeats", len(b.hub.began))
		}
	})
}

func TestH2_OnlyAllIsWellIsQuiet(t *testing.T) {
	long := strings.Repeat("x", 301)
	for text, want := range map[string]bool{
		"HEARTBEAT_OK": true, "**heartbeat_ok**": true, "HEARTBEAT_OK. All green.": true, "Looked at it all. HEARTBEAT_OK": true,
		"HEARTBEAT_OK " + long: false, long + " HEARTBEAT_OK": false, "The disk is full": false, "a HEARTBEAT_OK b": false,
	} {
		if got := quiet(text); got != want {
			t.Errorf("quiet(%.40q) = %v", text, got)
		}
	}
}

func TestH3_BusyChatIsSkipped(t *testing.T) {
	b := start(t, nil, Schedule{Agent: "a", Every: time.Hour, Target: TargetLast})
	b.spoke(t, "a")
	b.hub.err = turn.ErrBusy
	if _, err := b.Now(t.Context(), "a"); !errors.Is(err, turn.ErrBusy) {
		t.Errorf("err = %v", err)
	}
	if got := b.Command(t.Context(), adapters.Chat{}, adapters.Direct, "a", true); got != progress.Words(progress.English).HeartbeatBusy {
		t.Errorf("answer: %q", got)
	}
}

func TestH4_SameTextOncePerDayAndChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil)
		say := func(chat, text string) string { return b.Text(t.Context(), chat, "a", text) }
		if say("c1", "disk full") == "" || say("c1", "disk full") != "" || say("c2", "disk full") == "" || say("c1", "disk nearly full") == "" || say("c1", " disk full ") != "" {
			t.Error("texts within a day")
		}
		pass(24*time.Hour + time.Second)
		if say("c1", "disk full") == "" {
			t.Error("the text is still held back after a day")
		}
	})
}

func TestH6_MissedTicksFireOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, nil, Schedule{Agent: "a", Every: 10 * time.Minute, Target: TargetLast})
		b.spoke(t, "a")
		b.run(15 * time.Minute)
		began := len(b.hub.began)
		pass(5 * time.Hour) // the program is away
		again := start(t, b.st, Schedule{Agent: "a", Every: 10 * time.Minute, Target: TargetLast})
		again.run(time.Minute)
		if began != 1 || len(again.hub.began) != 1 {
			t.Errorf("%d heartbeats before, %d after the pause", began, len(again.hub.began))
		}
	})
}

func TestH7_EmptyChecklistSkips(t *testing.T) {
	file := filepath.Join(t.TempDir(), "HEARTBEAT.md")
	s := Schedule{Agent: "a", Every: time.Hour, Target: TargetLast, Checklist: file}
	for text, skip := range map[string]bool{
		"": true, "  \n": true, "# Checklist\n\n- [ ]\n<!-- nothing -->\n": true, "# Checklist\n- look at the backups\n": false,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		prompt, got, err := s.prompt()
		if err != nil || got != skip || !skip && !strings.Contains(prompt, "backups") {
			t.Errorf("%q: skip %v, %v, prompt %q", text, got, err, prompt)
		}
	}
}

func TestH8_OnceAcrossReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Schedule{Agent: "a", Every: time.Hour, Target: TargetLast}
		b := start(t, nil, s)
		b.spoke(t, "a")
		other := start(t, b.st, s)
		b.look(t.Context(), s, time.Now())
		pass(time.Hour)
		now := time.Now()
		b.look(t.Context(), s, now)
		// Another process that read the slot before this one stored it.
		if err := b.st.Save(t.Context(), "heartbeat/slot/a", "before"); err != nil {
			t.Fatal(err)
		}
		other.look(t.Context(), s, now)
		if len(b.hub.began) != 1 || len(other.hub.began) != 0 {
			t.Errorf("began %d and %d", len(b.hub.began), len(other.hub.began))
		}
	})
}

// pass lets a bubble's time go on.
func pass(d time.Duration) { <-time.After(d) }
