package playground

import (
	"errors"
	"sync"

	"typist/adapters/sim"
	"typist/adapters/sim/discord"
	"typist/adapters/sim/slack"
	"typist/adapters/sim/telegram"
	"typist/agent/turn"
)

// town is one miniature platform with what the page needs to know of it.
type town struct {
	sim.Platform
	you string // the person whose client the page shows

	mu      sync.Mutex
	removes []func() // of the faults that stand
	stop    chan struct{}
	done    sync.WaitGroup
}

// startTowns starts the three miniature platforms, in the order of the page.
func startTowns() (towns []*town, err error) {
	defer func() {
		if err != nil {
			for _, t := range towns {
				err = errors.Join(err, t.close())
			}
			towns = nil
		}
	}()
	tg, err := telegram.New(telegram.Options{Limits: telegram.RealLimits()})
	if err != nil {
		return towns, err
	}
	towns = append(towns, newTown(tg, telegram.Ann))
	dc, err := discord.New(discord.Options{})
	if err != nil {
		return towns, err
	}
	towns = append(towns, newTown(dc, discord.Ann))
	commands := []string{"typist"}
	for _, c := range turn.Commands() {
		commands = append(commands, c.Name)
	}
	sl, err := slack.New(slack.Options{Commands: commands})
	if err != nil {
		return towns, err
	}
	return append(towns, newTown(sl, slack.Ann)), nil
}

func newTown(p sim.Platform, you string) *town {
	return &town{Platform: p, you: you, stop: make(chan struct{})}
}

// inject makes calls fail as the person at the page wants.
func (t *town) inject(f sim.Fault) {
	remove := t.World().Inject(f)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.removes = append(t.removes, remove)
}

// mend ends every fault.
func (t *town) mend() {
	t.mu.Lock()
	removes := t.removes
	t.removes = nil
	t.mu.Unlock()
	for _, remove := range removes {
		remove()
	}
}

func (t *town) close() error {
	close(t.stop)
	t.done.Wait()
	return t.Close()
}
