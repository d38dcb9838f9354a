package slack

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"typist/adapters"
)

// nameBudget is what looking names up may take of an event's 3 s.
const nameBudget = 800 * time.Millisecond

// decode makes events of an envelope; none for what is not for us. It says whether the envelope
// is acknowledged before anything else (a pressed button shows people a spinner until then).
func (a *Adapter) decode(ctx context.Context, self *identity, e envelope) (events []adapters.Event, ackFirst bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, nameBudget)
	defer cancel()
	switch e.Type {
	case "events_api":
		var cb callback
		if err := read(e.Payload, &cb); err != nil {
			return nil, false, err
		}
		if ev := a.event(ctx, self, cb); ev != nil {
			events = append(events, ev)
		}
	case "slash_commands":
		var c slashCommand
		if err := read(e.Payload, &c); err != nil {
			return nil, false, err
		}
		if ev := a.slash(ctx, c); ev != nil {
			events = append(events, ev)
		}
	case "interactive":
		var in interaction
		if err := read(e.Payload, &in); err != nil {
			return nil, true, err
		}
		return a.interaction(ctx, self, in), in.Type == "block_actions", nil
	}
	return events, false, nil
}

// event is one of the Events API.
func (a *Adapter) event(ctx context.Context, self *identity, cb callback) adapters.Event {
	in := cb.Event
	switch in.Type {
	case "message":
		if in.Subtype == "message_changed" {
			return a.changed(ctx, self, in)
		}
		return a.message(ctx, self, in)
	case "app_mention":
		if in.Edited != nil { // comes as message_changed too, with what it was before
			return nil
		}
		return a.message(ctx, self, in)
	case "agent_session_stopped":
		return a.stopped(ctx, in)
	}
	return nil
}

// fromPerson says whether somebody wrote the message who may be answered: no bot, not ourselves,
// and no message that only tells of something (T10).
func fromPerson(self *identity, in inner) bool {
	switch in.Subtype {
	case "", "file_share", "thread_broadcast", "me_message":
	default:
		return false
	}
	return in.User != "" && in.User != "USLACKBOT" && in.User != self.user && in.BotID == "" && in.Channel != "" && in.TS != ""
}

func kindOf(in inner) adapters.Kind {
	if strings.HasPrefix(in.Channel, "D") { // app_mention has no channel_type
		return adapters.Direct
	}
	return adapters.Group
}

// place is the chat of a message: its thread; for one outside threads a new thread under it where
// answers go into one (threadReplies), else the channel.
func (a *Adapter) place(channel string, kind adapters.Kind, ts, thread string) adapters.Chat {
	chat := adapters.Chat{Channel: channelName, ID: channel}
	switch {
	case thread != "" && thread != ts:
		chat.Thread = thread
	case a.cfg.ThreadReplies == "always", a.cfg.ThreadReplies == "channels" && kind == adapters.Group:
		chat.Thread = ts
	}
	return chat
}

// origin fills in who and where, with the names that are known in time.
func (a *Adapter) origin(ctx context.Context, id string, chat adapters.Chat, kind adapters.Kind, user string, at time.Time) adapters.Origin {
	o := adapters.Origin{EventID: id, Chat: chat, Kind: kind, From: adapters.User{ID: user}, At: at}
	o.From.Name, o.From.Locale = a.names.user(ctx, user)
	if kind == adapters.Direct {
		o.ChatName = o.From.Name
	} else {
		o.ChatName = a.names.chat(ctx, chat.ID)
	}
	if o.At.IsZero() {
		o.At = time.Now()
	}
	return o
}

