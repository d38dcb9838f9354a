//go:build !unix

package tools

import "os/exec"

func ownGroup(*exec.Cmd) {}

// killGroup kills the process; there are no groups to find its children by.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill()
	}
}
