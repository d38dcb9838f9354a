package progress

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"typist/agent"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// deltas are the events of a run that streams: made before, so that only the board is measured.
func deltas() []agent.Event {
	return []agent.Event{
		say("t", "some words "),
		agent.TextContent{Sub: in("a"), ID: "t", Delta: "of a subagent "},
		think("r", "a thought"),
		args("c", "x"),
	}
}

// grown is a board whose buffers have reached what they keep.
func grown() *Board {
	b := NewBoard(Options{StartedAt: epoch})
	b.Apply(args("c", `{"command":"`), epoch)
	for range 3000 {
		for _, ev := range deltas() {
			b.Apply(ev, epoch)
		}
	}
	// Room for the text, whose growth is all that is left.
	for _, a := range []*area{b.run, b.areas["a"]} {
		a.text.body = append(make([]byte, 0, 256<<20/2), a.text.body...)
	}
	return b
}

func TestP_BoardDeltaDoesNotAllocate(t *testing.T) {
	b, evs := grown(), deltas()
	i := 0
	if n := testing.AllocsPerRun(2000, func() {
		b.Apply(evs[i%len(evs)], epoch.Add(time.Second))
		i++
	}); n != 0 {
		t.Errorf("%v allocations per delta", n)
	}
}

func BenchmarkP_BoardDelta(bench *testing.B) {
	for i, name := range []string{"text", "subagent", "thinking", "arguments"} {
		bench.Run(name, func(bench *testing.B) {
			b, ev := grown(), deltas()[i]
			bench.ReportAllocs()
			for bench.Loop() {
				b.Apply(ev, epoch)
				if len(b.run.text.body) > 100<<20 || len(b.areas["a"].text.body) > 100<<20 {
					b.run.text.body, b.areas["a"].text.body = b.run.text.body[:1000], b.areas["a"].text.body[:1000]
				}
			}
		})
	}
}

// streaming is a run of many deltas of text, thinking and arguments, whose views are looked at
// now and then, as the turn code does.
type streaming struct {
	*Board
	now time.Time
	n   int
}

func newStreaming() *streaming {
	return &streaming{Board: NewBoard(Options{StartedAt: epoch}), now: epoch}
}

func (s *streaming) deltas(n int) {
	for range n {
		s.now = s.now.Add(2 * time.Millisecond)
		switch s.n++; s.n % 4 {
		case 0:
			s.Apply(think("r", "a thought that goes on and on \n"), s.now)
		case 1:
			s.Apply(args("c", "0123456789"), s.now)
		default:
			s.Apply(say("t", "words of an answer\n\n"), s.now)
		}
		if s.n%200 == 0 { // every 0.4 s
			s.View(Summary, s.now)
			s.View(Detail, s.now)
			s.NextTick(s.now)
			s.Status(s.now)
		}
	}
}

func TestP_100kDeltasCostLinearTime(t *testing.T) {
	// The last tenth costs what the second tenth costs. Each is the best of some runs, since other
	// work on the machine disturbs single ones.
	early, late := time.Hour, time.Hour
	for range 5 {
		s := newStreaming()
		var took [10]time.Duration
		for i := range took {
			start := time.Now()
			s.deltas(10_000)
			took[i] = time.Since(start)
		}
		early, late = min(early, took[1]), min(late, took[8], took[9])
		if n := len(s.Text()); n != 50_000*len("words of an answer\n\n") {
			t.Fatalf("the answer has %d bytes", n)
		}
	}
	t.Logf("deltas 10,000 to 20,000 take %s, the last 10,000 %s", early, late)
	if late > 3*early {
		t.Errorf("deltas 10,000 to 20,000 take %s, the last 10,000 %s", early, late)
	}
}

func TestP_AnOrdinaryRunIsSmall(t *testing.T) {
	const boards = 100
	keep := make([]*Board, boards)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range keep {
		b := NewBoard(Options{StartedAt: epoch})
		for j := range 20 {
			id := fmt.Sprint(j)
			b.Apply(request("m"+id), epoch)
			b.Apply(think("r"+id, strings.Repeat("thought ", 40)), epoch)
			b.Apply(thought("r"+id), epoch)
			b.Apply(tool("c"+id, "Bash"), epoch)
			b.Apply(args("c"+id, `{"command":"go test ./..."}`), epoch)
			b.Apply(result("c"+id, strings.Repeat("ok ", 100)), epoch)
		}
		b.Apply(say("t", strings.Repeat("answer ", 300)), epoch)
		b.View(Summary, epoch)
		keep[i] = b
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (after.HeapAlloc - before.HeapAlloc) / boards
	t.Logf("%d bytes per board", each)
	if each > 60<<10 {
		t.Errorf("%d bytes per board", each)
	}
	runtime.KeepAlive(keep)
}

func BenchmarkP_View(bench *testing.B) {
	s := newStreaming()
	s.deltas(100_000)
	b := s.Board
	for _, level := range Levels() {
		bench.Run(string(level), func(bench *testing.B) {
			bench.ReportAllocs()
			now := epoch
			for bench.Loop() {
				now = now.Add(time.Second)
				b.Apply(say("t", "x "), now)
				b.View(level, now)
			}
		})
	}
}
