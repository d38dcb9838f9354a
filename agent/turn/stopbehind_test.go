package turn

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"typist/agent"
)

// TestS2_StopWordRightBehindItsMessage stops it, as /stop would, and is no question of its own.
func TestS2_StopWordRightBehindItsMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			asked = append(asked, textOf(req.History[len(req.History)-1]))
			if !waitFor(ctx, 5*time.Second) {
				return ctx.Err()
			}
			say(emit, "1", "did it")
			return nil
		})})
		b.write("dm", "delete everything")
		b.write("dm", "stop")
		after(time.Minute)
		b.wantNot("dm", "did it", "dropped")
		b.want("dm", "Stopped after")
		if len(asked) > 1 {
			t.Errorf("asked %q", asked)
		}
		b.write("dm", "stop") // nothing runs: ordinary text
		after(time.Minute)
		b.want("dm", "did it")
		b.write("dm", "a")
		b.write("dm", "b")
		b.write("dm", "stop")
		after(time.Minute)
		b.want("dm", "1 waiting message")
	})
}

// TestS5_DroppedResumeCanBeAskedForAgain: a stop drops a resume (or a retry) that waits; its
// button still stands, and works.
func TestS5_DroppedResumeCanBeAskedForAgain(t *testing.T) {
	for _, label := range []string{"Resume", "Retry"} {
		synctest.Test(t, func(t *testing.T) {
			runs := 0
			b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
				runs++
				last := textOf(req.History[0])
				if len(req.History) > 1 {
					last = textOf(req.History[len(req.History)-1])
				}
				switch {
				case label == "Retry" && runs == 1:
					return &agent.Failure{Kind: agent.Overloaded}
				case last == "two" || runs == 1:
					say(emit, "0", "part")
					if !waitFor(ctx, 30*time.Second) {
						return ctx.Err()
					}
				}
				say(emit, "1", "It is done.")
				return nil
			})})
			b.write("dm", "one")
			after(3 * time.Second)
			if label == "Resume" {
				b.write("dm", "/stop")
				after(5 * time.Second)
			}
			b.write("dm", "two")
			after(3 * time.Second)
			b.press("dm", label)
			b.press("dm", label) // twice, as people do
			after(3 * time.Second)
			if n := b.waitingSigns(); n != 1 {
				t.Errorf("%d messages show that they wait", n)
			}
			b.write("dm", "/stop")
			after(10 * time.Second)
			b.wantNot("dm", "It is done.")
			b.want("dm", "1 waiting message dropped.")
			if n := b.waitingSigns(); n != 0 {
				t.Errorf("%d messages show that they wait, after the stop", n)
			}
			msgs := b.chat.world.Messages("dm", "*")
			for _, m := range msgs {
				for _, row := range m.Buttons {
					for _, button := range row {
						if button.Text == label && m.ID < msgs[len(msgs)-3].ID {
							b.pressData("dm", m.ID, button.Data)
						}
					}
				}
			}
			after(time.Minute)
			b.want("dm", "It is done.")
			b.wantNot("dm", "["+label+"]\nAnn: two")
		})
	}
}
