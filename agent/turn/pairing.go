package turn

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"typist/adapters"
)

// pairRequest is an unknown person's wish to be let in (C2).
type pairRequest struct {
	Code    string        `json:"code"`
	Channel string        `json:"channel"`
	Person  adapters.User `json:"person"`
	Chat    adapters.Chat `json:"chat"`
	At      time.Time     `json:"at"`
}

// The keys of pairing in the store.
func pairedKey(channel, person string) string  { return "paired/" + channel + "/" + person }
func requestKey(channel, person string) string { return "pairing/" + channel + "/" + person }

// pairEvery is how often one person gets a code (C2).
const pairEvery = time.Hour

// codeLife is how long a code can be used.
const codeLife = 24 * time.Hour

// ErrNoRequest: no open request has this code.
var ErrNoRequest = errors.New("no request with this code is open")

// paired reports whether the owner has let the person in.
func (h *Hub) paired(ctx context.Context, channel, person string) (bool, error) {
	v, err := h.store.Load(ctx, pairedKey(channel, person))
	return v != "", err
}

// offerPairing gives an unknown person a code, once an hour, and tells the owner (C2).
func (h *Hub) offerPairing(ctx context.Context, m adapters.Message) error {
	key := requestKey(m.Chat.Channel, m.From.ID)
	old, err := h.store.Load(ctx, key)
	if err != nil {
		return err
	}
	var req pairRequest
	if old != "" && json.Unmarshal([]byte(old), &req) == nil && time.Since(req.At) < pairEvery {
		return nil
	}
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		return err
	}
	req = pairRequest{Code: fmt.Sprintf("%06d", n), Channel: m.Chat.Channel, Person: m.From, Chat: m.Chat, At: time.Now()}
	data, err := json.Marshal(req)
	if err != nil {
		return err
	}
	if err := h.store.Save(ctx, key, string(data)); err != nil {
		return err
	}
	h.log.Info("a person asks to be let in; approve with: typist pair "+req.Code, "channel", req.Channel, "person", req.Person.ID)
	words := h.words()
	h.tell(m.Chat, m.Kind, saying{words.PairingCode(req.Code)})
	h.notifyOwner(ctx, req.Channel, words.PairingAsk(req.Person.Name, req.Person.ID, req.Code))
	return nil
}

// notifyOwner writes to the first person of the channel's allowFrom whose direct chat is known.
func (h *Hub) notifyOwner(ctx context.Context, channel, text string) {
	owner, kind, err := h.owner(ctx, channel)
	if err != nil {
		h.log.Info("the owner could not be told in the chat", "channel", channel, "error", err)
		return
	}
	h.tell(owner, kind, saying{text})
}

// owner is the direct chat of the first person in allowFrom.
func (h *Hub) owner(ctx context.Context, channel string) (adapters.Chat, adapters.Kind, error) {
	c := h.channels[channel]
	for _, id := range h.settings().Channels[channel].AllowFrom {
		if id == "*" || strings.HasPrefix(id, "role:") {
			continue
		}
		if key, err := h.store.Load(ctx, "direct/"+channel+"/"+id); err == nil && key != "" {
			chat, err := adapters.ParseChat(key)
			return chat, adapters.Direct, err
		}
		if r, ok := c.adapter.(adapters.Resolver); ok {
			return r.Resolve(ctx, id)
		}
	}
	return adapters.Chat{}, "", errors.New("allowFrom names no person")
}

// Pair approves the request with this code: the person may talk to the bot from now on, and is
// told so. It is the owner's `typist pair CODE`, or their reply to the bot's notice.
func (h *Hub) Pair(ctx context.Context, code string) (adapters.User, error) {
	all, err := h.store.Values(ctx, "pairing/")
	if err != nil {
		return adapters.User{}, err
	}
	for key, value := range all {
		var req pairRequest
		if json.Unmarshal([]byte(value), &req) != nil || req.Code != code || time.Since(req.At) > codeLife {
			continue
		}
		entry, err := json.Marshal(Paired{Channel: req.Channel, Person: req.Person, Since: time.Now().UTC()})
		if err != nil {
			return adapters.User{}, err
		}
		if err := h.store.Save(ctx, pairedKey(req.Channel, req.Person.ID), string(entry)); err != nil {
			return adapters.User{}, err
		}
		if err := h.store.Save(ctx, key, ""); err != nil {
			return adapters.User{}, err
		}
		h.log.Info("let in by pairing; undo with: typist pair --revoke "+req.Person.ID, "channel", req.Channel, "person", req.Person.ID)
		h.tell(req.Chat, adapters.Direct, saying{h.words().PairingOK})
		return req.Person, nil
	}
	return adapters.User{}, fmt.Errorf("%s: %w", code, ErrNoRequest)
}

// pairReply takes an owner's message that is just an open code (C2). false: it is none.
func (h *Hub) pairReply(ctx context.Context, m adapters.Message) bool {
	if len(m.Text) != 6 || strings.Trim(m.Text, "0123456789") != "" || m.Kind != adapters.Direct ||
		!h.settings().Channels[m.Chat.Channel].Pairing || !allowed(h.settings().Channels[m.Chat.Channel].AllowFrom, m.From) {
		return false
	}
	person, err := h.Pair(ctx, m.Text)
	if errors.Is(err, ErrNoRequest) {
		return false
	}
	text := h.words().Paired(person.Name)
	if err != nil {
		h.log.Error("a pairing could not be stored", "error", err)
		text = h.words().TryLater
	}
	h.tell(m.Chat, m.Kind, saying{text})
	return true
}

// saying: the chat gets a short silent message.
type saying struct{ text string }

func (saying) isLetter() {}

func (s saying) read(l *lane) { l.note(s.text) }
