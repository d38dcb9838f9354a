package adaptertest

import (
	"context"
	"errors"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
)

var indicating = []check{
	{name: "T6_PulseShowsForItsLifeAndIsRenewed", run: func(f *fixture) {
		ind, ok := f.a.(adapters.Indicator)
		if !ok {
			return
		}
		for _, p := range f.places() {
			chat, m := f.anchor(p)
			var before time.Time // of the last pulse
			for range 2 {
				before = time.Now()
				if err := ind.Pulse(f.ctx(), chat, adapters.Indication{Text: "thinking", Anchor: m.ID}); err != nil {
					f.Fatal(err)
				}
			}
			after := time.Now()
			if on, text := f.world.Typing(chat.ID, chat.Thread); !on || f.caps.IndicatorText && text != "thinking" {
				f.Errorf("%+v: people see the indicator: %t, %q", p, on, text)
			}
			shows := f.world.Timeline(chat.ID, chat.Thread)
			if len(shows) != 1 || shows[0].Pulses != 2 {
				f.Fatalf("%+v: the indicator showed as %+v", p, shows)
			}
			end, life := shows[0].End, f.caps.IndicatorLife
			if end.After(after.Add(life)) || end.Before(before.Add(life)) {
				f.Errorf("%+v: it lapses %s after a pulse that took %s, its life is %s", p, end.Sub(before), after.Sub(before), life)
			}
		}
	}},
	{name: "T7_APostEndsIt", run: func(f *fixture) {
		ind, ok := f.a.(adapters.Indicator)
		if !ok {
			return
		}
		chat, m := f.anchor(f.h.Direct)
		pulse := func() {
			f.Helper()
			if err := ind.Pulse(f.ctx(), chat, adapters.Indication{Anchor: m.ID}); err != nil {
				f.Fatal(err)
			}
		}
		showing := func() bool { on, _ := f.world.Typing(chat.ID, chat.Thread); return on }
		pulse()
		ref := f.send(chat, plain("posted"))
		if showing() {
			f.Error("the indicator stands after a post")
		}
		pulse()
		if e, ok := f.a.(adapters.Editor); ok {
			if err := e.Edit(f.ctx(), ref, plain("edited")); err != nil {
				f.Fatal(err)
			}
			if f.caps.EditKeepsIndicator && !showing() {
				f.Error("an edit took the indicator away")
			}
		}
	}},
	{name: "T8_ClearTakesItAway", run: func(f *fixture) {
		clearer, ok := f.a.(adapters.Clearer)
		if !ok {
			return
		}
		chat, m := f.anchor(f.h.Group)
		if err := f.a.(adapters.Indicator).Pulse(f.ctx(), chat, adapters.Indication{Anchor: m.ID}); err != nil {
			f.Fatal(err)
		}
		for range 2 { // clearing what does not show succeeds
			if err := clearer.Clear(f.ctx(), chat, m.ID); err != nil {
				f.Fatal(err)
			}
		}
		if on, _ := f.world.Typing(chat.ID, chat.Thread); on {
			f.Error("the indicator stands after Clear")
		}
	}},
	{name: "T9_TopicsDoNotShareIt", run: func(f *fixture) {
		ind, ok := f.a.(adapters.Indicator)
		if !ok || f.h.Topic.Thread == "" {
			return
		}
		chat, m := f.anchor(f.h.Topic)
		if err := ind.Pulse(f.ctx(), chat, adapters.Indication{Anchor: m.ID}); err != nil {
			f.Fatal(err)
		}
		if on, _ := f.world.Typing(chat.ID, ""); on {
			f.Error("a pulse in a topic shows outside of it")
		}
	}},
	{name: "T8_ACancelledPulseReturnsAtOnce", run: func(f *fixture) {
		ind, ok := f.a.(adapters.Indicator)
		if !ok {
			return
		}
		chat, m := f.anchor(f.h.Direct)
		f.world.Inject(sim.Fault{Op: sim.OpPulse, Delay: time.Minute})
		ctx, cancel := context.WithTimeout(f.Context(), 50*time.Millisecond)
		defer cancel()
		before := time.Now()
		err := ind.Pulse(ctx, chat, adapters.Indication{Anchor: m.ID})
		if took := time.Since(before); err == nil || took > time.Second+f.lag {
			f.Errorf("it returned %v after %s", err, took)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			f.Errorf("the error %v does not tell that its context ended", err)
		}
	}},
}

// places lists where an indicator can show.
func (f *fixture) places() []Place {
	list := []Place{f.h.Direct, f.h.Group}
	if f.h.Topic.Thread != "" {
		list = append(list, f.h.Topic)
	}
	return list
}
