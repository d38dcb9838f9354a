package telegram

import "time"

const (
	// conflictBackoff is the first pause after a 409; the next ones grow up to maxBackoff.
	conflictBackoff = 3 * time.Second
	// calmAfter is how long polls must succeed before a conflict counts as over. It is longer than
	// the longest pause with its jitter: another typist that polls with the same token is quiet
	// for that long.
	calmAfter = 20 * time.Second
)

// conflict is a series of polls that were refused because another program polls too (409).
type conflict struct {
	since time.Time // of the first; zero = none
	pause time.Duration
}

func (c *conflict) open() bool { return !c.since.IsZero() }

// next notes a refusal and gives the pause after it.
func (c *conflict) next() time.Duration {
	if !c.open() {
		c.since = time.Now()
	}
	if c.pause == 0 {
		c.pause = conflictBackoff
	} else {
		c.pause = min(maxBackoff, c.pause*3/2)
	}
	return jitter(c.pause)
}
