package telegram_test

import (
	"testing"

	"typist/adapters"
	"typist/adapters/rich"
	"typist/adapters/sim"
	simtelegram "typist/adapters/sim/telegram"
	"typist/adapters/telegram"
)

func TestS9_SweepTakesOnlyTheBotsOwnUnclaimedMessages(t *testing.T) {
	inBubble(t, telegram.Config{}, false, func(t *testing.T, w *world) {
		say := func() string {
			id, err := w.srv.Say(sim.Say{Chat: direct.ID, Person: simtelegram.Ann, Text: "a person's"})
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		send := func(text string) string {
			ref, err := w.a.Send(t.Context(), direct, adapters.Post{Doc: rich.Plain(text)})
			if err != nil {
				t.Fatal(err)
			}
			return ref.ID
		}
		earlier := send("an earlier answer")
		question := say()
		claimed, orphan, between := send("claimed"), send("Working…"), say()
		end := send("Interrupted")
		if err := w.a.Sweep(t.Context(), direct, question, end, func(id string) bool { return id == claimed }); err != nil {
			t.Fatal(err)
		}
		for id, gone := range map[string]bool{earlier: false, question: false, claimed: false, orphan: true, between: false, end: false} {
			if m, _ := w.srv.World().Message(direct.ID, id); m.Deleted != gone || m.Text == "…" && !gone {
				t.Errorf("message %s: deleted %v, text %q", id, m.Deleted, m.Text)
			}
		}
	})
}

func TestS3_ReclaimFindsAnAnswerWhoseIdIsLost(t *testing.T) {
	inBubble(t, telegram.Config{}, false, func(t *testing.T, w *world) {
		question, err := w.srv.Say(sim.Say{Chat: direct.ID, Person: simtelegram.Ann, Text: "?"})
		if err != nil {
			t.Fatal(err)
		}
		answer := adapters.Post{Doc: rich.Parse("The **answer**")}
		send := func(p adapters.Post) string {
			ref, err := w.a.Send(t.Context(), direct, p)
			if err != nil {
				t.Fatal(err)
			}
			return ref.ID
		}
		lost := send(answer)
		if _, err := w.srv.Say(sim.Say{Chat: direct.ID, Person: simtelegram.Ann, Text: "and?"}); err != nil {
			t.Fatal(err)
		}
		note := send(adapters.Post{Doc: rich.Plain("note")})
		none := func(string) bool { return false }
		if ref, found, _, err := w.a.Reclaim(t.Context(), direct, question, note, answer, none); err != nil || !found || ref.ID != lost {
			t.Errorf("found %v %+v, %v; it is %s", found, ref, err, lost)
		}
		claimed := func(id string) bool { return id == lost }
		if _, found, complete, err := w.a.Reclaim(t.Context(), direct, question, note, answer, claimed); err != nil || found || !complete {
			t.Errorf("found %v, complete %v, %v, though nothing unclaimed is there", found, complete, err)
		}
	})
}
