package store

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"typist/agent"
)

// appendFrom lets 32 chats append one event at a time, each durable before the next, and
// returns how many a second were.
func appendFrom(t testing.TB, s *Store, chats, each int) float64 {
	t.Helper()
	start := time.Now()
	var wg sync.WaitGroup
	for i := range chats {
		wg.Go(func() {
			chat, run := fmt.Sprintf("telegram/%d", i), fmt.Sprintf("run-%d", i)
			for range each {
				if _, err := s.Append(t.Context(), chat, run, time.Now(), []agent.Event{agent.TextContent{ID: "t1", Delta: "a few words of an answer "}}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return float64(chats*each) / time.Since(start).Seconds()
}

// BenchmarkAppend32Chats reports durable appends a second; the goal is 5,000.
func BenchmarkAppend32Chats(b *testing.B) {
	s := open(b, b.TempDir())
	b.ResetTimer()
	rate := appendFrom(b, s, 32, (b.N+31)/32)
	b.ReportMetric(rate, "events/s")
	b.ReportMetric(float64(s.writer.writes.Load())/float64(s.writer.commits.Load()), "writes/commit")
}

// BenchmarkAccept reports how long a lone caller waits for a durable input; the goal is 2 ms.
func BenchmarkAccept(b *testing.B) {
	s := open(b, b.TempDir())
	var took []time.Duration
	for i := range b.N {
		start := time.Now()
		if _, _, err := s.Accept(b.Context(), Input{EventID: fmt.Sprint(i), Chat: fmt.Sprintf("telegram/%d", i%100), Kind: InputMessage, Payload: []byte(`{"text":"hello"}`)}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