// message makes a Message of a message or app_mention event. Both come for one mention: their
// event id is the message's own, so that the second is a duplicate (C3).
func (a *Adapter) message(ctx context.Context, self *identity, in inner) adapters.Event {
	if !fromPerson(self, in) {
		return nil
	}
	kind := kindOf(in)
	chat := a.place(in.Channel, kind, in.TS, in.ThreadTS)
	m := adapters.Message{ID: in.TS, Files: files(in.Files)}
	m.Text, m.Mentioned = a.text(ctx, self, in)
	// That a message stands in a thread makes it no reply, except to the bot where it heads the thread.
	if in.ThreadTS != "" && in.ThreadTS != in.TS && a.headedByBot(self, in) {
		m.ReplyTo = &adapters.Reply{ID: in.ThreadTS, ToBot: true}
		m.Mentioned = true
	}
	if m.Text == "" && len(m.Files) == 0 && !m.Mentioned {
		return nil
	}
	if kind == adapters.Direct {
		a.status.saw(chat, in.TS)
	}
	m.Origin = a.origin(ctx, in.Channel+":"+in.TS, chat, kind, in.User, tsTime(in.TS))
	return m
}

func (a *Adapter) headedByBot(self *identity, in inner) bool {
	return in.ParentUser == self.user || a.own.contains(in.Channel+"/"+in.ThreadTS) ||
		in.Root != nil && (in.Root.User == self.user || self.bot != "" && in.Root.BotID == self.bot)
}

// text is what the person wrote and, below it, what they forwarded.
func (a *Adapter) text(ctx context.Context, self *identity, in inner) (string, bool) {
	name := func(user string) string {
		n, _ := a.names.user(ctx, user)
		return n
	}
	text, mentioned := readMrkdwn(in.Text, self.user, name)
	for _, at := range in.Attachments {
		if !at.Share && !at.Unfurl || at.Text == "" {
			continue
		}
		forwarded, _ := readMrkdwn(at.Text, "", name)
		text += "\n\n> " + strings.ReplaceAll(forwarded, "\n", "\n> ")
	}
	return strings.TrimSpace(text), mentioned
}

func files(list []wireFile) []adapters.File {
	var out []adapters.File
	for _, f := range list {
		if f.ID == "" || f.Mode == "tombstone" || f.Mode == "hidden_by_limit" || f.External {
			continue
		}
		source := cmp.Or(f.Download, f.URL)
		if source == "" || f.Access == "check_file_info" { // shared from another workspace: to be asked for
			source = fileID + f.ID
		}
		out = append(out, adapters.File{Name: cmp.Or(f.Name, f.Title, f.ID), MIME: f.MIME, Size: f.Size, Source: source})
	}
	return out
}

// changed makes an Edited of message_changed, which Slack also sends for the bot's own updates,
// for previews and for other things that leave a person's text as it was (S7).
func (a *Adapter) changed(ctx context.Context, self *identity, in inner) adapters.Event {
	now, before := in.Message, in.Previous
	if now == nil || now.Edited == nil {
		return nil
	}
	now.Channel = in.Channel
	if !fromPerson(self, *now) {
		return nil
	}
	if before != nil && (before.Text == now.Text || before.User != "" && before.User != now.User) {
		return nil
	}
	kind := kindOf(in)
	chat := a.place(in.Channel, kind, now.TS, now.ThreadTS)
	e := adapters.Edited{ID: now.TS}
	e.Text, e.Mentioned = a.text(ctx, self, *now)
	e.Origin = a.origin(ctx, fmt.Sprintf("edit:%s:%s:%s", in.Channel, now.TS, now.Edited.TS), chat, kind, now.User, tsTime(now.Edited.TS))
	return e
}

// stopped is the platform's own stop button. In a direct chat the status hangs on the question,
// which is no thread of ours.
func (a *Adapter) stopped(ctx context.Context, in inner) adapters.Event {
	if in.Channel == "" || in.User == "" {
		return nil
	}
	chat, known := a.status.chatOf(in.Channel, in.ThreadTS)
	if !known {
		chat = adapters.Chat{Channel: channelName, ID: in.Channel, Thread: in.ThreadTS}
	}
	id := fmt.Sprintf("stop:%s:%s:%s", in.Channel, in.ThreadTS, in.EventTS)
	return adapters.StopRequested{Origin: a.origin(ctx, id, chat, kindOf(in), in.User, tsTime(in.EventTS))}
}
