package slack

import (
	"time"

	"typist/adapters/sim"
)

// envelope is something for the app to acknowledge.
type envelope struct {
	kind    string // events_api, interactive, slash_commands
	payload map[string]any
	attempt int
	reason  string
	retried bool        // delivered again when nobody acknowledges it: events only
	acked   chan<- bool // told once; nil = nobody asks
}

// retries are the waits before an event is sent again (docs.slack.dev/apis/events-api).
var retries = []time.Duration{0, time.Minute, 5 * time.Minute}

// GivenUp is the error of the call that says that an event is not sent again: nobody has
// acknowledged it.
const GivenUp = "given up"

// chat is where an event happened; "" for what happened elsewhere.
func (e envelope) chat() string {
	inner, _ := e.payload["event"].(map[string]any)
	chat, _ := inner["channel"].(string)
	return chat
}

// deliver sends an envelope over one connection and waits for the acknowledgement elsewhere. The
// first attempt is on the wire when it returns, so that events keep their order.
func (s *Server) deliver(e envelope) {
	c, id, ack := s.send(e)
	s.mu.Lock()
	if s.ctx.Err() != nil {
		s.mu.Unlock()
		return
	}
	s.work.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.work.Done()
		ok := s.await(e, c, id, ack)
		for n := 0; !ok && e.retried && n < len(retries); n++ {
			timer := time.NewTimer(time.Duration(float64(retries[n]) * s.opts.RetryScale))
			select {
			case <-timer.C:
			case <-s.ctx.Done():
				timer.Stop()
				return
			}
			e.attempt, e.reason = n+1, "timeout"
			c, id, ack = s.send(e)
			ok = s.await(e, c, id, ack)
		}
		if !ok && e.retried {
			s.world.Record(sim.Call{At: time.Now(), Op: sim.OpAck, Method: e.kind, Chat: e.chat(), Error: GivenUp})
		}
		if e.acked != nil {
			e.acked <- ok
		}
	}()
}

// send writes an envelope to the oldest connection; no connection gives nil.
func (s *Server) send(e envelope) (*socket, string, <-chan struct{}) {
	s.mu.Lock()
	var c *socket
	if len(s.conns) > 0 {
		c = s.conns[0]
	}
	id := s.nextID("e1f2a3b4-0000-4000-8000-")
	s.mu.Unlock()
	if c == nil {
		return nil, id, nil
	}
	ack := make(chan struct{})
	c.waiting.Lock()
	c.acks[id] = ack
	c.waiting.Unlock()
	out := map[string]any{"envelope_id": id, "type": e.kind, "payload": e.payload, "accepts_response_payload": e.kind != "events_api"}
	if e.kind == "events_api" {
		out["retry_attempt"], out["retry_reason"] = e.attempt, e.reason
	}
	if !c.write(out) {
		return nil, id, nil
	}
	return c, id, ack
}

// await waits for the acknowledgement until the deadline, or until the connection ends.
func (s *Server) await(e envelope, c *socket, id string, ack <-chan struct{}) bool {
	if c == nil {
		return false
	}
	start := time.Now()
	timer := time.NewTimer(s.opts.AckDeadline)
	defer timer.Stop()
	ok := false
	select {
	case <-ack:
		ok = true
	case <-timer.C:
	case <-c.gone:
	case <-s.ctx.Done():
	}
	c.waiting.Lock()
	delete(c.acks, id)
	c.waiting.Unlock()
	log := sim.Call{At: start, Took: time.Since(start), Op: sim.OpAck, Method: e.kind, Status: 200}
	if !ok {
		log.Status, log.Error = 0, "not acknowledged"
	}
	s.world.Record(log)
	return ok
}
