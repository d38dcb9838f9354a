package adaptertest

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"strings"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
)

var receiving = []check{
	{name: "C1_DirectMessage", run: func(f *fixture) {
		id, m := f.say(sim.Say{Chat: f.h.Direct.Chat, Text: "hello there"})
		if m.Kind != adapters.Direct || m.Text != "hello there" || m.Chat.ID != f.h.Direct.Chat || m.Chat.Channel != f.a.Name() {
			f.Errorf("got %+v", m)
		}
		if m.ID != id || m.EventID == "" || m.From.Name == "" {
			f.Errorf("ids or names are missing: %+v", m)
		}
		if d := time.Since(m.At); d < -2*time.Second || d > time.Minute {
			f.Errorf("At is %s away from now", d)
		}
	}},
	{name: "C1_GroupMessageWithoutMention", run: func(f *fixture) {
		_, m := f.say(sim.Say{Chat: f.h.Group.Chat, Text: "just talking"})
		if m.Kind != adapters.Group || m.Mentioned || m.Text != "just talking" || m.ReplyTo != nil {
			f.Errorf("got %+v", m)
		}
	}},
	{name: "C1_MentionInEveryForm", run: mentions},
	{name: "C1_ReplyToTheBotIsAMention", run: func(f *fixture) {
		chat, _ := f.anchor(f.h.Group)
		ref := f.send(chat, plain("an answer"))
		_, m := f.say(sim.Say{Chat: f.h.Group.Chat, Thread: f.shown(ref).Thread, Text: "and more?", ReplyTo: ref.ID})
		if f.shown(ref).Thread != "" && m.ReplyTo == nil {
			return // a platform of threads, where a reply is a message in one
		}
		if !m.Mentioned || m.ReplyTo == nil || !m.ReplyTo.ToBot || m.ReplyTo.ID != ref.ID {
			f.Errorf("got %+v, reply %+v", m, m.ReplyTo)
		}
	}},
	{name: "C1_ReplyToAPersonIsNone", run: func(f *fixture) {
		id, _ := f.say(sim.Say{Chat: f.h.Group.Chat, Person: f.h.Other, Text: "first"})
		_, m := f.say(sim.Say{Chat: f.h.Group.Chat, Text: "second", ReplyTo: id})
		if m.Mentioned || m.ReplyTo != nil && (m.ReplyTo.ToBot || m.ReplyTo.ID != id) {
			f.Errorf("got %+v, reply %+v", m, m.ReplyTo)
		}
	}},
	{name: "C6_TopicsAreChatsOfTheirOwn", run: func(f *fixture) {
		if f.h.Topic.Thread == "" {
			return
		}
		_, m := f.say(sim.Say{Chat: f.h.Topic.Chat, Thread: f.h.Topic.Thread, Text: "in the topic"})
		if m.Chat.Thread != f.h.Topic.Thread || m.Mentioned || m.ReplyTo != nil {
			f.Errorf("got %+v, reply %+v", m, m.ReplyTo)
		}
		ref := f.send(m.Chat, plain("stays here"))
		if got := f.shown(ref).Thread; got != f.h.Topic.Thread {
			f.Errorf("the answer stands in thread %q, want %q", got, f.h.Topic.Thread)
		}
		_, m = f.say(sim.Say{Chat: f.h.Topic.Chat, Thread: f.h.Topic.Thread, Text: "spoken to", Mention: true})
		if m.Chat.Thread != f.h.Topic.Thread || !m.Mentioned || m.Text != "spoken to" {
			f.Errorf("got %+v", m)
		}
	}},
	{name: "C3_RedeliveryKeepsTheEventID", run: func(f *fixture) {
		_, first := f.say(sim.Say{Chat: f.h.Direct.Chat, Text: "only once"})
		if err := f.h.Platform.Redeliver(1); err != nil {
			f.Fatal(err)
		}
		_, second := f.say(sim.Say{Chat: f.h.Direct.Chat, Text: "the next"})
		if second.EventID == first.EventID {
			f.Errorf("two messages share the event id %q", first.EventID)
		}
		for _, m := range f.seen.messages(0) {
			if m.Text == "only once" && m.EventID != first.EventID {
				f.Errorf("redelivered as %q, first %q", m.EventID, first.EventID)
			}
		}
	}},
	{name: "C3_OrderIsKept", run: func(f *fixture) {
		from := f.seen.count()
		var want []string
		for i := range 24 {
			person := f.h.Person
			if i%3 == 0 {
				person = f.h.Other
			}
			want = append(want, fmt.Sprintf("number %d", i))
			if _, err := f.h.Platform.Say(sim.Say{Chat: f.h.Group.Chat, Person: person, Text: want[i]}); err != nil {
				f.Fatal(err)
			}
		}
		f.seen.wait(f.T, "all messages", func() bool { return len(f.seen.messages(from)) >= len(want) })
		for i, m := range f.seen.messages(from) {
			if i >= len(want) || m.Text != want[i] {
				f.Fatalf("event %d is %q", i, m.Text)
			}
		}
	}},
	{name: "C3_FilesAreOneMessage", run: files},
	{name: "C3_SplitPasteIsOneMessage", run: func(f *fixture) {
		if f.h.PasteUnit == 0 {
			return
		}
		text := words(f.h.PasteUnit*5/2, "pasted")
		from := f.seen.count()
		if _, err := f.h.Platform.Say(sim.Say{Chat: f.h.Direct.Chat, Person: f.h.Person, Text: text, Parts: 3}); err != nil {
			f.Fatal(err)
		}
		m := expect(f, from, "the paste", func(adapters.Message) bool { return true })
		if strings.Join(strings.Fields(m.Text), "") != strings.Join(strings.Fields(text), "") {
			f.Errorf("the paste came as %d of %d bytes", len(m.Text), len(text))
		}
		f.say(sim.Say{Chat: f.h.Direct.Chat, Text: "short"})
		if n := len(f.seen.messages(from)); n != 2 {
			f.Errorf("the paste and the next message came as %d messages", n)
		}
	}},
	{name: "C8_CommandsArrive", run: commands},
	{name: "S7_EditedMessage", run: func(f *fixture) {
		id, m := f.say(sim.Say{Chat: f.h.Direct.Chat, Text: "first version"})
		from := f.seen.count()
		if err := f.h.Platform.EditMessage(f.h.Direct.Chat, f.h.Person, id, "second version"); err != nil {
			f.Fatal(err)
		}
		e := expect(f, from, "the edit", func(e adapters.Edited) bool { return true })
		if e.ID != id || e.Text != "second version" || e.EventID == m.EventID || e.Chat != m.Chat || e.From.ID != f.h.Person {
			f.Errorf("got %+v", e)
		}
	}},
	{name: "T10_NoiseIsNoEvent", run: func(f *fixture) {
		chat, _ := f.anchor(f.h.Group)
		from := f.seen.count()
		ref := f.send(chat, plain("the bot's own"))
		if e, ok := f.a.(adapters.Editor); ok {
			if err := e.Edit(f.ctx(), ref, plain("edited by itself")); err != nil {
				f.Fatal(err)
			}
		}
		if f.h.Noise != nil {
			f.h.Noise(f.T)
		}
		f.say(sim.Say{Chat: f.h.Direct.Chat, Text: "after the noise"})
		for _, ev := range f.seen.since(from) {
			if m, ok := ev.(adapters.Message); !ok || m.Text != "after the noise" {
				f.Errorf("noise became %T %+v", ev, ev)
			}
		}
	}},
}

