//go:build !unix

// Package process keeps the children of a started program together, so that none outlives it (S2).
package process

import "os/exec"

// OwnGroup gives a process a group of its own, where the system has groups.
func OwnGroup(*exec.Cmd) {}

// KillGroup kills the process; there are no groups to find its children by.
func KillGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill()
	}
}
