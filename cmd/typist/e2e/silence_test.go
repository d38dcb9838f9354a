package e2e

import (
	"strings"
	"testing"

	"typist/adapters/sim"
)

const silent = `on "^silence":
  tool 700ms Look {"at":"it"} => nothing
  silence
on "narrated":
  say 1ms: I looked around.
  tool 700ms Look {"at":"it"} => nothing
  silence
on "almost":
  say 300ms: NO REPLYING MACHINE answers.
on "thinking":
  think-silent 700ms
  say 1ms: Thought about it.
on "helpers":
  parallel {
    subagent Scout {
      tool 700ms Search {"query":"cats"} => cats
      say 1ms: Scout is back.
    }
    subagent Miner {
      tool 900ms Dig {"where":"here"} => gold
      say 1ms: Miner is back.
    }
  }
  say 1ms: Both are back.
on "files":
  file report.txt text/plain: All is well.
  file chart.png
  say 1ms: Here they are.
otherwise:
  say 1ms: Answer to {{input}}
`

// TestT5_SilenceLeavesNothing: a run that ends with NO_REPLY posts nothing and takes away what it
// showed; what only begins like one is an answer.
func TestT5_SilenceLeavesNothing(t *testing.T) {
	each(t, silent, quick, func(t *testing.T, s *stage, at place) {
		for _, text := range []string{"silence", "narrated"} {
			at.say(t, text)
			at.sees(t, at.direct, "Look: it")
			at.gone(t, at.direct, "Look: it")
			at.quiet(t, quietTime)
			if left := at.bots(at.direct); len(left) > 0 {
				t.Errorf("%s left %q", text, left[0].Text)
			}
		}
		at.say(t, "almost")
		at.answer(t, at.direct, "NO REPLYING MACHINE answers.")
		for _, m := range at.platform.World().Everything(at.direct, "*") {
			for _, text := range append(textsOf(m), m.Text) {
				for _, leak := range []string{"NO", "NO_", "NO_REPLY"} {
					for line := range strings.Lines(text) {
						if strings.TrimSpace(line) == leak {
							t.Errorf("%q shows in %q", leak, text)
						}
					}
				}
			}
		}
	})
}

// TestP10_ThinkingWithoutTextAndSubagents: a thought without text has its header (P6), subagents have
// areas of their own.
func TestP10_ThinkingWithoutTextAndSubagents(t *testing.T) {
	each(t, silent, quick, func(t *testing.T, _ *stage, at place) {
		at.say(t, "thinking")
		at.sees(t, at.direct, "Thinking…")
		at.answer(t, at.direct, "Thought about it.")
		at.say(t, "helpers")
		m := at.sees(t, at.direct, "Scout")
		if !strings.Contains(m.Text, "Miner") {
			m = at.sees(t, at.direct, "Miner")
		}
		m = at.answer(t, at.direct, "Both are back.")
		at.gone(t, at.direct, "Scout")
		if strings.Contains(m.Text, "Miner is back") {
			t.Errorf("%q", m.Text)
		}
	})
}

// TestC7_FilesReachThePerson: what an agent produces is uploaded with its answer.
func TestC7_FilesReachThePerson(t *testing.T) {
	each(t, silent, quick, func(t *testing.T, _ *stage, at place) {
		at.say(t, "files")
		at.sees(t, at.direct, "Here they are.")
		names := func() (out []string) {
			for _, m := range at.bots(at.direct) {
				for _, f := range m.Files {
					out = append(out, f.Name)
				}
			}
			return out
		}
		eventually(t, at, "two files", patience, func() bool { return len(names()) == 2 })
		at.quiet(t, quietTime)
		if n := at.count(at.direct, "Here they are."); n != 1 {
			t.Errorf("%d copies of the answer", n)
		}
	})
}

const rich = "otherwise:\n  pace 0ms\n  say: # Report\n  |\n  | Some **bold**, *italic*, ~~struck~~ and `code` with a [link](https://example.org/a_b), <b>no HTML</b> and 1 < 2 & 3.\n" +
	"  |\n  | | Name | Value |\n  | |---|---:|\n  | | alpha | 1 |\n  | | beta | 22 |\n  |\n  | 1. first\n  | 2. second\n  |\n  | > quoted\n  |\n  | ```go\n" +
	"CODE  | ```\n  |\n  | Hello @everyone and <!channel> and <@2001>, the end.\n"

// TestP13_LongRichAnswersAreComplete: every line of code, the table, the link: on each platform, in
// messages that each platform takes; nobody is pinged.
func TestP13_LongRichAnswersAreComplete(t *testing.T) {
	var code strings.Builder
	for i := range 120 {
		code.WriteString("  | fmt.Println(\"line number " + string(rune('a'+i%26)) + strings.Repeat("x", i) + "z\") // 😀\n")
	}
	each(t, strings.Replace(rich, "CODE", code.String(), 1), quick, func(t *testing.T, s *stage, at place) {
		at.say(t, "report")
		at.sees(t, at.direct, "the end.")
		var all strings.Builder
		page := ""
		for _, m := range at.bots(at.direct) {
			all.WriteString(m.Text + "\n")
			page += m.HTML
			if len(m.Pings) > 0 {
				t.Errorf("%v were pinged", m.Pings)
			}
		}
		text := all.String()
		for i := range 120 {
			if want := "line number " + string(rune('a'+i%26)) + strings.Repeat("x", i) + "z\""; !strings.Contains(text, want) {
				t.Errorf("%q is missing", want)
			}
		}
		for _, want := range []string{"Report", "bold", "italic", "struck", "alpha", "22", "first", "second", "quoted", "<b>no HTML</b>", "1 < 2 & 3"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is missing in\n%s", want, text)
			}
		}
		for _, want := range []string{"<b>bold</b>", "<i>italic</i>", "<code>code</code>", "https://example.org/a_b", "<pre>"} {
			if !strings.Contains(page, want) {
				t.Errorf("%q is missing in\n%.1500s", want, page)
			}
		}
		if strings.Contains(text, "**") || strings.Contains(text, "~~") {
			t.Error("marks are left")
		}
		for _, c := range at.platform.World().Calls(sim.OpSend) {
			if c.Status >= 400 && c.Status != 429 {
				t.Errorf("a send was refused: %+v", c)
			}
		}
	})
}

// TestC6_ThreadsAndTopics: two threads of one chat are two conversations; indicator and answer stay
// in the thread of the question.
func TestC6_ThreadsAndTopics(t *testing.T) {
	each(t, silent, quick, func(t *testing.T, _ *stage, at place) {
		world := at.platform.World()
		chat, thread, _ := strings.Cut(at.topic, "/")
		if at.topic == "" { // Slack: every question in a channel has its own thread
			chat = at.group
			thread = at.mention(t, "first")
			at.sees(t, chat, "Answer to first")
		}
		at.speak(t, sim.Say{Chat: chat, Thread: thread, Person: at.ann, Text: "thinking", Mention: true})
		at.mention(t, "beside")
		at.sees(t, at.group, "Answer to beside")
		m := at.sees(t, chat, "Thought about it.")
		if m.Thread != thread {
			t.Errorf("the answer is in %q, the question in %q", m.Thread, thread)
		}
		if len(world.Timeline(chat, thread)) == 0 {
			t.Error("no indicator in the thread")
		}
		if at.platform.Name() != "slack" {
			beside, _ := at.find(at.group, "Answer to beside")
			if beside.Thread != "" {
				t.Errorf("an answer beside threads is in %q", beside.Thread)
			}
			if beside.ReplyTo == "" {
				t.Error("an answer in a group is no reply")
			}
		}
	})
}
