package sse

import (
	"errors"
	"io"
	"time"
)

// Progress is how far an answer has come.
type Progress uint8

// The stages.
const (
	Going    Progress = iota
	Finished          // the answer is complete; only accounting may follow
	Done              // nothing more is to come
)

const (
	// afterFinish is how long a stream may stay open once the answer is complete. Some servers
	// send no end and keep the connection.
	afterFinish = 3 * time.Second
	// afterDone is how long the end of the body may take after the last event. It is nearly always
	// there already, and a body read to its end leaves the connection for the next request.
	afterDone = 100 * time.Millisecond
)

// Read gives an answer's events to step until it says Done or fails, and closes the stream. A
// stream that ends before step has said Finished was cut: io.ErrUnexpectedEOF, or what broke it.
func (s *Stream) Read(step func(Event) (Progress, error)) (err error) {
	defer func() {
		if e := s.Close(); err == nil {
			err = e
		}
	}()
	for stage := Going; stage != Done; {
		ev, err := s.Next()
		switch {
		case err != nil && stage == Finished:
			return nil
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		next, err := step(ev)
		if err != nil {
			return err
		}
		if next == Finished && stage == Going {
			timer := time.AfterFunc(afterFinish, func() { _ = s.Close() })
			defer timer.Stop()
		}
		stage = max(stage, next)
	}
	timer := time.AfterFunc(afterDone, func() { _ = s.Close() })
	defer timer.Stop()
	_, _ = s.Next() // its end; whatever else comes is of no interest
	return nil
}
