package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"typist/adapters/sim"
)

const answers = `on "build":
  think 500ms: I should look at the Makefile first.
  tool 2s Bash {"command":"make","description":"Build with tests"} => ok
  say: Built.
otherwise:
  wait 300ms
  say: You said **{{input}}**
`

func scripted(t *testing.T, dir, text string) string {
	t.Helper()
	file := filepath.Join(dir, "script.txt")
	must(t, os.WriteFile(file, []byte(text), 0o600))
	return "  main: {type: script, file: " + file + "}"
}

func TestC1_AnswersOnAllThreeAtOnce(t *testing.T) {
	on := platforms(t)
	dir := t.TempDir()
	p := run(t, configFile(t, dir, on, scripted(t, dir, answers), ""), 3)
	for name, at := range on {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			world := at.platform.World()
			_, err := at.platform.Say(sim.Say{Chat: at.direct, Person: at.ann, Text: "hello"})
			must(t, err)
			eventually(t, at, "the indicator", 5*time.Second, func() bool {
				for _, c := range world.Calls(sim.OpPulse) {
					if c.Status == 200 || c.Status == 204 {
						return true
					}
				}
				return false
			})
			eventually(t, at, "the answer", 10*time.Second, func() bool { return at.says(at.direct, "You said hello") })

			_, err = at.platform.Say(sim.Say{Chat: at.direct, Person: at.ann, Text: "build it"})
			must(t, err)
			eventually(t, at, "the progress message", 10*time.Second, func() bool { return at.says(at.direct, "Bash: Build with tests") })
			eventually(t, at, "the answer", 10*time.Second, func() bool { return at.says(at.direct, "Built.") })
			eventually(t, at, "no progress message", 10*time.Second, func() bool { return !at.says(at.direct, "Bash:") })

			_, err = at.platform.Say(sim.Say{Chat: at.group, Person: at.ann, Text: "not for the bot"})
			must(t, err)
			_, err = at.platform.Say(sim.Say{Chat: at.group, Person: at.ann, Text: "for the bot", Mention: true})
			must(t, err)
			eventually(t, at, "the answer in the group", 10*time.Second, func() bool { return at.says(at.group, "You said for the bot") })
			if at.says(at.group, "not for the bot") {
				t.Error("answered without a mention")
			}
			if at.topic != "" {
				chat, thread, _ := strings.Cut(at.topic, "/")
				_, err = at.platform.Say(sim.Say{Chat: chat, Thread: thread, Person: at.ann, Text: "in the topic", Mention: true})
				must(t, err)
				eventually(t, at, "the answer in the topic", 10*time.Second, func() bool {
					for _, m := range sim.FromBot(world.Messages(chat, thread)) {
						if strings.Contains(m.Text, "You said in the topic") {
							return true
						}
					}
					return false
				})
			}
			for _, m := range world.Messages(at.direct, "*") {
				t.Logf("%s: %q", m.From.Name, m.Text)
			}
		})
	}
	t.Cleanup(func() {
		if err := p.end(syscall.SIGTERM); err != nil {
			t.Errorf("the program ended with %v", err)
		}
	})
}
