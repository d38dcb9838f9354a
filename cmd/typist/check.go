package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"typist/config"
)

type checkCommand struct {
	configFlag
	Schema bool `xor:"print" help:"Print the config file's JSON Schema instead, for editors."`
	Keys   bool `xor:"print" help:"Print a table of all config keys instead, in Markdown."`
}

// probe reaches one thing that the config names.
type probe struct {
	name  string // such as "channel telegram"
	reach func(ctx context.Context) (found string, err error)
	mild  bool // what is wrong keeps nothing from running
}

// probeLimit is how long one probe may take.
const probeLimit = 15 * time.Second

// Run is `typist check`.
func (c *checkCommand) Run(ctx context.Context, std streams) error {
	if c.Keys {
		_, err := fmt.Fprint(std.out, config.Markdown())
		return err
	}
	if c.Schema {
		schema, err := config.Schema()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(std.out, string(schema))
		return err
	}
	cfg, err := c.load()
	if err != nil {
		return err
	}
	if err := cfg.ForRun(); err != nil {
		return err
	}
	secrets := new(secretList)
	secrets.set(cfg.Secrets())
	// Libraries that write while they are probed would tear the table.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	rows := []finding{{name: "config", found: cfg.File + " is right"}, dataDirFinding(cfg.DataDir)}
	rows = append(rows, reachAll(ctx, append(localProbes(cfg), probes(cfg)...), secrets)...)
	rows = append(rows, accessFindings(cfg)...)
	if !table(std.out, rows) {
		return errReported
	}
	return nil
}

// reachAll probes everything at the same time; the rows stay in the probes' order.
func reachAll(ctx context.Context, probes []probe, secrets *secretList) []finding {
	rows := make([]finding, len(probes))
	var all sync.WaitGroup
	for i, p := range probes {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, probeLimit)
			defer cancel()
			found, err := p.try(ctx)
			if err == nil {
				rows[i] = finding{name: p.name, found: found}
				return
			}
			found, todo := explain(err)
			rows[i] = finding{name: p.name, found: secrets.mask(found), todo: secrets.mask(todo), mild: p.mild}
		})
	}
	all.Wait()
	return rows
}

// try keeps a library's panic from ending the whole table.
func (p probe) try(ctx context.Context) (found string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return p.reach(ctx)
}
