package turn

import (
	"bytes"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
)

// TestC2_AllowLists by id, stable name and role; empty is nobody; a group's own list goes before
// the channel's.
func TestC2_AllowLists(t *testing.T) {
	ann := adapters.User{ID: "1", Username: "Ann", Roles: []string{"ops"}}
	for _, c := range []struct {
		list []string
		want bool
	}{
		{nil, false}, {[]string{}, false}, {[]string{"1"}, true}, {[]string{"2"}, false}, {[]string{"@ann"}, true}, {[]string{"@an"}, false},
		{[]string{"ann"}, false}, {[]string{"role:ops"}, true}, {[]string{"role:op"}, false}, {[]string{"*"}, true}, {[]string{""}, false}, {[]string{"@"}, false}, {[]string{"2", "1"}, true},
	} {
		if got := allowed(c.list, ann); got != c.want {
			t.Errorf("%q: %t", c.list, got)
		}
	}
	if allowed([]string{"", "@"}, adapters.User{}) {
		t.Error("nobody is let in by an empty entry")
	}
}

func TestC2_GroupsHaveTheirOwn(t *testing.T) {
	for _, c := range []struct {
		name    string
		channel []string
		groups  map[string]Group
		from    string
		want    bool
	}{
		{"the channel's list", []string{"ann"}, map[string]Group{"*": {}}, "ann", true},
		{"not on the channel's list", []string{"ann"}, map[string]Group{"*": {}}, "bob", false},
		{"the group's own list", []string{"ann"}, map[string]Group{"room": {AllowFrom: []string{"bob"}}}, "bob", true},
		{"the group's own list only", []string{"ann"}, map[string]Group{"room": {AllowFrom: []string{"bob"}}}, "ann", false},
		{"not a listed group", []string{"ann"}, map[string]Group{"elsewhere": {}}, "ann", false},
		{"no groups", []string{"*"}, nil, "ann", false},
		{"a group's mention rule", []string{"ann"}, map[string]Group{"room": {RequireMention: true}, "*": {}}, "ann", false},
		{"the channel's empty list", nil, map[string]Group{"*": {}}, "ann", false},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: answering(time.Second, "Hello"), settings: func(s *Settings) {
				s.Channels["telegram"] = Channel{AllowFrom: c.channel, Groups: c.groups}
			}})
			b.write("room", "hi", from(c.from))
			after(10 * time.Second)
			if got := len(b.bot("room")) == 1; got != c.want {
				t.Errorf("%s: answered %t", c.name, got)
			}
			if !c.want && len(b.chat.world.Calls("")) > 0 {
				t.Errorf("%s: calls %v", c.name, b.chat.world.Calls(""))
			}
		})
	}
}

// TestC2_UnknownPerson: nothing shows, the log has the id.
func TestC2_UnknownPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: answering(time.Second, "Hello")})
		var logged bytes.Buffer
		b.hub.log = slog.New(slog.NewTextHandler(&logged, nil))
		b.write("dm", "hi, a secret", from("eve"))
		after(10 * time.Second)
		if len(b.chat.world.Calls("")) > 0 || !strings.Contains(logged.String(), "person=eve") || strings.Contains(logged.String(), "secret") {
			t.Errorf("calls %v, log %s", b.chat.world.Calls(""), logged.String())
		}
	})
}

// TestC2_Pairing: an unknown person gets a code once an hour, the owner approves it by replying or
// by Pair, and only in direct chats.
func TestC2_Pairing(t *testing.T) {
	for _, by := range []string{"reply", "command"} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: answering(time.Second, "Hello"), settings: func(s *Settings) {
				c := s.Channels["telegram"]
				c.Pairing = true
				s.Channels["telegram"] = c
			}})
			b.chat.world.AddChat(sim.Chat{ID: "eve's", Direct: true, Members: []string{"eve"}})
			b.write("dm", "hello, I am the owner")
			after(5 * time.Second)
			b.write("room", "hi", from("eve"), mentioned)
			after(5 * time.Second)
			if got := b.bot("room"); len(got) != 0 {
				t.Errorf("in a group: %q", got)
			}
			for range 3 {
				b.write("eve's", "hi", from("eve"))
				after(time.Minute)
			}
			got := b.bot("eve's")
			code := regexp.MustCompile(`\d{6}`).FindString(strings.Join(got, ""))
			if len(got) != 1 || code == "" {
				t.Fatalf("the person reads %q", got)
			}
			b.want("dm", "Eve (id eve) would like to talk to me. Reply with "+code)
			after(time.Hour)
			b.write("eve's", "hi", from("eve"))
			after(5 * time.Second)
			again := b.bot("eve's")
			if len(again) != 2 {
				t.Fatalf("after an hour: %q", again)
			}
			if old := code; true {
				code = regexp.MustCompile(`\d{6}`).FindString(again[1])
				b.write("eve's", old, from("eve")) // nobody lets themselves in
			}
			after(time.Second)
			b.write("dm", "000000")
			after(5 * time.Second)
			if by == "reply" {
				b.write("dm", code)
				after(2 * time.Second)
				b.want("dm", "Eve may talk to me now.")
			} else if who, err := b.hub.Pair(t.Context(), code); err != nil || who.ID != "eve" {
				t.Fatal(who, err)
			}
			after(2 * time.Second)
			b.want("eve's", "You may talk to me now.")
			b.write("eve's", "hi", from("eve"))
			after(5 * time.Second)
			b.want("eve's", "typist: Hello")
			if _, err := b.hub.Pair(t.Context(), code); err == nil {
				t.Error("the code works twice")
			}
			b.revokes(t, "eve")
		})
	}
}

