package e2e

import (
	"strings"
	"testing"
)

const failing = `on "cut once":
  say 1ms: Half a
  once {
    cut
  }
  say 1ms: whole.
on "overloaded":
  once {
    error overloaded
  }
  say 1ms: Now it works.
on "refused":
  error unauthorized: sk-live-0123456789abcdefghijkl is wrong
on "mail":
  tool 20ms Mail {"to":"bob"} => sent
  once {
    error cut
  }
  say 1ms: Mail is sent.
otherwise:
  say 1ms: Answer to {{input}}
`

// TestS3_FailuresSayWhatToDo: a sentence, a Retry button only where that helps, nothing executed twice.
func TestS3_FailuresSayWhatToDo(t *testing.T) {
	alone(t, failing, quick, func(t *testing.T, s *stage, at place) {
		at.say(t, "overloaded")
		at.sees(t, at.direct, "The model is overloaded right now. Press Retry")
		at.press(t, at.direct, "Retry")
		at.answer(t, at.direct, "Now it works.")
		at.gone(t, at.direct, "overloaded right now")

		at.say(t, "refused")
		m := at.sees(t, at.direct, "The model refused this bot's key.")
		if _, ok := buttonOf(m, "Retry"); ok {
			t.Error("a Retry button where retrying can't help")
		}
		if strings.Contains(m.Text, "sk-live") || strings.Contains(s.program.log.String(), "sk-live-0123456789") {
			t.Error("the key shows")
		}

		at.say(t, "mail bob")
		at.press(t, at.direct, "Retry")
		at.answer(t, at.direct, "Mail is sent.")
		if n := executions(t, s.record)[`Mail{"to":"bob"}`]; n != 1 {
			t.Errorf("the tool was executed %d times", n)
		}
	})
}

// TestS8_RetryMakesASibling: /retry answers again, as 2/2; ◀ and ▶ switch, and what is shown is
// what the conversation goes on from, after a restart too.
func TestS8_RetryMakesASibling(t *testing.T) {
	script := `on "again":
  once {
    say 1ms: The first answer.
    silence
  }
  say 1ms: Another answer.
otherwise:
  say 1ms: Answer to {{input}}
`
	alone(t, strings.Replace(script, "    silence\n", "", 1), quick, func(t *testing.T, s *stage, at place) {
		at.command(t, "retry", "")
		at.sees(t, at.direct, "There is nothing to retry here.")
		at.say(t, "again")
		at.sees(t, at.direct, "Another answer.")
		at.quiet(t, quietTime)
		at.command(t, "retry", "")
		at.button(t, at.direct, "2/2")
		at.press(t, at.direct, "◀")
		at.button(t, at.direct, "1/2")
		s.restart(t)
		at.press(t, at.direct, "▶")
		m, _ := at.button(t, at.direct, "2/2")
		if _, ok := buttonOf(m, "▶"); ok {
			t.Error("▶ on the last version")
		}
	})
}

// edits an answered message and waits for the new branch.
func (p place) edit(t *testing.T, message, text string) {
	t.Helper()
	must(t, p.platform.EditMessage(p.direct, p.ann, message, text))
}

const long = `on "long":
  pace 0ms
  say: Long: {{input}}
LINES
otherwise:
  pace 0ms
  say: Short: {{input}}
`

func longScript(lines int) string {
	return strings.Replace(long, "LINES\n", strings.Repeat("  |\n  | A paragraph of some length, so that the answer needs more than one message on every platform there is.\n", lines)+"  |\n  | The end.\n", 1)
}

