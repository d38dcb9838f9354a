package heartbeat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"typist/adapters"
	"typist/agent/progress"
	"typist/agent/store"
	"typist/agent/turn"
)

// Hub is what starts a heartbeat's turn.
type Hub interface {
	Heartbeat(ctx context.Context, chat adapters.Chat, kind adapters.Kind, hb turn.Heartbeat) error
	Resolver(channel string) (adapters.Resolver, bool)
}

// Store is what a Runner keeps.
type Store interface {
	ClaimSlot(ctx context.Context, name, slot string) (fresh bool, err error)
	LastChat(ctx context.Context, agent string) (store.ChatInfo, bool, error)
	Load(ctx context.Context, key string) (string, error)
	Save(ctx context.Context, key, value string) error
}

// Runner fires the heartbeats of all agents. It implements turn.Heartbeats.
type Runner struct {
	hub   Hub
	store Store
	log   *slog.Logger

	mu        sync.Mutex
	schedules []Schedule
	lang      progress.Lang
	changed   chan struct{}
}

// New makes a runner; nothing fires before Run.
func New(hub Hub, st Store, log *slog.Logger) *Runner {
	return &Runner{hub: hub, store: st, log: log, changed: make(chan struct{}, 1)}
}

// Update puts other schedules into force.
func (r *Runner) Update(schedules []Schedule, lang progress.Lang) {
	r.mu.Lock()
	r.schedules, r.lang = slices.Clone(schedules), lang
	r.mu.Unlock()
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

func (r *Runner) current() ([]Schedule, progress.Lang) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.schedules, r.lang
}

// maxSleep bounds a wait, so that a clock that was set, or a machine that slept, is noticed soon.
const maxSleep = 30 * time.Second

// Run fires what is due until ctx ends.
func (r *Runner) Run(ctx context.Context) {
	for {
		schedules, _ := r.current()
		now := time.Now()
		at := now.Add(maxSleep)
		for _, s := range schedules {
			r.look(ctx, s, now)
			if next := s.next(now); next.Before(at) {
				at = next
			}
		}
		timer := time.NewTimer(time.Until(at))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-r.changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// look fires the schedule's tick if a new one is due. Ticks that were missed, because the machine
// slept or the program was away, fire once together (H6).
func (r *Runner) look(ctx context.Context, s Schedule, now time.Time) {
	key, slot := "heartbeat/slot/"+s.Agent, slotName(s.slot(now))
	last, err := r.store.Load(ctx, key)
	if err != nil {
		r.log.Error("a heartbeat's schedule could not be read", "agent", s.Agent, "error", err)
		return
	}
	if last == slot {
		return
	}
	if err := r.store.Save(ctx, key, slot); err != nil {
		r.log.Error("a heartbeat's schedule could not be stored", "agent", s.Agent, "error", err)
		return
	}
	if last == "" {
		return // the first look ever: the first tick is the next one
	}
	if !s.Hours.Contain(now) {
		r.log.Debug("a heartbeat is skipped: outside of its hours", "agent", s.Agent)
		return
	}
	fresh, err := r.store.ClaimSlot(ctx, "heartbeat/"+s.Agent, slot)
	if err != nil || !fresh {
		if err != nil {
			r.log.Error("a heartbeat could not be claimed", "agent", s.Agent, "error", err)
		}
		return
	}
	if err := r.fire(ctx, s, slot); err != nil {
		r.report(s, err)
	}
}

// errEmpty: the checklist has nothing on it (H7).
var errEmpty = errors.New("the checklist is empty")

// fire begins the turn in the chat that the target resolves to.
func (r *Runner) fire(ctx context.Context, s Schedule, slot string) error {
	prompt, skip, err := s.prompt()
	if err != nil {
		return fmt.Errorf("checklist: %w", err)
	}
	if skip {
		return errEmpty
	}
	chat, kind, err := r.resolve(ctx, s)
	if err != nil {
		return &lostError{target: s.target(), err: err}
	}
	return r.hub.Heartbeat(ctx, chat, kind, turn.Heartbeat{Agent: s.Agent, Slot: slot, Prompt: prompt, Deliver: s.Deliver && s.Target != TargetNone})
}

// lostError: the target is no chat that can be found.
type lostError struct {
	target string
	err    error
}

func (e *lostError) Error() string { return fmt.Sprintf("target %s: %v", e.target, e.err) }
func (e *lostError) Unwrap() error { return e.err }

func (s Schedule) target() string {
	if s.To == "" {
		return s.Target
	}
	return s.Target + " " + s.To
}

// report says in the log why a heartbeat did not run (T4: never silently).
func (r *Runner) report(s Schedule, err error) {
	switch {
	case errors.Is(err, turn.ErrBusy):
		r.log.Info("a heartbeat is skipped: its chat is busy", "agent", s.Agent)
	case errors.Is(err, errEmpty):
		r.log.Info("a heartbeat is skipped: its checklist is empty", "agent", s.Agent)
	default:
		r.log.Warn("a heartbeat could not run", "agent", s.Agent, "error", err)
	}
}

// Now fires an agent's heartbeat ("" = each agent's) at once, whatever the hours, and says what
// came of it (`typist heartbeat --now`).
func (r *Runner) Now(ctx context.Context, agent string) (string, error) {
	schedules, _ := r.current()
	began := 0
	var errs []error
	for _, s := range schedules {
		if agent != "" && s.Agent != agent {
			continue
		}
		if err := r.fire(ctx, s, "now/"+slotName(time.Now().UnixNano())); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.Agent, err))
			continue
		}
		began++
	}
	switch {
	case began == 0 && len(errs) == 0 && agent != "":
		return "", fmt.Errorf("the agent %q has no heartbeat (set heartbeat.every)", agent)
	case began == 0 && len(errs) == 0:
		return "", errors.New("no agent has a heartbeat (set agents.defaults.heartbeat.every)")
	case len(errs) > 0:
		return "", errors.Join(errs...)
	}
	if began == 1 {
		return "1 heartbeat began", nil
	}
	return fmt.Sprintf("%d heartbeats began", began), nil
}
