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

// asking asks n questions at once and tells what came of each.
func asking(n int, options ...agent.Option) backendFunc {
	return func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
		got := make([]string, n)
		done := make(chan struct{})
		for i := range n {
			id := fmt.Sprint("c", i)
			emit(agent.ToolCallStarted{ID: id, Name: "mail"})
			emit(agent.ToolCallEnded{ID: id})
			go func() {
				option, err := req.Approve(ctx, "", agent.Approval{ID: "q" + id, ToolCall: id, Title: fmt.Sprint("Send mail ", i), Options: options})
				got[i] = fmt.Sprint(option, map[bool]string{true: "!"}[err != nil])
				done <- struct{}{}
			}()
		}
		for range n {
			<-done
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		say(emit, "1", "Decided: "+strings.Join(got, ","))
		return nil
	}
}

var yesNo = []agent.Option{{ID: "y", Allow: true}, {ID: "n"}}

// question is the message and the data of the button for option n of a question.
func (b *bench) question(chat, title string, n int) (message, data string) {
	for _, m := range b.chat.world.Messages(chat, "*") {
		if strings.Contains(m.Text, title) && len(m.Buttons) > 0 && strings.HasPrefix(m.Buttons[0][0].Data, "a:") {
			return m.ID, m.Buttons[0][n].Data
		}
	}
	b.t.Errorf("no question %q in:\n%s", title, b.text(chat))
	return "", ""
}

// TestA4_ParallelCallsWaitEachForItself, and the words say who decided.
func TestA4_ParallelCallsWaitEachForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: asking(2, yesNo...)})
		b.write("dm", "go")
		after(5 * time.Second)
		m1, d1 := b.question("dm", "Send mail 1", 1)
		m0, d0 := b.question("dm", "Send mail 0", 0)
		b.pressData("dm", m1, d1)
		after(2 * time.Second)
		b.want("dm", "Denied by Ann: Send mail 1", "Send mail 0 [Approve] [Deny]")
		b.wantNot("dm", "Decided:")
		b.pressData("dm", m0, d0)
		after(2 * time.Second)
		b.want("dm", "Approved by Ann: Send mail 0", "Decided: y,n")
		b.wantNot("dm", "[Approve]", "Waiting for approval")
	})
}

// TestA4_TheAgentsOwnOptions are the buttons, and the decision names the chosen one.
func TestA4_TheAgentsOwnOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: asking(1, agent.Option{ID: "a", Name: "Always allow", Allow: true}, agent.Option{ID: "o", Name: "Once", Allow: true}, agent.Option{ID: "r", Name: "Reject"})})
		b.write("dm", "go")
		after(2 * time.Second)
		b.want("dm", "[Always allow] [Once] [Reject]")
		b.press("dm", "Once")
		after(2 * time.Second)
		b.want("dm", "Approved by Ann: Send mail 0 (Once)", "Decided: o")
	})
}

// TestA4_WhoDecides: those who may talk to the bot in that chat; the first one does.
func TestA4_WhoDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: asking(2, yesNo...)})
		b.write("room", "go", mentioned)
		after(10 * time.Second)
		message, data := b.question("room", "Send mail 0", 0)
		o := b.origin("room")
		o.From = adapters.User{ID: "bob", Name: "Bob"}
		b.deliver(adapters.Press{Origin: o, ID: message, Data: data})
		after(5 * time.Second)
		b.want("room", "Send mail 0 [Approve]")
		b.pressData("room", message, data)
		b.pressData("room", message, strings.Replace(data, ":0", ":1", 1)) // another button, before the edit stands
		after(10 * time.Second)
		b.want("room", "Approved by Ann: Send mail 0", "That has been decided already.")
	})
}

// TestA4_NobodyDecides: the run's timeout bounds the wait, and the question says so.
func TestA4_NobodyDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: asking(1, yesNo...), settings: func(s *Settings) {
			a := s.Agents[""]
			a.Timeout = time.Minute
			s.Agents[""] = a
		}})
		b.write("dm", "go")
		after(2 * time.Minute)
		b.want("dm", "Nobody decided in time: Send mail 0", "[Resume]")
		b.wantNot("dm", "[Approve]")
	})
}

// TestA4_AnOldQuestion is taken away when somebody presses it, and decides nothing.
func TestA4_AnOldQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: asking(1, yesNo...)})
		b.chat.fail = func(op sim.Op, _ adapters.Chat, _ string) (error, bool) {
			return map[bool]error{true: adapters.ErrDenied}[op == sim.OpDelete], false
		}
		b.write("dm", "go")
		after(2 * time.Second)
		message, data := b.question("dm", "Send mail 0", 0)
		b.write("dm", "stop")
		after(2 * time.Second)
		b.write("dm", "go")
		after(5 * time.Second)
		b.pressData("dm", message, data)
		after(2 * time.Second)
		b.want("dm", "This button no longer works.", "Send mail 0 [Approve]")
		b.wantNot("dm", "Approved")
	})
}

// TestA4_AnApprovedCallIsExecutedOnce, a refused one never, and the model hears of a refusal as of
// an ordinary answer.
func TestA4_ARefusalIsAnOrdinaryAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools := &fakeTools{approve: true}
		b := start(t, setup{backend: backendFunc(mailer), tools: tools})
		b.write("dm", "mail bob")
		after(2 * time.Second)
		b.press("dm", "Deny")
		after(2 * time.Second)
		b.want("dm", "Result: The person did not allow this call.")
		if runs, err := b.store.RunsIn(t.Context(), "done"); len(runs) != 1 || err != nil || tools.calls != 0 {
			t.Errorf("%d runs done, %d calls, %v", len(runs), tools.calls, err)
		}
	})
}

// TestA4_S9_ARestartWhileWaiting: the question goes, nothing is executed, and the run can be resumed.
func TestA4_S9_ARestartWhileWaiting(t *testing.T) {
	for _, how := range []string{"crash", "shutdown"} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			f := newFake("telegram")
			tools := &fakeTools{approve: true}
			b := start(t, setup{fake: f, tools: tools, backend: backendFunc(mailer), store: openStore(t, dir)})
			b.write("dm", "mail bob")
			after(5 * time.Second)
			b.want("dm", "[Approve]")
			if how == "crash" {
				b.crash()
			} else {
				b.shut()
				_ = b.store.Close()
			}
			b = start(t, setup{fake: f.again(), tools: tools, backend: answering(0, "Resumed."), store: openStore(t, dir)})
			after(10 * time.Second)
			b.want("dm", "Interrupted", "[Resume]")
			b.wantNot("dm", "[Approve]", "Waiting for approval")
			b.press("dm", "Resume")
			after(5 * time.Second)
			b.want("dm", "Resumed.")
			if tools.calls != 0 {
				t.Errorf("%s: executed %d times without approval", how, tools.calls)
			}
		})
	}
}
