// Package sse reads server-sent events: the one reader behind every native backend, and the
// request around it.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"typist/agent"
)

// MaxEvent is how many bytes one event may have. The largest honest ones carry an image of a tool
// or a whole file in a call's arguments.
const MaxEvent = 16 << 20

// Event is one server-sent event.
type Event struct {
	Name string // "" = message
	Data []byte // its data lines joined by line feeds; valid until the next call of Next
	// Open: the stream ended within the event, where a blank line was due. Servers that forget the
	// last line end are common, so it is given to the caller; if it makes no sense, it was cut.
	Open bool
}

// Reader reads events as they come: what a server has sent is returned without waiting for more.
// It follows the WHATWG's parsing rules but for Event.Open; ids and retry times are ignored, since
// no model API resumes a stream. Not safe for concurrent use.
type Reader struct {
	in     *bufio.Reader
	max    int
	data   []byte
	line   []byte
	name   string
	has    bool // a data line was seen
	skipLF bool // the line before ended with CR; an LF now belongs to it
	first  bool
	ended  error
}

// NewReader reads from r. No event may have more than maxEvent bytes.
func NewReader(r io.Reader, maxEvent int) *Reader {
	return &Reader{in: bufio.NewReader(r), max: maxEvent, first: true}
}

// Next returns the next event that has data. io.EOF is the end of the stream, an
// *agent.ProtocolError an event that is too large.
func (r *Reader) Next() (Event, error) {
	r.data, r.name, r.has = r.data[:0], "", false
	for r.ended == nil {
		line, err := r.readLine()
		if err != nil {
			r.ended = err
			var protocol *agent.ProtocolError
			if errors.As(err, &protocol) || !errors.Is(err, io.EOF) {
				return Event{}, err
			}
			if len(line) > 0 {
				if err := r.field(line); err != nil {
					return Event{}, err
				}
			}
			if r.has {
				return Event{Name: r.name, Data: r.data, Open: true}, nil
			}
			break
		}
		if len(line) > 0 {
			if err := r.field(line); err != nil {
				r.ended = err
				return Event{}, err
			}
			continue
		}
		if r.has {
			return Event{Name: r.name, Data: r.data}, nil
		}
		r.name = ""
	}
	return Event{}, r.ended
}

// field takes one line that is not empty.
func (r *Reader) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) { // "" is a comment, often sent to keep the connection alive
	case "event":
		r.name = string(value)
	case "data":
		if len(r.data)+len(value) > r.max {
			return tooLarge(r.max)
		}
		if r.has {
			r.data = append(r.data, '\n')
		}
		r.data = append(r.data, value...)
		r.has = true
	}
	return nil
}

// readLine reads up to LF, CR or CRLF. It never waits for the LF after a CR: that may come only
// with the next event.
func (r *Reader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		if _, err := r.in.Peek(1); err != nil {
			return r.line, err
		}
		buf, _ := r.in.Peek(r.in.Buffered())
		if r.skipLF {
			r.skipLF = false
			if buf[0] == '\n' {
				_, _ = r.in.Discard(1)
				continue
			}
		}
		end := bytes.IndexAny(buf, "\r\n")
		if end < 0 {
			end = len(buf)
		}
		r.line = append(r.line, buf[:end]...)
		if len(r.line) > r.max+len("data: ") {
			return nil, tooLarge(r.max)
		}
		if end == len(buf) {
			_, _ = r.in.Discard(end)
			continue
		}
		r.skipLF = buf[end] == '\r'
		_, _ = r.in.Discard(end + 1)
		if r.first {
			r.first = false
			r.line = bytes.TrimPrefix(r.line, []byte("\uFEFF"))
		}
		return r.line, nil
	}
}

func tooLarge(limit int) error {
	return &agent.ProtocolError{Detail: fmt.Sprintf("an event of more than %d bytes", limit)}
}
