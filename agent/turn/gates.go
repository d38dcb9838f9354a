package turn

import (
	"context"
	"slices"
	"strings"
	"time"

	"typist/adapters"
	"typist/adapters/rich"
)

// verdict is what the gates say of an event (T10, C2).
type verdict struct {
	in     bool
	group  Group
	reason string // why not, for the log
	pair   bool   // an unknown person in a direct chat
}

// admit decides whether whoever caused the event may talk to the bot there (C2). It never fails
// open: what it can't decide is kept out.
func (h *Hub) admit(ctx context.Context, o adapters.Origin) (verdict, error) {
	set := h.settings()
	ch, known := set.Channels[o.Chat.Channel]
	if !known {
		return verdict{reason: "the channel is not configured"}, nil
	}
	group := Group{Agent: ch.Agent}
	allow, own := ch.AllowFrom, false
	if o.Kind == adapters.Group {
		g, listed := ch.group(o.Chat.ID, h.nameOf(o))
		if !listed {
			return verdict{reason: "the group is not listed"}, nil
		}
		group = g
		if group.Agent == "" {
			group.Agent = ch.Agent
		}
		if len(g.AllowFrom) > 0 {
			allow, own = g.AllowFrom, true
		}
	}
	if !allowed(allow, o.From) {
		if own {
			return verdict{reason: "the person is not in the group's allowFrom"}, nil
		}
		paired, err := h.paired(ctx, o.Chat.Channel, o.From.ID)
		if err != nil {
			return verdict{}, err
		}
		if !paired {
			return verdict{reason: "the person is not in allowFrom", pair: o.Kind == adapters.Direct && ch.Pairing}, nil
		}
	}
	return verdict{in: true, group: group}, nil
}

// nameOf is a group's name where it says which group it is: elsewhere anybody can give theirs the
// name of another.
func (h *Hub) nameOf(o adapters.Origin) string {
	if h.channels[o.Chat.Channel].caps.UniqueNames {
		return o.ChatName
	}
	return ""
}

// group finds how a group is served: by id, by "#name", or by "*".
func (c Channel) group(id, name string) (Group, bool) {
	if g, ok := c.Groups[id]; ok && id != "" {
		return g, true
	}
	if g, ok := c.Groups["#"+name]; ok && name != "" {
		return g, true
	}
	g, ok := c.Groups["*"]
	return g, ok
}

// allowed matches a person against a list of ids, @names and role:IDs (C2). An empty list is nobody.
func allowed(list []string, u adapters.User) bool {
	for _, entry := range list {
		switch {
		case entry == "*", u.ID != "" && entry == u.ID:
			return true
		case strings.HasPrefix(entry, "@") && u.Username != "" && strings.EqualFold(entry[1:], u.Username):
			return true
		case strings.HasPrefix(entry, "role:") && slices.Contains(u.Roles, entry[5:]):
			return true
		}
	}
	return false
}

// turnAway deals with an event that may not come in: nothing shows, the log has the id (C2).
func (h *Hub) turnAway(ctx context.Context, ev adapters.Event, v verdict) error {
	o := ev.About()
	h.log.Info("not let in", "channel", o.Chat.Channel, "chat", o.Chat.ID, "person", o.From.ID, "reason", v.reason)
	switch e := ev.(type) {
	case adapters.Message:
		if v.pair {
			return h.offerPairing(ctx, e)
		}
	case adapters.Command:
		h.answerPrivately(e, h.words().NotAllowed)
	case adapters.Edited, adapters.Press, adapters.StopRequested:
	}
	return nil
}

// answerPrivately answers a native command beside its chat's lane: it has to be answered, or it
// seems to be in work for minutes. Only the one who used it sees the answer.
func (h *Hub) answerPrivately(c adapters.Command, text string) {
	if c.Answer == nil {
		return
	}
	h.go_(func() {
		if err := c.Answer(adapters.Post{Doc: rich.Plain(text), Silent: true}); err != nil {
			h.log.Warn("a command could not be answered", "command", c.Name, "error", err)
		}
	})
}

// flood reports whether an event comes too fast after others of the same person, and says so once
// a minute. Messages, edits, presses and commands count; a stop of something that runs never does.
func (h *Hub) flood(o adapters.Origin, at time.Time) bool {
	over, first := h.tooFast(o, at)
	if first {
		h.log.Warn("a person writes too fast; what they send is dropped for this minute", "channel", o.Chat.Channel, "person", o.From.ID)
		h.tell(o.Chat, o.Kind, saying{h.words().TooFast(untilMinute(at))})
	}
	return over
}

// untilMinute is how long the current minute lasts.
func untilMinute(at time.Time) time.Duration {
	return time.Minute - time.Duration(at.Unix()%60)*time.Second
}

// personRate counts what one person sent in the current minute.
type personRate struct {
	minute int64
	n      int
}

// ratePerMinute bounds one person's messages: enough for every human, too little for a flood.
const ratePerMinute = 30

// tooFast counts a message and reports whether the person has sent too many this minute; first is
// true once per minute, so that the answer to a flood is one sentence.
func (h *Hub) tooFast(o adapters.Origin, now time.Time) (over, first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key, minute := o.Chat.Channel+"/"+o.From.ID, now.Unix()/60
	r := h.rates[key]
	if r == nil {
		if len(h.rates) > 10000 {
			for k, old := range h.rates {
				if old.minute != minute {
					delete(h.rates, k)
				}
			}
		}
		r = &personRate{}
		h.rates[key] = r
	}
	if r.minute != minute {
		r.minute, r.n = minute, 0
	}
	r.n++
	return r.n > ratePerMinute, r.n == ratePerMinute+1
}
