package store

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"typist/agent"
)

// fill stores sessions with one turn each and events for them, quickly: many rows a transaction.
// The last waiting inputs are not begun.
func fill(t testing.TB, s *Store, sessions, events, waiting int) {
	t.Helper()
	delta, err := agent.Encode(agent.TextContent{ID: "text-1", Delta: "some words that a model wrote, about as many as come in a quarter of a second"})
	if err != nil {
		t.Fatal(err)
	}
	const step = 500
	per := events / sessions
	for from := 0; from < sessions; from += step {
		if err := s.write(t.Context(), "fill", func(c *conn) error {
			for i := from; i < from+step && i < sessions; i++ {
				if err := fillOne(c, i, per, i >= sessions-waiting, delta); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func fillOne(c *conn, i, events int, waits bool, delta []byte) error {
	key, run := fmt.Sprintf("telegram/%d", 100000+i), fmt.Sprintf("run-%020d", i)
	at := time.UnixMilli(1_700_000_000_000 + int64(i))
	chat, err := touch(c, key, at)
	if err != nil {
		return err
	}
	state := "done"
	if waits {
		state = "waiting"
	}
	if _, err := c.exec(`INSERT INTO inbox (channel, event_id, chat, message, kind, payload, state, at) VALUES ('telegram', ?1, ?2, '1', 'message', ?3, ?4, ?5)`,
		fmt.Sprint(i), chat, []byte(`{"text":"What is the weather like today in Lisbon?"}`), state, millis(at)); err != nil || waits {
		return err
	}
	user, answer := text(run+"u", key, "", agent.User, "What is the weather like today in Lisbon?"), text(run+"a", key, run+"u", agent.Assistant, strings.Repeat("Sunny, with a light wind. ", 10))
	user.Refs, answer.Refs = []string{"1"}, []string{"2"}
	rows, err := encodeNodes([]Node{user, answer})
	if err != nil {
		return err
	}
	if err := appendNodes(c, rows); err != nil {
		return err
	}
	if err := setLeaf(c, key, answer.ID); err != nil {
		return err
	}
	if err := insertRun(c, chat, Run{ID: run, Node: user.ID, State: RunDone, StartedAt: at, EndedAt: at, Answer: []string{"2"}}); err != nil {
		return err
	}
	var span int64
	if _, err := c.row(`INSERT INTO spans (run, chat, first, last, bytes, at) VALUES (?1, ?2, 1, ?3, ?4, ?5) RETURNING id`, []any{run, chat, events, events * len(delta), millis(at)}, &span); err != nil {
		return err
	}
	for seq := range events {
		if _, err := c.exec(`INSERT INTO events (chat, seq, span, at, event) VALUES (?1, ?2, ?3, ?4, ?5)`, chat, seq+1, span, millis(at), delta); err != nil {
			return err
		}
	}
	_, err = c.exec(`UPDATE chats SET seq = ?2 WHERE id = ?1`, chat, events)
	return err
}

const restartDir = "STORE_TEST_RESTART_DIR"

// restart is the child of restartIn: a program that starts, as its first read, and stays.
func restart(dir string) error {
	start := time.Now()
	s, err := Open(background, Options{Dir: dir})
	if err != nil {
		return err
	}
	inputs, err := s.Unfinished(background)
	if err != nil {
		return err
	}
	took := time.Since(start)
	runs, err := s.RunsIn(background, RunRunning)
	if err != nil {
		return err
	}
	fmt.Printf("%d %d %d %d\n", took.Microseconds(), rss(), len(inputs), len(runs))
	return s.Close()
}

// restartIn starts a process on dir and says how long Open and Unfinished took there, the memory
// it then had, and how many inputs it found.
func restartIn(t testing.TB, dir string) (took time.Duration, rssKB, inputs int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), restartDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var us int64
	var runs int
	if _, err := fmt.Sscan(string(out), &us, &rssKB, &inputs, &runs); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	return time.Duration(us) * time.Microsecond, rssKB, inputs
}

// rss is this process's resident memory in KiB; 0 where the system does not say.
func rss() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	n, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return n
}

// TestRestartReadsNoHistory holds a restart on a large store against one on an empty store, so
// that what a start reads does not grow with what is kept.
func TestRestartReadsNoHistory(t *testing.T) {
	empty, large := t.TempDir(), t.TempDir()
	for dir, sessions := range map[string]int{empty: 0, large: 1500} {
		s, err := Open(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if sessions > 0 {
			fill(t, s, sessions, 4*sessions, 20)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, rssEmpty, _ := restartIn(t, empty)
	took, rssLarge, inputs := restartIn(t, large)
	if inputs != 20 {
		t.Errorf("%d unfinished inputs, want 20", inputs)
	}
	if took > 300*time.Millisecond {
		t.Errorf("open and unfinished took %v", took)
	}
	if grown := rssLarge - rssEmpty; grown > 6*1024 {
		t.Errorf("memory grew by %d KiB with the store's size", grown)
	}
}

// BenchmarkRestart opens a store of 100,000 sessions and a million events in a new process; the
// goals are 300 ms and, for the whole program, 60 MB.
func BenchmarkRestart(b *testing.B) {
	dir := b.TempDir()
	s, err := Open(b.Context(), Options{Dir: dir, Retention: Retention{Every: -1}})
	if err != nil {
		b.Fatal(err)
	}
	fill(b, s, 100_000, 1_000_000, 50)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for b.Loop() {
		took, rssKB, inputs := restartIn(b, dir)
		if inputs != 50 {
			b.Fatalf("%d inputs", inputs)
		}
		b.ReportMetric(float64(took.Microseconds())/1000, "restart-ms")
		b.ReportMetric(float64(rssKB)/1024, "rss-MB")
	}
}
