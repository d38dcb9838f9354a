package main

import (
	"context"
	"fmt"
)

type pairCommand struct {
	configFlag
	Code string `arg:"" help:"The code that the bot showed to the person."`
}

// Run is `typist pair`.
func (p *pairCommand) Run(ctx context.Context, std streams) error {
	c, err := p.load()
	if err != nil {
		return err
	}
	text, err := ask(ctx, c.DataDir, "pair", controlRequest{Code: p.Code})
	if err == nil {
		fmt.Fprintln(std.out, text)
	}
	return err
}
