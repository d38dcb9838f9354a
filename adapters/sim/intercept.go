package sim

import (
	"net/http"
	"time"
)

// Answer is what a platform answers to a call. A nil *Answer leaves the answer to whoever wrote
// it already.
type Answer struct {
	Status int // 0 = 200
	Header http.Header
	Body   []byte
	Error  string // for the log of calls; "" = it went well
}

// Intercept serves one call of the bot with the faults that apply to it, and records it. c needs
// Op, Method, Chat and Thread. do carries the call out; refuse makes the platform's own answer
// for a Fault with a Status. A delayed call is carried out even if the bot has hung up by then,
// as a server does; only closing, the platform's end, prevents it.
func (w *World) Intercept(rw http.ResponseWriter, c Call, closing <-chan struct{}, do func() *Answer, refuse func(Fault) *Answer) {
	c.At = time.Now()
	fault, faulty := w.TakeFault(c.Op, c.Chat)
	if faulty && fault.Delay > 0 {
		timer := time.NewTimer(fault.Delay)
		select {
		case <-timer.C:
		case <-closing:
			timer.Stop()
			CutConnection(rw)
			return
		}
	}
	var answer *Answer
	switch {
	case fault.Cut == CutBefore:
	case faulty && fault.Status != 0:
		answer = refuse(fault)
	default:
		answer = do()
	}
	c.Took = time.Since(c.At)
	if fault.Cut != "" {
		c.Error = "connection cut " + string(fault.Cut)
		w.Record(c)
		CutConnection(rw)
		return
	}
	c.Status = http.StatusOK
	if answer != nil {
		c.Error = answer.Error
		if answer.Status != 0 {
			c.Status = answer.Status
		}
	}
	w.Record(c)
	if answer == nil {
		return
	}
	for k, v := range answer.Header {
		rw.Header()[k] = v
	}
	rw.WriteHeader(c.Status)
	rw.Write(answer.Body)
}

// CutConnection closes the connection of a call without an answer.
func CutConnection(rw http.ResponseWriter) {
	conn, _, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // net/http closes the connection
	}
	conn.Close()
}
