// Package adaptertest is the contract that every adapter keeps, checked through the real client
// library against its miniature platform. An adapter's test needs one line:
//
//	adaptertest.Run(t, func(t *testing.T) adaptertest.Harness { … })
package adaptertest

import (
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"typist/adapters"
	"typist/adapters/sim"
)

// Place is a chat and perhaps a thread in it.
type Place struct{ Chat, Thread string }

// Harness is one adapter and its platform. Each case makes a fresh one; the suite closes the
// platform. Person and Other are members of every place.
type Harness struct {
	Platform sim.Platform
	// New makes an adapter against the platform; a case may make several, one after the other.
	New func(t *testing.T) adapters.Adapter

	Direct Place // of Person and the bot
	Group  Place
	Topic  Place // a topic or thread in a group; zero = the platform has none
	Person string
	Other  string

	// Mention is the bot's mention as it stands in a text of the platform.
	Mention string
	// Pings are texts and Markdown that would notify people on this platform; in a post of the bot
	// they must not.
	Pings []string
	// Noise does what must never become an event: reactions, service messages, updates of unknown
	// kinds, messages of other bots. nil = nothing.
	Noise func(t *testing.T)
	// BadToken makes an adapter whose token the platform does not know.
	BadToken func(t *testing.T) adapters.Adapter
	// RefuseMarkup makes the platform refuse the markup of the next n messages; nil = it has none to
	// refuse.
	RefuseMarkup func(n int)
	// PasteUnit is the length of the parts in which clients send a long paste; 0 = they do not.
	PasteUnit int
}

// check is one case of the suite.
type check struct {
	name string
	run  func(f *fixture)
	idle bool // the adapter's Run is not started
}

// Run checks an adapter.
func Run(t *testing.T, make func(t *testing.T) Harness) {
	for _, c := range all() {
		t.Run(c.name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			t.Cleanup(func() { // registered first, so it comes last
				if err := goleak.Find(before); err != nil {
					t.Errorf("goroutines are left: %v", err)
				}
			})
			start(t, make(t), c, patience)
		})
	}
}

// RunInBubble checks an adapter whose harness reaches nothing outside memory (simnet.Listen): the
// clock is a bubble's, waits take no time, and goroutines that stay are found by the bubble.
func RunInBubble(t *testing.T, make func(t *testing.T) Harness) {
	for _, c := range all() {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { start(t, make(t), c, 0) })
		})
	}
}

func all() []check {
	var list []check
	for _, part := range [][]check{receiving, connecting, sending, indicating, failing, formatting} {
		list = append(list, part...)
	}
	return list
}
