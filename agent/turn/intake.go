package turn

import (
	"context"
	"fmt"
	"time"

	"typist/adapters"
	"typist/adapters/rich"
	"typist/agent/store"
)

// Deliver implements adapters.Sink: the second hop of a message. It returns when the event is
// durable or needs no keeping, and never waits for a run.
func (h *Hub) Deliver(ctx context.Context, ev adapters.Event) error {
	if h.closing.Load() {
		return context.Canceled
	}
	at := time.Now()
	o := ev.About()
	if h.channels[o.Chat.Channel] == nil {
		return fmt.Errorf("event of unknown channel %q", o.Chat.Channel)
	}
	verdict, err := h.admit(ctx, o)
	if err != nil {
		return err
	}
	if !verdict.in {
		return h.turnAway(ctx, ev, verdict)
	}
	switch e := ev.(type) {
	case adapters.Message:
		return h.message(ctx, e, verdict.group, at)
	case adapters.Edited:
		if h.flood(o, at) {
			return nil
		}
		return h.once(ctx, o, func() { h.tell(o.Chat, o.Kind, edited{e}) })
	case adapters.Press:
		if !(isStop(e) && h.busy(o.Chat)) && h.flood(o, at) {
			return nil
		}
		if isStop(e) {
			// It is keyed by its run, so a second time is harmless; a broken store must not keep a
			// run from being stopped.
			h.tell(o.Chat, o.Kind, pressed{e})
			return nil
		}
		return h.once(ctx, o, func() { h.tell(o.Chat, o.Kind, pressed{e}) })
	case adapters.Command:
		o.Chat = h.threadOf(o)
		e.Origin = o
		if !(unwrapped(e).Name == "stop" && h.busy(o.Chat)) && h.flood(o, at) {
			h.answerPrivately(e, h.words().TooFast(untilMinute(at)))
			return nil
		}
		return h.command(ctx, e, at, "")
	case adapters.StopRequested:
		return h.once(ctx, o, func() { h.tell(o.Chat, o.Kind, stopAsked{at: e.At}) })
	}
	return nil
}

// once lets an event that is no input through the first time its id is seen (C3).
func (h *Hub) once(ctx context.Context, o adapters.Origin, act func()) error {
	fresh, err := h.store.Seen(ctx, o.Chat.Channel, o.EventID)
	if err != nil {
		return err
	}
	if fresh {
		act()
	}
	return nil
}

// message sorts a written message: a command, a stop word, or an input for the agent.
func (h *Hub) message(ctx context.Context, m adapters.Message, g Group, at time.Time) error {
	o := m.Origin
	addressed := o.Kind == adapters.Direct || m.Mentioned
	if h.pairReply(ctx, m) {
		return nil
	}
	cmd, isCommand := parseCommand(m, addressed)
	if !isCommand && m.Mentioned && o.Kind == adapters.Group && h.channels[o.Chat.Channel].caps.ThreadPerQuestion {
		cmd, isCommand = bareCommand(m)
	}
	if isCommand && unwrapped(cmd).Name == "stop" && h.busy(o.Chat) {
		return h.command(ctx, cmd, at, m.ID)
	}
	if addressed && len(m.Files) == 0 && IsStopWord(m.Text) {
		// With nothing running it is ordinary text (S2).
		if h.busy(o.Chat) {
			return h.command(ctx, adapters.Command{Origin: o, Name: "stop"}, at, "")
		}
	}
	if o.Kind == adapters.Group && g.RequireMention && !m.Mentioned || m.Text == "" && len(m.Files) == 0 {
		return nil
	}
	if h.flood(o, at) {
		return nil
	}
	if isCommand {
		return h.command(ctx, cmd, at, m.ID)
	}
	return h.accept(ctx, input{Message: m, Agent: g.Agent, Kind: store.InputMessage}, at)
}

// command hands a command to the chat's lane. /new has its place among the messages: what was
// written before it belongs to the old conversation, what comes after to the new one.
func (h *Hub) command(ctx context.Context, cmd adapters.Command, at time.Time, message string) error {
	cmd = unwrapped(cmd)
	o := cmd.Origin
	if cmd.Name == "new" {
		in := input{Kind: store.InputNew, Message: adapters.Message{Origin: o}}
		in.Message.Origin.EventID = "new/" + o.EventID
		if err := h.accept(ctx, in, at); err != nil {
			return err
		}
	}
	act := func() { h.tell(o.Chat, o.Kind, commanded{command: cmd, at: at, message: message}) }
	if err := h.once(ctx, o, act); err != nil && cmd.Name == "stop" {
		h.log.Error("a stop could not be stored; it is carried out", "chat", o.Chat.Key(), "error", err)
		act()
		return nil
	} else if err != nil {
		return err
	}
	return nil
}

// accept puts an input into the inbox, durably, and wakes the chat. A duplicate ends here (C3).
func (h *Hub) accept(ctx context.Context, in input, at time.Time) error {
	_, err := h.offer(ctx, in, at)
	return err
}

// offer is accept that reports whether the input is in the inbox for the first time: where 20
// messages wait already, people are told that it is not taken (S10).
func (h *Hub) offer(ctx context.Context, in input, at time.Time) (taken bool, err error) {
	o := in.Message.Origin
	if in.Kind == store.InputMessage {
		n, err := h.store.CountWaiting(ctx, o.Chat.Key())
		if err != nil {
			return false, err
		}
		if n >= queueCap {
			if known, err := h.store.Accepted(ctx, o.Chat.Key(), o.EventID); known || err != nil {
				return false, err // one of those that wait, sent once more (C3)
			}
			return false, h.once(ctx, o, func() { h.tell(o.Chat, o.Kind, queueFull{message: in.Message.ID}) })
		}
	}
	return h.enqueue(ctx, in, at)
}

// enqueue is offer without the cap.
func (h *Hub) enqueue(ctx context.Context, in input, at time.Time) (taken bool, err error) {
	o := in.Message.Origin
	row := store.Input{EventID: o.EventID, Chat: o.Chat.Key(), MessageID: in.Message.ID, Kind: in.Kind, Payload: in.payload(), At: at}
	id, fresh, err := h.store.Accept(ctx, row)
	if err != nil {
		return false, fmt.Errorf("accept a message: %w", err)
	}
	if !fresh {
		return false, nil
	}
	row.ID = id
	h.tell(o.Chat, o.Kind, inputArrived{row: row, message: in.Message})
	h.note(ctx, in)
	return true, nil
}

// queueFull answers a message that found 20 others waiting (S10).
type queueFull struct{ message string }

func (queueFull) isLetter() {}

func (q queueFull) read(l *lane) {
	l.say(adapters.Post{Doc: rich.Plain(l.words().QueueFull(queueCap)), ReplyTo: q.message})
}
