package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"typist/agent"
	"typist/agent/backend/process"
)

const (
	// startTimeout bounds starting an agent and setting a session up: npx may have to unpack it first.
	startTimeout = 90 * time.Second
	// leaveTime is how long an agent may take to end once its input is closed.
	leaveTime = time.Second
	// drainTime is how long the output of an agent that has ended may be held open by what it left.
	drainTime = time.Second
)

// running is an agent's process and the connection to it.
type running struct {
	*conn
	cmd   *exec.Cmd
	stdin interface{ Close() error }
	said  *lastWords
	agent initialized
	ended chan struct{} // it, its children and its connection have ended
	exit  error         // how it ended; valid after ended
}

// initialized is what an agent says of itself.
type initialized struct {
	Version      int `json:"protocolVersion"`
	Capabilities struct {
		LoadSession bool `json:"loadSession"`
		Prompt      struct {
			Image           bool `json:"image"`
			EmbeddedContext bool `json:"embeddedContext"`
		} `json:"promptCapabilities"`
		MCP struct {
			HTTP bool `json:"http"`
		} `json:"mcpCapabilities"`
		Session struct {
			Resume *struct{} `json:"resume"`
		} `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
	Info *struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version string `json:"version"`
	} `json:"agentInfo"`
	AuthMethods []struct {
		Name string `json:"name"`
	} `json:"authMethods"`
}

// start starts an agent and shakes hands with it. Its output is handled by p.
func start(run context.Context, c Config, p peer, log *slog.Logger) (*running, error) {
	r, err := launch(c, p, log)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(run, startTimeout)
	defer cancel()
	hello := map[string]any{
		"protocolVersion": protocolVersion,
		// Nothing of ours may be read, written or run: the agent has tools of its own.
		"clientCapabilities": map[string]any{"fs": map[string]bool{"readTextFile": false, "writeTextFile": false}, "terminal": false},
		"clientInfo":         map[string]string{"name": "typist", "version": "1"},
	}
	if err := r.call(ctx, "initialize", hello, &r.agent, nil); err != nil {
		return nil, r.failed(run, err)
	}
	if v := r.agent.Version; v != protocolVersion {
		r.end()
		return nil, &agent.ProtocolError{Detail: fmt.Sprintf("the agent speaks version %d of the protocol, not %d", v, protocolVersion)}
	}
	return r, nil
}

// launch starts the process.
func launch(c Config, p peer, log *slog.Logger) (*running, error) {
	if len(c.Command) == 0 {
		return nil, errors.New("no command")
	}
	cmd := exec.CommandContext(context.Background(), c.Command[0], c.Command[1:]...) // outlives a run
	cmd.Dir = c.Cwd
	cmd.Env = cmd.Environ()
	for name, value := range c.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	process.OwnGroup(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// Pipes of our own: with exec's, what is in them would be lost when the process ends, or its end
	// not be seen while a child holds them.
	out, toOut, err := os.Pipe()
	if err != nil {
		_ = stdin.Close()
		return nil, err
	}
	errs, toErrs, err := os.Pipe()
	if err == nil {
		cmd.Stdout, cmd.Stderr = toOut, toErrs
		err = cmd.Start()
		_ = toErrs.Close()
	}
	_ = toOut.Close()
	if err != nil {
		_, _, _ = stdin.Close(), out.Close(), errs.Close()
		return nil, &agent.Failure{Kind: agent.Crashed, Detail: "start the agent: " + err.Error(), Err: err}
	}
	noise := func(line []byte) {
		log.Debug("ACP agent", "stdout", agent.Mask(string(line[:min(len(line), maxSaid)])))
	}
	r := &running{conn: newConn(stdin, p, noise), cmd: cmd, stdin: stdin, said: &lastWords{log: log}, ended: make(chan struct{})}
	go r.watch(out, errs)
	return r, nil
}

// watch reads until the process has ended, and sees to it that nothing of it is left.
func (r *running) watch(out, errs *os.File) {
	var reading sync.WaitGroup
	reading.Go(func() { r.read(out) })
	reading.Go(func() { _, _ = io.Copy(r.said, errs) })
	r.exit = r.cmd.Wait()
	process.KillGroup(r.cmd) // its children; they would hold its output open too
	timer := time.AfterFunc(drainTime, func() { _, _ = out.Close(), errs.Close() })
	reading.Wait()
	timer.Stop()
	_, _ = out.Close(), errs.Close()
	close(r.ended)
}

// kill ends the process and everything that it started, at once.
func (r *running) kill() { process.KillGroup(r.cmd) }

// end ends the process gently, then by force, and returns when it and its children have ended.
func (r *running) end() {
	_ = r.stdin.Close()
	timer := time.AfterFunc(leaveTime, r.kill)
	defer timer.Stop()
	<-r.ended
}

// alive reports whether the process can still be talked to.
func (r *running) alive() bool {
	select {
	case <-r.gone:
		return false
	case <-r.ended:
		return false
	default:
		return true
	}
}

// failed ends a process of which a call failed, and says why it did: what it wrote last, where it
// ended by itself. A stopped run is ctx's error.
func (r *running) failed(ctx context.Context, err error) error {
	var refused *rpcError
	byItself := !errors.As(err, &refused)
	if byItself {
		select {
		case <-r.gone: // it closed its output: it is ending
		case <-r.ended:
		default:
			r.kill()
		}
	}
	r.end()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !byItself:
		return refusal(refused, r.agent)
	case errors.Is(err, context.DeadlineExceeded):
		return &agent.Failure{Kind: agent.TimedOut, Detail: fmt.Sprintf("the agent did not answer in %v", startTimeout), Err: err}
	}
	var protocol *agent.ProtocolError
	if errors.As(err, &protocol) {
		return protocol
	}
	detail := "the agent's process ended"
	if r.exit != nil {
		detail += " (" + r.exit.Error() + ")"
	}
	if last := r.said.last(); last != "" {
		detail += ": " + last
	}
	return &agent.Failure{Kind: agent.Crashed, Detail: agent.Mask(detail), Err: err}
}

// refusal classifies an error that the agent answered with, by its code (S3).
func refusal(e *rpcError, a initialized) *agent.Failure {
	f := &agent.Failure{Kind: agent.ServerError, Detail: agent.Mask(e.Error()), Err: e}
	switch e.Code {
	case codeAuthRequired:
		f.Kind = agent.Unauthorized
		for i, m := range a.AuthMethods {
			if i == 0 {
				f.Detail += "; sign in with the agent's own program first: "
			} else {
				f.Detail += ", "
			}
			f.Detail += m.Name
		}
	case codeNotFound:
		f.Kind = agent.NotFound
	case codeInvalidRequest, codeUnknownMethod, codeInvalidParams:
		f.Kind = agent.Invalid
	}
	return f
}
