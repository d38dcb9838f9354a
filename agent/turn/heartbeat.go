package turn

import (
	"context"
	"errors"
	"time"

	"typist/adapters"
	"typist/agent/store"
)

// ErrBusy: the chat has something to do, so the heartbeat is skipped (H3).
var ErrBusy = errors.New("the chat is busy")

// Heartbeats is what the turn code needs of the heartbeats' scheduler.
type Heartbeats interface {
	// Text is what of a heartbeat's answer the chat gets: "" is nothing (H2, H4).
	Text(ctx context.Context, chat, agent, text string) string
	// Command answers /heartbeat: it shows the schedule of the chat's agent, or with now begins one.
	Command(ctx context.Context, chat adapters.Chat, kind adapters.Kind, agent string, now bool) string
}

// SetHeartbeats connects the scheduler; to be called before Run.
func (h *Hub) SetHeartbeats(b Heartbeats) { h.beats = b }

// Heartbeat begins a heartbeat's turn in the chat it resolves to. At most one begins per agent and
// slot, on whatever process (H6, H8). ErrBusy: skipped.
func (h *Hub) Heartbeat(ctx context.Context, chat adapters.Chat, kind adapters.Kind, hb Heartbeat) error {
	waiting, err := h.store.CountWaiting(ctx, chat.Key())
	if err != nil {
		return err
	}
	if h.busy(chat) || waiting > 0 {
		return ErrBusy
	}
	now := time.Now()
	in := input{Kind: store.InputHeartbeat, Agent: hb.Agent, Heartbeat: &hb,
		Message: adapters.Message{Origin: adapters.Origin{EventID: "heartbeat/" + hb.Agent + "/" + hb.Slot, Chat: chat, Kind: kind, At: now}}}
	return h.accept(ctx, in, now)
}

// heartbeatText is what of a heartbeat's answer the chat gets.
func (h *Hub) heartbeatText(r *run, text string) string {
	if !r.in.Heartbeat.Deliver {
		return ""
	}
	if h.beats != nil {
		return h.beats.Text(h.callCtx, r.lane.chat.Key(), r.in.Heartbeat.Agent, text)
	}
	return text
}

// note remembers where a person last spoke to an agent (H1 `last`), and where they can be reached.
func (h *Hub) note(ctx context.Context, in input) {
	if in.Kind != store.InputMessage {
		return
	}
	o := in.Message.Origin
	info := store.ChatInfo{Chat: o.Chat.Key(), Kind: o.Kind, Name: o.ChatName}
	if err := h.store.SetLastChat(ctx, in.Agent, info); err != nil {
		h.log.Error("where a person last spoke could not be stored", "error", err)
	}
	if o.Kind == adapters.Direct && o.Chat.Thread == "" && h.settings().Channels[o.Chat.Channel].Pairing {
		if err := h.store.Save(ctx, "direct/"+o.Chat.Channel+"/"+o.From.ID, o.Chat.Key()); err != nil {
			h.log.Error("where a person can be reached could not be stored", "error", err)
		}
	}
}

// heartbeatNow is /heartbeat [now].
func heartbeatNow(l *lane, c commanded) {
	beats := l.hub.beats
	if beats == nil {
		c.answer(l, l.words().HeartbeatOff)
		return
	}
	l.hub.go_(func() {
		c.later(l, beats.Command(l.hub.callCtx, l.chat, l.kind, l.agent().Name, c.command.Args == "now"))
	})
}
