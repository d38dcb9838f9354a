package discord

import (
	"regexp"
	"unicode/utf8"
)

// command is an application command as the bot registers it.
type command struct {
	ID                       string            `json:"id"`
	ApplicationID            string            `json:"application_id"`
	Version                  string            `json:"version"`
	Type                     int               `json:"type"`
	Name                     string            `json:"name"`
	NameLocalizations        map[string]string `json:"name_localizations"`
	Description              string            `json:"description"`
	DescriptionLocalizations map[string]string `json:"description_localizations"`
	Options                  []commandOption   `json:"options,omitempty"`
	DefaultMemberPermissions *string           `json:"default_member_permissions"`
	NSFW                     bool              `json:"nsfw"`
}

type commandOption struct {
	Type                     int               `json:"type"`
	Name                     string            `json:"name"`
	Description              string            `json:"description"`
	DescriptionLocalizations map[string]string `json:"description_localizations,omitempty"`
	Required                 bool              `json:"required,omitempty"`
	Choices                  []commandChoice   `json:"choices,omitempty"`
}

type commandChoice struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

var (
	commandName = regexp.MustCompile(`^[-_'\p{Ll}\p{Lo}\p{N}]{1,32}$`)
	locales     = map[string]bool{
		"id": true, "da": true, "de": true, "en-GB": true, "en-US": true, "es-ES": true, "es-419": true, "fr": true,
		"hr": true, "it": true, "lt": true, "hu": true, "nl": true, "no": true, "pl": true, "pt-BR": true, "ro": true,
		"fi": true, "sv-SE": true, "vi": true, "tr": true, "cs": true, "el": true, "bg": true, "ru": true, "uk": true,
		"hi": true, "th": true, "zh-CN": true, "ja": true, "zh-TW": true, "ko": true,
	}
)

func (s *Server) listCommands(q *request) (any, *failure) {
	if q.path[1] != AppID {
		return nil, refused(403, 20012, "You are not authorized to perform this action on this application")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []any{}
	for _, c := range s.commands {
		if q.http.URL.Query().Get("with_localizations") != "true" {
			c.DescriptionLocalizations, c.NameLocalizations = nil, nil
		}
		out = append(out, c)
	}
	return out, nil
}

// overwriteCommands serves PUT /applications/{app}/commands.
func (s *Server) overwriteCommands(q *request) (any, *failure) {
	if q.path[1] != AppID {
		return nil, refused(403, 20012, "You are not authorized to perform this action on this application")
	}
	var list []command
	if fail := q.decode(&list); fail != nil {
		return nil, fail
	}
	if len(list) > 100 {
		return nil, refused(400, 30032, "Maximum number of application commands reached (100).")
	}
	seen := map[string]bool{}
	for i := range list {
		c := &list[i]
		if c.Type == 0 {
			c.Type = 1
		}
		key := string(rune('0'+c.Type)) + c.Name
		if fail := checkCommand(*c); fail != nil {
			return nil, fail
		}
		if seen[key] {
			return nil, invalidForm("name", "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
		}
		seen[key] = true
		s.mu.Lock()
		c.ID, c.ApplicationID = s.snowflake(), AppID
		c.Version = s.snowflake()
		s.mu.Unlock()
	}
	s.mu.Lock()
	s.commands = list
	s.overwrites++
	s.mu.Unlock()
	return list, nil
}

// checkCommand holds Discord's limits for one command.
func checkCommand(c command) *failure {
	between := func(t string, low, high int) bool {
		n := utf8.RuneCountInString(t)
		return n >= low && n <= high
	}
	for locale, text := range c.DescriptionLocalizations {
		if !locales[locale] || !between(text, 1, 100) {
			return invalidForm("description_localizations", "LOCALE_BAD", "unknown locale or bad length: "+locale)
		}
	}
	if c.Type != 1 {
		if !between(c.Name, 1, 32) {
			return invalidForm("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 32 in length.")
		}
		if c.Description != "" || len(c.Options) > 0 {
			return invalidForm("description", "APPLICATION_COMMAND_DESCRIPTION_INVALID", "Context menu commands cannot have description")
		}
		return nil
	}
	if !commandName.MatchString(c.Name) {
		return invalidForm("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
	}
	if !between(c.Description, 1, 100) {
		return invalidForm("description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	}
	if len(c.Options) > 25 {
		return invalidForm("options", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
	}
	optional := false
	names := map[string]bool{}
	for _, o := range c.Options {
		switch {
		case o.Type < 1 || o.Type > 11:
			return invalidForm("options.0.type", "BASE_TYPE_CHOICES", "unknown option type")
		case !commandName.MatchString(o.Name) || names[o.Name]:
			return invalidForm("options.0.name", "APPLICATION_COMMAND_INVALID_NAME", "Option name is invalid")
		case !between(o.Description, 1, 100):
			return invalidForm("options.0.description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
		case len(o.Choices) > 25:
			return invalidForm("options.0.choices", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
		case o.Required && optional:
			return invalidForm("options", "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before non-required options")
		}
		names[o.Name] = true
		optional = optional || !o.Required
		for _, choice := range o.Choices {
			if !between(choice.Name, 1, 100) {
				return invalidForm("options.0.choices.0.name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
			}
		}
	}
	return nil
}

// Commands lists the names of the registered commands; message commands as "message:NAME".
func (s *Server) Commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, c := range s.commands {
		if c.Type == 3 {
			out = append(out, "message:"+c.Name)
		} else {
			out = append(out, c.Name)
		}
	}
	return out
}

// Overwrites counts how often the commands were overwritten.
func (s *Server) Overwrites() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.overwrites
}
