package telegram

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"typist/adapters/sim"
)

// method is one method of the API: what it does for the world's log, its fields, and itself.
type method struct {
	op     sim.Op
	fields string // names, blank separated
	do     func(*Server, *http.Request, params) (any, error)
}

func (m method) has(field string) bool { return slices.Contains(strings.Fields(m.fields), field) }

const (
	sendFields = " chat_id message_thread_id disable_notification protect_content reply_parameters reply_markup"
	textFields = " text parse_mode entities link_preview_options"
	fileFields = " caption parse_mode caption_entities"
)

// methods by lower-case name: the real server does not mind the case.
var methods map[string]method

func init() { // the table and the methods need each other
	methods = map[string]method{
		"getme":                  {sim.OpOther, "", (*Server).getMe},
		"getupdates":             {sim.OpReceive, "offset limit timeout allowed_updates", (*Server).getUpdates},
		"deletewebhook":          {sim.OpOther, "drop_pending_updates", (*Server).deleteWebhook},
		"getwebhookinfo":         {sim.OpOther, "", (*Server).getWebhookInfo},
		"getchat":                {sim.OpOther, "chat_id", (*Server).getChat},
		"sendmessage":            {sim.OpSend, sendFields + textFields, (*Server).sendMessage},
		"senddocument":           {sim.OpSend, sendFields + fileFields + " document disable_content_type_detection", (*Server).sendDocument},
		"sendphoto":              {sim.OpSend, sendFields + fileFields + " photo", (*Server).sendPhoto},
		"sendmediagroup":         {sim.OpSend, "chat_id message_thread_id media disable_notification protect_content reply_parameters", (*Server).sendMediaGroup},
		"editmessagetext":        {sim.OpEdit, "chat_id message_id reply_markup" + textFields, (*Server).editMessageText},
		"editmessagecaption":     {sim.OpEdit, "chat_id message_id reply_markup" + fileFields, (*Server).editMessageCaption},
		"editmessagereplymarkup": {sim.OpEdit, "chat_id message_id reply_markup", (*Server).editMessageReplyMarkup},
		"deletemessage":          {sim.OpDelete, "chat_id message_id", (*Server).deleteMessage},
		"sendchataction":         {sim.OpPulse, "chat_id message_thread_id action", (*Server).sendChatAction},
		"setmessagereaction":     {sim.OpReact, "chat_id message_id reaction is_big", (*Server).setMessageReaction},
		"answercallbackquery":    {sim.OpAck, "callback_query_id text show_alert url cache_time", (*Server).answerCallbackQuery},
		"setmycommands":          {sim.OpOther, "commands scope language_code", (*Server).setMyCommands},
		"deletemycommands":       {sim.OpOther, "scope language_code", (*Server).deleteMyCommands},
		"getfile":                {sim.OpOther, "file_id", (*Server).getFile},
	}
}

func (s *Server) getMe(*http.Request, params) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Me{User: s.user(s.world.Bot()), CanJoinGroups: true, CanReadAllGroupMessages: !s.privacy}, nil
}

func (s *Server) getWebhookInfo(*http.Request, params) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	info := WebhookInfo{URL: s.webhook}
	if s.webhook != "" {
		info.Pending = len(s.queue)
		info.AllowedUpdates = s.allowed
	}
	return info, nil
}

func (s *Server) deleteWebhook(*http.Request, params) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.webhook = ""
	return true, nil
}

func (s *Server) getChat(_ *http.Request, p params) (any, error) {
	c, err := s.target(p)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chat(c), nil
}

