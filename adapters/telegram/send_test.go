package telegram_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"typist/adapters"
	"typist/adapters/adaptertest"
	"typist/adapters/rich"
	"typist/adapters/sim"
	simtelegram "typist/adapters/sim/telegram"
	"typist/adapters/telegram"
)

var direct = adapters.Chat{Channel: "telegram", ID: simtelegram.DirectChat}

func TestC7_WhatIsNoPhotoGoesAsADocument(t *testing.T) {
	inBubble(t, telegram.Config{}, false, func(t *testing.T, w *world) {
		for name, data := range map[string][]byte{"real.png": adaptertest.Picture(), "broken.png": []byte("no picture")} {
			ref, err := w.a.Send(t.Context(), direct, adapters.Post{Doc: rich.Plain(name), Files: []adapters.File{{Name: name, MIME: "image/png", Data: data}}})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if m, _ := w.srv.World().Message(direct.ID, ref.ID); m.Text != name || len(m.Files) != 1 {
				t.Errorf("people see %+v", m)
			}
			if err := w.a.Edit(t.Context(), ref, adapters.Post{Doc: rich.Plain("a new caption")}); err != nil {
				t.Errorf("editing the caption: %v", err)
			}
			if m, _ := w.srv.World().Message(direct.ID, ref.ID); m.Text != "a new caption" {
				t.Errorf("people see %q", m.Text)
			}
		}
	})
}

func TestC7_ManyFilesAndALongText(t *testing.T) {
	inBubble(t, telegram.Config{}, false, func(t *testing.T, w *world) {
		post := adapters.Post{Doc: rich.Plain(strings.Repeat("x", 2000)), Buttons: [][]adapters.Button{{{Text: "Retry", Data: "r"}}}}
		for i := range 11 { // one more than an album holds
			post.Files = append(post.Files, adapters.File{Name: fmt.Sprint(i%5, ".txt"), Data: fmt.Append(nil, "file ", i)})
		}
		ref, err := w.a.Send(t.Context(), direct, post)
		if err != nil {
			t.Fatal(err)
		}
		list := w.srv.World().Messages(direct.ID, "")
		if len(list) != 12 || list[11].ID != ref.ID || len(list[11].Buttons) != 1 {
			t.Fatalf("people see %d messages, the last %+v", len(list), list[len(list)-1])
		}
		for i, m := range list[:11] {
			if len(m.Files) != 1 || string(m.Files[0].Data) != fmt.Sprint("file ", i) {
				t.Errorf("file %d is %+v", i, m.Files)
			}
		}
	})
}

func TestP11_ARefusedTextAfterAnAlbumPostsNoSecondAlbum(t *testing.T) {
	inBubble(t, telegram.Config{}, false, func(t *testing.T, w *world) {
		w.srv.World().Inject(sim.Fault{Op: sim.OpSend, Times: 1, Delay: time.Millisecond}) // lets the album pass
		w.srv.World().Inject(sim.Fault{Op: sim.OpSend, Times: 2, Status: 429, RetryAfter: 3 * time.Second})
		post := adapters.Post{Doc: rich.Plain("both"), Files: []adapters.File{{Name: "a.txt", Data: []byte("a")}, {Name: "b.txt", Data: []byte("b")}}}
		began := time.Now()
		ref, err := w.a.Send(t.Context(), direct, post)
		if err != nil {
			t.Fatal(err)
		}
		list := w.srv.World().Messages(direct.ID, "")
		if len(list) != 3 || list[2].ID != ref.ID || list[2].Text != "both" {
			t.Errorf("people see %d messages: %+v", len(list), list)
		}
		if waited := time.Since(began); waited < 6*time.Second {
			t.Errorf("waited %s of the 6 s that it was told", waited)
		}
	})
}

func TestP11_BadRequestsAreToldApart(t *testing.T) {
	inBubble(t, telegram.Config{}, false, func(t *testing.T, w *world) {
		post := adapters.Post{Doc: rich.Plain("x")}
		send := func(chat adapters.Chat) error {
			_, err := w.a.Send(t.Context(), chat, post)
			return err
		}
		persons, err := w.srv.Say(sim.Say{Chat: direct.ID, Person: simtelegram.Ann, Text: "mine"})
		if err != nil {
			t.Fatal(err)
		}
		w.srv.Block(simtelegram.GroupChat, true)
		tooMuch := adapters.Post{Doc: rich.Plain("x"), Buttons: [][]adapters.Button{{{Text: "B", Data: strings.Repeat("é", 33)}}}}
		_, errButton := w.a.Send(t.Context(), direct, tooMuch)
		_, errEmpty := w.a.Send(t.Context(), direct, adapters.Post{})
		for name, c := range map[string]struct{ err, want error }{
			"unknown chat":     {send(adapters.Chat{ID: "424242"}), adapters.ErrGone},
			"unknown topic":    {send(adapters.Chat{ID: simtelegram.ForumChat, Thread: "999"}), adapters.ErrGone},
			"no number":        {send(adapters.Chat{ID: "somewhere"}), adapters.ErrInvalid},
			"blocked":          {send(adapters.Chat{ID: simtelegram.GroupChat}), adapters.ErrDenied},
			"a person's own":   {w.a.Edit(t.Context(), adapters.Ref{Chat: direct, ID: persons}, post), adapters.ErrTooOld},
			"no such message":  {w.a.Edit(t.Context(), adapters.Ref{Chat: direct, ID: "9999"}, post), adapters.ErrGone},
			"no message id":    {w.a.Edit(t.Context(), adapters.Ref{Chat: direct}, post), adapters.ErrInvalid},
			"react to nothing": {w.a.React(t.Context(), adapters.Ref{Chat: direct, ID: "9999"}, adapters.ReactionWaiting, true), adapters.ErrGone},
			"too much data":    {errButton, adapters.ErrInvalid},
			"empty":            {errEmpty, adapters.ErrInvalid},
		} {
			if !errors.Is(c.err, c.want) {
				t.Errorf("%s: got %v, want %v", name, c.err, c.want)
			}
		}
	})
}

func TestC4_ConfigIsChecked(t *testing.T) {
	for _, cfg := range []telegram.Config{{}, {Token: " "}, {Token: "1:x", APIURL: "no url"}, {Token: "1:x", APIURL: "ftp://example.com"}} {
		if a, err := telegram.New(cfg, telegram.Deps{}); err == nil {
			t.Errorf("%+v was accepted: %v", cfg, a)
		}
	}
}
