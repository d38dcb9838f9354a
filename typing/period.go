package typing

import "time"

// longLife is the life from which an indicator "stays for minutes" in T6's sense.
const longLife = time.Minute

// margin is how long before an indicator lapses it is renewed at the latest (T6).
const margin = time.Second

// Period is the time between two pulses that nothing hastens (T6), for a wanted interval
// (0 = DefaultInterval) and the time a pulse shows on the platform. Where the indicator stays for
// minutes it is half its life, whatever the interval. 0 means that there is no indicator.
func Period(interval, life time.Duration) time.Duration {
	if life <= 0 {
		return 0
	}
	if life >= longLife {
		return life / 2
	}
	if interval <= 0 {
		interval = DefaultInterval
	}
	latest := life - margin
	if latest <= 0 {
		latest = life / 2
	}
	return min(max(interval, MinInterval), latest)
}
