package turn

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/adapters/sim"
	"typist/agent"
)

// phases are what a run can be doing when it is stopped (issue "sessions", 2).
var phases = []struct {
	name    string
	backend func(ctx context.Context, req agent.Request, emit func(agent.Event)) error
}{
	{"before the first token", func(ctx context.Context, _ agent.Request, _ func(agent.Event)) error { return forever(ctx) }},
	{"thinking", func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
		emit(agent.ReasoningStarted{ID: "r"})
		emit(agent.ReasoningContent{ID: "r", Delta: "hm"})
		return forever(ctx)
	}},
	{"text", func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
		emit(agent.TextStarted{ID: "1"})
		emit(agent.TextContent{ID: "1", Delta: "Half of"})
		return forever(ctx)
	}},
	{"tool", func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
		return working(time.Hour, "")(ctx, req, emit)
	}},
	{"parallel tools", func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
		for _, id := range []string{"a", "b", "c"} {
			emit(agent.ToolCallStarted{ID: id, Name: "Bash"})
			emit(agent.ToolCallEnded{ID: id})
		}
		return forever(ctx)
	}},
	{"subagent", func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
		emit(agent.SubagentStarted{Sub: agent.Sub{Subagent: "s"}, Name: "scout"})
		emit(agent.ReasoningStarted{Sub: agent.Sub{Subagent: "s"}, ID: "r"})
		return forever(ctx)
	}},
	{"waiting for retry-after", func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
		emit(agent.ModelRequest{ID: "m"})
		return forever(ctx)
	}},
	{"approval", func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
		emit(agent.ToolCallStarted{ID: "a", Name: "mail"})
		emit(agent.ToolCallEnded{ID: "a"})
		_, err := req.Approve(ctx, "", agent.Approval{ID: "q", ToolCall: "a", Title: "Send mail", Options: []agent.Option{{ID: "y", Allow: true}, {ID: "n"}}})
		return err
	}},
}

func forever(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestS2_EveryPhase: the chat shows a stop within 300 ms, the backend has ended, nothing is red.
func TestS2_EveryPhase(t *testing.T) {
	for _, p := range phases {
		for _, by := range []string{"button", "/stop", "word", "platform"} {
			synctest.Test(t, func(t *testing.T) {
				ended := false
				b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
					err := p.backend(ctx, req, emit)
					ended = true
					return err
				})})
				var logged bytes.Buffer
				b.hub.log = slog.New(slog.NewTextHandler(&logged, nil))
				b.write("dm", "hi")
				after(12 * time.Second)
				switch by {
				case "button":
					b.press("dm", "Stop")
				case "/stop":
					b.write("dm", "/stop")
				case "word":
					b.write("dm", "Stop!")
				case "platform":
					b.deliver(adapters.StopRequested{Origin: b.origin("dm")})
				}
				after(300 * time.Millisecond)
				if !ended {
					t.Errorf("%s, %s: the backend still runs", p.name, by)
				}
				if got := b.text("dm"); !strings.Contains(got, "Stopp") || strings.Contains(got, "[Stop]") {
					t.Errorf("%s, %s: 300 ms after the stop:\n%s", p.name, by, got)
				}
				after(10 * time.Second)
				b.want("dm", "Stopped after 12s", "[Resume]")
				b.wantNot("dm", "Stopping…", "Working…", "[Stop]", "[Approve]", "[Retry]")
				if p.name == "text" {
					b.want("dm", "Half of")
				}
				if strings.Contains(logged.String(), "level=ERROR") || strings.Contains(logged.String(), "level=WARN") {
					t.Errorf("%s, %s: a stop is no error: %s", p.name, by, logged.String())
				}
				if b.typing("dm") {
					t.Errorf("%s, %s: the indicator shows", p.name, by)
				}
			})
		}
	}
}

// TestS2_AQueuedTurnIsDropped and counted; the button ends only its run.
func TestS2_AQueuedTurnIsDropped(t *testing.T) {
	for _, c := range []struct {
		by      string
		dropped string
		answers int
	}{{"/stop", "2 waiting messages dropped.", 0}, {"stop", "2 waiting messages dropped.", 0}, {"button", "", 2}} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
				if textOf(req.History[0]) == "first" && len(req.History) == 1 {
					return forever(ctx)
				}
				return answering(time.Second, "Answer.")(ctx, req, emit)
			})})
			b.write("dm", "first")
			after(3 * time.Second)
			b.write("dm", "second")
			b.write("dm", "third")
			after(3 * time.Second)
			if c.by == "button" {
				b.press("dm", "Stop")
			} else {
				b.write("dm", c.by)
			}
			after(30 * time.Second)
			b.want("dm", "Stopped after 6s", c.dropped)
			if n := strings.Count(b.text("dm"), "Answer."); n != c.answers {
				t.Errorf("%s: %d answers:\n%s", c.by, n, b.text("dm"))
			}
			for _, m := range b.chat.world.Messages("dm", "*") {
				if len(m.Reactions) > 0 {
					t.Errorf("%s: %q still shows that it waits", c.by, m.Text)
				}
			}
		})
	}
}

