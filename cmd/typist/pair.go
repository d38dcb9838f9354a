package main

import (
	"context"
	"errors"
	"fmt"
)

type pairCommand struct {
	configFlag
	Code   string `arg:"" optional:"" help:"The code that the bot showed to the person."`
	List   bool   `help:"List who was let in by a code, and who waits."`
	Revoke string `placeholder:"ID" help:"Take back what a code let in: the person's id, as --list shows it."`
}

// Run is `typist pair`.
func (p *pairCommand) Run(ctx context.Context, std streams) error {
	asked := 0
	for _, given := range []bool{p.Code != "", p.List, p.Revoke != ""} {
		if given {
			asked++
		}
	}
	if asked != 1 {
		return &usageError{errors.New("pair takes one of <code>, --list and --revoke ID")}
	}
	dir, err := p.dataDir()
	if err != nil {
		return err
	}
	name, req := "pair", controlRequest{Code: p.Code}
	switch {
	case p.List:
		name = "paired"
	case p.Revoke != "":
		name, req = "revoke", controlRequest{Person: p.Revoke}
	}
	text, err := ask(ctx, dir, name, req)
	if err == nil {
		fmt.Fprintln(std.out, text)
	}
	return err
}
