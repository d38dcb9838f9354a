package discord

import (
	"regexp"
	"slices"
	"strings"
)

// allowedMentions says which mentions of a message notify; without it all do.
type allowedMentions struct {
	Parse       []string `json:"parse"`
	Users       []string `json:"users"`
	Roles       []string `json:"roles"`
	RepliedUser bool     `json:"replied_user"`
}

var (
	userMention = regexp.MustCompile(`<@!?(\d+)>`)
	roleMention = regexp.MustCompile(`<@&(\d+)>`)
	everyone    = regexp.MustCompile(`@(everyone|here)\b`)
	codeParts   = regexp.MustCompile("(?s)```.*?```|`[^`\n]+`")
	escaped     = regexp.MustCompile(`\\[^0-9A-Za-z\s]`)
)

// mentioned is whom a message mentions.
type mentioned struct {
	users, roles []string
	everyone     bool
}

// resolveMentions finds whom a message mentions and whom it notifies by that. As on Discord,
// mentions inside code do not count, and escaping does not help against @everyone.
func (s *Server) resolveMentions(r *record, content string, allowed *allowedMentions) (m mentioned, pings []string) {
	text := codeParts.ReplaceAllString(content, " ")
	plain := escaped.ReplaceAllString(text, " ")
	may := func(kind string, ids []string, id string) bool {
		return allowed == nil || slices.Contains(allowed.Parse, kind) || slices.Contains(ids, id)
	}
	ping := func(id string) {
		if !slices.Contains(pings, id) && id != r.author {
			pings = append(pings, id)
		}
	}
	for _, hit := range userMention.FindAllStringSubmatch(plain, -1) {
		if _, known := s.world.Person(hit[1]); !known || slices.Contains(m.users, hit[1]) {
			continue
		}
		var ids []string
		if allowed != nil {
			ids = allowed.Users
		}
		if may("users", ids, hit[1]) {
			m.users = append(m.users, hit[1])
			ping(hit[1])
		}
	}
	for _, hit := range roleMention.FindAllStringSubmatch(plain, -1) {
		var ids []string
		if allowed != nil {
			ids = allowed.Roles
		}
		if _, known := roleNames[hit[1]]; !known || !may("roles", ids, hit[1]) {
			continue
		}
		m.roles = append(m.roles, hit[1])
		s.mu.Lock()
		for person, roles := range s.roles {
			if slices.Contains(roles, hit[1]) {
				ping(person)
			}
		}
		s.mu.Unlock()
	}
	if everyone.MatchString(text) && may("everyone", nil, "") {
		m.everyone = true
		pings = append(pings, "everyone")
	}
	if r.reference != "" && (allowed == nil || allowed.RepliedUser) {
		if to, ok := s.record(r.channel, r.reference); ok && !slices.Contains(m.users, to.author) {
			m.users = append(m.users, to.author)
			ping(to.author)
		}
	}
	slices.Sort(pings)
	return m, pings
}

// bot reports whether Discord would give the bot a message's content without the
// Message Content intent.
func (m mentioned) bot() bool { return slices.Contains(m.users, BotID) }

var roleNames = map[string]string{RoleOps: "ops", RoleCrew: "crew", RoleTypes: "Typist"}

// readable puts names for mentions, as clients show them.
func (s *Server) readable(text string) string {
	text = userMention.ReplaceAllStringFunc(text, func(hit string) string {
		id := strings.Trim(hit, "<@!>")
		if p, ok := s.world.Person(id); ok {
			return "@" + p.Name
		}
		return hit
	})
	return roleMention.ReplaceAllStringFunc(text, func(hit string) string {
		if name, ok := roleNames[strings.Trim(hit, "<@&>")]; ok {
			return "@" + name
		}
		return hit
	})
}
