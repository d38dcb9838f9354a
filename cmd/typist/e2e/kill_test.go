package e2e

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"typist/adapters/sim"
)

// kills is how many random points the program is killed at, over the three platforms:
// go test ./cmd/typist/e2e -run Kill -kills 200 does all of them.
var kills = flag.Int("kills", 40, "points at which the program is killed")

// killSeed repeats a run that failed.
var killSeed = flag.Uint64("killseed", 0, "seed of the random points; 0 = a new one")

// killScript ends with one word: a text that is cut goes on in a message of its own when resumed (S5).
const killScript = `otherwise:
  wait 50ms
  say 100ms: I send it.
  tool 250ms Mail {"to":"{{input}}"} => sent
  wait 100ms
  tool 250ms Log {"what":"{{input}}"} => done
  say 1ms: Answer-to-{{input}}
`

// TestS9_KillAtAnyPoint kills the program (kill -9) at random points of a conversation and starts
// it again: no message is lost, none is answered twice, no tool is executed twice, and nothing
// that says "Working…" is left.
func TestS9_KillAtAnyPoint(t *testing.T) {
	seed := *killSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	var all sync.WaitGroup
	for i, name := range []string{"telegram", "discord", "slack"} {
		n := *kills / 3
		if i < *kills%3 {
			n++
		}
		all.Go(func() { killed(t, name, n, rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
	all.Wait()
}

func killed(t *testing.T, name string, n int, rng *rand.Rand) {
	at := platforms(t)[name]
	dir := t.TempDir()
	script := filepath.Join(dir, "script.txt")
	must(t, os.WriteFile(script, []byte(killScript), 0o600))
	record := filepath.Join(dir, "executed")
	config := configFile(t, dir, map[string]place{name: at}, fmt.Sprintf("  main: {type: script, file: %s, record: %s}", script, record),
		"progress: {delaySeconds: 0.2, notifyAfterSeconds: 1}")
	for i := range n {
		p := run(t, config, 1)
		text := fmt.Sprintf("%s-m%d", name, i)
		_, err := at.platform.Say(sim.Say{Chat: at.direct, Person: at.ann, Text: text})
		must(t, err)
		wait(time.Duration(rng.IntN(1400)) * time.Millisecond)
		if i%10 == 9 { // more than 20 waiting messages would be refused (S10)
			eventually(t, at, "the queue", 60*time.Second, func() bool { return settled(at, name, i+1) })
		}
		_ = p.end(syscall.SIGKILL)
	}
	p := run(t, config, 1)
	// What was interrupted is resumed, as a person would.
	for range 3 * n {
		button, ok := resume(at)
		if ok {
			must(t, at.platform.Press(at.direct, at.ann, button.message, button.data))
		}
		eventually(t, at, "the end of what runs", 30*time.Second, func() bool { return idle(at, button.message) })
		if _, more := resume(at); !more && answered(at, name, n) == n {
			break
		}
		wait(300 * time.Millisecond)
	}
	for i := range n {
		want := fmt.Sprintf("Answer-to-%s-m%d", name, i)
		count := 0
		for _, m := range sim.FromBot(at.platform.World().Messages(at.direct, "*")) {
			if strings.TrimSpace(m.Text) == want || strings.HasSuffix(strings.TrimSpace(m.Text), "\n"+want) {
				count++
			}
		}
		if count != 1 {
			t.Errorf("%s: %d copies of %q", name, count, want)
		}
	}
	for what, count := range executions(t, record) {
		if count != 1 {
			t.Errorf("%s: %s was executed %d times", name, what, count)
		}
	}
	for _, m := range sim.FromBot(at.platform.World().Messages(at.direct, "*")) {
		if strings.Contains(m.Text, "Working…") || strings.Contains(m.Text, "Mail:") || strings.Contains(m.Text, "Log:") && !strings.Contains(m.Text, "Interrupted") {
			t.Errorf("%s: left behind: %q", name, m.Text)
		}
	}
	_ = p.end(syscall.SIGTERM)
	if t.Failed() {
		for _, m := range at.platform.World().Everything(at.direct, "*") {
			t.Logf("%s %s deleted=%v %q %v", m.ID, m.From.Name, m.Deleted, m.Text, m.Buttons)
		}
	}
}

// wait lets real time pass: the point of a kill is a time.
func wait(d time.Duration) { <-time.After(d) }

type button struct{ message, data string }

// resume finds a Resume or Retry button.
func resume(at place) (button, bool) {
	for _, m := range sim.FromBot(at.platform.World().Messages(at.direct, "*")) {
		for _, row := range m.Buttons {
			for _, b := range row {
				if b.Text == "Resume" || b.Text == "Retry" {
					return button{m.ID, b.Data}, true
				}
			}
		}
	}
	return button{}, false
}

// idle: no run shows a Stop button, and the pressed one is gone.
func idle(at place, pressed string) bool {
	for _, m := range sim.FromBot(at.platform.World().Messages(at.direct, "*")) {
		for _, row := range m.Buttons {
			for _, b := range row {
				if b.Text == "Stop" || (b.Text == "Resume" || b.Text == "Retry") && m.ID == pressed {
					return false
				}
			}
		}
	}
	return true
}

// settled: the newest message is answered or its run interrupted, and so are all before it.
func settled(at place, name string, n int) bool {
	if at.says(at.direct, fmt.Sprintf("Answer-to-%s-m%d", name, n-1)) {
		return true
	}
	messages := at.platform.World().Messages(at.direct, "*")
	last := messages[len(messages)-1]
	return last.From.Bot && strings.HasPrefix(last.Text, "Interrupted") && idle(at, "")
}

func answered(at place, name string, n int) (done int) {
	for i := range n {
		if at.says(at.direct, fmt.Sprintf("Answer-to-%s-m%d", name, i)) {
			done++
		}
	}
	return done
}

// executions counts the executions by tool and arguments.
func executions(t *testing.T, file string) map[string]int {
	out := map[string]int{}
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return out
	}
	must(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var e struct {
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		}
		must(t, json.Unmarshal(lines.Bytes(), &e))
		out[e.Name+string(e.Args)]++
	}
	return out
}
