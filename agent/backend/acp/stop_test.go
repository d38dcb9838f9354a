package acp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"typist/agent"
	"typist/agent/backend/backendtest"
)

func TestA5_StopIsPassedOnAndTheSessionStays(t *testing.T) {
	f := newFixture(t, "", nil)
	ctx, stop := context.WithCancel(t.Context())
	f.onEvent = func(ev agent.Event) {
		if c, ok := ev.(agent.TextContent); ok && c.Delta == "begun" {
			stop()
		}
	}
	got := f.say(ctx, "say begun\nwait")
	backendtest.Want(t, got, "text begun late", "text cut", "cancelled")
	f.say(t.Context(), "say again")
	if n := f.count("session/new"); n != 1 || f.count("session/cancel") != 1 || f.count("initialize") != 1 {
		t.Errorf("%d sessions, %d cancels, %d processes", n, f.count("session/cancel"), f.count("initialize"))
	}
}

func TestS2_StopEndsAnApprovalAsCancelled(t *testing.T) {
	f := newFixture(t, "", nil)
	ctx, stop := context.WithCancel(t.Context())
	f.approve = func(ctx context.Context, _ string, _ agent.Approval) (string, error) {
		stop()
		<-ctx.Done()
		return "", ctx.Err()
	}
	got := f.say(ctx, `ask {"toolCall":{"toolCallId":"a"},"options":[{"optionId":"y","name":"Y","kind":"allow_once"}]}`)
	if want := `text {"outcome":{"outcome":"cancelled"}}`; !slices.Contains(got, want) || got[len(got)-1] != "cancelled" {
		t.Errorf("got %q", got)
	}
}

func TestS2_AnAgentThatHeedsNoStopIsKilledWithItsChildren(t *testing.T) {
	for name, end := range map[string]string{"deaf to cancel": "ignore", "stopped": "deaf"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, "", nil)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var at time.Time
			child := 0
			f.onEvent = func(ev agent.Event) {
				if c, ok := ev.(agent.TextContent); ok {
					child, _ = strconv.Atoi(c.Delta)
					at = time.Now()
					stop()
				}
			}
			got := f.say(ctx, "child\n"+end)
			if took := time.Since(at); took > 5*time.Second || got[len(got)-1] != "cancelled" {
				t.Errorf("after %v: %q", took, got)
			}
			if child == 0 || !gone(child) {
				t.Errorf("child %d lives", child)
			}
			f.onEvent = nil
			backendtest.Want(t, f.say(t.Context(), "say new"), "text new", "text.", "success")
		})
	}
}

func gone(pid int) bool {
	for range 200 {
		if dead(pid) {
			return true
		}
		<-time.After(10 * time.Millisecond)
	}
	return false
}

func dead(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

func TestS3_ACrashIsToldWithItsLastWordsAndStartsAnew(t *testing.T) {
	f := newFixture(t, "load", nil) // what the session has seen of the run that crashed is not known
	f.say(t.Context(), "say hello")
	got := f.say(t.Context(), lines("say half", "child", "cry first", "cry cannot log in with sk-ant-REDACTED", "exit 3"))
	last := got[len(got)-1]
	if !strings.HasPrefix(last, "failed: crashed: the agent's process ended (exit status 3): cannot log in with ") || strings.Contains(last, "456789") {
		t.Errorf("got %q", got)
	}
	var child int
	for _, ev := range f.events {
		if c, ok := ev.(agent.TextContent); ok {
			if n, err := strconv.Atoi(c.Delta); err == nil {
				child = n
			}
		}
	}
	if child == 0 || !gone(child) {
		t.Errorf("child %d lives", child)
	}
	backendtest.Want(t, f.say(t.Context(), "prompt\nsay back"), "text back", "text.", "success")
	if asked := f.noted("prompt "); len(asked) != 1 || !strings.Contains(asked[0], "You: half") || !strings.Contains(asked[0], "Person: say hello") {
		t.Errorf("the new session was told %q", asked)
	}
}

func TestS3_FailuresAreToldApart(t *testing.T) {
	f := newFixture(t, "", nil)
	for prompt, want := range map[string]string{
		"error -32603 Internal error":         "failed: server_error: Internal error (code -32603)",
		"error -32000 Authentication missing": "failed: unauthorized: Authentication missing (code -32000); sign in with the agent's own program first: Log in with the browser",
		"error -32602 Invalid params":         "failed: invalid: Invalid params (code -32602)",
		"stop refusal":                        "failed: invalid: the agent refused to go on",
		"stop max_tokens":                     "failed: too_long: the agent reached its token limit before it answered",
		"stop end_turn":                       "failed: malformed: the agent ended without an answer",
	} {
		backendtest.Want(t, f.say(t.Context(), prompt), want)
	}
	backendtest.Want(t, f.say(t.Context(), "say much\nstop max_tokens"), "text much", "text cut", "success")
	if n := f.count("initialize"); n != 1 {
		t.Errorf("%d processes", n)
	}
	none := New(Config{Command: []string{filepath.Join(t.TempDir(), "none")}})
	defer none.Close()
	got := backendtest.Run(t.Context(), none, agent.Request{})
	if len(got) != 1 || !strings.HasPrefix(got[0], "failed: crashed: start the agent: ") {
		t.Errorf("got %q", got)
	}
}

func TestS2_StopWhileTheAgentStarts(t *testing.T) {
	f := newFixture(t, "mute", nil)
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	begin := time.Now()
	err := f.Backend.Run(ctx, agent.Request{RunID: "r", History: []agent.Message{agent.UserText("x")}}, func(agent.Event) {})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 3*time.Second {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
}

func TestT9_ChatsHaveProcessesOfTheirOwn(t *testing.T) {
	f := newFixture(t, "", nil)
	ctx, stop := context.WithCancel(t.Context())
	begun := make(chan struct{})
	var other sync.WaitGroup
	other.Go(func() {
		req := agent.Request{RunID: "o", Session: "other", History: []agent.Message{agent.UserText("say begun\nignore")}}
		_ = f.Backend.Run(ctx, req, func(ev agent.Event) {
			if _, ok := ev.(agent.TextContent); ok {
				close(begun)
			}
		})
	})
	<-begun
	backendtest.Want(t, f.say(t.Context(), "say hi"), "text hi", "text.", "success")
	stop()
	other.Wait() // killed
	backendtest.Want(t, f.say(t.Context(), "say still here"), "text still here", "text.", "success")
	if n := f.count("initialize"); n != 2 {
		t.Errorf("%d processes", n)
	}
}
