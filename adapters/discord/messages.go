package discord

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"typist/adapters"
	"typist/adapters/rich"
)

const (
	// A message nearly as long as people may write is perhaps the first part of a paste that was
	// cut: the next part is awaited for a moment.
	pasteLength = 1900
	pasteWait   = 700 * time.Millisecond
)

// paste is a long message that waits for its next part.
type paste struct {
	event adapters.Message
	last  string // id of its last part
	full  bool   // that part was as long as a message can be
	due   time.Time
}

// fromPerson reports whether a message is one that a person wrote (T10).
func (m *message) fromPerson() bool {
	return m.ID != "" && m.ChannelID != "" && m.Author != nil && m.Author.ID != "" && !m.Author.Bot && !m.Author.System &&
		m.WebhookID == "" && (m.Type == typeDefault || m.Type == typeReply)
}

// message takes a new message.
func (r *receiver) message(ctx context.Context, m message) {
	if m.Author != nil && m.Author.ID == r.a.botID() && m.Nonce != "" {
		r.a.sent.done(string(m.Nonce), m.ID)
	}
	if !m.fromPerson() || r.recent.has(m.ID) {
		if p := r.pastes[m.ChannelID]; p == nil && m.ID != "" && m.ChannelID != "" {
			r.cursor.taken(m.ChannelID, m.ID)
		}
		return
	}
	ev, ok := r.read(ctx, m)
	if p := r.pastes[m.ChannelID]; p != nil {
		if ok && p.event.From.ID == ev.From.ID && m.Type == typeDefault && !r.isStop(ev) {
			r.recent.put(m.ID, m.Content)
			separator := ""
			if !p.full && !strings.HasSuffix(p.event.Text, "\n") && !strings.HasPrefix(ev.Text, "\n") {
				separator = "\n" // else cut in mid-text, perhaps in mid-word
			}
			p.event.Join(m.ID, separator, ev.Text)
			p.full = rich.UTF16Len(m.Content) >= maxLength
			p.event.Files = append(p.event.Files, ev.Files...)
			p.event.Mentioned = p.event.Mentioned || ev.Mentioned
			p.last, p.due = m.ID, time.Now().Add(pasteWait)
			if rich.UTF16Len(m.Content) < pasteLength {
				r.flushPaste(ctx, m.ChannelID)
			}
			return
		}
		r.flushPaste(ctx, m.ChannelID)
	}
	if !ok {
		r.recent.put(m.ID, m.Content)
		r.cursor.taken(m.ChannelID, m.ID)
		return
	}
	if rich.UTF16Len(m.Content) >= pasteLength {
		r.recent.put(m.ID, m.Content)
		r.cursor.hold(m.ChannelID)
		r.pastes[m.ChannelID] = &paste{event: ev, last: m.ID, full: rich.UTF16Len(m.Content) >= maxLength, due: time.Now().Add(pasteWait)}
		return
	}
	if r.deliver(ctx, ev) {
		r.recent.put(m.ID, m.Content)
		r.cursor.taken(m.ChannelID, m.ID)
	}
}

// writtenCommand is a command as text; a pasted path is none.
var writtenCommand = regexp.MustCompile(`^/[A-Za-z0-9_]{1,32}(\s|$)`)

// isStop tells what must not wait for the rest of a paste, nor be taken for it.
func (r *receiver) isStop(m adapters.Message) bool {
	return len(m.Files) == 0 && len(m.Text) < pasteLength && (writtenCommand.MatchString(m.Text) || r.a.cfg.IsStop(m.Text))
}

// join puts two texts together, on lines of their own.
func join(a, b string) string {
	if a == "" || b == "" || strings.HasSuffix(a, "\n") || strings.HasPrefix(b, "\n") {
		return a + b
	}
	return a + "\n" + b
}

// flushPastes delivers what has waited long enough.
func (r *receiver) flushPastes(ctx context.Context, now time.Time) {
	for id, p := range r.pastes {
		if !p.due.After(now) {
			r.flushPaste(ctx, id)
		}
	}
}

func (r *receiver) flushPaste(ctx context.Context, channel string) {
	p := r.pastes[channel]
	if p == nil {
		return
	}
	delete(r.pastes, channel)
	if r.deliver(ctx, p.event) {
		r.cursor.taken(channel, p.last)
	}
}

// read makes an event of a message; false when there is nothing in it for an agent.
func (r *receiver) read(ctx context.Context, m message) (adapters.Message, bool) {
	origin, ok := r.origin(ctx, m)
	if !ok {
		return adapters.Message{}, false
	}
	ev := adapters.Message{Origin: origin, ID: m.ID, Mentioned: r.mentioned(&m), Text: r.text(&m)}
	files := m.Attachments
	if m.Reference != nil && m.Reference.Type == 1 { // a forward: what it carries is the message
		for _, s := range m.Snapshots {
			ev.Text = strings.TrimSpace(join(ev.Text, s.Message.Content))
			files = append(files, s.Message.Attachments...)
		}
	}
	for _, f := range files {
		ev.Files = append(ev.Files, adapters.File{Name: f.Filename, MIME: f.ContentType, Size: f.Size, Source: f.URL})
	}
	if m.Type == typeReply && m.Reference != nil && m.Reference.MessageID != "" {
		ev.ReplyTo = &adapters.Reply{ID: m.Reference.MessageID}
		if to := m.Referenced; to != nil {
			ev.ReplyTo.Text = to.Content
			ev.ReplyTo.ToBot = to.Author != nil && to.Author.ID == r.a.botID()
		}
	}
	// Without the Message Content intent, what does not mention the bot comes without content.
	return ev, ev.Text != "" || len(ev.Files) > 0 || ev.Mentioned
}

