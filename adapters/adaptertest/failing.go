package adaptertest

import (
	"errors"
	"net/http"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
)

var failing = []check{
	{name: "T11_429TellsTheExactWait", run: func(f *fixture) {
		f.eachCall(func(name string, op sim.Op, call func() error) {
			f.world.Inject(sim.Fault{Op: op, Times: 1, Status: http.StatusTooManyRequests, RetryAfter: 7 * time.Second})
			err := call()
			var limited *adapters.RateLimitError
			if !errors.As(err, &limited) || limited.RetryAfter != 7*time.Second {
				f.Errorf("%s: got %v (%T)", name, err, err)
			}
			if err := call(); err != nil {
				f.Errorf("%s after the fault: %v", name, err)
			}
		})
	}},
	{name: "T11_401And403AreDenied", run: func(f *fixture) {
		f.eachCall(func(name string, op sim.Op, call func() error) {
			for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
				f.world.Inject(sim.Fault{Op: op, Times: 1, Status: status})
				f.wantError(name, call(), adapters.ErrDenied)
			}
		})
	}},
	{name: "P11_500AndACutAnswerAreUnknown", run: func(f *fixture) {
		f.eachCall(func(name string, op sim.Op, call func() error) {
			for _, status := range []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable} {
				before := len(f.world.Calls(op))
				f.world.Inject(sim.Fault{Op: op, Times: 1, Status: status})
				f.wantError(name, call(), adapters.ErrUnknownOutcome)
				if n := len(f.world.Calls(op)) - before; n != 1 {
					f.Errorf("%s was tried %d times after a %d", name, n, status)
				}
			}
			for _, cut := range []sim.Cut{sim.CutBefore, sim.CutAfter} {
				before := len(f.world.Calls(op))
				f.world.Inject(sim.Fault{Op: op, Times: 1, Cut: cut})
				f.wantError(name+", cut "+string(cut), call(), adapters.ErrUnknownOutcome)
				if n := len(f.world.Calls(op)) - before; n != 1 {
					f.Errorf("%s was tried %d times after a cut", name, n)
				}
			}
		})
	}},
	{name: "S3_ALostAnswerMakesNoSecondCopy", run: func(f *fixture) {
		chat, _ := f.anchor(f.h.Direct)
		f.world.Inject(sim.Fault{Op: sim.OpSend, Times: 1, Cut: sim.CutAfter})
		post := plain("posted once")
		post.Key = "key-of-the-lost-one"
		_, err := f.a.Send(f.ctx(), chat, post)
		f.wantError("send", err, adapters.ErrUnknownOutcome)
		list := f.fromBot(f.h.Direct.Chat)
		if len(list) != 1 {
			f.Fatalf("people see %d copies", len(list))
		}
		finder, ok := f.a.(adapters.Finder)
		if !ok {
			return
		}
		since := time.Now().Add(-time.Minute)
		ref, found, err := finder.Find(f.ctx(), chat, post.Key, since)
		if err != nil || !found || ref.ID != list[0].ID {
			f.Errorf("find: %+v, %t, %v; want %s", ref, found, err, list[0].ID)
		}
		if ref, found, err := finder.Find(f.ctx(), chat, "another-key", since); err != nil || found {
			f.Errorf("found %+v under a key that nobody used (%v)", ref, err)
		}
	}},
	{name: "S3_ARefusedConnectionNeverSent", run: func(f *fixture) {
		chat, _ := f.anchor(f.h.Direct)
		f.h.Platform.Disconnect(time.Hour)
		f.seen.wait(f.T, "the loss of the connection", func() bool { return !f.seen.connected() })
		_, err := f.a.Send(f.ctx(), chat, plain("never leaves"))
		f.wantError("send", err, adapters.ErrNeverSent)
		if n := len(f.fromBot(f.h.Direct.Chat)); n != 0 {
			f.Errorf("people see %d messages", n)
		}
	}},
	{name: "T11_AnUnknownChatIsGone", run: func(f *fixture) {
		chat := f.chat(f.h.Direct)
		chat.ID += "0099"
		_, err := f.a.Send(f.ctx(), chat, plain("to nobody"))
		if !errors.Is(err, adapters.ErrGone) && !errors.Is(err, adapters.ErrDenied) && !errors.Is(err, adapters.ErrInvalid) {
			f.Errorf("got %v", err)
		}
	}},
}

// eachCall runs a check for every kind of call that the adapter makes. Each call changes something,
// so that none is taken for an unchanged edit.
func (f *fixture) eachCall(check func(name string, op sim.Op, call func() error)) {
	f.Helper()
	chat, m := f.anchor(f.h.Direct)
	ref := f.send(chat, plain("to be edited"))
	check("send", sim.OpSend, func() error {
		_, err := f.a.Send(f.ctx(), chat, plain("another"))
		return err
	})
	if e, ok := f.a.(adapters.Editor); ok {
		n := 0
		check("edit", sim.OpEdit, func() error {
			n++
			return e.Edit(f.ctx(), ref, plain("version "+time.Duration(n).String()))
		})
	}
	if ind, ok := f.a.(adapters.Indicator); ok {
		check("pulse", sim.OpPulse, func() error {
			return ind.Pulse(f.ctx(), chat, adapters.Indication{Anchor: m.ID})
		})
	}
}
