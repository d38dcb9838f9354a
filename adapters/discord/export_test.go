package discord

// LimitQueue makes the queue before the sink small.
func (a *Adapter) LimitQueue(n int) { a.queueCap.Store(int64(n)) }
