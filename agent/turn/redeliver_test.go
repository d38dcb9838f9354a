package turn

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
)

// refusing is a platform that takes no posts while *bad.
func refusing(bad *bool) *fake {
	f := newFake("telegram")
	f.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) {
		if *bad && op == sim.OpSend {
			return adapters.ErrDenied, false
		}
		return nil, false
	}
	return f
}

// Where the message that did not arrive told of a failure there is no answer to deliver: the run is
// tried again.
func TestS3_RetryOfAnUndeliveredFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad, runs := true, 0
		b := start(t, setup{fake: refusing(&bad), backend: backendFunc(func(_ context.Context, _ agent.Request, emit func(agent.Event)) error {
			if runs++; runs == 1 {
				emit(agent.TextStarted{ID: "1"})
				emit(agent.TextContent{ID: "1", Delta: "Partial"})
				return &agent.Failure{Kind: agent.Overloaded}
			}
			say(emit, "1", "Whole.")
			return nil
		})})
		b.write("dm", "one")
		after(20 * time.Second)
		bad = false
		b.write("dm", "/retry")
		after(20 * time.Second)
		if got := b.bot("dm"); len(got) != 1 || got[0] != "Whole." {
			t.Errorf("%q after %d runs", got, runs)
		}
	})
}

// The stored answer is delivered once, however often somebody asks for it at once.
func TestS3_RetryTwiceDeliversOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := true
		b := start(t, setup{fake: refusing(&bad), backend: backendFunc(theAnswer)})
		b.write("dm", "hi")
		after(time.Minute)
		bad = false
		b.write("dm", "/retry")
		b.write("dm", "/retry")
		after(time.Minute)
		if got := b.bot("dm"); len(got) != 1 || got[0] != "The answer." {
			t.Errorf("delivered %d times: %q", len(got), got)
		}
	})
}

// A delivery that fails again can be asked for again.
func TestS3_RetryAfterASecondFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := true
		b := start(t, setup{fake: refusing(&bad), backend: backendFunc(theAnswer)})
		b.write("dm", "hi")
		after(10 * time.Second)
		b.write("dm", "/retry")
		after(10 * time.Second)
		bad = false
		b.write("dm", "/retry")
		after(10 * time.Second)
		if got := b.bot("dm"); len(got) != 1 || got[0] != "The answer." {
			t.Errorf("%q", got)
		}
	})
}

// counting counts the files that are posted.
type counting struct {
	*fake
	files []adapters.File
}

func (c *counting) Send(ctx context.Context, chat adapters.Chat, post adapters.Post) (adapters.Ref, error) {
	ref, err := c.fake.Send(ctx, chat, post)
	if err == nil {
		c.files = append(c.files, post.Files...)
	}
	return ref, err
}

// The files of an answer are delivered with it, with a text and without one (C7).
func TestS3_RetryDeliversTheFiles(t *testing.T) {
	for _, text := range []string{"Here it is.", ""} {
		synctest.Test(t, func(t *testing.T) {
			bad := true
			c := &counting{fake: refusing(&bad)}
			b := start(t, setup{fake: c.fake, adapter: c, backend: backendFunc(func(_ context.Context, _ agent.Request, emit func(agent.Event)) error {
				emit(agent.FileProduced{Name: "a.txt", MIME: "text/plain", Data: []byte("x")})
				if text != "" {
					say(emit, "1", text)
				}
				return nil
			})})
			b.write("dm", "one")
			after(time.Minute)
			bad = false
			b.write("dm", "/retry")
			after(time.Minute)
			if len(c.files) != 1 || string(c.files[0].Data) != "x" || len(b.bot("dm")) != 1 {
				t.Errorf("%q: %d files sent: %q", text, len(c.files), b.text("dm"))
			}
		})
	}
}

func theAnswer(_ context.Context, _ agent.Request, emit func(agent.Event)) error {
	say(emit, "1", "The answer.")
	return nil
}
