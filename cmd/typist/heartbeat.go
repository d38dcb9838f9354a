package main

import (
	"context"
	"fmt"
)

type heartbeatCommand struct {
	configFlag
	Now   bool   `required:"" help:"Do not wait for the schedule."`
	Agent string `help:"Agent whose heartbeat it is (default: each that has one)."`
}

// Run is `typist heartbeat`.
func (h *heartbeatCommand) Run(ctx context.Context, std streams) error {
	dir, err := h.dataDir()
	if err != nil {
		return err
	}
	text, err := ask(ctx, dir, "heartbeat", controlRequest{Agent: h.Agent})
	if err == nil {
		fmt.Fprintln(std.out, text)
	}
	return err
}
