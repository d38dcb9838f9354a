package e2e

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"typist/adapters/sim"
)

// withModel is a stage of one platform whose backend is a model.
func withModel(t *testing.T, more string, act func(t *testing.T, s *stage, at place, m *model)) {
	t.Parallel()
	for _, name := range []string{"telegram", "discord", "slack"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := startModel(t)
			s := newStage(t, "otherwise:\n  silence\n", quick, name)
			servers := ""
			if strings.Contains(more, "mcpServers:") {
				servers = ", mcpServers: [files]"
			}
			s.reconfigure(t, m.backend(servers), strings.ReplaceAll(more, "RECORD", filepath.Join(s.dir, "removed")))
			at := s.on[name]
			t.Cleanup(func() {
				t.Log(transcript(at))
				if t.Failed() {
					for i, r := range m.requests() {
						t.Logf("request %d\n%s", i+1, r)
					}
				}
			})
			s.start(t)
			act(t, s, at, m)
			if strings.Contains(s.program.log.String(), "sk-e2e") {
				t.Error("the key is in the log")
			}
			s.stop(t)
		})
	}
}

// TestS8_TheModelGetsTheShownBranch: what a model is given is the path that the person sees, after
// an edit, a switch, a restart, /branch and /new.
func TestS8_TheModelGetsTheShownBranch(t *testing.T) {
	withModel(t, quick, func(t *testing.T, s *stage, at place, m *model) {
		path := func(want ...string) {
			t.Helper()
			asked := m.requests()
			got := strings.TrimSpace(asked[len(asked)-1].String())
			if got != strings.Join(want, "\n") {
				t.Errorf("the model was given\n%s\nwant\n%s", got, strings.Join(want, "\n"))
			}
		}
		at.say(t, "one")
		first := at.answer(t, at.direct, "Answer 1.")
		two := at.say(t, "two")
		at.answer(t, at.direct, "Answer 2.")
		path("user: one", "assistant: Answer 1.", "user: two")

		at.edit(t, two, "two, differently")
		at.answer(t, at.direct, "Answer 3.")
		path("user: one", "assistant: Answer 1.", "user: two, differently")
		at.press(t, at.direct, "◀")
		at.answer(t, at.direct, "Answer 2.")
		s.restart(t)
		at.say(t, "three")
		at.answer(t, at.direct, "Answer 4.")
		path("user: one", "assistant: Answer 1.", "user: two", "assistant: Answer 2.", "user: three")

		name := "branch"
		if at.platform.Name() == "discord" {
			name = "Branch"
		}
		at.onMessage(t, name, first.ID)
		at.sees(t, at.direct, "Your next message goes on from there.")
		at.say(t, "four")
		at.answer(t, at.direct, "Answer 5.")
		path("user: one", "assistant: Answer 1.", "user: four")

		at.command(t, "new", "")
		at.sees(t, at.direct, "A new conversation begins")
		at.say(t, "five")
		at.answer(t, at.direct, "Answer 6.")
		path("user: five")
	})
}

// TestA3_ToolsThroughAModel: a model calls a tool of a server over stdio, with an approval.
func TestA3_ToolsThroughAModel(t *testing.T) {
	withModel(t, quick+"\n"+toolServer("RECORD", true), func(t *testing.T, _ *stage, at place, m *model) {
		at.say(t, "please remove /tmp/x")
		at.press(t, at.direct, "Approve")
		at.sees(t, at.direct, "Answer 2.")
		asked := m.requests()
		if got := asked[1].String(); !strings.Contains(got, `[files__remove {"path":"/tmp/x"}]`) || !strings.Contains(got, "tool: removed /tmp/x") {
			t.Errorf("the model was given\n%s", got)
		}
		at.say(t, "please remove /tmp/y")
		at.press(t, at.direct, "Deny")
		at.sees(t, at.direct, "Answer 4.")
		if got := m.requests()[3].last(); !strings.Contains(got, "did not allow this call") {
			t.Errorf("the model was told %q", got)
		}
	})
}

// TestS10_Steer: a message that comes while the model works goes to it with its next request.
func TestS10_Steer(t *testing.T) {
	withModel(t, quick+"\nsession: {queue: steer}\n"+toolServer("RECORD", true), func(t *testing.T, _ *stage, at place, m *model) {
		at.say(t, "please remove /tmp/x")
		at.button(t, at.direct, "Approve")
		at.say(t, "and be nice about it")
		at.quiet(t, quietTime)
		at.press(t, at.direct, "Approve")
		at.sees(t, at.direct, "Answer 2.")
		if got := m.requests()[1].String(); !strings.Contains(got, "user: and be nice about it") {
			t.Errorf("the model was given\n%s", got)
		}
		at.quiet(t, quietTime)
		if n := len(m.requests()); n != 2 {
			t.Errorf("the model was asked %d times", n)
		}
	})
}

// TestC7_FilesReachTheAgent: a picture and a text file, with and without a caption, and a long paste
// that the client cut.
func TestC7_FilesReachTheAgent(t *testing.T) {
	withModel(t, quick, func(t *testing.T, _ *stage, at place, m *model) {
		picture := []byte("\x89PNG\r\n\x1a\n0000000000")
		at.speak(t, sim.Say{Chat: at.direct, Person: at.ann, Text: "what is this?", Files: []sim.File{{Name: "cat.png", MIME: "image/png", Data: picture}}})
		at.sees(t, at.direct, "Answer 1.")
		if got := m.requests()[0].last(); !strings.Contains(got, "what is this?") || !strings.Contains(got, base64.StdEncoding.EncodeToString(picture)) {
			t.Errorf("the model was given %s", got)
		}
		at.speak(t, sim.Say{Chat: at.direct, Person: at.ann, Files: []sim.File{{Name: "notes.txt", MIME: "text/plain", Data: []byte("buy milk")}}})
		at.sees(t, at.direct, "Answer 2.")
		if got := m.requests()[1].last(); !strings.Contains(got, "buy milk") || !strings.Contains(got, "notes.txt") {
			t.Errorf("the model was given %s", got)
		}
		var paste strings.Builder
		for i := range 400 {
			fmt.Fprintf(&paste, "line %d of a paste\n", i)
		}
		at.speak(t, sim.Say{Chat: at.direct, Person: at.ann, Text: strings.TrimSpace(paste.String()), Parts: map[string]int{"telegram": 2, "discord": 4, "slack": 1}[at.platform.Name()]})
		at.sees(t, at.direct, "Answer 3.")
		at.quiet(t, quietTime)
		if n := len(m.requests()); n != 3 {
			t.Errorf("the paste became %d turns", n-2)
		}
		if got := m.requests()[2].String(); !strings.Contains(got, "line 0 of") || !strings.Contains(got, "line 399 of") {
			t.Error("the paste is not whole")
		}
	})
}