func mentions(f *fixture) {
	_, m := f.say(sim.Say{Chat: f.h.Group.Chat, Text: "what time is it?", Mention: true})
	if !m.Mentioned || m.Text != "what time is it?" {
		f.Errorf("in front: got %q, mentioned %t", m.Text, m.Mentioned)
	}
	forms := map[string]string{
		"🙂👩‍👩‍👧 " + f.h.Mention + " hello": "🙂👩‍👩‍👧 hello",
		"hello " + f.h.Mention:             "hello",
		"so, " + f.h.Mention + " and you?": "so, and you?",
		f.h.Mention + ", hello":            "hello",
		f.h.Mention + "\ntwo\nlines":       "two\nlines",
	}
	for text, want := range forms {
		_, m := f.say(sim.Say{Chat: f.h.Group.Chat, Text: text})
		if !m.Mentioned || m.Text != want {
			f.Errorf("%q: got %q, mentioned %t", text, m.Text, m.Mentioned)
		}
	}
	_, m = f.say(sim.Say{Chat: f.h.Group.Chat, Text: "look at this", Mention: true, Files: []sim.File{{Name: "a.txt", MIME: "text/plain", Data: []byte("a")}}})
	if !m.Mentioned || m.Text != "look at this" || len(m.Files) != 1 {
		f.Errorf("with a file: got %+v", m)
	}
	_, m = f.say(sim.Say{Chat: f.h.Group.Chat, Text: "nobody called " + f.h.Mention[:len(f.h.Mention)/2]})
	if m.Mentioned {
		f.Errorf("half a mention counts as one: %+v", m)
	}
}

