package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"typist/agent/store"
	"typist/config"
)

// localError is something wrong on this machine.
type localError struct{ found, todo string }

func (e *localError) Error() string { return e.found + ": " + e.todo }

// localProbes look at what typist needs of this machine.
func localProbes(c *config.Config) []probe {
	probes := []probe{{name: "store", reach: func(ctx context.Context) (string, error) { return store.Inspect(ctx, c.DataDir) }}}
	if address := c.HTTP.Listen; address != "" {
		// Where nobody has asked for the address, typist runs without it.
		probes = append(probes, probe{name: "http.listen", mild: !c.Written("http.listen"), reach: func(ctx context.Context) (string, error) {
			return listenFound(ctx, address)
		}})
	}
	return probes
}

// listenFound tries whether the address is free, or a running typist has it.
func listenFound(ctx context.Context, address string) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err == nil {
		return address + " is free", l.Close()
	}
	if servesTypist(ctx, address) {
		return address + " is in use by a typist that runs", nil
	}
	return "", &localError{cause(err), `choose another http.listen, or "" for no health checks and no metrics`}
}

// servesTypist asks the address for a typist's health.
func servesTypist(ctx context.Context, address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/healthz", nil)
	if err != nil {
		return false
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy: it is this machine
	resp, err := client.Do(r)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var h Health
	return json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&h) == nil && h.Version != "" && h.Channels != nil
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

// accessFindings warn of channels that nobody can use: that is how one begins, but no way to stay.
func accessFindings(c *config.Config) []finding {
	var rows []finding
	for _, name := range c.Channels.Names() {
		ch := c.Channels.Get(name)
		somebody := len(ch.AllowFrom) > 0 || ch.Pairing
		for _, g := range ch.Groups {
			somebody = somebody || len(g.AllowFrom) > 0
		}
		if !somebody {
			rows = append(rows, finding{name: "access " + name, found: "allowFrom is empty: nobody can use the bot", mild: true,
				todo: fmt.Sprintf("write to the bot, then put the id that the log names into channels.%s.allowFrom", name)})
		}
	}
	return rows
}
