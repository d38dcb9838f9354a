package bench

import (
	"os"
	"syscall"
	"testing"
	"time"

	"typist/adapters/sim"
	"typist/adapters/sim/discord"
	"typist/adapters/sim/slack"
	"typist/adapters/sim/telegram"
)

// towns starts the three miniature platforms with the worlds that they come with.
func towns(t testing.TB, options slack.Options) (*telegram.Server, *discord.Server, *slack.Server) {
	t.Helper()
	tg, err := telegram.New(telegram.Options{})
	must(t, err)
	t.Cleanup(func() { _ = tg.Close() })
	dc, err := discord.New(discord.Options{})
	must(t, err)
	t.Cleanup(func() { _ = dc.Close() })
	sl, err := slack.New(options)
	must(t, err)
	t.Cleanup(func() { _ = sl.Close() })
	return tg, dc, sl
}

// idleFigures are what a program costs that has nothing to do.
type idleFigures struct {
	rss, binary float64       // MB
	poll        time.Duration // from the start of the process to its first poll
	cores       float64
}

// measureIdle starts the program with all three channels on an empty store and leaves it alone.
func measureIdle(t testing.TB, settle time.Duration) idleFigures {
	t.Helper()
	tg, dc, sl := towns(t, slack.Options{})
	tg.Inject(`{"update_id":%d,"poll":{"id":"1"}}`) // so that the first poll is answered and logged at once
	p := run(t, configure(t, t.TempDir(), short, "", tg, dc, sl), 3)
	eventually(t, "the first poll", 10*time.Second, func() bool { return len(tg.World().Calls(sim.OpReceive)) > 0 })
	var f idleFigures
	f.poll = tg.World().Calls(sim.OpReceive)[0].At.Sub(p.started)
	pause(settle)
	cpu, from := p.cpu(t), time.Now()
	pause(settle)
	f.cores = (p.cpu(t) - cpu).Seconds() / time.Since(from).Seconds()
	f.rss = p.rss(t)
	info, err := os.Stat(binary)
	must(t, err)
	f.binary = float64(info.Size()) / (1 << 20)
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Errorf("the program ended with %v", err)
	}
	return f
}

// TestO_IdleIsCheap: BenchmarkIdle measures; the goals are 35 MB, 200 ms and 35 MB.
func TestO_IdleIsCheap(t *testing.T) {
	f := measureIdle(t, time.Second)
	t.Logf("%.1f MB resident, %v to the first poll, binary %.1f MB", f.rss, f.poll, f.binary)
	if f.rss > 45 {
		t.Errorf("%.1f MB resident", f.rss)
	}
	if f.poll > 3*time.Second {
		t.Errorf("%v to the first poll", f.poll)
	}
	if f.binary > 35 {
		t.Errorf("the stripped binary has %.1f MB", f.binary)
	}
}

// BenchmarkIdle reports what an idle program costs; the goals are 35 MB resident, 200 ms to the
// first poll, and 35 MB of stripped binary.
func BenchmarkIdle(b *testing.B) {
	for b.Loop() {
		f := measureIdle(b, 10*time.Second)
		b.ReportMetric(f.rss, "rss-MB")
		b.ReportMetric(float64(f.poll.Milliseconds()), "first-poll-ms")
		b.ReportMetric(f.binary, "binary-MB")
		b.ReportMetric(f.cores, "cores")
	}
}
