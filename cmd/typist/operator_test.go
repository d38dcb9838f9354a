package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"typist/adapters"
)

// TestC4_ARefusedBotIsNotStartedAgain: its exit code is one of those that the README's unit does
// not restart on.
func TestC4_ARefusedBotIsNotStartedAgain(t *testing.T) {
	log := new(record)
	std := streams{out: log, err: log}
	refused := fmt.Errorf("every channel has stopped: %w", &adapters.FatalError{Channel: "telegram", Sentence: "the token is wrong"})
	if code := report(refused, std); code != exitDenied {
		t.Errorf("exit %d", code)
	}
	log.wants(t, "no channel is left")
	if code := report(errors.New("disk full"), std); code != exitFailed {
		t.Errorf("exit %d for something that a restart may mend", code)
	}
	if want := fmt.Sprintf("RestartPreventExitStatus=%d %d\n", exitConfig, exitDenied); !strings.Contains(readReadme(t), want) {
		t.Errorf("the unit in the README lacks %s", want)
	}
}

// TestC2_PairingsAreListedAndRevoked from a shell that does not know the tokens.
func TestC2_PairingsAreListedAndRevoked(t *testing.T) {
	f := newFrame(t)
	socket, err := control(t.Context(), f.config.DataDir, f.svc, f.process.log)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.close()
	file := filepath.Join(t.TempDir(), "typist.yaml")
	write(t, file, fmt.Sprintf("dataDir: %q\nchannels: {telegram: {botToken: \"${NO_SUCH_TOKEN}\"}}\n", f.config.DataDir))
	for args, want := range map[string]string{"--list": "nobody", "--revoke 7": "7 is out", "123456": "ann may use"} {
		out := new(record)
		if code := execute(t.Context(), append([]string{"pair", "--config", file}, strings.Fields(args)...), streams{out: out, err: out}); code != exitOK {
			t.Errorf("pair %s: exit %d", args, code)
		}
		out.wants(t, want)
	}
}

func TestO5_AFileThatIsGoneIsToldOnce(t *testing.T) {
	f := newFrame(t)
	r := newReloader(f.process, f.svc)
	if err := os.Remove(f.config.File); err != nil {
		t.Fatal(err)
	}
	for look := 1; look <= 5; look++ {
		if r.changed() {
			t.Error("a file that is gone counts as changed")
		}
		if n := strings.Count(f.log.String(), "the config file is gone"); n != min(look/2, 1) {
			t.Errorf("look %d: told %d times", look, n)
		}
	}
	write(t, f.config.File, goodConfig+"silentTokens: [X]\n")
	if !r.changed() {
		t.Error("it came back and nobody noticed")
	}
}
