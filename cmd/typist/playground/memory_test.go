package playground_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"typist/adapters/sim"
	"typist/adapters/sim/telegram"
	"typist/cmd/typist/playground"
)

// heap is what is in use after a collection, in bytes.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Fifty pages look at one run that edits, pulses and calls as often as one of ten minutes does.
func TestW3_FiftyPagesKeepMemoryFlat(t *testing.T) {
	srv, err := telegram.New(telegram.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, world, err := playground.Watching(srv)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	a := newAPI(t, p)
	const pages = 50
	var seen sync.WaitGroup
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var ends []chan struct{}
	for range pages {
		r, _ := http.NewRequestWithContext(ctx, "GET", a.base+"/api/stream", nil)
		answer, err := a.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		end := make(chan struct{})
		ends = append(ends, end)
		seen.Go(func() {
			defer close(end)
			lines := bufio.NewScanner(answer.Body)
			lines.Buffer(nil, 4<<20)
			for lines.Scan() {
				if strings.Contains(lines.Text(), "edit 2399 of it") {
					return
				}
			}
		})
	}
	message := sim.Message{ID: "1", Chat: telegram.DirectChat, From: world.Bot(), Text: "begin", HTML: "begin"}
	world.Post(message)
	run := func(from, to int) {
		for i := from; i < to; i++ { // ten minutes are 400 edits, 150 pulses, and their calls: this is six times that
			text := fmt.Sprintf("edit %d of it %s", i, strings.Repeat("word ", 200))
			world.Change(message.Chat, message.ID, func(m *sim.Message) { m.Text, m.HTML = text, text })
			world.Pulse(message.Chat, "", "", time.Nanosecond) // lapses: each pulse is an interval of its own
			world.Record(sim.Call{At: time.Now(), Op: sim.OpEdit, Method: "editMessageText", Chat: message.Chat, Status: 200})
			if i%50 == 0 {
				if err := p.Seen(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	run(0, 800) // bounds are reached
	before := heap()
	run(800, 2400)
	for _, end := range ends {
		select {
		case <-end:
		case <-time.After(patience):
			t.Fatal("a page did not get the last state")
		}
	}
	if n := p.Items(); n > 1000 {
		t.Errorf("the mirror holds %d items", n)
	}
	if grown := heap() - before; grown > 4<<20 {
		t.Errorf("the heap grew by %d kB", grown>>10)
	}
}
