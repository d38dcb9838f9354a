package acp

import (
	"bytes"
	"log/slog"
	"sync"

	"typist/agent"
)

// maxSaid bounds a kept line of an agent's standard error.
const maxSaid = 1000

// lastWords logs what an agent writes to its standard error, for those who look for it, and keeps
// its last line: that is mostly why it died.
type lastWords struct {
	log *slog.Logger
	mu  sync.Mutex
	buf []byte // of the line in the making
	end []byte // the last line with something on it
}

// Write implements io.Writer.
func (l *lastWords) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(p)
	for {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		if room := maxSaid - len(l.buf); room > 0 {
			l.buf = append(l.buf, line[:min(room, len(line))]...)
		}
		if !ended {
			return n, nil
		}
		l.keep()
		p = rest
	}
}

func (l *lastWords) keep() {
	line := bytes.TrimSpace(l.buf)
	if len(line) > 0 {
		l.end = append(l.end[:0], line...)
		l.log.Debug("ACP agent", "stderr", agent.Mask(string(line)))
	}
	l.buf = l.buf[:0]
}

// last is the last line, unfinished ones included; not masked.
func (l *lastWords) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line := bytes.TrimSpace(l.buf); len(line) > 0 {
		return string(line)
	}
	return string(l.end)
}
