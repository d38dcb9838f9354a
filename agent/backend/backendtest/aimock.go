package backendtest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// Aimock starts @copilotkit/aimock, a mock of model servers that is not ours, with fixtures from a
// file, and returns its address. Its own fixture format says what it answers to what; extra are
// further flags. The test fails if it is not installed: npm ci --prefix .ci/aimock.
func Aimock(t testing.TB, fixtures string, extra ...string) string {
	t.Helper()
	program := filepath.Join(top(t), ".ci", "aimock", "node_modules", "@copilotkit", "aimock", "dist", "cli.js")
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("aimock is not installed; run: npm ci --prefix .ci/aimock (or all tests by: bash .ci/test)")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "node", append([]string{program, "--port", "0", "--strict", "--fixtures", fixtures}, extra...)...)
	cmd.WaitDelay = time.Second
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start aimock: %v; it needs node 20 or newer", err)
	}
	drained := make(chan struct{})
	t.Cleanup(func() { cancel(); <-drained; _ = cmd.Wait() }) // killed: its exit code is of no interest
	found := make(chan string, 1)
	go func() {
		defer close(drained)
		defer close(found)
		address := regexp.MustCompile(`listening on (http://[0-9.:]+)`)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if m := address.FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1]
			}
		}
	}()
	select {
	case url, ok := <-found:
		if !ok {
			t.Fatal("aimock ended before it listened")
		}
		return url
	case <-time.After(30 * time.Second):
		t.Fatal("aimock did not begin to listen within 30 s")
	}
	return ""
}

// top is the folder of go.mod.
func top(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = up
	}
}
