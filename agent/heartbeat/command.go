package heartbeat

import (
	"context"
	"errors"
	"time"

	"typist/adapters"
	"typist/agent/progress"
	"typist/agent/turn"
)

// Command implements turn.Heartbeats: /heartbeat tells the schedule of the chat's agent,
// /heartbeat now runs it in this chat.
func (r *Runner) Command(ctx context.Context, chat adapters.Chat, kind adapters.Kind, agent string, now bool) string {
	schedules, lang := r.current()
	words := progress.Words(lang)
	for _, s := range schedules {
		if s.Agent != agent {
			continue
		}
		if !now {
			at := time.Now()
			return words.HeartbeatEvery(s.Every, s.target(), s.next(at).Sub(at))
		}
		err := r.here(ctx, s, chat, kind)
		switch {
		case errors.Is(err, turn.ErrBusy):
			return words.HeartbeatBusy
		case err != nil:
			r.report(s, err)
			return words.HeartbeatLost(s.target(), err.Error())
		}
		return words.HeartbeatStarted
	}
	return words.HeartbeatOff
}

// here runs the heartbeat in the chat that asked for it.
func (r *Runner) here(ctx context.Context, s Schedule, chat adapters.Chat, kind adapters.Kind) error {
	prompt, skip, err := s.prompt()
	if err == nil && skip {
		err = errEmpty
	}
	if err != nil {
		return err
	}
	return r.hub.Heartbeat(ctx, chat, kind, turn.Heartbeat{Agent: s.Agent, Slot: "now/" + slotName(time.Now().UnixNano()), Prompt: prompt, Deliver: true})
}