// revokes takes the person's entry back and sees that nothing is answered any more.
func (b *bench) revokes(t *testing.T, id string) {
	t.Helper()
	list, err := b.hub.Paired(t.Context())
	if err != nil || len(list) != 1 || list[0].Person.ID != id || list[0].Code != "" || list[0].Channel != "telegram" || list[0].Since.IsZero() {
		t.Errorf("paired: %+v, %v", list, err)
	}
	if out, err := b.hub.Revoke(t.Context(), id); err != nil || len(out) != 1 || out[0].Person.ID != id {
		t.Errorf("revoked: %+v, %v", out, err)
	}
	if _, err := b.hub.Revoke(t.Context(), id); !errors.Is(err, ErrNotPaired) {
		t.Errorf("revoked twice: %v", err)
	}
	before := len(b.bot("eve's"))
	b.write("eve's", "hi", from(id))
	after(5 * time.Second)
	for _, m := range b.bot("eve's")[before:] {
		if strings.Contains(m, "Hello") {
			t.Errorf("whoever was taken out again is answered: %q", m)
		}
	}
	if list, err := b.hub.Paired(t.Context()); err != nil || len(list) > 1 || len(list) == 1 && list[0].Code == "" {
		t.Errorf("paired afterwards: %+v, %v", list, err)
	}
}

// TestC2_AStoreThatIsDownLetsNobodyIn who is not on the list by its own, and loses nothing: the
// platform is told that nothing was taken.
func TestC2_AStoreThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		b := start(t, setup{backend: answering(time.Second, "Hello"), store: openStore(t, dir), settings: func(s *Settings) {
			c := s.Channels["telegram"]
			c.Pairing = true
			s.Channels["telegram"] = c
		}})
		b.hub.log = slog.New(slog.DiscardHandler)
		if err := b.store.Close(); err != nil {
			t.Fatal(err)
		}
		for _, who := range []string{"ann", "eve"} {
			m := adapters.Message{Origin: b.origin("dm"), ID: "7", Text: "hi"}
			m.From.ID = who
			if err := b.chat.sink.Deliver(t.Context(), m); err == nil {
				t.Errorf("%s: the message counts as taken", who)
			}
		}
		after(10 * time.Second)
		if calls := b.chat.world.Calls(""); len(calls) > 0 {
			t.Errorf("calls %v", calls)
		}
	})
}

// TestC3_ADuplicateIsNoSecondEvent of any kind: messages, presses, edits, commands, stops.
func TestC3_Duplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(echo)})
		for _, text := range []string{"one", "/status"} {
			for range 3 {
				b.write("dm", text, as("e"+text))
				after(3 * time.Second)
			}
			if n := strings.Count(b.text("dm"), "typist:"); n != map[string]int{"one": 1, "/status": 2}[text] {
				t.Errorf("%s three times: %d messages of the bot", text, n)
			}
		}
		id := b.write("dm", "two")
		after(3 * time.Second)
		e := adapters.Edited{Origin: b.origin("dm"), ID: id, Text: "zwei", Mentioned: true}
		for range 2 {
			b.deliver(e)
			after(3 * time.Second)
		}
		b.want("dm", "zwei [◀] [2/2]")
		p := adapters.Press{Origin: b.origin("dm")}
		for _, m := range b.chat.world.Messages("dm", "*") {
			if len(m.Buttons) > 0 {
				p.ID, p.Data = m.ID, m.Buttons[0][0].Data
			}
		}
		b.deliver(p)
		after(3 * time.Second)
		edits := b.calls(sim.OpEdit)
		b.deliver(p)
		after(3 * time.Second)
		if b.calls(sim.OpEdit) != edits {
			t.Error("a press that came twice counted twice")
		}
	})
}

// TestC2_TooFast: a flood gets one sentence, and the others' messages are answered.
func TestC2_TooFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		b := start(t, setup{backend: answering(0, "Hello")})
		for range 60 {
			b.write("dm", "hi")
			after(100 * time.Millisecond)
		}
		after(5 * time.Minute)
		for _, m := range b.bot("dm") {
			if m == "Hello" {
				runs++
			}
		}
		if n := strings.Count(b.text("dm"), "That was a lot at once."); n != 1 || runs > 31 || runs < 20 {
			t.Errorf("%d answers, told %d times", runs, n)
		}
	})
}
