package turn

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters/sim"
	"typist/agent"
	"typist/agent/store"
	"typist/typing"
)

// stream emits a text in pieces with a pause after each.
func stream(ctx context.Context, emit func(agent.Event), id string, pause time.Duration, pieces ...string) {
	emit(agent.TextStarted{ID: id})
	for _, p := range pieces {
		emit(agent.TextContent{ID: id, Delta: p})
		waitFor(ctx, pause)
	}
	emit(agent.TextEnded{ID: id})
}

// TestT5_AHeldPrefixShowsNowhere: neither indicator nor text, down to the first character, until
// it diverges or ends unfinished; then it is released whole.
func TestT5_AHeldPrefixShowsNowhere(t *testing.T) {
	for _, c := range []struct {
		name     string
		pieces   []string
		diverges bool
		end      string // what stands at the end; "" = nothing
	}{
		{"token", []string{"N", "O", "_REPLY"}, false, ""},
		{"other case and marks", []string{"**no", "_reply", "**."}, false, ""},
		{"unfinished", []string{"N", "o"}, false, "No"},
		{"diverges", []string{"NO", "_REPL", "IES came"}, true, "NO_REPLIES came"},
		{"ordinary", []string{"Hello"}, true, "Hello"},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{settings: mode(typing.Message), backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
				stream(ctx, emit, "1", 2*time.Second, c.pieces...)
				return nil
			})})
			b.write("dm", "hi")
			diverge := time.Duration(len(c.pieces)-1) * 2 * time.Second
			after(time.Second)
			for at := time.Second; at < diverge; at += 2 * time.Second {
				if b.typing("dm") || strings.Contains(strings.ToUpper(strings.Join(b.bot("dm"), "")), "NO") {
					t.Errorf("%s: at %v the indicator shows: %t, chat: %q", c.name, at, b.typing("dm"), b.bot("dm"))
				}
				after(2 * time.Second)
			}
			if got := b.typing("dm"); got != c.diverges {
				t.Errorf("%s: the indicator shows after the last piece: %t", c.name, got)
			}
			after(10 * time.Second)
			got := b.bot("dm")
			if c.end == "" && len(got) != 0 || c.end != "" && (len(got) != 1 || got[0] != c.end) {
				t.Errorf("%s: got %q", c.name, got)
			}
			if b.typing("dm") {
				t.Errorf("%s: the indicator shows for ever", c.name)
			}
		})
	}
}

// TestT5_TheLastTextDecides whatever came before or comes without a text.
func TestT5_TheLastTextDecides(t *testing.T) {
	for _, c := range []struct {
		name  string
		texts []string
		want  string
		state store.RunState
	}{
		{"narration, then silent", []string{"I look into it.", "NO_REPLY"}, "", store.RunSilent},
		{"silent, then an answer", []string{"NO_REPLY", "Done."}, "Done.", store.RunDone},
		{"silent, then an empty request", []string{"I look into it.", "HEARTBEAT_OK", ""}, "", store.RunSilent},
		{"an answer, then an empty request", []string{"Done.", ""}, "Done.", store.RunDone},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
				for i, text := range c.texts {
					id := string(rune('a' + i))
					emit(agent.ModelRequest{ID: "m" + id})
					say(emit, id, text)
					if i < len(c.texts)-1 {
						tool(ctx, emit, "t"+id, "Bash", `{"command":"make"}`, 3*time.Second)
					}
				}
				return nil
			})})
			b.write("dm", "hi")
			after(2 * time.Second)
			if b.calls(sim.OpSend) == 0 {
				t.Errorf("%s: no progress message to take away", c.name)
			}
			after(30 * time.Second)
			if got := strings.Join(b.bot("dm"), "|"); got != c.want {
				t.Errorf("%s: %q stands", c.name, got)
			}
			if runs, err := b.store.RunsIn(t.Context(), c.state); len(runs) != 1 || err != nil {
				t.Errorf("%s: %d runs are %s: %v", c.name, len(runs), c.state, err)
			}
			b.wantNot("dm", "NO_REPLY", "HEARTBEAT_OK")
		})
	}
}

// TestT5_InstantHasShownByThen and lapses within its life, without a message.
func TestT5_InstantHasShownByThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, setup{backend: answering(time.Second, "NO_REPLY")})
		b.write("dm", "hi")
		after(500 * time.Millisecond)
		if !b.typing("dm") {
			t.Error("no indicator in instant mode")
		}
		after(6 * time.Second)
		if b.typing("dm") || b.pulses() != 1 || len(b.bot("dm")) > 0 {
			t.Errorf("indicator %t, %d pulses, messages %q", b.typing("dm"), b.pulses(), b.bot("dm"))
		}
	})
}

// TestT5_S9_ASilentRunStaysSilentAfterACrash between its last event and the end of its turn.
func TestT5_S9_ASilentRunStaysSilentAfterACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f := newFake("telegram")
		b := start(t, setup{fake: f, store: openStore(t, dir), backend: backendFunc(func(ctx context.Context, _ agent.Request, emit func(agent.Event)) error {
			say(emit, "0", "I look into it.")
			tool(ctx, emit, "t", "Bash", `{"command":"make"}`, 3*time.Second)
			say(emit, "1", "NO_REPLY")
			return nil
		})})
		b.write("dm", "hi")
		after(2500 * time.Millisecond)
		runs, err := b.store.RunsIn(t.Context(), store.RunRunning)
		if err != nil || len(runs) != 1 {
			t.Fatalf("%d runs: %v", len(runs), err)
		}
		// The end is stored, then the process dies.
		if _, err := b.store.Append(t.Context(), runs[0].Chat, runs[0].ID, time.Now(), []agent.Event{
			agent.TextStarted{ID: "1"}, agent.TextEnded{ID: "1", Silent: true}, agent.RunFinished{RunID: runs[0].ID, Outcome: agent.Success}}); err != nil {
			t.Fatal(err)
		}
		b.crash()

		b = start(t, setup{fake: f.again(), store: openStore(t, dir), backend: answering(0, "never")})
		after(10 * time.Second)
		if got := b.bot("dm"); len(got) != 0 {
			t.Errorf("got %q", got)
		}
	})
}
