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

// TestO4_Check: a table with what was found and what to do, and the exit code.
func TestO4_Check(t *testing.T) {
	t.Parallel()
	s := newStage(t, "otherwise:\n  silence\n", "")
	out, err := typist("check", "--config", s.config)
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, want := range []string{"✓  channel telegram", "✓  channel discord", "✓  channel slack", "✓  backend main", "✓  config", "@typist_bot"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	data, err := os.ReadFile(s.config)
	must(t, err)
	secret := s.on["discord"].platform.Credentials()["botToken"]
	s.write(t, strings.Replace(string(data), secret, secret+"wrong", 1))
	must(t, s.on["slack"].platform.Close())
	out, err = typist("check", "--config", s.config)
	if exitCode(err) != 1 {
		t.Errorf("exit %v", err)
	}
	for _, want := range []string{"✓  channel telegram", "✗  channel discord", "✗  channel slack", "check the network"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if strings.Contains(out, secret) {
		t.Errorf("a token shows:\n%s", out)
	}
	t.Log(out)
	s.write(t, strings.Replace(string(data), "groups:", "gruops:", 1))
	out, err = typist("check", "--config", s.config)
	if exitCode(err) != 2 || !strings.Contains(out, "did you mean groups?") {
		t.Errorf("%v\n%s", err, out)
	}
}

func exitCode(err error) int {
	if e, ok := err.(interface{ ExitCode() int }); ok {
		return e.ExitCode()
	}
	return 0
}

// TestO5_Reload: modes, allow-lists and the language change on SIGHUP and by themselves; a wrong
// file changes nothing, and what needs a restart is named.
func TestO5_Reload(t *testing.T) {
	each(t, "otherwise:\n  say 1ms: Answer to {{input}}\n", quick, func(t *testing.T, s *stage, at place) {
		if at.platform.Name() != "telegram" {
			return // one program, one file
		}
		log := s.program.log
		logs := func(text string, n int) {
			t.Helper()
			ctx, cancel := contextFor(patience)
			defer cancel()
			if err := log.wait(ctx, text, n); err != nil {
				t.Fatalf("%v:\n%s", err, log)
			}
		}
		data, err := os.ReadFile(s.config)
		must(t, err)
		body := string(data)
		s.write(t, strings.ReplaceAll(strings.Replace(body, quick, "progress: {language: de}\nsession: {typingMode: never}", 1), `allowFrom: ["*"]`, `allowFrom: []`))
		must(t, s.program.cmd.Process.Signal(syscall.SIGHUP))
		logs("msg=reloaded", 1)
		for _, p := range s.on {
			p.say(t, "now?")
		}
		logs("not let in", 3)
		s.write(t, strings.Replace(body, quick, "progress: {language: klingon}", 1))
		logs("the config stays as it was", 1)
		s.write(t, strings.Replace(strings.Replace(body, quick, "progress: {language: de}\nsession: {typingMode: never}", 1), "http: {listen: \"\"}", "http: {listen: \"127.0.0.1:0\"}", 1))
		logs("changes that need a restart", 1)
		if !strings.Contains(log.String(), "http.listen") {
			t.Error("what needs a restart is not named")
		}
		for _, p := range s.on {
			before := len(p.platform.World().Calls(sim.OpPulse))
			p.say(t, "and now?")
			p.answer(t, p.direct, "Answer to and now?")
			if len(p.platform.World().Calls(sim.OpPulse)) != before {
				t.Errorf("%s: the indicator shows", p.platform.Name())
			}
			p.command(t, "stop", "")
			p.sees(t, p.direct, "Hier läuft gerade nichts.")
		}
	})
}

// TestC5_ShutdownInterrupts: SIGTERM ends a run as Interrupted, with what it had and a Resume
// button, within 10 s; what came meanwhile is answered after the restart.
func TestC5_ShutdownInterrupts(t *testing.T) {
	script := "on \"go\":\n  say 1ms: Half of it.\n  tool 20s Bash {\"command\":\"make\"} => ok\n  say 1ms: The other half.\notherwise:\n  say 1ms: Answer to {{input}}\n"
	alone(t, script, quick, func(t *testing.T, s *stage, at place) {
		at.say(t, "go")
		at.sees(t, at.direct, "Bash: make")
		at.say(t, "and this?")
		at.quiet(t, 300*time.Millisecond)
		s.stop(t)
		m := at.sees(t, at.direct, "Interrupted")
		if !strings.Contains(m.Text, "Half of it.") || at.says(at.direct, "Bash: make") {
			t.Errorf("%q", m.Text)
		}
		if on, _ := at.platform.World().Typing(at.direct, ""); on && at.platform.Name() == "slack" {
			t.Error("the indicator is left")
		}
		at.say(t, "while you were away")
		s.start(t)
		at.answer(t, at.direct, "Answer to and this?")
		at.answer(t, at.direct, "Answer to while you were away")
		eventually(t, at, "no signs", patience, func() bool {
			for _, m := range at.platform.World().Messages(at.direct, "*") {
				if len(m.Reactions) > 0 {
					return false
				}
			}
			return true
		})
		at.press(t, at.direct, "Resume")
		at.sees(t, at.direct, "The other half.") // the call that was cut off is not made again
		if n := executions(t, s.record)[`Bash{"command":"make"}`]; n != 1 {
			t.Errorf("the tool was executed %d times", n)
		}
		at.quiet(t, quietTime)
		for _, text := range []string{"Answer to and this?", "Answer to while you were away"} {
			if n := at.count(at.direct, text); n != 1 {
				t.Errorf("%d copies of %q", n, text)
			}
		}
	})
}

// refuses runs the program, which must end by itself with this sentence.
func (s *stage) refuses(t *testing.T, sentence string) {
	t.Helper()
	out, err := typist("run", "--config", s.config)
	if exitCode(err) != 1 || !strings.Contains(out, sentence) {
		t.Errorf("want %q and exit 1, got %v:\n%s", sentence, err, out)
	}
	if n := strings.Count(strings.TrimSpace(out), "\n"); n > 3 {
		t.Errorf("that is no sentence:\n%s", out)
	}
	t.Log(out)
}

// TestO1_WhatTheStoreCannotDoIsSaid: two processes on one folder, a file that is no database, a
// folder that can't be written.
func TestO1_WhatTheStoreCannotDoIsSaid(t *testing.T) {
	t.Parallel()
	s := newStage(t, "otherwise:\n  say 1ms: Answer to {{input}}\n", "", "telegram")
	s.start(t)
	s.refuses(t, "is in use")
	at := s.on["telegram"]
	at.say(t, "still there?")
	at.answer(t, at.direct, "Answer to still there?")
	s.stop(t)

	files, err := filepath.Glob(filepath.Join(s.dir, "data", "*.db*"))
	must(t, err)
	for _, file := range files {
		must(t, os.Remove(file))
	}
	must(t, os.WriteFile(files[0], []byte(strings.Repeat("this is no database\n", 1000)), 0o600))
	s.refuses(t, "typist.db")
	data, err := os.ReadFile(files[0])
	must(t, err)
	if !strings.HasPrefix(string(data), "this is no database") {
		t.Error("a file that is not ours was overwritten")
	}
}
