package store

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"typist/agent"
)

// TestInsideABubble: a store opened in a bubble keeps fake time going while it waits, ends all its
// goroutines on Close, and prunes by the bubble's clock.
func TestInsideABubble(t *testing.T) {
	for name, dir := range map[string]string{"memory": "", "file": t.TempDir()} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := Open(background, Options{Dir: dir})
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				var wg sync.WaitGroup
				for i := range 8 {
					wg.Go(func() {
						chat := fmt.Sprintf("telegram/%d", i)
						for n := range 10 {
							<-time.After(time.Minute)
							if first, err := s.Append(background, chat, "r", time.Now(), []agent.Event{agent.TextContent{ID: "t", Delta: "x"}}); err != nil || first != int64(n+1) {
								t.Error(first, err)
							}
							if evs, err := s.Events(background, chat, 0, 0); err != nil || len(evs) != n+1 {
								t.Error(len(evs), err)
							}
						}
					})
				}
				wg.Wait()
				if took := time.Since(start); took != 10*time.Minute {
					t.Errorf("took %v of fake time, want 10m", took)
				}
				if fresh, err := s.Seen(background, "telegram", "p1"); !fresh || err != nil {
					t.Error(fresh, err)
				}
				<-time.After(23 * time.Hour)
				if fresh, err := s.Seen(background, "telegram", "p1"); fresh || err != nil {
					t.Error("forgotten within the time it has to be known", err)
				}
				<-time.After(3 * time.Hour)
				synctest.Wait()
				if n, err := count(s, `SELECT COUNT(*) FROM seen`); n != 0 || err != nil {
					t.Errorf("%d ids are still known, %v", n, err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
