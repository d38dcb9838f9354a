//go:build unix

package tools

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a process a group of its own, so that its children can be found again, and an
// interrupt typed at the terminal does not reach it before us.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills what is left of a process's group.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // ESRCH: nothing is left
	}
}
