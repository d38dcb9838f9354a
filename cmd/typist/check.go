package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"typist/adapters"
	"typist/agent"
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
}

// finding is one row of the table (O4).
type finding struct{ name, found, todo string }

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
	rows = append(rows, reachAll(ctx, probes(cfg), secrets)...)
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
			rows[i] = finding{name: p.name, found: firstLine(secrets.mask(err.Error())), todo: advice(err)}
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

// table prints the findings and reports whether all is well.
func table(w io.Writer, rows []finding) bool {
	ok := true
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tWHAT\tFOUND\tWHAT TO DO")
	for _, r := range rows {
		mark := "✓"
		if r.todo != "" {
			ok, mark = false, "✗"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", mark, r.name, r.found, r.todo)
	}
	t.Flush()
	return ok
}

// dataDirFinding tries whether the data directory can be written.
func dataDirFinding(dir string) finding {
	f := finding{name: "dataDir", found: dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		f.found, f.todo = err.Error(), "choose another dataDir, or let this user write there"
		return f
	}
	probe, err := os.CreateTemp(dir, ".check-*")
	if err != nil {
		f.found, f.todo = err.Error(), "choose another dataDir, or let this user write there"
		return f
	}
	name := probe.Name()
	if err := errors.Join(probe.Close(), os.Remove(name)); err != nil {
		f.found, f.todo = err.Error(), "look at the disk that "+filepath.Dir(name)+" lies on"
	}
	return f
}

// advice says what to do about a probe's error.
func advice(err error) string {
	var fatal *adapters.FatalError
	var failure *agent.Failure
	var limited *adapters.RateLimitError
	switch {
	case errors.As(err, &fatal):
		return "see the sentence" // it says what to do itself
	case errors.As(err, &limited):
		return fmt.Sprintf("wait %s, then check again", limited.RetryAfter.Round(time.Second))
	case errors.As(err, &failure):
		return failureAdvice(failure.Kind)
	case errors.Is(err, adapters.ErrDenied):
		return "check the token and the bot's rights"
	case errors.Is(err, adapters.ErrNeverSent):
		return "check the network, the proxy and apiURL"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, adapters.ErrUnknownOutcome):
		return "no answer came in time: check the network and apiURL, then try again"
	}
	return "see the error"
}

func failureAdvice(kind agent.FailureKind) string {
	switch kind {
	case agent.NeverSent:
		return "is the server running? check baseURL (or the command) and the network"
	case agent.Unauthorized:
		return "check apiKey"
	case agent.NotFound:
		return "check model and baseURL"
	case agent.Overloaded, agent.RateLimited, agent.CutEarly, agent.TimedOut:
		return "the server has trouble: try again later"
	case agent.Crashed:
		return "run the command by hand and look at what it prints"
	case agent.Invalid, agent.TooLong, agent.Malformed:
	}
	return "does baseURL point at an API of this type?"
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
