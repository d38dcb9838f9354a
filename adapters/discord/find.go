package discord

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"typist/adapters"
)

const (
	remembered = 1024 // posts whose keys are remembered
	findPages  = 5    // of 100 messages
	clockSkew  = 5 * time.Second
	// nonceSure is how long Discord surely de-duplicates by nonce; its documentation says "in the
	// past few minutes".
	nonceSure = 2 * time.Minute
)

// sent remembers what became of recent posts, by key. Discord gives a message's nonce only in
// the answer to its creation and in MESSAGE_CREATE; it is lost when the message is fetched again.
type sent struct {
	mu    sync.Mutex
	posts map[string]*sentPost
	order []string
	byID  map[string]string // message id → key
}

type sentPost struct{ text, id string }

func newSent() *sent { return &sent{posts: map[string]*sentPost{}, byID: map[string]string{}} }

func (s *sent) get(key string) *sentPost {
	p, ok := s.posts[key]
	if !ok {
		p = &sentPost{}
		s.posts[key] = p
		s.order = append(s.order, key)
		if len(s.order) > remembered {
			old := s.order[0]
			s.order = s.order[1:]
			delete(s.byID, s.posts[old].id)
			delete(s.posts, old)
		}
	}
	return p
}

// begin notes the text that goes out under a key.
func (s *sent) begin(key, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.get(key).text = text
}

// done notes the message that a key became.
func (s *sent) done(key, id string) {
	if key == "" || id == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.get(key).id = id
	s.byID[id] = key
}

func (s *sent) find(key string) (sentPost, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.posts[key]
	if !ok {
		return sentPost{}, false
	}
	return *p, true
}

func (s *sent) keyOf(id string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, ok := s.byID[id]
	return key, ok
}

// Find looks a post up by its key: in what the gateway has told, then among the bot's messages
// in the chat, by text. Where a message of the bot can't be told apart any more (after a restart)
// it asks with the key itself as long as Discord surely knows it, and answers with
// ErrUnknownOutcome later.
func (a *Adapter) Find(ctx context.Context, chat adapters.Chat, key string, since time.Time) (adapters.Ref, bool, error) {
	known, _ := a.sent.find(key)
	if known.id != "" {
		return adapters.Ref{Chat: chat, ID: known.id}, true, nil
	}
	if _, err := a.identity(ctx); err != nil {
		return adapters.Ref{}, false, err
	}
	doubtful, before := map[string]bool{}, ""
	for range findPages {
		path := "channels/" + target(chat) + "/messages?limit=100"
		if before != "" {
			path += "&before=" + before
		}
		var page []message
		if err := a.call(ctx, http.MethodGet, path, nil, &page); err != nil {
			return adapters.Ref{}, false, err
		}
		older := len(page) < 100
		for _, m := range page { // newest first
			before = m.ID
			if m.Timestamp.Before(since.Add(-clockSkew)) {
				older = true
				break
			}
			if m.Author == nil || m.Author.ID != a.botID() {
				continue
			}
			other, attributed := a.sent.keyOf(m.ID)
			switch {
			case m.Nonce.is(key), attributed && other == key, !attributed && known.text != "" && strings.TrimSpace(known.text) == m.Content:
				a.sent.done(key, m.ID)
				return adapters.Ref{Chat: chat, ID: m.ID}, true, nil
			case !attributed && known.text == "":
				doubtful[m.ID] = true
			}
		}
		if older {
			break
		}
	}
	switch {
	case len(doubtful) == 0:
		return adapters.Ref{}, false, nil
	case time.Since(since) > nonceSure, key == "", len(key) > maxNonce:
		return adapters.Ref{}, false, fmt.Errorf("discord: which of %d messages was post %s: %w", len(doubtful), key, adapters.ErrUnknownOutcome)
	}
	return a.claim(ctx, chat, key, doubtful)
}

// claim sends under a key that may have been used: then Discord returns the first message, which is
// one of the doubtful ones. Otherwise the key was new, and the silent "…" is taken away at once.
func (a *Adapter) claim(ctx context.Context, chat adapters.Chat, key string, doubtful map[string]bool) (adapters.Ref, bool, error) {
	b := body{Content: "…", Components: []discordgo.MessageComponent{}, AllowedMentions: mentions{Parse: []string{}},
		Flags: flagSilent | flagNoEmbed, Nonce: key, EnforceNonce: true}
	m, err := a.create(ctx, "channels/"+target(chat)+"/messages", b, nil)
	if err != nil {
		return adapters.Ref{}, false, err
	}
	ref := adapters.Ref{Chat: chat, ID: m.ID}
	if doubtful[m.ID] {
		a.sent.done(key, m.ID)
		return ref, true, nil
	}
	return adapters.Ref{}, false, a.Delete(ctx, ref)
}
