package tools

import (
	"bytes"
	"log/slog"

	"typist/agent"
)

// maxLine bounds a line of a server's standard error in the log.
const maxLine = 1000

// lineLogger logs what a server writes to its standard error, for those who look for it.
type lineLogger struct {
	log *slog.Logger
	buf []byte
}

// Write implements io.Writer; os/exec calls it from one goroutine.
func (l *lineLogger) Write(p []byte) (int, error) {
	n := len(p)
	for {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		if room := maxLine - len(l.buf); room > 0 {
			l.buf = append(l.buf, line[:min(room, len(line))]...)
		}
		if !ended {
			return n, nil
		}
		l.log.Debug("MCP server", "stderr", agent.Mask(string(l.buf)))
		l.buf, p = l.buf[:0], rest
	}
}