// edited takes a changed message. Discord also sends updates for link previews, pins and flags.
func (r *receiver) edited(ctx context.Context, m message) {
	if !m.fromPerson() || m.EditedTimestamp == nil || *m.EditedTimestamp == "" || r.recent.same(m.ID, m.Content) {
		return
	}
	if p := r.pastes[m.ChannelID]; p != nil {
		r.flushPaste(ctx, m.ChannelID)
	}
	text := r.text(&m)
	origin, ok := r.origin(ctx, m)
	if !ok || m.Content == "" && m.GuildID != "" { // hidden, not emptied: an empty message cannot be
		return
	}
	origin.EventID = m.ID + "/" + *m.EditedTimestamp
	if at, err := time.Parse(time.RFC3339Nano, *m.EditedTimestamp); err == nil {
		origin.At = at
	}
	if r.deliver(ctx, adapters.Edited{Origin: origin, ID: m.ID, Text: text, Mentioned: r.mentioned(&m)}) {
		r.recent.put(m.ID, m.Content)
	}
}

// origin is where a message came from. A channel that Discord does not show is no chat.
func (r *receiver) origin(ctx context.Context, m message) (adapters.Origin, bool) {
	from := adapters.User{ID: m.Author.ID, Name: m.Author.name(), Username: m.Author.Username}
	c := channel{ID: m.ChannelID, Type: typeDM, Recipients: []user{*m.Author}}
	if m.GuildID != "" {
		found, ok := r.channel(ctx, m.ChannelID)
		if !ok {
			return adapters.Origin{}, false
		}
		c = found
		if m.Member == nil {
			m.Member = r.member(ctx, m.GuildID, m.Author.ID)
		}
	} else {
		r.a.dir.put("", c)
		r.cursor.direct(m.ChannelID)
	}
	if m.Member != nil {
		from.Roles = m.Member.Roles
		if m.Member.Nick != nil && *m.Member.Nick != "" {
			from.Name = *m.Member.Nick
		}
	}
	chat, kind := place(c)
	at := m.Timestamp.Time
	if at.IsZero() {
		at = time.Now()
	}
	return adapters.Origin{EventID: m.ID, Chat: chat, Kind: kind, ChatName: c.title(), From: from, At: at}, true
}

// mentioned reports whether a message addresses the bot: by name, by one of its roles, or by
// answering it.
func (r *receiver) mentioned(m *message) bool {
	bot := r.a.botID()
	if slices.ContainsFunc(m.Mentions, func(u user) bool { return u.ID == bot }) || r.a.dir.hasRole(m.GuildID, m.MentionRoles) {
		return true
	}
	return m.Type == typeReply && m.Referenced != nil && m.Referenced.Author != nil && m.Referenced.Author.ID == bot
}

var mentionForms = regexp.MustCompile(`<(@!?|@&|#)(\d+)>`)

// text is what was written, without the bot's own mention and with names for ids.
func (r *receiver) text(m *message) string {
	bot := r.a.botID()
	var b strings.Builder
	rest := m.Content
	for {
		hit := mentionForms.FindStringSubmatchIndex(rest)
		if hit == nil {
			break
		}
		form, id := rest[hit[2]:hit[3]], rest[hit[4]:hit[5]]
		b.WriteString(rest[:hit[0]])
		whole := rest[hit[0]:hit[1]]
		rest = rest[hit[1]:]
		own := form == "@&" && r.a.dir.hasRole(m.GuildID, []string{id}) || form[0] == '@' && form != "@&" && id == bot
		if !own {
			b.WriteString(r.named(m, form, id, whole))
			continue
		}
		// Its spaces go with it: one side's in the middle of a line, a comma too at the beginning.
		before := b.String()
		switch {
		case strings.TrimSpace(before) == "":
			rest = strings.TrimLeft(rest, " ,:;")
		case strings.HasSuffix(before, " ") || strings.HasSuffix(before, "\n"):
			rest = strings.TrimLeft(rest, " ")
		}
	}
	b.WriteString(rest)
	return strings.TrimSpace(b.String())
}

// named is a mention as people read it.
func (r *receiver) named(m *message, form, id, whole string) string {
	switch form {
	case "#":
		if c, ok := r.a.dir.get(id); ok && c.Name != nil {
			return "#" + *c.Name
		}
	case "@", "@!":
		for _, u := range m.Mentions {
			if u.ID == id {
				return "@" + u.name()
			}
		}
	}
	return whole
}
