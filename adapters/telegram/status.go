package telegram

import (
	"log/slog"
	"time"

	"typist/adapters"
)

// statusReporter reports changes of the connection (O1).
type statusReporter struct {
	sink  adapters.Sink
	log   *slog.Logger
	known bool
	last  adapters.Status
}

func (s *statusReporter) connected() {
	if s.known && s.last.Connected {
		return
	}
	s.report(adapters.Status{Connected: true, Since: time.Now()})
	s.log.Debug("connected")
}

func (s *statusReporter) failed(err error) {
	if s.known && !s.last.Connected && s.last.Err != nil && s.last.Err.Error() == err.Error() {
		return
	}
	since := time.Now()
	if s.known && !s.last.Connected {
		since = s.last.Since
	}
	s.report(adapters.Status{Since: since, Err: err})
	s.log.Debug("not connected", "error", err.Error())
}

func (s *statusReporter) report(st adapters.Status) {
	s.known, s.last = true, st
	s.sink.Status(channel, st)
}
