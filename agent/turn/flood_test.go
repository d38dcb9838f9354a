package turn

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/agent"
)

// patient answers after d.
func patient(d time.Duration) backendFunc {
	return func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
		if !waitFor(ctx, d) {
			return ctx.Err()
		}
		say(emit, "1", "The answer.")
		return nil
	}
}

// Notes wait below answers: whatever crowd of them is under way, the answer is the next to leave.
func TestP11_NotesHoldNoAnswerUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: patient(time.Second)})
		for i := range 100 {
			b.hub.tell(adapters.Chat{Channel: "telegram", ID: "dm"}, adapters.Direct, saying{fmt.Sprint("Note ", i)})
		}
		after(time.Second)
		b.write("dm", "hi")
		after(5 * time.Second)
		if got := b.bot("dm"); !strings.Contains(b.text("dm"), "The answer.") || len(got) < 5 {
			t.Errorf("after 5 s: %q", got)
		}
		after(3 * time.Minute)
		if n := strings.Count(b.text("dm"), "Note "); n != 100 {
			t.Errorf("%d notes in the end", n)
		}
	})
}

// A note that still waits is not said again.
func TestP11_EqualNotesAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: patient(20 * time.Second)})
		b.write("dm", "one")
		after(2 * time.Second)
		for range 20 {
			b.pressData("dm", "1", "b:xyz")
		}
		after(30 * time.Second)
		if got := b.bot("dm"); len(got) > 8 { // the burst of the chat leaves at once
			t.Errorf("%d messages: %q", len(got), got)
		}
	})
}

// Presses, edits and stops of nothing count as what a person sends, so that nobody can keep a chat
// busy with them; a stop that stops something always passes.
func TestC2_FloodOfPressesAndStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: patient(time.Minute)})
		for range 200 {
			b.write("dm", "/stop")
			b.pressData("dm", "1", "s:gone")
		}
		after(10 * time.Second)
		if got := b.bot("dm"); len(got) > 6 || strings.Count(b.text("dm"), "That was a lot at once") != 1 {
			t.Errorf("%d messages: %q", len(got), got)
		}
		answers := b.native("dm", "status", "")
		after(time.Second)
		if len(*answers) != 1 || !strings.Contains((*answers)[0], "That was a lot at once") {
			t.Errorf("a native command in the flood is answered %q", *answers)
		}
		after(time.Minute)
		b.write("dm", "work")
		after(2 * time.Second)
		for range 100 {
			b.pressData("dm", "1", "n")
		}
		b.press("dm", "Stop")
		after(2 * time.Second)
		b.want("dm", "Stopped after")
	})
}

// A message that waits already and is sent once more by the platform is no reason to say that too
// many wait (S10).
func TestC3_RedeliveredWhileTheQueueIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: patient(10 * time.Minute)})
		b.write("dm", "one")
		after(time.Second)
		var again adapters.Message
		for i := range queueCap {
			b.write("dm", fmt.Sprint("w", i), func(m *adapters.Message) { again = *m })
		}
		again.Text = "w19"
		b.deliver(again)
		after(5 * time.Second)
		b.wantNot("dm", "messages wait already")
		after(time.Minute)
		b.write("dm", "too many")
		after(5 * time.Second)
		b.want("dm", "messages wait already")
	})
}

// numb is a platform whose files take long, whatever becomes of the call.
type numb struct{ *fake }

func (numb) Fetch(ctx context.Context, _ adapters.File, _ int64) ([]byte, error) {
	waitFor(context.WithoutCancel(ctx), 20*time.Second)
	return []byte("x"), nil
}

// A stop while a file loads ends the run, in the store too.
func TestS2_StopWhileAFileLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake("telegram")
		b := start(t, setup{fake: f, adapter: numb{f}, backend: patient(time.Second)})
		b.write("dm", "look", func(m *adapters.Message) { m.Files = []adapters.File{{Name: "a.txt", MIME: "text/plain", Source: "x"}} })
		after(3 * time.Second)
		b.press("dm", "Stop")
		after(3 * time.Second)
		b.want("dm", "Stopped after")
		after(time.Minute)
		rows, err := b.store.Unfinished(t.Context())
		if err != nil || len(rows) > 0 || strings.Contains(b.text("dm"), "The answer.") {
			t.Errorf("%v, %v:\n%s", rows, err, b.text("dm"))
		}
		b.write("dm", "next")
		after(10 * time.Second)
		b.want("dm", "The answer.")
	})
}
