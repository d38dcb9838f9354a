package playground

import (
	"context"
	"log/slog"

	"typist/adapters/sim"
	"typist/config"
)

// Watching is a playground of one platform, without a bot.
func Watching(platform sim.Platform) (*Playground, *sim.World, error) {
	p := &Playground{log: slog.New(slog.DiscardHandler), mirror: newMirror()}
	l, err := listen(context.Background(), "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	p.web = newWeb(p, l)
	p.bot = newKeeper(new(config.Config), nil, p.mirror, p.log)
	t := newTown(platform, "1001")
	p.towns = []*town{t}
	t.watch(p.mirror)
	p.web.start()
	return p, platform.World(), nil
}

// Seen waits until the mirror has the newest state of the worlds.
func (p *Playground) Seen(ctx context.Context) error {
	for _, t := range p.towns {
		calls, next := t.World().CallsAfter(0)
		if len(calls) == 0 {
			continue
		}
		key := "call/" + t.Name() + "/" + sim.FormatID(next-1)
		for {
			p.mirror.mu.Lock()
			_, ok := p.mirror.byKey[key]
			changed := p.mirror.changed
			p.mirror.mu.Unlock()
			if ok {
				break
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// Items is how many items the mirror holds.
func (p *Playground) Items() int {
	p.mirror.mu.Lock()
	defer p.mirror.mu.Unlock()
	return len(p.mirror.byKey)
}

// Buried waits until killed bots have ended.
func (p *Playground) Buried() { p.bot.dying.Wait() }

// World is what the people of a platform see.
func (p *Playground) World(name string) *sim.World {
	t, err := p.web.town(name)
	if err != nil {
		panic(err)
	}
	return t.World()
}
