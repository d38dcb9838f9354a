package adaptertest

import (
	"bytes"
	"strings"

	"typist/adapters"
	"typist/adapters/rich"
	"typist/adapters/sim"
)

var sending = []check{
	{name: "P1_SendEverywhere", run: func(f *fixture) {
		for _, p := range []Place{f.h.Direct, f.h.Group} {
			chat, _ := f.anchor(p)
			ref := f.send(chat, plain("hello & <welcome> _there_ *you*"))
			if m := f.shown(ref); readable(m.Text) != "hello & <welcome> _there_ *you*" || !m.From.Bot || len(m.Pings) != 0 {
				f.Errorf("people see %+v", m)
			}
		}
	}},
	{name: "P1_SilentWhereThePlatformCan", run: func(f *fixture) {
		chat, _ := f.anchor(f.h.Direct)
		post := plain("quietly")
		post.Silent = true
		if m := f.shown(f.send(chat, post)); f.caps.SilentPosts && !m.Silent {
			f.Error("the post notifies")
		}
		if m := f.shown(f.send(chat, plain("aloud"))); m.Silent {
			f.Error("an ordinary post is silent")
		}
	}},
	{name: "C6_ReplyToAMessageThatIsGone", run: func(f *fixture) {
		chat, m := f.anchor(f.h.Group)
		post := plain("an answer")
		post.ReplyTo = m.ID
		f.send(chat, post)
		ref := f.send(chat, plain("gone soon"))
		f.delete(ref)
		post.ReplyTo = ref.ID
		f.send(chat, post)
	}},
	{name: "P11_EditInPlace", run: func(f *fixture) {
		editor, ok := f.a.(adapters.Editor)
		if !ok {
			return
		}
		chat, _ := f.anchor(f.h.Direct)
		post := plain("first")
		post.Buttons = [][]adapters.Button{{{Text: "Stop", Data: "stop/1"}}}
		ref := f.send(chat, post)
		if m := f.shown(ref); len(m.Buttons) != 1 || m.Buttons[0][0].Text != "Stop" {
			f.Fatalf("people see the buttons %+v", m.Buttons)
		}
		second := post
		second.Doc = rich.Plain("second")
		for range 3 { // unchanged edits succeed
			if err := editor.Edit(f.ctx(), ref, second); err != nil {
				f.Fatal(err)
			}
		}
		if m := f.shown(ref); m.Text != "second" || m.Edits != 1 || len(m.Buttons) != 1 {
			f.Errorf("people see %+v", m)
		}
		if err := editor.Edit(f.ctx(), ref, plain("third")); err != nil {
			f.Fatal(err)
		}
		if m := f.shown(ref); m.Text != "third" || len(m.Buttons) != 0 {
			f.Errorf("an edit without buttons leaves %+v", m)
		}
		if n := len(f.fromBot(f.h.Direct.Chat)); n != 1 {
			f.Errorf("%d messages of the bot, want 1", n)
		}
	}},
	{name: "P11_EditOfADeletedMessageIsGone", run: func(f *fixture) {
		editor, ok := f.a.(adapters.Editor)
		if !ok {
			return
		}
		chat, _ := f.anchor(f.h.Direct)
		ref := f.send(chat, plain("gone soon"))
		f.delete(ref)
		f.wantError("an edit of a deleted message", editor.Edit(f.ctx(), ref, plain("too late")), adapters.ErrGone)
		f.delete(ref) // deleting it again is no error
	}},
	{name: "S2_ButtonsCarry64Bytes", run: func(f *fixture) {
		chat, _ := f.anchor(f.h.Group)
		data := strings.Repeat("k", 61) + "/é" // 64 bytes
		post := plain("press it")
		post.Buttons = [][]adapters.Button{
			{{Text: "Stop", Data: data, Style: adapters.StyleDanger}, {Text: "Details", Data: "d", Style: adapters.StylePrimary}},
			{{Text: "◀", Data: "l"}, {Text: "▶", Data: "r"}},
		}
		ref := f.send(chat, post)
		from := f.seen.count()
		if err := f.h.Platform.Press(chat.ID, f.h.Other, ref.ID, data); err != nil {
			f.Fatal(err)
		}
		p := expect(f, from, "the press", func(adapters.Press) bool { return true })
		if p.Data != data || p.ID != ref.ID || p.From.ID != f.h.Other || p.Chat != chat || p.Kind != adapters.Group || p.EventID == "" {
			f.Errorf("got %+v", p)
		}
		acked := func() bool {
			for _, c := range f.world.Calls(sim.OpAck) {
				if c.Status < 400 {
					return true
				}
			}
			return false
		}
		if err := f.world.Wait(f.ctx(), "the acknowledgement", acked); err != nil {
			f.Error(err)
		}
	}},
	{name: "S10_Reactions", run: func(f *fixture) {
		reactor, ok := f.a.(adapters.Reactor)
		if !ok {
			return
		}
		_, m := f.anchor(f.h.Group)
		has := func() bool {
			seen, _ := f.world.Message(m.Chat.ID, m.ID)
			return len(seen.Reactions) > 0
		}
		for _, on := range []bool{true, true, false, false} {
			if err := reactor.React(f.ctx(), m.Ref(), adapters.ReactionWaiting, on); err != nil {
				f.Fatalf("react(%t): %v", on, err)
			}
			if has() != on {
				f.Errorf("react(%t): people see %t", on, has())
			}
		}
	}},
	{name: "C7_FilesOut", run: func(f *fixture) {
		if !f.caps.Files {
			return
		}
		chat, _ := f.anchor(f.h.Direct)
		post := plain("the report")
		post.Files = []adapters.File{{Name: "report.txt", MIME: "text/plain", Data: []byte("all is well")}}
		f.send(chat, post)
		post.Doc = nil
		post.Files = append(post.Files, adapters.File{Name: "plan.png", MIME: "image/png", Data: Picture()},
			adapters.File{Name: "report.txt", MIME: "text/plain", Data: []byte("of the same name")})
		f.send(chat, post)
		var got [][]byte
		text := ""
		for _, m := range f.fromBot(f.h.Direct.Chat) {
			text += m.Text
			for _, file := range m.Files {
				got = append(got, file.Data)
			}
		}
		want := [][]byte{[]byte("all is well"), []byte("all is well"), Picture(), []byte("of the same name")}
		if len(got) != len(want) || text != "the report" {
			f.Fatalf("people see %d files and the text %q", len(got), text)
		}
		for i := range want {
			if !bytes.Equal(got[i], want[i]) {
				f.Errorf("file %d arrived as %q", i, clip(string(got[i])))
			}
		}
	}},
}

func (f *fixture) delete(ref adapters.Ref) {
	f.Helper()
	d, ok := f.a.(adapters.Deleter)
	if !ok {
		f.Fatal("the adapter can't delete")
	}
	if err := d.Delete(f.ctx(), ref); err != nil {
		f.Fatalf("delete: %v", err)
	}
	if m, ok := f.world.Message(ref.Chat.ID, ref.ID); ok && !m.Deleted {
		f.Errorf("message %s still stands", ref.ID)
	}
}
