package discord

import (
	"net/url"
	"slices"
	"time"
)

// timeFormat is how Discord writes times.
const timeFormat = "2006-01-02T15:04:05.000000-07:00"

func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(timeFormat)
}

func (s *Server) userJSON(id string) map[string]any {
	p, _ := s.world.Person(id)
	out := map[string]any{
		"id": id, "username": p.Username, "global_name": p.Name, "discriminator": "0",
		"avatar": nil, "public_flags": 0,
	}
	if p.Bot {
		out["bot"] = true
		out["global_name"] = nil
	}
	return out
}

func (s *Server) memberJSON(id string, withUser bool) map[string]any {
	s.mu.Lock()
	roles := slices.Clone(s.roles[id])
	s.mu.Unlock()
	if roles == nil {
		roles = []string{}
	}
	out := map[string]any{
		"roles": roles, "nick": nil, "avatar": nil, "joined_at": "2024-01-01T00:00:00.000000+00:00",
		"premium_since": nil, "deaf": false, "mute": false, "pending": false, "flags": 0,
		"communication_disabled_until": nil,
	}
	if withUser {
		out["user"] = s.userJSON(id)
	}
	return out
}

func (s *Server) channelJSON(c *channel) map[string]any {
	s.mu.Lock()
	var last any
	if c.last != "" {
		last = c.last
	}
	s.mu.Unlock()
	out := map[string]any{"id": c.id, "type": c.kind, "last_message_id": last, "flags": 0}
	switch c.kind {
	case typeDM:
		out["recipients"] = []any{s.userJSON(c.person)}
		return out
	case typeThread:
		out["parent_id"], out["owner_id"] = c.parent, Ann
		out["message_count"], out["member_count"] = 0, 2
		out["thread_metadata"] = map[string]any{"archived": false, "auto_archive_duration": 1440, "locked": false,
			"archive_timestamp": "2024-01-01T00:00:00.000000+00:00"}
	default:
		out["topic"], out["position"], out["nsfw"], out["parent_id"] = nil, 0, false, nil
		out["permission_overwrites"] = []any{}
	}
	out["guild_id"], out["name"], out["rate_limit_per_user"] = GuildID, c.name, 0
	return out
}

func (s *Server) channelsJSON(kind int) []any {
	out := []any{}
	for _, c := range s.sortedChannels(kind) {
		out = append(out, s.channelJSON(c))
	}
	return out
}

func rolesJSON() []any {
	out := []any{}
	for _, id := range []string{RoleOps, RoleCrew, RoleTypes} {
		out = append(out, map[string]any{
			"id": id, "name": roleNames[id], "color": 0, "hoist": false, "position": 1, "permissions": "0",
			"managed": id == RoleTypes, "mentionable": true, "flags": 0,
		})
	}
	return out
}

func (s *Server) guildJSON() map[string]any {
	return map[string]any{
		"id": GuildID, "name": "Workshop", "owner_id": Ann, "roles": rolesJSON(), "emojis": []any{}, "features": []any{},
		"joined_at": "2024-01-01T00:00:00.000000+00:00", "large": false, "unavailable": false, "member_count": 4,
		"voice_states": []any{}, "presences": []any{}, "stage_instances": []any{}, "guild_scheduled_events": []any{}, "soundboard_sounds": []any{},
		"members":  []any{s.memberJSON(BotID, true)},
		"channels": s.channelsJSON(typeText), "threads": s.channelsJSON(typeThread),
		"verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0, "mfa_level": 0,
		"premium_tier": 0, "preferred_locale": "en-US", "nsfw_level": 0, "system_channel_flags": 0,
	}
}

func (s *Server) applicationJSON() map[string]any {
	flags := 1 << 19 // GATEWAY_MESSAGE_CONTENT_LIMITED
	if s.opts.NoContentIntent {
		flags = 0
	}
	return map[string]any{"id": AppID, "name": "Typist", "icon": nil, "description": "", "flags": flags,
		"bot_public": true, "bot_require_code_grant": false, "verify_key": "", "bot": s.userJSON(BotID)}
}

// messageJSON is a message object. hide leaves its content out as Discord does without the
// Message Content intent.
func (s *Server) messageJSON(m *record, hide bool) map[string]any {
	out := s.objectJSON(m, hide)
	if m.reference != "" {
		out["referenced_message"] = nil // deleted, or the one found here; one level only
		if to, ok := s.record(m.channel, m.reference); ok {
			out["referenced_message"] = s.objectJSON(to, hide)
		}
	}
	return out
}

func (s *Server) objectJSON(m *record, hide bool) map[string]any {
	c, _ := s.channel(m.channel)
	s.mu.Lock()
	content, components, edited, flags := m.content, slices.Clone(m.components), m.edited, m.flags
	files, embedded, mentions := slices.Clone(m.attachments), m.embeds, m.mentioned
	s.mu.Unlock()
	if hide && (c.kind == typeDM || m.author == BotID || mentions.bot()) {
		hide = false
	}
	out := map[string]any{
		"id": m.id, "channel_id": m.channel, "type": m.kind, "author": s.userJSON(m.author), "content": content,
		"timestamp": stamp(m.at), "edited_timestamp": stamp(edited), "tts": false, "pinned": false, "flags": flags,
		"mention_everyone": mentions.everyone, "mention_roles": append([]string{}, mentions.roles...),
	}
	users := []any{}
	for _, id := range mentions.users {
		users = append(users, s.userJSON(id))
	}
	out["mentions"] = users
	attachments, embeds := []any{}, []any{}
	for _, a := range files {
		link := s.URL() + "/attachments/" + m.channel + "/" + a.ID + "/" + url.PathEscape(a.File.Name)
		attachments = append(attachments, map[string]any{
			"id": a.ID, "filename": a.File.Name, "size": len(a.File.Data), "content_type": a.File.MIME,
			"url": link + "?ex=1&is=1&hm=1", "proxy_url": link,
		})
	}
	for range embedded {
		embeds = append(embeds, map[string]any{"type": "article", "title": "A page", "url": "https://example.com/"})
	}
	if components == nil {
		components = []component{}
	}
	out["attachments"], out["embeds"], out["components"] = attachments, embeds, components
	if hide {
		out["content"], out["attachments"], out["embeds"], out["components"] = "", []any{}, []any{}, []any{}
	}
	if m.reference != "" {
		ref := map[string]any{"type": 0, "message_id": m.reference, "channel_id": m.channel}
		if c.kind != typeDM {
			ref["guild_id"] = GuildID
		}
		out["message_reference"] = ref
	}
	return out
}
