package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"typist/adapters"
)

// Paired is a person whom the owner has let in by a code, or who waits for it (C2).
type Paired struct {
	Channel string        `json:"channel"`
	Person  adapters.User `json:"person"`
	Since   time.Time     `json:"since"`
	Code    string        `json:"-"` // "" = let in
}

// ErrNotPaired: nobody with this id was let in by a code.
var ErrNotPaired = errors.New("was not let in by a code (people in allowFrom are taken out there)")

// Paired lists who was let in by a code, then who waits for it; the oldest first.
func (h *Hub) Paired(ctx context.Context) ([]Paired, error) {
	var in, waiting []Paired
	all, err := h.store.Values(ctx, "paired/")
	if err != nil {
		return nil, err
	}
	for _, value := range all {
		var p Paired
		if json.Unmarshal([]byte(value), &p) == nil {
			in = append(in, p)
		}
	}
	if all, err = h.store.Values(ctx, "pairing/"); err != nil {
		return nil, err
	}
	for _, value := range all {
		var req pairRequest
		if json.Unmarshal([]byte(value), &req) == nil && time.Since(req.At) <= codeLife {
			waiting = append(waiting, Paired{Channel: req.Channel, Person: req.Person, Since: req.At, Code: req.Code})
		}
	}
	for _, list := range [][]Paired{in, waiting} {
		slices.SortFunc(list, func(a, b Paired) int {
			return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Channel+a.Person.ID, b.Channel+b.Person.ID))
		})
	}
	return append(in, waiting...), nil
}

// Revoke takes back what a code let in: the person with this id, on whatever channel, may not talk
// to the bot any more unless allowFrom says so. A run of theirs in work goes on. ErrNotPaired where
// there is no such person.
func (h *Hub) Revoke(ctx context.Context, id string) ([]Paired, error) {
	all, err := h.Paired(ctx)
	if err != nil {
		return nil, err
	}
	var out []Paired
	for _, p := range all {
		if p.Code != "" || p.Person.ID != id {
			continue
		}
		if err := h.store.Save(ctx, pairedKey(p.Channel, id), ""); err != nil {
			return out, err
		}
		h.log.Info("not let in any more", "channel", p.Channel, "person", id)
		out = append(out, p)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s %w", id, ErrNotPaired)
	}
	return out, nil
}
