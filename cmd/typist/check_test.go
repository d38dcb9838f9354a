package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
	"typist/agent"
)

func TestO4_TableSaysWhatToDo(t *testing.T) {
	const secret = "secret-of-the-bot"
	secrets := new(secretList)
	secrets.set([]string{secret})
	answer := func(found string, err error) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return found, err }
	}
	rows := reachAll(t.Context(), []probe{
		{"channel telegram", answer("bot @typist, privacy mode on", nil)},
		{"channel discord", answer("", &adapters.FatalError{Channel: "discord", Sentence: "The token is wrong: make a new one under Bot."})},
		{"channel slack", answer("", fmt.Errorf("auth.test with %s: %w\nmore", secret, adapters.ErrDenied))},
		{"backend main", answer("", &agent.Failure{Kind: agent.NeverSent, Err: errors.New("connection refused")})},
		{"backend claude", answer("", &agent.Failure{Kind: agent.Unauthorized, Status: 401})},
		{"mcpServer x", func(context.Context) (string, error) { panic("in a library") }},
	}, secrets)
	var out strings.Builder
	if table(&out, rows) {
		t.Error("the table says that all is well")
	}
	for _, want := range []string{
		"✓  channel telegram  bot @typist, privacy mode on",
		"✗  channel discord   discord: The token is wrong: make a new one under Bot.",
		"check the token and the bot's rights",
		"is the server running? check baseURL",
		"check apiKey",
		"✗  mcpServer x       panic: in a library",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q", want)
		}
	}
	if strings.Contains(out.String(), secret) || strings.Count(out.String(), "\n") != 7 {
		t.Error("a secret or a second line stands in the table")
	}
	if t.Failed() {
		t.Log(out.String())
	}
	if !table(&out, rows[:1]) {
		t.Error("a table without a fault says that something is wrong")
	}
}

func TestO4_ProbesHaveALimitAndRunSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		stuck := func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }
		rows := reachAll(t.Context(), []probe{{"a", stuck}, {"b", stuck}}, new(secretList))
		if took := time.Since(began); took != probeLimit {
			t.Errorf("two stuck probes took %s", took)
		}
		if !strings.Contains(rows[1].todo, "no answer came in time") {
			t.Errorf("row = %+v", rows[1])
		}
	})
}

func TestO4_DataDirIsTried(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	if f := dataDirFinding(dir); f.todo != "" {
		t.Errorf("finding = %+v", f)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	file := filepath.Join(dir, "file")
	write(t, file, "")
	if f := dataDirFinding(file); f.todo == "" {
		t.Error("a file passes for a directory")
	}
}
