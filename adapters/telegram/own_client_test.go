package telegram_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"typist/adapters"
	"typist/adapters/rich"
	"typist/adapters/sim"
	simtelegram "typist/adapters/sim/telegram"
	"typist/adapters/telegram"
)

func TestC5_ItsOwnClientLeavesNothingBehind(t *testing.T) {
	before := goleak.IgnoreCurrent()
	srv, err := simtelegram.New(simtelegram.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := newAdapter(t, telegram.Config{Token: simtelegram.DefaultToken, APIURL: srv.URL() + "/"}, telegram.Deps{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	arrived := make(chan adapters.Event, 1)
	go func() {
		done <- a.Run(ctx, &sink{accept: func(ev adapters.Event) error { arrived <- ev; return nil }})
	}()
	if _, err := srv.Say(sim.Say{Chat: simtelegram.DirectChat, Person: simtelegram.Ann, Text: "hello"}); err != nil {
		t.Fatal(err)
	}
	select {
	case ev := <-arrived:
		if _, err := a.Send(ctx, ev.About().Chat, adapters.Post{Doc: rich.Plain("hello yourself")}); err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("nothing arrived")
	}
	began := time.Now()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run returned %v", err)
	}
	if d := time.Since(began); d > time.Second {
		t.Errorf("it took %s to end", d)
	}
	if err := srv.Close(); err != nil {
		t.Error(err)
	}
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
}
