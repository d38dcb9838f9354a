package loop

import (
	"context"

	"typist/agent"
)

// Execute runs calls side by side with a toolbox, emits their ends and results, and returns the
// results in the order of the calls. It returns when all have ended, and an error only if ctx has.
func Execute(ctx context.Context, box agent.Toolbox, calls []agent.Part, emit func(agent.Event)) (agent.Message, error) {
	return (&run{toolbox: box, emit: emit}).execute(ctx, calls)
}

// Again waits before the request that failed is silently sent again (S3). false: it is not to be,
// since that would not help, it was tried often enough, or ctx has ended. try counts from 1.
func Again(ctx context.Context, f *agent.Failure, try int) bool {
	wait, ok := again(f, try)
	return ok && sleep(ctx, wait) == nil
}
