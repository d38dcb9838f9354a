package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const removing = `on "both":
  parallel {
    call files__remove {"path":"/tmp/a"}
    call files__remove {"path":"/tmp/b"}
  }
  say 1ms: Both are decided.
on "remove":
  say 1ms: I remove it.
  call files__remove {"path":"/tmp/a"}
  say 1ms: That is decided.
otherwise:
  say 1ms: Answer to {{input}}
`

// approving is a stage whose tool server asks for approvals.
func approving(t *testing.T, act func(t *testing.T, s *stage, at place, removed func() []string)) {
	t.Parallel()
	for _, name := range []string{"telegram", "discord", "slack"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, removing, quick, name)
			file := filepath.Join(s.dir, "removed")
			s.reconfigure(t, strings.Replace(s.backend, "type: script,", "type: script, mcpServers: [files],", 1), quick+"\n"+toolServer(file, true))
			at := s.on[name]
			t.Cleanup(func() { t.Log(transcript(at)) })
			s.start(t)
			act(t, s, at, func() []string {
				data, err := os.ReadFile(file)
				if err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				return strings.Fields(string(data))
			})
			s.stop(t)
		})
	}
}

// TestA4_ApproveAndDeny: a call waits for the buttons, one of two parallel calls does not wait for
// the other, and a refusal is an ordinary answer.
func TestA4_ApproveAndDeny(t *testing.T) {
	approving(t, func(t *testing.T, s *stage, at place, removed func() []string) {
		at.say(t, "remove it")
		m, _ := at.button(t, at.direct, "Approve")
		if !strings.Contains(m.Text, "Remove a file: /tmp/a") {
			t.Errorf("the question is %q", m.Text)
		}
		if len(removed()) != 0 {
			t.Fatal("the tool was called before anybody approved")
		}
		at.press(t, at.direct, "Approve")
		at.answer(t, at.direct, "That is decided.")
		if got := removed(); len(got) != 1 {
			t.Errorf("removed: %v", got)
		}
		m = at.sees(t, at.direct, "Approved by Ann: ")
		if len(m.Buttons) > 0 {
			t.Errorf("buttons are left: %v", m.Buttons)
		}

		at.say(t, "remove both")
		eventually(t, at, "two questions", patience, func() bool {
			n := 0
			for _, m := range at.bots(at.direct) {
				if _, ok := buttonOf(m, "Deny"); ok {
					n++
				}
			}
			return n == 2
		})
		at.press(t, at.direct, "Deny")
		at.sees(t, at.direct, "Denied by Ann: ")
		eventually(t, at, "the other question", patience, func() bool { _, _, ok := at.labelled(at.direct, "Approve"); return ok })
		at.press(t, at.direct, "Approve")
		at.answer(t, at.direct, "Both are decided.")
		if got := removed(); len(got) != 2 {
			t.Errorf("removed: %v", got)
		}
		if strings.Contains(s.program.log.String(), "level=ERROR") {
			t.Errorf("a refusal is no error:\n%s", s.program.log)
		}
	})
}

// TestA4_StopAndRestartWhileWaiting: an open question goes when its run is stopped, or when the
// program was started again; nothing is executed that nobody approved.
func TestA4_StopAndRestartWhileWaiting(t *testing.T) {
	approving(t, func(t *testing.T, s *stage, at place, removed func() []string) {
		at.say(t, "remove it")
		at.button(t, at.direct, "Approve")
		at.say(t, "stop")
		at.sees(t, at.direct, "Stopped after")
		eventually(t, at, "no question", patience, func() bool { _, _, ok := at.labelled(at.direct, "Approve"); return !ok })

		at.say(t, "remove it, please")
		at.button(t, at.direct, "Approve")
		s.restart(t)
		at.sees(t, at.direct, "Interrupted")
		eventually(t, at, "no question", patience, func() bool { _, _, ok := at.labelled(at.direct, "Approve"); return !ok })

		at.say(t, "remove it now")
		at.button(t, at.direct, "Approve")
		at.quiet(t, 300*time.Millisecond) // a question that is not known to stand yet may stay on Discord, until its button is pressed
		s.kill(t)
		s.start(t)
		eventually(t, at, "a second interruption", patience, func() bool { return at.count(at.direct, "Interrupted") == 2 })
		eventually(t, at, "no question", patience, func() bool { _, _, ok := at.labelled(at.direct, "Approve"); return !ok })
		if got := removed(); len(got) != 0 {
			t.Errorf("removed: %v", got)
		}
		at.press(t, at.direct, "Resume") // the agent learns that the call was not executed
		at.answer(t, at.direct, "That is decided.")
		if got := removed(); len(got) != 0 {
			t.Errorf("removed after a resume: %v", got)
		}
	})
}
