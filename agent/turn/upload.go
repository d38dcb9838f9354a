package turn

import (
	"context"
	"errors"

	"typist/adapters"
)

// upload sends a post. Files that the platform can't take, or refuses, cost the answer nothing but
// themselves: its text goes out without them, and a note names them (C7).
func (c *call) upload(ctx context.Context) (adapters.Ref, error) {
	post := c.post
	c.unsent, post.Files = nil, nil
	for _, f := range c.post.Files {
		if len(f.Data) == 0 || c.maxUpload > 0 && int64(len(f.Data)) > c.maxUpload {
			c.unsent = append(c.unsent, f.Name)
			continue
		}
		post.Files = append(post.Files, f)
	}
	ref, err := c.adapter.Send(ctx, c.chat, post)
	if len(post.Files) == 0 || !refusedForGood(err) {
		return ref, err
	}
	files := post.Files
	post.Files = nil
	ref, again := c.adapter.Send(ctx, c.chat, post)
	if refusedForGood(again) {
		return ref, err // it was not for the files
	}
	for _, f := range files {
		c.unsent = append(c.unsent, f.Name)
	}
	c.refusal = err
	return ref, again
}

// refusedForGood: surely not carried out, and it never will be as it is.
func refusedForGood(err error) bool {
	for _, kind := range []error{adapters.ErrInvalid, adapters.ErrDenied, adapters.ErrGone, adapters.ErrTooOld} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
