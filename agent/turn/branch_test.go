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

// echo answers with the last user message.
func echo(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
	if !waitFor(ctx, 200*time.Millisecond) {
		return ctx.Err()
	}
	var said []string
	for _, m := range req.History {
		said = append(said, string(m.Role[0])+"="+textOf(m))
	}
	say(emit, "1", "Answer to "+strings.Join(said, " | "))
	return nil
}

func (b *bench) edit(chat, id, text string) {
	b.t.Helper()
	b.seq++
	c, _ := b.chat.world.Chat(chat)
	kind := adapters.Group
	if c.Direct {
		kind = adapters.Direct
	}
	e := adapters.Edited{Origin: adapters.Origin{EventID: fmt.Sprint("edit", b.seq), Chat: adapters.Chat{Channel: b.chat.name, ID: chat}, Kind: kind,
		From: adapters.User{ID: "ann", Name: "Ann"}}, ID: id, Text: text, Mentioned: true}
	b.chat.world.Change(chat, id, func(m *simMessage) { m.Text = text })
	if err := b.chat.sink.Deliver(b.t.Context(), e); err != nil {
		b.t.Error(err)
	}
}

func TestS7_EditBranchesAndS8_SwitchesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(echo)})
		first := b.write("dm", "one")
		after(3 * time.Second)
		b.write("dm", "two")
		after(3 * time.Second)
		b.edit("dm", first, "uno")
		after(3 * time.Second)
		got := b.text("dm")
		if strings.Contains(got, "Answer to u=one\n") || !strings.Contains(got, "Answer to u=uno [◀] [2/2]") {
			t.Fatalf("after the edit:\n%s", got)
		}
		b.press("dm", "◀")
		after(3 * time.Second)
		got = b.text("dm")
		if strings.Contains(got, "u=uno") || !strings.Contains(got, "Answer to u=one [1/2] [▶]") {
			t.Fatalf("after ◀:\n%s", got)
		}
		b.write("dm", "three")
		after(3 * time.Second)
		if got := b.text("dm"); !strings.Contains(got, "u=one | a=Answer to u=one | u=two") {
			t.Errorf("the next message did not go on from the shown branch:\n%s", got)
		}
	})
}

func TestS7_EditStopsTheRunOnTheOldText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := false
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			if textOf(req.History[0]) == "old" {
				tool(ctx, emit, "t", "Bash", `{"command":"old"}`, time.Hour)
				stopped = true
				return ctx.Err()
			}
			return echo(ctx, req, emit)
		})})
		id := b.write("dm", "old")
		after(5 * time.Second)
		b.edit("dm", id, "new")
		after(5 * time.Second)
		got := b.text("dm")
		if !stopped || strings.Contains(got, "Stopped") || strings.Contains(got, "Working") || !strings.Contains(got, "Answer to u=new") {
			t.Errorf("stopped %v:\n%s", stopped, got)
		}
	})
}

func TestS8_RetryMakesASibling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
			n++
			say(emit, "1", fmt.Sprintf("Try %d", n))
			return nil
		})})
		b.write("dm", "go")
		after(3 * time.Second)
		b.write("dm", "/retry")
		after(3 * time.Second)
		got := b.text("dm")
		if !strings.Contains(got, "Try 2 [◀] [2/2]") {
			t.Errorf("chat:\n%s", got)
		}
	})
}

// fakeTools is a toolbox that counts what it executes.
type fakeTools struct {
	approve bool
	calls   int
	take    time.Duration
}

func (f *fakeTools) List(context.Context) ([]agent.Tool, error) {
	return []agent.Tool{{Name: "mail", Title: "Send mail", Approve: f.approve}}, nil
}

func (f *fakeTools) Call(ctx context.Context, c agent.ToolCall) (agent.ToolResult, error) {
	f.calls++
	if !waitFor(ctx, f.take) {
		return agent.ToolResult{}, ctx.Err()
	}
	return agent.ToolResult{Content: "sent"}, nil
}

// mailer calls the tool once and says what came of it.
func mailer(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
	if _, err := req.Tools.List(ctx); err != nil {
		return err
	}
	emit(agent.ToolCallStarted{ID: "c", Name: "mail"})
	emit(agent.ToolCallArgs{ID: "c", Delta: `{"to":"bob"}`})
	emit(agent.ToolCallEnded{ID: "c"})
	r, err := req.Tools.Call(ctx, agent.ToolCall{ID: "c", Name: "mail", Args: []byte(`{"to":"bob"}`)})
	if err != nil {
		return err
	}
	emit(agent.ToolCallResult{ID: "c", Content: r.Content, IsError: r.IsError})
	say(emit, "1", "Result: "+r.Content)
	return nil
}

func TestA4_ApprovalAndT12_PausesTheIndicator(t *testing.T) {
	for _, allow := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			tools := &fakeTools{approve: true}
			b := start(t, setup{backend: backendFunc(mailer), tools: tools})
			b.write("dm", "mail bob")
			after(20 * time.Second)
			if tools.calls != 0 {
				t.Fatal("executed before anybody decided")
			}
			if on, _ := b.chat.world.Typing("dm", ""); on {
				t.Error("the indicator shows while the run waits for a person")
			}
			got := b.text("dm")
			if !strings.Contains(got, "Send mail: bob") || !strings.Contains(got, "[Approve] [Deny]") {
				t.Fatalf("question:\n%s", got)
			}
			if allow {
				b.press("dm", "Approve")
			} else {
				b.press("dm", "Deny")
			}
			after(5 * time.Second)
			got = b.text("dm")
			if allow != (tools.calls == 1) || strings.Contains(got, "[Approve]") || allow != strings.Contains(got, "Result: sent") || !strings.Contains(got, "Result: ") {
				t.Errorf("allow %v, %d calls:\n%s", allow, tools.calls, got)
			}
		})
	}
}

func TestC8_NewComesAfterWhatWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			waitFor(ctx, 3*time.Second)
			return echo(ctx, req, emit)
		})})
		b.write("dm", "one")
		after(time.Second)
		b.write("dm", "two")
		b.write("dm", "/new")
		b.write("dm", "three")
		after(30 * time.Second)
		got := b.text("dm")
		if !strings.Contains(got, "u=one | a=Answer to u=one | u=two") || !strings.Contains(got, "Answer to u=three") {
			t.Errorf("chat:\n%s", got)
		}
	})
}

func TestA4_TheQuestionShowsAllOfTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{tools: &fakeTools{approve: true}, backend: backendFunc(func(ctx context.Context, req agent.Request, _ func(agent.Event)) error {
			_, err := req.Tools.Call(ctx, agent.ToolCall{ID: "c", Name: "mail", Args: []byte(`{"text":"harmless","command":"rm -rf /srv","password":"hunter22"}`)})
			return err
		})})
		b.write("dm", "go")
		after(3 * time.Second)
		got := b.text("dm")
		if !strings.Contains(got, "rm -rf /srv") || strings.Contains(got, "hunter22") {
			t.Errorf("chat:\n%s", got)
		}
	})
}
