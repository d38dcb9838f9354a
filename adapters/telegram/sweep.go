package telegram

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"typist/adapters"
	"typist/adapters/rich"
)

const (
	sweepMost = 50                     // ids that a sweep tries
	sweepPace = 150 * time.Millisecond // between two tries, well below the limit of a token
)

// Sweep implements adapters.Sweeper. Message ids grow in a chat, and an edit works on the bot's
// own messages only: what can be edited is its own, and goes. (A deletion alone would not do: in
// private chats a bot may delete what people wrote.)
func (a *Adapter) Sweep(ctx context.Context, chat adapters.Chat, after, before string, keep func(id string) bool) error {
	first, err := strconv.Atoi(after)
	if err != nil {
		return fmt.Errorf("telegram: message id %q: %w", after, err)
	}
	end, err := strconv.Atoi(before)
	if err != nil {
		return fmt.Errorf("telegram: message id %q: %w", before, err)
	}
	mark := adapters.Post{Doc: rich.Plain("…")}
	for id := end - 1; id > first && id >= end-sweepMost; id-- {
		ref := adapters.Ref{Chat: chat, ID: strconv.Itoa(id)}
		if keep(ref.ID) {
			continue
		}
		err := a.Edit(ctx, ref, mark)
		if err == nil {
			err = a.Delete(ctx, ref)
		}
		var limited *adapters.RateLimitError
		switch {
		case errors.As(err, &limited):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(sweepPace):
		}
	}
	return nil
}
