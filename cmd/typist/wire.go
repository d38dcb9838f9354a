package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"typist/adapters"
	"typist/agent"
	"typist/agent/metrics"
	"typist/cmd/typist/assemble"
	"typist/config"
)

// running is the service of `typist run`: the assembled parts behind the process's frame.
type running struct{ *assemble.Parts }

func build(ctx context.Context, c *config.Config, log *slog.Logger, m *metrics.Metrics) (service, error) {
	parts, err := assemble.New(ctx, c, log, m, assemble.Options{})
	if err != nil {
		return nil, err
	}
	m.OnScrape(func(ctx context.Context) {
		if stats, err := parts.Store.Stats(ctx); err == nil {
			m.QueueDepth(stats.Waiting)
		}
	})
	return running{parts}, nil
}

func (r running) Events() http.Handler { return r.Parts.Events.Handler() }

// Pair lets in the person with this code (C2).
func (r running) Pair(ctx context.Context, code string) (string, error) {
	person, err := r.Hub.Pair(ctx, code)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s (id %s) may talk to the bot now", printable(person.Name), person.ID), nil
}

// Paired lists who was let in by a code, and who waits.
func (r running) Paired(ctx context.Context) (string, error) {
	all, err := r.Hub.Paired(ctx)
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "Nobody was let in by a code, and nobody waits.", nil
	}
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CHANNEL\tID\tNAME\tSINCE\tSTATE")
	for _, p := range all {
		state := "let in"
		if p.Code != "" {
			state = "waits: typist pair " + p.Code
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", p.Channel, p.Person.ID, printable(p.Person.Name), p.Since.Local().Format(time.DateTime), state)
	}
	t.Flush()
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// printable keeps a name that people choose for themselves from steering a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
}

// Revoke takes back what a code let in.
func (r running) Revoke(ctx context.Context, id string) (string, error) {
	out, err := r.Hub.Revoke(ctx, id)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, p := range out {
		lines = append(lines, fmt.Sprintf("%s (id %s) may not talk to the bot on %s any more, unless allowFrom names them", printable(p.Person.Name), id, p.Channel))
	}
	return strings.Join(lines, "\n"), nil
}

// Heartbeat begins a heartbeat at once (H1).
func (r running) Heartbeat(ctx context.Context, agent string) (string, error) {
	return r.Beats.Now(ctx, agent)
}

// Health is what /healthz tells (O1).
func (r running) Health(ctx context.Context) Health {
	h := Health{Version: version(), Channels: map[string]ChannelHealth{}, Runs: r.Hub.Runs()}
	for name, s := range r.Hub.Channels() {
		ch := ChannelHealth{Connected: s.Connected, Since: s.Since}
		switch {
		case s.Err != nil:
			ch.Error = agent.Mask(s.Err.Error())
		case s.Denied != nil:
			ch.Error = "the typing indicator is refused: " + agent.Mask(s.Denied.Error())
		}
		h.Channels[name] = ch
	}
	stats, err := r.Store.Stats(ctx)
	if err == nil {
		err = stats.Err
	}
	h.Store = StoreHealth{OK: err == nil, Bytes: stats.Bytes, Waiting: stats.Waiting}
	if err != nil {
		h.Store.Error = agent.Mask(err.Error())
	}
	return h
}

// probes reach everything that the config names, once (O4).
func probes(c *config.Config) []probe {
	var out []probe
	quiet := slog.New(slog.DiscardHandler)
	add := func(name string, made any, err error) {
		reach := func(context.Context) (string, error) { return "nothing to reach", err }
		if p, ok := made.(adapters.Prober); ok && err == nil {
			reach = p.Probe
		}
		out = append(out, probe{name: name, reach: reach})
	}
	for _, name := range c.Channels.Names() {
		a, err := assemble.Channel(name, c.Channels.Get(name), quiet, nil)
		add("channel "+name, a, err)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Backends)) {
		b, _, err := assemble.Backend(c, name, assemble.Surroundings{Log: quiet})
		add("backend "+name, b, err)
	}
	for _, name := range slices.Sorted(maps.Keys(c.MCPServers)) {
		out = append(out, probe{name: "mcpServer " + name, reach: func(ctx context.Context) (string, error) {
			return assemble.ProbeTools(ctx, name, c.MCPServers[name])
		}})
	}
	return out
}
