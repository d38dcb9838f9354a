package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// ErrInterrupted is the cause to cancel a run's context with when the program shuts down: the run
// ends as Interrupt (C5, S9), not as Cancelled.
var ErrInterrupted = errors.New("interrupted by shutdown")

// Drive runs one request on a backend and guards what it emits (A1): RunStarted comes first,
// exactly one terminal event last, and nothing after it, however the backend behaves. emit is
// called by one goroutine at a time. Drive returns after the backend's Run has.
//
// How a run ended: ctx's end decides before the backend's own word. Its cause ErrInterrupted gives
// Interrupt, context.DeadlineExceeded RunError{TimedOut}, anything else Cancelled. Otherwise nil
// is Success, an error RunError by Classify, and a panic RunError{Crashed}.
func Drive(ctx context.Context, b Backend, req Request, emit func(Event)) {
	n := newNormaliser(emit)
	n.begin(req.RunID)
	err := errors.New("the backend's goroutine was ended")
	defer func() {
		if r := recover(); r != nil {
			slog.ErrorContext(ctx, "backend panicked", "run", req.RunID, "panic", Mask(fmt.Sprint(r)), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", r)
		}
		n.end(ending(ctx, req.RunID, err))
	}()
	err = b.Run(ctx, req, n.handle)
	if err != nil && ctx.Err() == nil {
		err = failureOf(err)
	}
}

// failureOf classifies an error of a run whose context still lives.
func failureOf(err error) error {
	if f := Classify(err); f != nil {
		return f
	}
	// The backend gave up on a context of its own: what it talked to is gone.
	return &Failure{Kind: CutEarly, Detail: oneLine(err.Error()), Err: err}
}

// ending makes the terminal event.
func ending(ctx context.Context, runID string, err error) Event {
	if ctx.Err() != nil {
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, ErrInterrupted):
			return RunFinished{RunID: runID, Outcome: Interrupt}
		case errors.Is(cause, context.DeadlineExceeded):
			return RunError{RunID: runID, Failure: Failure{Kind: TimedOut, Err: cause}}
		default:
			return RunFinished{RunID: runID, Outcome: Cancelled}
		}
	}
	if err == nil {
		return RunFinished{RunID: runID, Outcome: Success}
	}
	var f *Failure
	if !errors.As(err, &f) { // a panic, or Goexit
		f = &Failure{Kind: Crashed, Detail: oneLine(err.Error()), Err: err}
	}
	return RunError{RunID: runID, Failure: *f}
}
