package discord

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"typist/adapters"
)

const (
	ackTimeout    = 3 * time.Second // Discord's deadline
	answerTimeout = 20 * time.Second
	ackDeferred   = 5 // "thinking…", answered later
	ackUpdate     = 6 // nothing changes for now
)

type callback struct {
	Type int           `json:"type"`
	Data *callbackData `json:"data,omitempty"`
}

type callbackData struct {
	Flags int `json:"flags"`
}

// acknowledge answers an interaction at once, beside the queue: commands with type 5, seen only
// by the one who asked, components with type 6 (C8). The channel gives the result.
func (r *receiver) acknowledge(data json.RawMessage) <-chan error {
	done := make(chan error, 1)
	var in interaction
	if json.Unmarshal(data, &in) != nil || in.ID == "" || in.Token == "" {
		close(done)
		return done
	}
	var ack callback
	switch in.Type {
	case kindCommand:
		ack = callback{Type: ackDeferred, Data: &callbackData{Flags: flagPrivate}}
	case kindComponent:
		ack = callback{Type: ackUpdate}
	default:
		close(done)
		return done
	}
	r.acks.Go(func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(context.Background(), ackTimeout)
		defer cancel()
		err := r.a.call(ctx, http.MethodPost, "interactions/"+in.ID+"/"+in.Token+"/callback", ack, nil)
		if codeOf(err) == codeAckedAlready { // it came twice
			err = nil
		}
		if err != nil {
			r.a.log.Warn("interaction not acknowledged", "error", err)
			done <- err
		}
	})
	return done
}

// interaction takes a pressed button or a command.
func (r *receiver) interaction(ctx context.Context, e gatewayEvent) {
	var in interaction
	if err := json.Unmarshal(e.data, &in); err != nil {
		r.a.log.Warn("interaction is malformed", "error", err)
		return
	}
	who := in.User
	if in.Member != nil && in.Member.User != nil {
		who = in.Member.User
	}
	if in.ID == "" || who == nil || in.ChannelID == "" || in.Type != kindCommand && in.Type != kindComponent {
		return
	}
	from := adapters.User{ID: who.ID, Name: who.name(), Username: who.Username, Locale: in.Locale}
	c := channel{ID: in.ChannelID, Type: typeDM, Recipients: []user{*who}}
	if in.GuildID != "" {
		if in.Channel.ID != "" && in.Channel.ID == in.ChannelID { // saves asking for an unknown thread
			if _, known := r.a.dir.get(in.ChannelID); !known && (in.Channel.ParentID != nil || !in.Channel.isThread()) {
				r.a.dir.put(in.GuildID, in.Channel)
			}
		}
		found, ok := r.channel(ctx, in.ChannelID)
		if !ok {
			return
		}
		c = found
		if in.Member != nil {
			from.Roles = in.Member.Roles
			if in.Member.Nick != nil && *in.Member.Nick != "" {
				from.Name = *in.Member.Nick
			}
		}
	}
	chat, kind := place(c)
	if p := r.pastes[in.ChannelID]; p != nil {
		r.flushPaste(ctx, in.ChannelID)
	}
	origin := adapters.Origin{EventID: in.ID, Chat: chat, Kind: kind, ChatName: c.title(), From: from, At: time.Now()}
	if in.Type == kindComponent {
		press := adapters.Press{Origin: origin, Data: in.Data.CustomID}
		if in.Message != nil {
			press.ID = in.Message.ID
		}
		r.deliver(ctx, press)
		return
	}
	var args []string
	for _, o := range in.Data.Options {
		args = append(args, o.text())
	}
	reply := &answerer{a: r.a, app: in.ApplicationID, token: in.Token, acked: e.acked}
	r.deliver(ctx, adapters.Command{
		Origin: origin, Name: strings.ToLower(in.Data.Name), Args: strings.TrimSpace(strings.Join(args, " ")),
		Target: in.Data.TargetID, Answer: reply.answer,
	})
}

// answerer answers one command, as only the one who asked sees it. Its token lives 15 minutes.
type answerer struct {
	a          *Adapter
	app, token string
	acked      <-chan error

	mu       sync.Mutex
	answered bool
}

func (n *answerer) answer(post adapters.Post) error {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	select {
	case err := <-n.acked:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	parts := n.a.Fit(post.Doc)
	for i, part := range parts {
		one := adapters.Post{Doc: part}
		b := body{Content: content(one), Components: []discordgo.MessageComponent{}, AllowedMentions: mentions{Parse: []string{}}}
		if i == len(parts)-1 {
			b.Components = rows(post.Buttons)
		}
		method, path := http.MethodPost, "webhooks/"+n.app+"/"+n.token
		if n.answered {
			b.Flags = flagPrivate | flagNoEmbed
		} else {
			method, path = http.MethodPatch, path+"/messages/@original"
		}
		if err := n.a.call(ctx, method, path, b, nil); err != nil {
			if errors.Is(err, adapters.ErrInvalid) {
				b.Content, b.Components = plain(part), []discordgo.MessageComponent{}
				err = n.a.call(ctx, method, path, b, nil)
			}
			if err != nil {
				return err
			}
		}
		n.answered = true
	}
	return nil
}
