package adaptertest

import (
	"context"
	"errors"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
)

var connecting = []check{
	{name: "Contract_CapabilitiesAgree", idle: true, run: func(f *fixture) {
		if err := adapters.Check(f.a); err != nil {
			f.Error(err)
		}
		if f.a.Name() != f.h.Platform.Name() {
			f.Errorf("the adapter's name is %q, the platform's %q", f.a.Name(), f.h.Platform.Name())
		}
	}},
	{name: "C4_ReconnectsWithoutLoss", run: func(f *fixture) {
		f.say(sim.Say{Chat: f.h.Direct.Chat, Text: "before"})
		from := f.seen.count()
		f.h.Platform.Disconnect(300 * time.Millisecond)
		if f.caps.ReplaysMissed {
			if _, err := f.h.Platform.Say(sim.Say{Chat: f.h.Direct.Chat, Person: f.h.Person, Text: "meanwhile"}); err != nil {
				f.Fatal(err)
			}
			expect(f, from, "what was said meanwhile", func(m adapters.Message) bool { return m.Text == "meanwhile" })
		}
		f.seen.wait(f.T, "the connection", f.seen.connected)
		f.say(sim.Say{Chat: f.h.Direct.Chat, Text: "after"})
		f.send(f.chat(f.h.Direct), plain("still here"))
		ids := map[string]bool{}
		for _, m := range f.seen.messages(from) {
			if m.Text == "before" && m.EventID == "" || ids[m.EventID] {
				f.Errorf("%q came twice", m.Text)
			}
			ids[m.EventID] = true
		}
	}},
	{name: "C4_ReconnectsAgainAndAgain", run: func(f *fixture) {
		for _, text := range []string{"one", "two", "three"} {
			f.h.Platform.Disconnect(0)
			if !f.caps.ReplaysMissed { // wait until it is back
				f.seen.wait(f.T, "the connection", f.seen.connected)
			}
			f.say(sim.Say{Chat: f.h.Direct.Chat, Text: text})
		}
	}},
	{name: "C3_WhatTheSinkRefusesComesAgain", run: func(f *fixture) {
		if !f.caps.ReplaysMissed {
			return
		}
		f.seen.refuseNext(2)
		from := f.seen.count()
		for _, text := range []string{"refused first", "then another"} {
			if _, err := f.h.Platform.Say(sim.Say{Chat: f.h.Direct.Chat, Person: f.h.Person, Text: text}); err != nil {
				f.Fatal(err)
			}
		}
		f.seen.wait(f.T, "both messages", func() bool {
			seen := map[string]bool{}
			for _, m := range f.seen.messages(from) {
				seen[m.Text] = true
			}
			return len(seen) == 2
		})
	}},
	{name: "C4_BadTokenIsFatal", idle: true, run: func(f *fixture) {
		if f.h.BadToken == nil {
			return
		}
		a := f.h.BadToken(f.T)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		err := a.Run(ctx, newRecorder())
		var fatal *adapters.FatalError
		if !errors.As(err, &fatal) {
			f.Fatalf("Run returned %v, want a *FatalError", err)
		}
		if len(fatal.Sentence) < 20 || fatal.Channel != f.a.Name() {
			f.Errorf("got %+v", fatal)
		}
		f.noToken("the fatal error", err.Error())
		if p, ok := a.(adapters.Prober); ok {
			if found, err := p.Probe(f.ctx()); err == nil {
				f.Errorf("probing with a bad token found %q", found)
			}
		}
	}},
	{name: "C4_RunEndsWhileItCannotConnect", idle: true, run: func(f *fixture) {
		f.h.Platform.Disconnect(time.Hour)
		seen := newRecorder()
		stop := runAdapter(f.T, f.a, seen)
		seen.wait(f.T, "a status that says so", func() bool { return seen.statusError() != "" })
		f.noToken("the status", seen.statusError())
		if err := stop(); err != nil {
			f.Errorf("Run returned %v", err)
		}
	}},
	{name: "O4_Probe", idle: true, run: func(f *fixture) {
		p, ok := f.a.(adapters.Prober)
		if !ok {
			return
		}
		found, err := p.Probe(f.ctx())
		if err != nil || found == "" {
			f.Errorf("probe: %q, %v", found, err)
		}
		f.noToken("the probe", found)
	}},
	{name: "H1_Resolve", idle: true, run: func(f *fixture) {
		r, ok := f.a.(adapters.Resolver)
		if !ok {
			return
		}
		for place, want := range map[Place]adapters.Kind{f.h.Direct: adapters.Direct, f.h.Group: adapters.Group} {
			chat, kind, err := r.Resolve(f.ctx(), place.Chat)
			if err != nil || kind != want || chat.ID != place.Chat || chat.Channel != f.a.Name() {
				f.Errorf("resolving %s: %+v, %s, %v", place.Chat, chat, kind, err)
			}
		}
		if chat, _, err := r.Resolve(f.ctx(), "no such place"); err == nil {
			f.Errorf("found %+v where nothing is", chat)
		}
	}},
	{name: "C8_CommandMenuIsIdempotent", idle: true, run: func(f *fixture) {
		menu, ok := f.a.(adapters.CommandMenu)
		if !ok {
			return
		}
		list := []adapters.CommandSpec{
			{Name: "stop", Description: map[string]string{"en": "Stop what runs", "de": "Anhalten"}},
			{Name: "typing", Description: map[string]string{"en": "Set the typing mode"}, Args: "[mode|default] [seconds]", Choices: []string{"never", "instant"}},
			{Name: "branch", Description: map[string]string{"en": "Go on from a message"}, OnMessage: true},
		}
		for range 2 {
			if err := menu.SetCommands(f.ctx(), list); err != nil {
				f.Fatal(err)
			}
		}
	}},
}