// TestS7_EditAndResend: an edited message makes a branch; ◀ ▶ switch between answers of different
// lengths, a restart in between changes nothing, and the next message goes on from what is shown.
func TestS7_EditAndResend(t *testing.T) {
	alone(t, longScript(125), quick, func(t *testing.T, s *stage, at place) {
		question := at.say(t, "long one")
		at.sees(t, at.direct, "The end.")
		if n := len(at.bots(at.direct)); n < 2 {
			t.Fatalf("the long answer is %d message(s)", n)
		}
		long := len(at.bots(at.direct))

		at.edit(t, question, "brief")
		m := at.sees(t, at.direct, "Short: brief")
		if _, ok := buttonOf(m, "2/2"); !ok {
			t.Errorf("no 2/2: %v", m.Buttons)
		}
		if m.ReplyTo != question && at.platform.Name() != "slack" {
			t.Errorf("the new answer replies to %q, not to the edited message", m.ReplyTo)
		}
		at.gone(t, at.direct, "Long:")
		at.quiet(t, quietTime)
		if n := len(at.bots(at.direct)); n != 1 {
			t.Errorf("%d messages stand for the new branch", n)
		}

		s.restart(t)
		at.press(t, at.direct, "◀")
		at.sees(t, at.direct, "The end.")
		at.sees(t, at.direct, "Long: long one")
		at.quiet(t, quietTime)
		if n := len(at.bots(at.direct)); n != long || at.says(at.direct, "Short:") {
			t.Errorf("%d messages stand for the old branch, %d before", n, long)
		}
		at.press(t, at.direct, "▶")
		at.sees(t, at.direct, "Short: brief")
		at.gone(t, at.direct, "A paragraph")
		at.gone(t, at.direct, "The end.")

		before := len(at.bots(at.direct))
		next := at.say(t, "next")
		at.sees(t, at.direct, "Short: next")
		at.edit(t, next, "/stop") // commands in edited messages do nothing
		at.edit(t, next, "next, edited")
		at.sees(t, at.direct, "Short: next, edited")
		at.quiet(t, quietTime)
		if n := len(at.bots(at.direct)); n != before+1 {
			t.Errorf("%d messages, want %d", n, before+1)
		}
	})
}

// TestS7_EditWhileItRuns: the run on the old text ends without a trace, the new text is answered.
func TestS7_EditWhileItRuns(t *testing.T) {
	script := "on \"slow\":\n  tool 30s Bash {\"command\":\"make\"} => ok\notherwise:\n  say 1ms: Answer to {{input}}\n"
	each(t, script, quick, func(t *testing.T, _ *stage, at place) {
		question := at.say(t, "slow")
		at.sees(t, at.direct, "Bash: make")
		waiting := at.say(t, "waits")
		at.edit(t, waiting, "waits with another text")
		at.edit(t, question, "fast")
		at.answer(t, at.direct, "Answer to fast")
		at.answer(t, at.direct, "Answer to waits with another text")
		at.gone(t, at.direct, "Bash:")
		at.quiet(t, quietTime)
		if n := len(at.bots(at.direct)); n != 2 {
			t.Errorf("%d messages are left", n)
		}
	})
}

// TestS8_BranchAndNew: going on from an earlier message, and a new conversation.
func TestS8_BranchAndNew(t *testing.T) {
	script := `otherwise:
  pace 0ms
  say: Answer to {{input}}
`
	each(t, script, quick, func(t *testing.T, _ *stage, at place) {
		at.say(t, "one")
		first := at.answer(t, at.direct, "Answer to one")
		at.say(t, "two")
		at.answer(t, at.direct, "Answer to two")
		name := "branch"
		if at.platform.Name() == "slack" {
			at.onMessage(t, name, first.ID)
			at.command(t, "branch", "")
		} else if at.platform.Name() == "discord" {
			at.onMessage(t, "Branch", first.ID)
			at.command(t, "branch", "")
		} else {
			at.onMessage(t, name, first.ID)
			at.command(t, name, "")
		}
		at.sees(t, at.direct, "Your next message goes on from there.")
		at.sees(t, at.direct, "Use this on an earlier message")
		at.say(t, "three")
		at.answer(t, at.direct, "Answer to three")
		at.command(t, "new", "")
		m := at.sees(t, at.direct, "A new conversation begins with your next message.")
		if m.Private == "" && !m.Silent {
			t.Error("the answer to a command notifies")
		}
		at.say(t, "four")
		at.answer(t, at.direct, "Answer to four")
	})
}
