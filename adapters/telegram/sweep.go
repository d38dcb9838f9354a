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
	sweepMost = 50                     // ids that a search tries
	sweepPace = 150 * time.Millisecond // between two tries, well below the limit of a token
)

// Sweep implements adapters.Sweeper. Message ids grow in a chat, and an edit works on the bot's
// own messages only: what can be edited is its own, and goes. (A deletion alone would not do: in
// private chats a bot may delete what people wrote.)
func (a *Adapter) Sweep(ctx context.Context, chat adapters.Chat, after, before string, keep func(id string) bool) error {
	mark := adapters.Post{Doc: rich.Plain("…")}
	_, err := a.search(ctx, chat, after, before, keep, func(ref adapters.Ref) (bool, error) {
		err := a.Edit(ctx, ref, mark)
		if err == nil {
			err = a.Delete(ctx, ref)
		}
		return false, err
	})
	return err
}

// Reclaim implements adapters.Reclaimer: an edit to what a message says already succeeds, one of a
// progress message makes it say that, and one of somebody else's message is refused.
func (a *Adapter) Reclaim(ctx context.Context, chat adapters.Chat, after, before string, post adapters.Post, keep func(id string) bool) (found adapters.Ref, ok, complete bool, err error) {
	complete, err = a.search(ctx, chat, after, before, keep, func(ref adapters.Ref) (bool, error) {
		err := a.Edit(ctx, ref, post)
		if ok = err == nil; ok {
			found = ref
		}
		return ok, err
	})
	return found, ok, complete && err == nil, err
}

// search tries the ids between two messages, the newest first, until do is done with one. complete: all
// were tried. Refusals are what tells other people's messages apart; a limit or ctx's end is an error.
func (a *Adapter) search(ctx context.Context, chat adapters.Chat, after, before string, keep func(id string) bool, do func(adapters.Ref) (done bool, err error)) (complete bool, err error) {
	first, err := strconv.Atoi(after)
	if err != nil {
		return false, fmt.Errorf("telegram: message id %q: %w", after, err)
	}
	end, err := strconv.Atoi(before)
	if err != nil {
		return false, fmt.Errorf("telegram: message id %q: %w", before, err)
	}
	for id := end - 1; id > first && id >= end-sweepMost; id-- {
		ref := adapters.Ref{Chat: chat, ID: strconv.Itoa(id)}
		if keep(ref.ID) {
			continue
		}
		done, err := do(ref)
		var limited *adapters.RateLimitError
		switch {
		case done:
			return true, nil
		case errors.As(err, &limited), errors.Is(err, adapters.ErrUnknownOutcome), errors.Is(err, adapters.ErrNeverSent):
			return false, err
		case ctx.Err() != nil:
			return false, ctx.Err()
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(sweepPace):
		}
	}
	return end-1-first < sweepMost, nil
}