// TestS2_ALatePressHitsNoOtherRun: buttons carry their run's id.
func TestS2_ALatePressHitsNoOtherRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: working(20*time.Second, "Done.")})
		b.write("dm", "first")
		after(3 * time.Second)
		m := sim.FromBot(b.chat.world.Messages("dm", "*"))[0]
		old := m.Buttons[0][0].Data
		after(30 * time.Second)
		b.write("dm", "second")
		after(3 * time.Second)
		b.pressData("dm", m.ID, old)
		after(2 * time.Second)
		b.want("dm", "[Stop]", "That run has ended already.")
		b.wantNot("dm", "Stopp…", "Stopped")
		after(30 * time.Second)
		if n := strings.Count(b.text("dm"), "Done."); n != 2 {
			t.Errorf("%d answers", n)
		}
	})
}

// TestS2_WhoMayStop: only those who may talk to the bot there, in any way of stopping.
func TestS2_WhoMayStop(t *testing.T) {
	for _, allowed := range []bool{true, false} {
		for _, by := range []string{"/stop", "stop", "button", "platform"} {
			synctest.Test(t, func(t *testing.T) {
				b := start(t, setup{backend: working(20*time.Second, "Done.")})
				b.write("room", "hi", mentioned)
				after(3 * time.Second)
				who := map[bool]string{true: "ann", false: "bob"}[allowed]
				o := b.origin("room")
				o.From = adapters.User{ID: who}
				switch by {
				case "button":
					m := sim.FromBot(b.chat.world.Messages("room", "*"))[0]
					b.deliver(adapters.Press{Origin: o, ID: m.ID, Data: m.Buttons[0][0].Data})
				case "platform":
					b.deliver(adapters.StopRequested{Origin: o})
				default:
					b.write("room", by, mentioned, from(who))
				}
				after(2 * time.Second)
				if got := strings.Contains(b.text("room"), "Stopped"); got != allowed {
					t.Errorf("%s by %s: stopped %t", by, who, got)
				}
			})
		}
	}
}

// TestS2_StopWords in many languages, alone in a message, whatever case and marks.
func TestS2_StopWords(t *testing.T) {
	for _, text := range []string{"stop", "STOP!!", " Stop. ", "please stop", "cancel", "Stopp", "abbrechen", "hör auf", "arrête", "annuler",
		"detente", "para", "basta", "pare", "parar", "cancelar", "ferma", "止めて", "やめて", "停止", "ストップ", "停", "停下来", "取消", "стоп", "Хватит!",
		"остановись", "dur", "중지", "그만", "توقف", "रुको", "stop 🛑"} {
		if !IsStopWord(text) {
			t.Errorf("%q is no stop word", text)
		}
	}
	for _, text := range []string{"", "stop the server", "don't stop", "how do I stop it?", "parade", "stopword", "nonstop", "ende gut", "2", "!", strings.Repeat("stop ", 20)} {
		if IsStopWord(text) {
			t.Errorf("%q is a stop word", text)
		}
	}
}

// TestS2_InGroupsAStopWordAddressesTheBot; with nothing running it is ordinary text, and /stop
// answers that nothing runs.
func TestS2_InGroupsAStopWordAddressesTheBot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			asked = append(asked, textOf(req.History[len(req.History)-1]))
			return working(20*time.Second, "Done.")(ctx, req, emit)
		}), settings: func(s *Settings) {
			c := s.Channels["telegram"]
			c.Groups = map[string]Group{"*": {RequireMention: true}}
			s.Channels["telegram"] = c
		}})
		b.write("room", "hi", mentioned)
		after(3 * time.Second)
		b.write("room", "stop")
		b.write("room", "/stop")
		after(2 * time.Second)
		b.wantNot("room", "Stopped", "Nothing runs")
		b.write("room", "stop", mentioned)
		after(2 * time.Second)
		b.want("room", "Stopped after 5s")
		b.write("room", "stop", mentioned)
		after(30 * time.Second)
		if got := fmt.Sprint(asked); got != "[hi stop]" {
			t.Errorf("the agent was asked %s", got)
		}
		b.write("room", "/stop", mentioned)
		after(2 * time.Second)
		b.want("room", "Nothing runs here right now.")
	})
}

// TestS2_A5_ABackendThatIgnoresTheStop is cut off after 5 s; the chat goes on, and what it says
// later is dropped. "Stopped" does not stand before.
func TestS2_A5_ABackendThatIgnoresTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		b := start(t, setup{backend: backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
			if runs++; runs > 1 {
				return answering(time.Second, "Second answer.")(ctx, req, emit)
			}
			emit(agent.ToolCallStarted{ID: "t", Name: "Bash"})
			emit(agent.ToolCallEnded{ID: "t"})
			waitFor(context.WithoutCancel(ctx), time.Minute)
			say(emit, "1", "too late")
			return nil
		})})
		b.hub.log = slog.New(slog.DiscardHandler)
		b.write("dm", "first")
		after(3 * time.Second)
		b.press("dm", "Stop")
		after(4900 * time.Millisecond)
		b.want("dm", "Stopping…")
		b.wantNot("dm", "Stopped")
		b.write("dm", "second")
		after(200 * time.Millisecond)
		b.want("dm", "Stopped after 8s")
		after(2 * time.Minute)
		b.want("dm", "Second answer.")
		b.wantNot("dm", "too late")
	})
}
