package simnet

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// bufferSize is what a direction of a connection holds before writers wait: enough that neither
// side of an HTTP exchange has to read for the other to get on.
const bufferSize = 256 << 10

// pair makes the two ends of a connection in memory.
func pair() (*conn, *conn) {
	up, down := newStream(), newStream()
	return &conn{in: down, out: up}, &conn{in: up, out: down}
}

// conn is one end; net.Pipe would do if it buffered.
type conn struct {
	in, out *stream
}

func (c *conn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c *conn) Write(p []byte) (int, error) { return c.out.write(p) }

func (c *conn) Close() error {
	c.in.closeReader()
	c.out.closeWriter()
	return nil
}

func (c *conn) LocalAddr() net.Addr  { return addr(memoryAddr) }
func (c *conn) RemoteAddr() net.Addr { return addr(memoryAddr) }

func (c *conn) SetDeadline(t time.Time) error {
	c.in.readBy.set(t)
	c.out.writeBy.set(t)
	return nil
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.readBy.set(t)
	return nil
}

func (c *conn) SetWriteDeadline(t time.Time) error {
	c.out.writeBy.set(t)
	return nil
}

// stream is one direction.
type stream struct {
	mu         sync.Mutex
	data       []byte
	changed    chan struct{} // closed at the next change
	noReader   bool
	noWriter   bool
	readBy     *deadline
	writeBy    *deadline
	readsEnded bool // the reader closed its own end
}

func newStream() *stream {
	return &stream{changed: make(chan struct{}), readBy: newDeadline(), writeBy: newDeadline()}
}

func (s *stream) touch() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *stream) read(p []byte) (int, error) {
	for {
		// Taken before the deadline is looked at: one that is set in between closes it.
		fired := s.readBy.wait()
		s.mu.Lock()
		switch {
		case s.readsEnded:
			s.mu.Unlock()
			return 0, net.ErrClosed
		case s.readBy.passed():
			s.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		case len(s.data) > 0:
			n := copy(p, s.data)
			s.data = s.data[n:]
			s.touch()
			s.mu.Unlock()
			return n, nil
		case s.noWriter:
			s.mu.Unlock()
			return 0, io.EOF
		case len(p) == 0:
			s.mu.Unlock()
			return 0, nil
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-fired:
		}
	}
}

func (s *stream) write(p []byte) (int, error) {
	done := 0
	for {
		fired := s.writeBy.wait()
		s.mu.Lock()
		switch {
		case s.noWriter:
			s.mu.Unlock()
			return done, net.ErrClosed
		case s.noReader:
			s.mu.Unlock()
			return done, &net.OpError{Op: "write", Net: "tcp", Addr: addr(memoryAddr), Err: os.NewSyscallError("write", syscall.EPIPE)}
		case s.writeBy.passed():
			s.mu.Unlock()
			return done, os.ErrDeadlineExceeded
		}
		if n := min(bufferSize-len(s.data), len(p)-done); n > 0 {
			s.data = append(s.data, p[done:done+n]...)
			done += n
			s.touch()
		}
		changed := s.changed
		s.mu.Unlock()
		if done == len(p) {
			return done, nil
		}
		select {
		case <-changed:
		case <-fired:
		}
	}
}

func (s *stream) closeReader() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readsEnded, s.noReader, s.data = true, true, nil
	s.readBy.set(time.Time{})
	s.touch()
}

func (s *stream) closeWriter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noWriter = true
	s.writeBy.set(time.Time{})
	s.touch()
}

// deadline wakes those who wait when it has passed.
type deadline struct {
	mu    sync.Mutex
	at    time.Time
	timer *time.Timer
	fired chan struct{} // closed once the deadline is over, or was changed
}

func newDeadline() *deadline { return &deadline{fired: make(chan struct{})} }

func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	d.at = t
	close(d.fired) // waiters look again, at the new time
	d.fired = make(chan struct{})
	if t.IsZero() {
		return
	}
	if left := time.Until(t); left > 0 {
		fired := d.fired
		d.timer = time.AfterFunc(left, func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.fired == fired {
				close(d.fired)
				d.fired = make(chan struct{})
			}
		})
	}
}

func (d *deadline) passed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.at.IsZero() && !time.Now().Before(d.at)
}

func (d *deadline) wait() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fired
}
