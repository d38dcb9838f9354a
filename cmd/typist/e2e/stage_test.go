package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"typist/adapters/sim"
)

// stage is a running program between the miniature platforms.
type stage struct {
	dir     string
	backend string // of configFile
	more    string // of configFile
	on      map[string]place
	program *program
	config  string
	record  string // executions of tools, one JSON line each
}

// newStage starts the named platforms (all where none is named) and prepares the program.
func newStage(t *testing.T, script, more string, names ...string) *stage {
	t.Helper()
	s := &stage{dir: t.TempDir(), more: more, on: platforms(t)}
	for name := range s.on {
		if len(names) > 0 && !slices.Contains(names, name) {
			delete(s.on, name)
		}
	}
	file := filepath.Join(s.dir, "script.txt")
	must(t, os.WriteFile(file, []byte(script), 0o600))
	s.record = filepath.Join(s.dir, "executed")
	s.backend = fmt.Sprintf("  main: {type: script, file: %s, record: %s}", file, s.record)
	s.config = configFile(t, s.dir, s.on, s.backend, more)
	return s
}

// reconfigure writes the config file anew; a running program takes it over by itself or on SIGHUP.
func (s *stage) reconfigure(t *testing.T, backend, more string) {
	t.Helper()
	s.config = configFile(t, s.dir, s.on, backend, more)
}

// quick keeps tests short: progress messages appear early.
const quick = "progress: {delaySeconds: 0.2}"

// write replaces the config file at once, as editors do.
func (s *stage) write(t *testing.T, body string) {
	t.Helper()
	must(t, os.WriteFile(s.config+".new", []byte(body), 0o600))
	must(t, os.Rename(s.config+".new", s.config))
}

// interrupt is what an operator's Ctrl-C sends.
const interrupt = syscall.SIGINT

// start runs the program until it is connected everywhere.
func (s *stage) start(t *testing.T) {
	t.Helper()
	s.program = run(t, s.config, len(s.on))
}

// stop ends the program as an operator does, within the time that it has (C5).
func (s *stage) stop(t *testing.T) {
	t.Helper()
	began := time.Now()
	if err := s.program.end(syscall.SIGTERM); err != nil {
		t.Errorf("the program ended with %v:\n%s", err, s.program.log)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the shutdown took %v", took)
	}
	s.scan(t)
}

// restart ends the program and starts it again.
func (s *stage) restart(t *testing.T) {
	t.Helper()
	s.stop(t)
	s.start(t)
}

// kill ends the program as a crash does.
func (s *stage) kill(t *testing.T) {
	t.Helper()
	_ = s.program.end(syscall.SIGKILL)
	s.scan(t)
}

// each runs act on every platform at the same time, with one program for all three.
func each(t *testing.T, script, more string, act func(t *testing.T, s *stage, at place)) {
	t.Helper()
	t.Parallel()
	s := newStage(t, script, more)
	s.start(t)
	t.Run("on", func(t *testing.T) {
		for name, at := range s.on {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				t.Cleanup(func() { t.Log(transcript(at)) })
				act(t, s, at)
			})
		}
	})
	s.stop(t)
}

// alone runs act on every platform at the same time, each with a program of its own.
func alone(t *testing.T, script, more string, act func(t *testing.T, s *stage, at place)) {
	t.Helper()
	t.Parallel()
	for _, name := range []string{"telegram", "discord", "slack"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, script, more, name)
			at := s.on[name]
			t.Cleanup(func() { t.Log(transcript(at)) })
			s.start(t)
			act(t, s, at)
			s.stop(t)
		})
	}
}

// transcript is all that stood and stands in the chats of a platform, for people who read a test's log.
func transcript(at place) string {
	var b strings.Builder
	world := at.platform.World()
	for _, c := range world.Chats() {
		for _, m := range world.Everything(c.ID, "*") {
			fmt.Fprintf(&b, "%s %s/%s #%s %s", m.At.Format("05.000"), m.Chat, m.Thread, m.ID, m.From.Name)
			for what, is := range map[string]bool{"DELETED": m.Deleted, "silent": m.Silent, "only for " + m.Private: m.Private != "", "↩" + m.ReplyTo: m.ReplyTo != "", fmt.Sprint(m.Pings): len(m.Pings) > 0, fmt.Sprint(m.Reactions): len(m.Reactions) > 0} {
				if is {
					b.WriteString(" " + what)
				}
			}
			for _, v := range m.History {
				fmt.Fprintf(&b, "\n      %s %q", v.At.Format("05.000"), v.Text)
			}
			fmt.Fprintf(&b, "\n    = %q", m.Text)
			for _, row := range m.Buttons {
				for _, button := range row {
					fmt.Fprintf(&b, " [%s]", button.Text)
				}
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// scan looks for what may not be in a log at info (O3): the platforms' tokens, and what anybody wrote.
func (s *stage) scan(t *testing.T) {
	t.Helper()
	log := s.program.log.String()
	for name, at := range s.on {
		for key, secret := range at.platform.Credentials() {
			if strings.Contains(log, secret) {
				t.Errorf("%s's %s is in the log", name, key)
			}
		}
		world := at.platform.World()
		for _, c := range world.Chats() {
			for _, m := range world.Everything(c.ID, "*") {
				for _, line := range append(strings.Split(m.Text, "\n"), textsOf(m)...) {
					if line = strings.TrimSpace(line); len(line) >= 12 && strings.Contains(log, line) {
						t.Errorf("%s: the text %q of %s is in the log", name, line, m.From.Name)
					}
				}
			}
		}
	}
}

func textsOf(m sim.Message) (out []string) {
	for _, v := range m.History {
		out = append(out, v.Text)
	}
	return out
}
