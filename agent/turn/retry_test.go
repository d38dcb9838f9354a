package turn

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
)

// TestS3_WhichButton: each kind of failure has its sentence, and a button only where it helps.
func TestS3_WhichButton(t *testing.T) {
	for kind, want := range map[agent.FailureKind]string{
		agent.NeverSent: "Retry", agent.CutEarly: "Retry", agent.ServerError: "Retry", agent.Overloaded: "Retry", agent.RateLimited: "Retry", agent.Malformed: "Retry",
		agent.Crashed: "Retry", agent.TimedOut: "Resume",
		agent.Unauthorized: "", agent.NotFound: "", agent.TooLong: "", agent.Invalid: "",
	} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
				emit(agent.TextStarted{ID: "1"})
				emit(agent.TextContent{ID: "1", Delta: "So far."})
				waitFor(ctx, 3*time.Second)
				return &agent.Failure{Kind: kind, RetryAfter: 20 * time.Second, Detail: "key sk-1234567890abcdefghij"}
			})})
			b.write("dm", "hi")
			after(10 * time.Second)
			for _, label := range []string{"Retry", "Resume"} {
				if got := strings.Contains(b.text("dm"), "["+label+"]"); got != (label == want) {
					t.Errorf("%s: button %s: %t:\n%s", kind, label, got, b.text("dm"))
				}
			}
			b.want("dm", b.hub.words().Failure(&agent.Failure{Kind: kind, RetryAfter: 20 * time.Second}), "So far.")
			b.wantNot("dm", "sk-1234", "Working…", "[Stop]")
		})
	}
}

// TestS3_RetryReplacesThePartialText: cut before any tool result, the message is sent again and
// nothing visible is repeated.
func TestS3_RetryReplacesThePartialText(t *testing.T) {
	for _, by := range []string{"button", "/retry"} {
		synctest.Test(t, func(t *testing.T) {
			var requests []agent.Request
			b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
				requests = append(requests, req)
				emit(agent.TextStarted{ID: "1"})
				emit(agent.TextContent{ID: "1", Delta: "Half of"})
				waitFor(ctx, 3*time.Second)
				if len(requests) == 1 {
					return &agent.Failure{Kind: agent.CutEarly}
				}
				emit(agent.TextContent{ID: "1", Delta: " the answer."})
				return nil
			})})
			b.write("dm", "hi")
			after(10 * time.Second)
			if by == "button" {
				b.press("dm", "Retry")
			} else {
				b.write("dm", "/retry")
			}
			after(10 * time.Second)
			if len(requests) != 2 || requests[1].Resume || len(requests[1].History) != 1 || textOf(requests[1].History[0]) != "hi" {
				t.Errorf("%s: requests %+v", by, requests)
			}
			b.want("dm", "Half of the answer.")
			if by == "button" && strings.Count(b.text("dm"), "Half of") != 1 {
				t.Errorf("the partial text stands beside the answer:\n%s", b.text("dm"))
			}
		})
	}
}

// TestS3_AfterToolResultsARetryResumes: by /retry too; nothing that took effect is sent again.
func TestS3_AfterToolResultsARetryResumes(t *testing.T) {
	for _, by := range []string{"button", "/retry"} {
		synctest.Test(t, func(t *testing.T) {
			var requests []agent.Request
			tools := &fakeTools{}
			b := start(t, setup{tools: tools, backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
				requests = append(requests, req)
				if len(requests) == 1 {
					if err := mailer(ctx, req, emit); err != nil {
						return err
					}
					return &agent.Failure{Kind: agent.Overloaded}
				}
				say(emit, "2", "Mailed.")
				return nil
			})})
			b.write("dm", "mail bob")
			after(10 * time.Second)
			if by == "button" {
				b.press("dm", "Retry")
			} else {
				b.write("dm", "/retry")
			}
			after(10 * time.Second)
			if len(requests) != 2 || !requests[1].Resume || tools.calls != 1 {
				t.Fatalf("%s: %d requests, %d calls", by, len(requests), tools.calls)
			}
			last := requests[1].History[len(requests[1].History)-1]
			if last.Role != agent.ToolRole || last.Blocks[0].Text != "sent" {
				t.Errorf("%s: the history ends with %+v", by, last)
			}
			b.want("dm", "Mailed.")
		})
	}
}

// TestS3_RetryDeliversTheStoredAnswer, exactly it, without asking the model again; a good answer
// gets a sibling instead (S8).
func TestS3_RetryDeliversTheStoredAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		f := newFake("telegram")
		broken := true
		f.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) {
			return map[bool]error{true: adapters.ErrDenied}[broken && op == sim.OpSend], false
		}
		b := start(t, setup{fake: f, backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
			n++
			say(emit, "1", fmt.Sprint("Answer ", n))
			return nil
		})})
		b.write("dm", "hi")
		after(time.Minute)
		broken = false
		b.write("dm", "/retry")
		after(10 * time.Second)
		if got := b.bot("dm"); n != 1 || len(got) != 1 || got[0] != "Answer 1" {
			t.Errorf("%d runs, %q", n, got)
		}
		msg := sim.FromBot(b.chat.world.Messages("dm", "*"))[0]
		if node, ok, err := b.store.NodeByRef(t.Context(), "telegram/dm", msg.ID); !ok || err != nil || node.Message.Role != agent.Assistant {
			t.Errorf("the delivered message belongs to no node: %v %v", ok, err)
		}
		b.write("dm", "/retry")
		after(10 * time.Second)
		b.want("dm", "Answer 2 [◀] [2/2]")
	})
}

// TestS3_OnTelegramAnUnknownOutcomeCountsAsSent; /retry then makes a new answer or delivers again,
// and never two of one.
func TestS3_NothingToRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: working(20*time.Second, "Done.")})
		b.write("dm", "/retry")
		after(time.Second)
		b.want("dm", "There is nothing to retry here.")
		b.write("dm", "hi")
		after(2 * time.Second)
		b.write("dm", "/retry")
		after(3 * time.Second)
		b.want("dm", "Something runs here.")
	})
}
