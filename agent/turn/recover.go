package turn

import (
	"context"
	"fmt"

	"typist/adapters"
	"typist/agent/store"
)

// recover takes up what the last process left (S9): runs that were in flight come to their end
// (the answer that was ready, else Interrupted with a Resume button), messages that nothing
// stands for any more go, and what waited is worked off in order.
func (h *Hub) recover(ctx context.Context) error {
	rows, err := h.store.Unfinished(ctx)
	if err != nil {
		return fmt.Errorf("read the inbox: %w", err)
	}
	runs, err := h.store.RunsIn(ctx, store.RunRunning)
	if err != nil {
		return fmt.Errorf("read the runs: %w", err)
	}
	posts, err := h.store.PostsOpen(ctx)
	if err != nil {
		return fmt.Errorf("read the posts: %w", err)
	}
	inputs := map[string]input{} // by run
	for _, row := range rows {
		if row.State == store.InputRunning {
			if in, err := readInput(row); err == nil {
				inputs[row.RunID] = in
			}
		}
	}
	for _, run := range runs {
		chat, err := adapters.ParseChat(run.Chat)
		if err != nil {
			h.log.Error("a run of an unknown chat is left alone", "run", run.ID, "error", err)
			continue
		}
		in, known := inputs[run.ID]
		kind := in.Message.Kind
		if !known {
			kind = h.kindOf(ctx, run.Chat)
			in = input{Kind: store.InputResume, From: run.Node, Message: adapters.Message{Origin: adapters.Origin{Chat: chat, Kind: kind}, ID: run.Anchor}}
		}
		left, err := h.leftOver(ctx, run)
		if err != nil {
			// What can't be read must not keep the bot from starting: the run ends without it.
			h.log.Error("what is stored of a run could not be read; it ends as interrupted", "run", run.ID, "error", err)
		}
		h.tell(chat, kind, recovered{leftOver: left, in: in})
	}
	for _, p := range posts {
		chat, err := adapters.ParseChat(p.Chat)
		if err != nil || p.Purpose != purposeCleanUp || len(p.Body) == 0 {
			continue
		}
		s := &slot{id: string(p.Body), class: classFirst}
		s.drop()
		h.tell(chat, h.kindOf(ctx, p.Chat), tidy{slot: s, run: p.RunID})
	}
	for _, row := range rows {
		if row.State != store.InputWaiting {
			continue
		}
		in, err := readInput(row)
		if err != nil {
			h.log.Error("an input could not be read", "error", err)
			continue
		}
		h.tell(in.Message.Chat, in.Message.Kind, inputArrived{row: row, message: in.Message, left: true})
	}
	return nil
}

func (h *Hub) kindOf(ctx context.Context, chat string) adapters.Kind {
	info, ok, err := h.store.Chat(ctx, chat)
	if err != nil || !ok || info.Kind == "" {
		return adapters.Direct
	}
	return info.Kind
}

// leftOver is what is stored of a run that was in flight.
type leftOver struct {
	run    store.Run
	events []store.Stored
	posts  []store.Post
}

func (h *Hub) leftOver(ctx context.Context, run store.Run) (leftOver, error) {
	out := leftOver{run: run}
	var err error
	if out.events, err = h.store.RunEvents(ctx, run.ID); err != nil {
		return out, err
	}
	out.posts, err = h.store.PostsOf(ctx, run.ID)
	return out, err
}
