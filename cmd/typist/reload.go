package main

import (
	"errors"
	"os"
	"strings"
	"time"

	"typist/config"
)

// watchInterval is the time between two looks at the config file (O5).
const watchInterval = 2 * time.Second

// reloader takes over a changed config file (O5).
type reloader struct {
	p       *process
	svc     service
	started *config.Config // what needs a restart is compared with this one
	current *config.Config
	seen    fileState
	missing int // looks in a row that found no file
}

// fileState tells one version of a file from another.
type fileState struct {
	modified time.Time
	size     int64
}

func newReloader(p *process, svc service) *reloader {
	return &reloader{p: p, svc: svc, started: p.config, current: p.config, seen: stateOf(p.config.File)}
}

// stateOf is the zero value for a file that is not there: an editor may be about to replace it.
func stateOf(path string) fileState {
	info, err := os.Stat(path)
	if err != nil {
		return fileState{}
	}
	return fileState{modified: info.ModTime(), size: info.Size()}
}

// changed reports whether the file is another one than at the last look.
func (r *reloader) changed() bool {
	now := stateOf(r.started.File)
	if now != (fileState{}) {
		r.missing = 0
		return now != r.seen
	}
	if r.missing++; r.missing == 2 { // an editor that replaces the file is faster
		r.p.log.Warn("the config file is gone; the config stays as it was", "config", r.started.File)
	}
	return false
}

// reload reads the file and takes over what it can. A wrong file changes nothing.
func (r *reloader) reload(why string) {
	log := r.p.log.With("config", r.started.File, "why", why)
	r.seen = stateOf(r.started.File)
	next, err := config.Load(r.started.File, r.p.getenv)
	if err == nil {
		err = next.ForRun()
	}
	if err != nil {
		var problems config.Problems
		if errors.As(err, &problems) {
			for _, problem := range problems {
				log.Error("the changed config is wrong", "problem", problem.Error())
			}
		} else {
			log.Error("the changed config can't be read", "error", err)
		}
		log.Error("the config stays as it was")
		return
	}
	// Old secrets stay masked: what needs a restart still uses them.
	r.p.secrets.set(append(r.started.Secrets(), next.Secrets()...))
	changed, _ := config.Diff(r.current, next)
	_, waiting := config.Diff(r.started, next)
	if len(changed) > 0 {
		merged, err := config.Reload(r.started, next)
		if err == nil {
			err = r.svc.Update(merged)
		}
		if err != nil {
			log.Error("the changed config can't be taken over; it stays as it was", "error", err)
			return
		}
	}
	r.current = next
	switch {
	case len(changed) > 0:
		log.Info("reloaded", "keys", strings.Join(changed, ", "))
	case len(waiting) == 0:
		log.Info("reloaded, nothing has changed")
	}
	if len(waiting) > 0 {
		log.Warn("changes that need a restart", "keys", strings.Join(waiting, ", "))
	}
}