// target finds the chat of a call; the bot may be shut out of it.
func (s *Server) target(p params) (sim.Chat, error) {
	id := p.get("chat_id")
	if id == "" {
		return sim.Chat{}, bad("chat_id is empty")
	}
	c, ok := s.world.Chat(id)
	if !ok {
		return sim.Chat{}, bad("chat not found")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blocked[id] {
		if c.Direct {
			return c, &apiError{code: http.StatusForbidden, text: "Forbidden: bot was blocked by the user"}
		}
		return c, &apiError{code: http.StatusForbidden, text: "Forbidden: bot was kicked from the group chat"}
	}
	return c, nil
}

// topic checks message_thread_id of a message; General has none ("1" is refused there).
func topic(c sim.Chat, p params) (string, error) {
	id := p.get("message_thread_id")
	if id == "" || id == "0" {
		return "", nil
	}
	if !slices.ContainsFunc(c.Threads, func(t sim.Thread) bool { return t.ID == id }) {
		return "", bad("message thread not found")
	}
	return id, nil
}

// chatActions: https://core.telegram.org/bots/api#sendchataction
var chatActions = []string{"typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice",
	"upload_document", "choose_sticker", "find_location", "record_video_note", "upload_video_note"}

// actionLife is how long a chat action shows ("5 seconds or less").
const actionLife = 5 * time.Second

func (s *Server) sendChatAction(_ *http.Request, p params) (any, error) {
	c, err := s.target(p)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(chatActions, p.get("action")) {
		return nil, bad("wrong parameter action in request")
	}
	thread := p.get("message_thread_id")
	switch {
	case isForum(c) && (thread == "" || thread == "0"):
		return true, nil // accepted, and shows nowhere
	case isForum(c) && thread == "1":
		thread = "" // General
	default:
		if thread, err = topic(c, p); err != nil {
			return nil, err
		}
	}
	s.world.Pulse(c.ID, thread, "", actionLife)
	return true, nil
}

// reactions that a bot may use (a part of the documented list).
var reactions = []string{"👍", "👎", "❤", "🔥", "🥰", "👏", "😁", "🤔", "🎉", "🙏", "👌", "👀", "🤝", "✍", "💯", "⚡", "🤗", "🫡"}

func (s *Server) setMessageReaction(_ *http.Request, p params) (any, error) {
	c, err := s.target(p)
	if err != nil {
		return nil, err
	}
	id, err := p.number("message_id")
	if err != nil {
		return nil, err
	}
	var want []Reaction
	if _, err := p.object("reaction", &want); err != nil {
		return nil, err
	}
	if len(want) > 1 { // bots may set one
		return nil, bad("REACTIONS_TOO_MANY")
	}
	for _, r := range want {
		if r.Type != "emoji" || !slices.Contains(reactions, r.Emoji) {
			return nil, bad("REACTION_INVALID")
		}
	}
	s.mu.Lock()
	_, ok := s.find(c.ID, id)
	s.mu.Unlock()
	if !ok {
		return nil, bad("message to react not found")
	}
	bot := s.world.Bot().ID
	m, _ := s.world.Message(c.ID, p.get("message_id"))
	for emoji, people := range m.Reactions { // the new set replaces the old one
		if slices.Contains(people, bot) {
			s.world.React(c.ID, m.ID, bot, emoji, false)
		}
	}
	for _, r := range want {
		s.world.React(c.ID, m.ID, bot, r.Emoji, true)
	}
	return true, nil
}

func (s *Server) answerCallbackQuery(_ *http.Request, p params) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := p.get("callback_query_id")
	if answered, known := s.queries[id]; !known || answered {
		return nil, bad("query is too old and response timeout expired or query ID is invalid")
	}
	s.queries[id] = true
	return true, nil
}

func (s *Server) setMyCommands(_ *http.Request, p params) (any, error) {
	var list []Command
	if ok, err := p.object("commands", &list); err != nil || !ok {
		return nil, bad("can't parse commands: %v", err)
	}
	for _, c := range list {
		if len(c.Command) < 1 || len(c.Command) > 32 || strings.Trim(c.Command, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			return nil, bad("BOT_COMMAND_INVALID")
		}
		if n := utf16Len(c.Description); n < 1 || n > 256 {
			return nil, bad("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	if len(list) > 100 {
		return nil, bad("BOT_COMMANDS_TOO_MUCH")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.menus[p.get("language_code")] = list
	return true, nil
}

func (s *Server) deleteMyCommands(_ *http.Request, p params) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.menus, p.get("language_code"))
	return true, nil
}
