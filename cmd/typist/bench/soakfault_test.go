package bench

import (
	"context"
	"math/rand/v2"
	"time"

	"typist/adapters/sim"
	"typist/adapters/sim/discord"
	"typist/adapters/sim/slack"
	"typist/adapters/sim/telegram"
)

// commonFaults are those after which every platform's answer must stand exactly once.
var commonFaults = []sim.Fault{
	{Op: sim.OpPulse, Status: 429, RetryAfter: 2 * time.Second, Times: 5},
	{Op: sim.OpEdit, Status: 429, RetryAfter: time.Second, Times: 3},
	{Op: sim.OpSend, Status: 429, RetryAfter: time.Second, Times: 3},
	{Op: sim.OpDelete, Status: 429, RetryAfter: time.Second, Times: 2},
	{Op: sim.OpPulse, Delay: 3 * time.Second, Times: 2},
	{Op: sim.OpEdit, Delay: 2 * time.Second, Times: 2},
	{Op: sim.OpSend, Delay: time.Second, Times: 1},
	{Op: sim.OpPulse, Status: 500, Times: 3},
	{Op: sim.OpEdit, Status: 500, Times: 2},
	{Op: sim.OpDelete, Status: 500, Times: 2},
	{Op: sim.OpPulse, Cut: sim.CutAfter, Times: 1},
	{Op: sim.OpEdit, Cut: sim.CutBefore, Times: 1},
	{Op: sim.OpEdit, Cut: sim.CutAfter, Times: 1},
	{Op: sim.OpSend, Cut: sim.CutAfter, Times: 1},
	{Op: sim.OpReceive, Status: 500, Times: 1},
}

// findableFaults lose a post; the platforms on which it can be looked up get it again (S3).
var findableFaults = []sim.Fault{
	{Op: sim.OpSend, Cut: sim.CutBefore, Times: 1},
	{Op: sim.OpSend, Status: 500, Times: 1},
}

// malformed are updates that no client may trip over.
var malformed = []string{
	`{"update_id":%d}`,
	`{"update_id":%d,"message":{"message_id":"one","chat":7}}`,
	`{"update_id":%d,"message":{"message_id":1,"date":0,"chat":{"id":1,"type":"private"}}}`,
	`{"update_id":%d,"edited_message":null,"callback_query":{"id":"1","from":{}}}`,
	`{"update_id":%d,"new_kind":{"a":[1,2,{"b":null}]}}`,
}

// trouble makes faults on one platform until ctx ends.
func trouble(ctx context.Context, s *soak, p sim.Platform, rng *rand.Rand) {
	faults := commonFaults
	if p.Name() != "telegram" {
		faults = append(faults[:len(faults):len(faults)], findableFaults...)
	}
	for ctx.Err() == nil {
		var remove func()
		switch n := rng.IntN(10); {
		case n < 6:
			f := faults[rng.IntN(len(faults))]
			remove = p.World().Inject(f)
			s.count("faults")
		case n < 7:
			p.Disconnect(time.Duration(rng.IntN(1500)) * time.Millisecond)
			s.count("disconnects")
		case n < 8:
			if p.Redeliver(1+rng.IntN(4)) == nil {
				s.count("redeliveries")
			}
		case n < 9:
			inject(p, rng)
			s.count("malformed updates")
		default:
			reconnect(p)
			s.count("reconnects")
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(1000+rng.IntN(3000)) * time.Millisecond):
		}
		if remove != nil {
			remove()
		}
	}
}

func inject(p sim.Platform, rng *rand.Rand) {
	switch s := p.(type) {
	case *telegram.Server:
		s.Inject(malformed[rng.IntN(len(malformed))])
	case *discord.Server:
		s.Emit("MESSAGE_CREATE", []any{map[string]any{"id": 7}, "text", map[string]any{"id": "1", "author": nil}, nil}[rng.IntN(4)])
	case *slack.Server:
		s.Emit([]map[string]any{{"type": "message", "text": 7}, {"type": "unheard_of"}, {}}[rng.IntN(3)])
	}
}

func reconnect(p sim.Platform) {
	switch s := p.(type) {
	case *telegram.Server:
		s.Disconnect(0)
	case *discord.Server:
		s.AskReconnect()
	case *slack.Server:
		s.Refresh()
	}
}
