package store

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

var background = context.Background()

// TestMain is also the program that tests start as a process of its own.
func TestMain(m *testing.M) {
	for env, child := range map[string]func(string) error{restartDir: restart, crashDir: crash} {
		if dir := os.Getenv(env); dir != "" {
			if err := child(dir); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	goleak.VerifyTestMain(m)
}
