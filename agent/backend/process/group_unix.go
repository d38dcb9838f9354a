//go:build unix

// Package process keeps the children of a started program together, so that none outlives it (S2).
package process

import (
	"os/exec"
	"syscall"
)

// OwnGroup gives a process a group of its own, so that its children can be found again, and an
// interrupt typed at the terminal does not reach it before us. Call it before Start.
func OwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// KillGroup kills what is left of a started process's group, the process included.
func KillGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // ESRCH: nothing is left
	}
}
