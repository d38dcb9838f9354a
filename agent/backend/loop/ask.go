package loop

import (
	"context"
	"math/rand/v2"
	"time"

	"typist/agent"
)

// The bounds of silent retries (S3): what they can't mend, a Retry button may.
const (
	maxTries  = 4                      // per request, the first one included
	maxWait   = 60 * time.Second       // a longer wait is told to the person
	toldWait  = 2 * time.Second        // people are told of a wait this long
	firstWait = 500 * time.Millisecond // doubles with every try where the backend told none
)

// ask makes one model request, again where that can be done silently.
func (r *run) ask(ctx context.Context) (*Reply, error) {
	for try := 1; ; try++ {
		out := newWriter(r.ids, r.request.Tools, r.emit)
		r.emit(agent.ModelRequest{ID: out.request})
		err := r.model.Stream(ctx, r.request, out)
		if ctx.Err() != nil {
			return nil, ctx.Err() // the normaliser closes what is open
		}
		if err == nil {
			reply := out.finish()
			r.said = r.said || reply.text() != ""
			return reply, nil
		}
		f := agent.Classify(err)
		if f == nil { // a context within the model ended, not ours
			f = &agent.Failure{Kind: agent.CutEarly, Detail: err.Error(), Err: err}
		}
		wait, ok := again(f, try)
		if !ok {
			return nil, f
		}
		out.abandon()
		if wait >= toldWait {
			r.emit(agent.Retrying{Kind: f.Kind, Wait: wait})
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// again says whether to repeat a failed request silently, and after how long.
func again(f *agent.Failure, try int) (time.Duration, bool) {
	switch f.Kind {
	case agent.NeverSent, agent.CutEarly, agent.ServerError, agent.Overloaded, agent.RateLimited:
	case agent.TooLong, agent.Unauthorized, agent.NotFound, agent.Invalid, agent.Malformed, agent.TimedOut, agent.Crashed:
		return 0, false
	}
	wait := f.RetryAfter
	if wait == 0 {
		wait = firstWait << (try - 1)
		wait += rand.N(wait / 4) // runs that failed together don't come back together
	}
	return wait, try < maxTries && wait <= maxWait
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
