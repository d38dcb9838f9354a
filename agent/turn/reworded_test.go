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

// TestS7_TwoQuickEditsKeepTheirOrder: the newest text is the one that is answered, once, whether
// the run is at work on the old one or has answered it.
func TestS7_TwoQuickEditsKeepTheirOrder(t *testing.T) {
	for _, wait := range []time.Duration{time.Second, 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
				if !waitFor(ctx, 3*time.Second) {
					return ctx.Err()
				}
				say(emit, "1", "A:"+textOf(req.History[len(req.History)-1]))
				return nil
			})})
			id := b.write("dm", "v1")
			after(wait)
			b.edit("dm", id, "v2")
			b.edit("dm", id, "v3")
			b.edit("dm", id, "v4")
			after(time.Minute)
			if got := b.bot("dm"); len(got) != 1 || !strings.Contains(got[0], "A:v4") {
				t.Errorf("edited after %v:\n%s", wait, b.text("dm"))
			}
		})
	}
}

// TestS7_QuickEditBackToTheOldText leaves the answer as it was.
func TestS7_QuickEditBackToTheOldText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(echo)})
		id := b.write("dm", "v1")
		after(10 * time.Second)
		b.edit("dm", id, "v2")
		b.edit("dm", id, "v1")
		after(time.Minute)
		if got := b.bot("dm"); len(got) != 1 || !strings.Contains(got[0], "u=v1") {
			t.Errorf("%s", b.text("dm"))
		}
	})
}

// TestS7_RefusedEditKeepsTheAnswer: where too many messages wait, an edit is refused, and the
// answer to the old text stays.
func TestS7_RefusedEditKeepsTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			if runs++; runs > 1 {
				waitFor(ctx, 10*time.Minute)
			}
			say(emit, "1", "A:"+textOf(req.History[len(req.History)-1]))
			return nil
		})})
		id := b.write("dm", "one")
		after(10 * time.Second)
		b.write("dm", "next")
		after(5 * time.Second)
		for i := range queueCap {
			b.write("dm", fmt.Sprint("w", i))
		}
		after(5 * time.Second)
		b.edit("dm", id, "one!")
		after(30 * time.Second)
		b.want("dm", "A:one")
	})
}

// TestS7_EditOfTheRunInWorkNeedsNoPlace: it takes the place of the run, so that a full queue
// refuses it not.
func TestS7_EditOfTheRunInWorkNeedsNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			last := textOf(req.History[len(req.History)-1])
			if last == "one" && !waitFor(ctx, 10*time.Minute) {
				return ctx.Err()
			}
			say(emit, "1", "A:"+last)
			return nil
		})})
		id := b.write("dm", "one")
		for i := range queueCap {
			b.write("dm", fmt.Sprint("w", i))
		}
		after(5 * time.Second)
		b.edit("dm", id, "uno")
		after(5 * time.Minute)
		b.want("dm", "A:uno")
	})
}

// TestC1_NamedGroupKeepsItsAgent: a group that is configured by its name has its agent for
// retries and edits too.
func TestC1_NamedGroupKeepsItsAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var systems []string
		b := start(t, setup{settings: func(s *Settings) {
			c := s.Channels["telegram"]
			c.Groups = map[string]Group{"#ops": {Agent: "ops"}}
			s.Channels["telegram"] = c
			a := s.Agents[""]
			a.Name, a.SystemPrompt = "default", "default prompt"
			s.Agents[""] = a
			a.Name, a.SystemPrompt = "ops", "ops prompt"
			s.Agents["ops"] = a
		}, backend: backendFunc(func(_ context.Context, req agent.Request, emit func(agent.Event)) error {
			systems = append(systems, req.System)
			say(emit, "1", "A")
			return nil
		})})
		named := func(m *adapters.Message) { m.ChatName, m.Mentioned = "ops", true }
		id := b.write("room", "hi", named)
		after(20 * time.Second)
		b.write("room", "/retry", named)
		after(20 * time.Second)
		o := b.origin("room")
		o.ChatName = "ops"
		b.deliver(adapters.Edited{Origin: o, ID: id, Text: "hi there", Mentioned: true})
		after(20 * time.Second)
		if got := strings.Join(systems, "|"); got != "ops prompt|ops prompt|ops prompt" {
			t.Errorf("%q", got)
		}
		b.write("room", "/status", named)
		after(20 * time.Second)
		b.want("room", "Agent: ops")
	})
}
