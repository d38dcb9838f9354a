package discord

import (
	"slices"
	"strconv"
	"time"

	"typist/adapters/sim"
)

// The default world.
const (
	BotID     = "2900"
	AppID     = "2901"
	GuildID   = "2500"
	Ann       = "2001" // role RoleOps
	Ben       = "2002" // role RoleCrew
	Cleo      = "2003" // no role
	DM        = "2101" // Ann's direct chat with the bot
	General   = "2201" // #general
	Thread    = "2301" // "Release" in #general
	RoleOps   = "2401"
	RoleCrew  = "2402"
	RoleTypes = "2403" // the bot's own role
)

// Channel types of Discord.
const (
	typeText   = 0
	typeDM     = 1
	typeThread = 11
)

const discordEpoch = 1420070400000 // 2015-01-01 in ms: snowflakes count from here

// channel is what Discord calls one: a direct chat, a text channel or a thread.
type channel struct {
	id, name string
	kind     int
	parent   string // of a thread
	last     string // last message id
	person   string // of a direct chat
}

func (c *channel) place() (chat, thread string) {
	if c.kind == typeThread {
		return c.parent, c.id
	}
	return c.id, ""
}

func (s *Server) populate() {
	for _, p := range []sim.Person{
		{ID: Ann, Name: "Ann", Username: "ann"},
		{ID: Ben, Name: "Ben", Username: "ben"},
		{ID: Cleo, Name: "Cleo", Username: "cleo"},
	} {
		s.world.AddPerson(p)
	}
	s.roles[Ann] = []string{RoleOps}
	s.roles[Ben] = []string{RoleCrew}
	s.roles[BotID] = []string{RoleTypes}
	s.AddDirect(DM, Ann)
	s.AddChannel(General, "general", Ann, Ben, Cleo)
	s.AddThread(General, Thread, "Release")
}

// AddDirect adds a person's direct chat with the bot.
func (s *Server) AddDirect(id, person string) {
	p, _ := s.world.Person(person)
	s.mu.Lock()
	s.channels[id] = &channel{id: id, kind: typeDM, person: person}
	s.mu.Unlock()
	s.world.AddChat(sim.Chat{ID: id, Name: p.Name, Direct: true, Members: []string{person}})
}

// AddChannel adds a text channel of the guild.
func (s *Server) AddChannel(id, name string, members ...string) {
	c := &channel{id: id, name: name, kind: typeText}
	s.mu.Lock()
	s.channels[id] = c
	s.mu.Unlock()
	s.world.AddChat(sim.Chat{ID: id, Name: name, Members: members})
	s.gate.dispatch("CHANNEL_CREATE", intentGuilds, s.channelJSON(c))
}

// AddThread adds a public thread to a text channel.
func (s *Server) AddThread(parent, id, name string) {
	c := &channel{id: id, name: name, kind: typeThread, parent: parent}
	s.mu.Lock()
	s.channels[id] = c
	s.mu.Unlock()
	s.world.AddThread(parent, sim.Thread{ID: id, Name: name})
	s.gate.dispatch("THREAD_CREATE", intentGuilds, s.channelJSON(c))
}

// channel finds a channel by id.
func (s *Server) channel(id string) (*channel, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.channels[id]
	return c, ok
}

// find is the channel of a chat and thread as the World names them.
func (s *Server) find(chat, thread string) (*channel, bool) {
	if thread == "" {
		return s.channel(chat)
	}
	c, ok := s.channel(thread)
	if !ok || c.parent != chat {
		return nil, false
	}
	return c, true
}

// sortedChannels lists the channels of one kind by id.
func (s *Server) sortedChannels(kind int) []*channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*channel
	for _, c := range s.channels {
		if c.kind == kind {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b *channel) int { return compareIDs(a.id, b.id) })
	return out
}

// snowflake gives out a growing id that carries the time. Callers hold mu.
func (s *Server) snowflake() string {
	id := (time.Now().UnixMilli() - s.epoch) << 22
	if id <= s.lastID {
		id = s.lastID + 1
	}
	s.lastID = id
	return strconv.FormatInt(id, 10)
}

// compareIDs orders snowflakes.
func compareIDs(a, b string) int {
	x, _ := strconv.ParseInt(a, 10, 64)
	y, _ := strconv.ParseInt(b, 10, 64)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// AddHiddenThread adds a thread without telling the bot, as when it was created while the bot was
// away and is not listed.
func (s *Server) AddHiddenThread(parent, id, name string) {
	s.mu.Lock()
	s.channels[id] = &channel{id: id, name: name, kind: typeThread, parent: parent}
	s.mu.Unlock()
	s.world.AddThread(parent, sim.Thread{ID: id, Name: name})
}