// Picture is a small PNG.
func Picture() []byte {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 40, 30))) // a Buffer takes everything
	return b.Bytes()
}

func files(f *fixture) {
	picture, note := Picture(), []byte("line one\nline two\n")
	from := f.seen.count()
	_, m := f.say(sim.Say{Chat: f.h.Direct.Chat, Text: "two files", Files: []sim.File{
		{Name: "plan.png", MIME: "image/png", Data: picture}, {Name: "note.txt", MIME: "text/plain", Data: note},
	}})
	if m.Text != "two files" || len(m.Files) != 2 {
		f.Fatalf("got %+v", m)
	}
	if !strings.HasPrefix(m.Files[0].MIME, "image/") || m.Files[1].Name != "note.txt" {
		f.Errorf("got %+v", m.Files)
	}
	if fetcher, ok := f.a.(adapters.Fetcher); ok {
		for i, want := range [][]byte{picture, note} {
			got, err := fetcher.Fetch(f.ctx(), m.Files[i], 1<<20)
			if err != nil || !bytes.Equal(got, want) {
				f.Errorf("file %d: %d bytes, %v", i, len(got), err)
			}
		}
		if _, err := fetcher.Fetch(f.ctx(), m.Files[1], 4); err == nil {
			f.Error("a file larger than the limit was fetched")
		}
	}
	_, m = f.say(sim.Say{Chat: f.h.Direct.Chat, Files: []sim.File{{Name: "only.txt", MIME: "text/plain", Data: note}}})
	if len(m.Files) != 1 || m.Text != "" {
		f.Errorf("a file without text: %+v", m)
	}
	if n := len(f.seen.messages(from)); n != 2 {
		f.Errorf("%d messages, want 2", n)
	}
}

func commands(f *fixture) {
	for _, p := range []Place{f.h.Direct, f.h.Group} {
		from := f.seen.count()
		use := sim.CommandUse{Chat: p.Chat, Person: f.h.Person, Name: "typing", Args: "thinking 4"}
		if err := f.h.Platform.Command(use); err != nil {
			f.Fatal(err)
		}
		f.seen.wait(f.T, "the command", func() bool { return f.seen.count() > from })
		switch ev := f.seen.since(from)[0].(type) {
		case adapters.Message:
			if ev.Text != "/typing thinking 4" || p == f.h.Group && !ev.Mentioned || !f.caps.CommandsAsText {
				f.Errorf("got %+v", ev)
			}
		case adapters.Command:
			if ev.Name != "typing" || ev.Args != "thinking 4" || ev.From.ID != f.h.Person || ev.Chat.ID != p.Chat || !f.caps.NativeCommands {
				f.Errorf("got %+v", ev)
			}
		default:
			f.Errorf("got %T", ev)
		}
	}
}

// words makes a text of about n bytes of numbered words.
func words(n int, word string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%s%d ", word, i)
		if i%17 == 16 {
			b.WriteString("\n")
		}
	}
	return strings.TrimSpace(b.String())
}
