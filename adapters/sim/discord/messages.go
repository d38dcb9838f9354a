package discord

import (
	"strconv"
	"time"
	"unicode/utf16"

	"typist/adapters/sim"
)

// record is a message as the API knows it; what people see of it is in the World.
type record struct {
	id, channel string
	author      string
	content     string
	components  []component
	attachments []attachment
	reference   string // message id that it answers
	nonce       string
	flags       int
	kind        int
	at, edited  time.Time
	mentioned   mentioned
	embeds      int
	private     string // ephemeral: for this person
	oldEdits    []time.Time
}

// Message types and flags of Discord.
const (
	typeDefault = 0
	typeReply   = 19

	flagEphemeral = 1 << 6
	flagSilent    = 1 << 12
	flagNoEmbeds  = 1 << 2
)

type attachment struct {
	ID   string
	File sim.File
}

type nonceUse struct {
	message string
	at      time.Time
}

// outgoing is the body of a message to create or edit.
type outgoing struct {
	Content         *string          `json:"content"`
	Nonce           any              `json:"nonce"`
	EnforceNonce    bool             `json:"enforce_nonce"`
	Flags           *int             `json:"flags"`
	Components      *[]component     `json:"components"`
	AllowedMentions *allowedMentions `json:"allowed_mentions"`
	Reference       *struct {
		MessageID       string `json:"message_id"`
		ChannelID       string `json:"channel_id"`
		FailIfNotExists *bool  `json:"fail_if_not_exists"`
	} `json:"message_reference"`
	Attachments []struct {
		ID       any    `json:"id"`
		Filename string `json:"filename"`
	} `json:"attachments"`
}

// createMessage serves POST /channels/{channel}/messages.
func (s *Server) createMessage(q *request, c *channel) (any, *failure) {
	var body outgoing
	if fail := q.decode(&body); fail != nil {
		return nil, fail
	}
	m, fail := s.compose(q, c, body)
	if fail != nil {
		return nil, fail
	}
	s.mu.Lock()
	key := c.id + "/" + m.nonce
	if use, known := s.nonces[key]; known && m.nonce != "" && body.EnforceNonce && time.Since(use.at) < nonceLife {
		if old, ok := s.records[use.message]; ok {
			s.mu.Unlock()
			return s.messageJSON(old, false), nil
		}
	}
	m.id = s.snowflake()
	if m.nonce != "" {
		s.nonces[key] = nonceUse{m.id, time.Now()}
	}
	s.mu.Unlock()
	s.publish(m, body.AllowedMentions)
	out := s.messageJSON(m, false)
	if m.nonce != "" {
		out["nonce"] = m.nonce // only here and in MESSAGE_CREATE; lost when it is fetched again
	}
	return out, nil
}

// compose checks a new message.
func (s *Server) compose(q *request, c *channel, body outgoing) (*record, *failure) {
	m := &record{channel: c.id, author: BotID, at: time.Now(), kind: typeDefault}
	if body.Content != nil {
		m.content = *body.Content
	}
	if fail := checkContent(m.content); fail != nil {
		return nil, fail
	}
	if body.Components != nil {
		m.components = *body.Components
	}
	if fail := checkComponents(m.components); fail != nil {
		return nil, fail
	}
	switch n := body.Nonce.(type) {
	case nil:
	case string:
		m.nonce = n
	case float64:
		m.nonce = strconv.FormatInt(int64(n), 10)
	default:
		return nil, invalidForm("nonce", "NONCE_TYPE_INVALID", "must be a string or an integer")
	}
	if len(m.nonce) > 25 {
		return nil, invalidForm("nonce", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
	}
	if body.Flags != nil {
		m.flags = *body.Flags & (flagSilent | flagNoEmbeds | flagEphemeral)
	}
	if m.content == "" && len(q.files) == 0 && len(m.components) == 0 {
		return nil, errEmpty
	}
	for _, f := range q.files {
		s.mu.Lock()
		a := attachment{ID: s.snowflake(), File: f}
		s.files[a.ID] = f
		s.mu.Unlock()
		m.attachments = append(m.attachments, a)
	}
	if ref := body.Reference; ref != nil {
		if _, ok := s.record(c.id, ref.MessageID); ok {
			m.reference, m.kind = ref.MessageID, typeReply
		} else if ref.FailIfNotExists == nil || *ref.FailIfNotExists {
			return nil, invalidForm("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
		}
	}
	return m, nil
}

// publish makes a message visible, to people and over the gateway.
func (s *Server) publish(m *record, allowed *allowedMentions) {
	mentioned, pings := s.resolveMentions(m, m.content, allowed)
	m.mentioned = mentioned
	c, _ := s.channel(m.channel)
	chat, thread := c.place()
	s.mu.Lock()
	s.records[m.id] = m
	s.recordOrder = append(s.recordOrder, m.id)
	if len(s.recordOrder) > 4000 {
		delete(s.records, s.recordOrder[0])
		s.recordOrder = s.recordOrder[1:]
	}
	if m.private == "" {
		c.last = m.id
	}
	s.mu.Unlock()
	author, _ := s.world.Person(m.author)
	shown := sim.Message{
		ID: m.id, Chat: chat, Thread: thread, From: author, ReplyTo: m.reference,
		Silent: m.flags&flagSilent != 0, Pings: pings, Private: m.private, At: m.at,
	}
	s.shown(m.content, m.components)(&shown)
	for _, a := range m.attachments {
		shown.Files = append(shown.Files, a.File)
	}
	s.world.Post(shown)
	if m.private == "" {
		s.gate.message("MESSAGE_CREATE", m)
	}
}

// shown is what people read of a message, ready to be put into the World.
func (s *Server) shown(content string, rows []component) func(*sim.Message) {
	text, markup := s.look(content)
	var buttons [][]sim.Button
	for _, row := range rows {
		var out []sim.Button
		for _, b := range row.Components {
			out = append(out, sim.Button{Text: b.Label, Data: b.CustomID, Style: styleNames[b.Style]})
		}
		buttons = append(buttons, out)
	}
	return func(to *sim.Message) { to.Text, to.HTML, to.Buttons = text, markup, buttons }
}

// record finds a message of a channel that is not deleted.
func (s *Server) record(channel, id string) (*record, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, ok := s.records[id]
	if !ok || m.channel != channel || m.private != "" {
		return nil, false
	}
	return m, true
}

// checkContent holds the length; counted in UTF-16 units, the strictest reading.
func checkContent(content string) *failure {
	if len(utf16.Encode([]rune(content))) > 2000 {
		return invalidForm("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
	}
	return nil
}
