package turn

import (
	"typist/adapters"
	"typist/agent"
	"typist/agent/store"
)

// endButtons stand under what is left of a run: how to go on from it, and its trace (P8, S2, S3).
func (l *lane) endButtons(runID string, state store.RunState, kind agent.FailureKind, worked bool) []adapters.Button {
	w := l.words()
	var row []adapters.Button
	switch state {
	case store.RunStopped, store.RunInterrupted:
		row = append(row, adapters.Button{Text: w.Resume, Data: "r:" + runID})
	case store.RunFailed:
		switch {
		case kind == agent.TimedOut:
			row = append(row, adapters.Button{Text: w.Resume, Data: "r:" + runID})
		case retryHelps(kind):
			row = append(row, adapters.Button{Text: w.Retry, Data: "t:" + runID})
		}
	case store.RunDone, store.RunSilent, store.RunRunning:
	}
	if worked {
		row = append(row, adapters.Button{Text: w.Details, Data: "d:" + runID})
	}
	return row
}

// retryHelps: a Retry button stands only where trying again can help (S3).
func retryHelps(kind agent.FailureKind) bool {
	switch kind {
	case agent.NeverSent, agent.CutEarly, agent.ServerError, agent.Overloaded, agent.RateLimited, agent.Malformed, agent.TimedOut, agent.Crashed:
		return true
	case agent.Unauthorized, agent.NotFound, agent.TooLong, agent.Invalid:
		return false
	}
	return false
}
