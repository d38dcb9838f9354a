// Command typist connects an agent to Telegram, Discord and Slack so that people see it work.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	_ "time/tzdata" // active hours on machines without a zone database

	"github.com/alecthomas/kong"

	"typist/adapters"
	"typist/config"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // what was asked for did not work
	exitConfig = 2 // flags or the config file are wrong
	exitDenied = 3 // no channel is left: the platforms refuse the bot until somebody changes something (C4)
)

type commands struct {
	Run        runCommand        `cmd:"" help:"Serve the configured channels until stopped."`
	Playground playgroundCommand `cmd:"" help:"Show all of it in a browser, with no token and no network."`
	Check      checkCommand      `cmd:"" help:"Read the config, reach every channel and backend once, and say what to do."`
	Heartbeat  heartbeatCommand  `cmd:"" help:"Let the running typist start a heartbeat."`
	Pair       pairCommand       `cmd:"" help:"Let in the person who was shown this pairing code."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
	Help       struct{}          `cmd:"" help:"Explain a command: typist help run."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`
}

// streams are where a command writes.
type streams struct{ out, err io.Writer }

func main() {
	os.Exit(execute(context.Background(), os.Args[1:], streams{out: os.Stdout, err: os.Stderr}))
}

// execute runs one command line and returns the exit code.
func execute(ctx context.Context, args []string, std streams) int {
	if len(args) > 0 && args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	var c commands
	leave := -1
	parser, err := kong.New(&c,
		kong.Name("typist"),
		kong.Description("Connects an agent to Telegram, Discord and Slack so that people see it work."),
		kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Writers(std.out, std.err),
		kong.Exit(func(code int) { leave = code }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(std),
		kong.Vars{"version": versionLine()},
	)
	if err != nil {
		fmt.Fprintln(std.err, "typist:", err)
		return exitFailed
	}
	parsed, err := parser.Parse(args)
	switch {
	case leave >= 0: // --help has printed itself
		return leave
	case err != nil:
		fmt.Fprintf(std.err, "typist: %v\nSee typist --help.\n", err)
		return exitConfig
	}
	return report(parsed.Run(), std)
}

// report prints what went wrong, for people, and gives the exit code.
func report(err error, std streams) int {
	var problems config.Problems
	var usage *usageError
	var fatal *adapters.FatalError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errReported):
		return exitFailed
	case errors.As(err, &fatal):
		fmt.Fprintln(std.err, "typist: no channel is left; the log says what to do about each")
		return exitDenied
	case errors.As(err, &problems):
		fmt.Fprintln(std.err, problems)
		return exitConfig
	case errors.As(err, &usage):
		fmt.Fprintln(std.err, "typist:", err)
		return exitConfig
	}
	fmt.Fprintln(std.err, "typist:", err)
	return exitFailed
}

// errReported: the command has said itself what is wrong.
var errReported = errors.New("reported")

// usageError is a mistake in flags, or a config file that is not there.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// configFlag names the config file.
type configFlag struct {
	Config string `short:"c" placeholder:"FILE" help:"Config file (default: typist.yaml here, else in the user's config directory)."`
}

// path is the config file that the flag names or that is found.
func (f configFlag) path() (string, error) {
	path := f.Config
	if path == "" {
		found, err := config.Find()
		if err != nil {
			return "", &usageError{err}
		}
		path = found
	}
	return path, nil
}

// load reads the config file that the flag names or that is found.
func (f configFlag) load() (*config.Config, error) {
	path, err := f.path()
	if err != nil {
		return nil, err
	}
	c, err := config.Load(path, os.LookupEnv)
	return c, asUsage(err)
}

// dataDir is where the process that runs with this config file is found. The file's tokens need
// not be in this shell's environment.
func (f configFlag) dataDir() (string, error) {
	path, err := f.path()
	if err != nil {
		return "", err
	}
	dir, err := config.LoadDataDir(path, os.LookupEnv)
	return dir, asUsage(err)
}

// asUsage makes a file that can't be read a mistake of whoever named it.
func asUsage(err error) error {
	var problems config.Problems
	if err == nil || errors.As(err, &problems) {
		return err
	}
	return &usageError{err}
}
