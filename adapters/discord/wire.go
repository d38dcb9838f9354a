package discord

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// wire lies beneath discordgo's gateway connection and takes away the traps of its client that
// cannot be reached from above (PLATFORMS.md, "Discord"):
//
//   - Open deadlocks when a heartbeat acknowledgement (op 11) or a reconnect request (op 7) comes
//     before READY: the first is dropped, the second ends the connection.
//   - INVALID_SESSION (op 9) makes it identify at once, without the wait Discord asks for: it
//     ends the connection, and the supervisor decides.
//   - After an early close its heartbeat goroutine fails to write and closes whatever connection
//     is the current one by then, with 1000, which ends the session at Discord and loses events:
//     writes to an ended connection are swallowed, and so are its close frames, always, so that
//     the session stays resumable. goodbye is the only end that Discord is told of.
//   - It notices missing acknowledgements only after five intervals: here after one.
//   - It hides close codes: they are kept.
type wire struct {
	net.Conn
	in   *bufio.Reader
	out  []byte // read and judged, not yet taken by the client
	raw  bool   // the answer to the upgrade was no 101: its body passes as it is
	head bool   // the answer to the upgrade is read
	part []byte // frames of a message that is not complete
	body []byte // their payloads
	live bool   // the first event has passed

	mu        sync.Mutex
	upgraded  bool // head, for the writing side
	interval  time.Duration
	beat      time.Time // the oldest heartbeat without acknowledgement
	cause     *ending
	ended     chan struct{} // closed with the cause
	firstSeen chan struct{} // closed with the first event
	beating   chan struct{} // closed with the first heartbeat
	hasBeaten bool
}

// ending is why a connection is over.
type ending struct {
	code   int  // close code of Discord; 0 = none
	lost   bool // the session cannot be resumed
	asked  bool // Discord asked to reconnect
	zombie bool // no heartbeat acknowledgement
	err    error
}

// maxFrame bounds what one gateway message may take; a large guild's GUILD_CREATE is some MB.
const maxFrame = 64 << 20

// writeWait bounds one write, so that a dead connection cannot hold the client's locks.
const writeWait = 10 * time.Second

var (
	errAskedToReconnect = errors.New("discord asked to reconnect")
	errSessionInvalid   = errors.New("discord no longer knows the session")
	errNoAck            = errors.New("no heartbeat acknowledgement")
	errBadFrame         = errors.New("malformed websocket frame")
)

func newWire(c net.Conn) *wire {
	return &wire{Conn: c, in: bufio.NewReaderSize(c, 16<<10),
		ended: make(chan struct{}), firstSeen: make(chan struct{}), beating: make(chan struct{})}
}

// end keeps the first cause and wakes the supervisor.
func (w *wire) end(e ending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cause == nil {
		w.cause = &e
		close(w.ended)
	}
}

// why is the cause of the end; nil while the connection lives.
func (w *wire) why() *ending {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cause
}

// Close ends the connection.
func (w *wire) Close() error {
	err := w.Conn.Close()
	w.end(ending{err: net.ErrClosed})
	return err
}

// Read gives the client what it may see.
func (w *wire) Read(p []byte) (int, error) {
	for len(w.out) == 0 {
		chunk, err := w.next()
		if err != nil {
			w.end(ending{err: err})
			w.awaitBeat()
			return 0, err
		}
		w.out = chunk
	}
	n := copy(p, w.out)
	w.out = w.out[n:]
	return n, nil
}

// awaitBeat lets the client's heartbeat goroutine begin before the client learns of the end, so
// that the two do not meet in its locks.
func (w *wire) awaitBeat() {
	if !w.live {
		return
	}
	select {
	case <-w.beating:
	case <-time.After(time.Second):
	}
}

// goodbye ends the session at Discord, and the connection.
func (w *wire) goodbye() {
	w.Conn.SetWriteDeadline(time.Now().Add(time.Second))
	w.Conn.Write([]byte{0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8}) // close frame, zero mask, 1000
	w.Close()
}

// next reads one line of the answer to the upgrade, or one frame; empty when it is held back.
func (w *wire) next() ([]byte, error) {
	if w.raw {
		buf := make([]byte, 4096)
		n, err := w.in.Read(buf)
		return buf[:n], err
	}
	if !w.head {
		line, err := w.in.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(line, []byte("HTTP/")) && !bytes.Contains(line, []byte(" 101 ")) {
			w.raw = true
		}
		if len(bytes.TrimSpace(line)) == 0 {
			w.head = true
			w.mu.Lock()
			w.upgraded = true
			w.mu.Unlock()
		}
		return bytes.Clone(line), nil
	}
	frame, payload, err := readFrame(w.in)
	if err != nil {
		return nil, err
	}
	final, kind := frame[0]&0x80 != 0, frame[0]&0x0f
	switch {
	case kind == 8:
		e := ending{err: io.EOF}
		if len(payload) >= 2 {
			e.code = int(binary.BigEndian.Uint16(payload))
		}
		w.end(e)
		return frame, nil
	case kind > 8: // ping, pong
		return frame, nil
	}
	if len(w.body)+len(payload) > maxFrame {
		return nil, errBadFrame
	}
	w.part, w.body = append(w.part, frame...), append(w.body, payload...)
	if !final {
		return nil, nil
	}
	whole, body := w.part, w.body
	w.part, w.body = nil, nil
	pass, err := w.judge(body)
	if err != nil || !pass {
		return nil, err
	}
	return whole, nil
}

// readFrame reads one frame of a server: as it came, and its payload.
func readFrame(in *bufio.Reader) (frame, payload []byte, err error) {
	head := make([]byte, 2, 10)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, nil, err
	}
	if head[1]&0x80 != 0 { // servers do not mask
		return nil, nil, errBadFrame
	}
	size, more := uint64(head[1]), 0
	switch head[1] {
	case 126:
		more = 2
	case 127:
		more = 8
	}
	if more > 0 {
		head = head[:2+more]
		if _, err := io.ReadFull(in, head[2:]); err != nil {
			return nil, nil, err
		}
		size = 0
		for _, b := range head[2:] {
			size = size<<8 | uint64(b)
		}
	}
	if size > maxFrame {
		return nil, nil, errBadFrame
	}
	var buf bytes.Buffer // grows with what really comes, whatever the header claims
	buf.Write(head)
	if _, err := io.CopyN(&buf, in, int64(size)); err != nil {
		return nil, nil, err
	}
	return buf.Bytes(), buf.Bytes()[len(head):], nil
}

// judge looks at a gateway message: whether the client sees it, or the connection ends.
func (w *wire) judge(body []byte) (pass bool, err error) {
	var m struct {
		Op int             `json:"op"`
		D  json.RawMessage `json:"d"`
	}
	if json.Unmarshal(body, &m) != nil {
		return true, nil // the client logs it
	}
	switch m.Op {
	case 0:
		if !w.live {
			w.live = true
			close(w.firstSeen)
		}
	case 7:
		w.end(ending{asked: true, err: errAskedToReconnect})
		return false, errAskedToReconnect
	case 9:
		w.end(ending{lost: string(bytes.TrimSpace(m.D)) != "true", err: errSessionInvalid})
		return false, errSessionInvalid
	case 10:
		var hello struct {
			Interval int64 `json:"heartbeat_interval"`
		}
		if json.Unmarshal(m.D, &hello) != nil || hello.Interval <= 0 || hello.Interval > 10*60*1000 {
			return false, errBadFrame // the client's ticker would panic
		}
		w.mu.Lock()
		w.interval = time.Duration(hello.Interval) * time.Millisecond
		w.mu.Unlock()
	case 11:
		w.mu.Lock()
		w.beat = time.Time{}
		w.mu.Unlock()
		return w.live, nil
	}
	return true, nil
}

// Write sends what the client writes, one frame a call.
func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	upgraded, over := w.upgraded, w.cause != nil
	w.mu.Unlock()
	if !upgraded || len(p) == 0 {
		return w.Conn.Write(p)
	}
	overdue := isHeartbeat(p) && w.unanswered()
	if overdue && !over {
		w.end(ending{zombie: true, err: errNoAck})
		w.Conn.Close()
	}
	if over || overdue || p[0]&0x0f == 8 {
		return len(p), nil
	}
	w.Conn.SetWriteDeadline(time.Now().Add(writeWait))
	if _, err := w.Conn.Write(p); err != nil {
		w.end(ending{err: err})
		w.Conn.Close()
		return len(p), nil // reading tells the client
	}
	return len(p), nil
}

// unanswered notes a heartbeat, and reports whether the one before is overdue.
func (w *wire) unanswered() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.hasBeaten {
		w.hasBeaten = true
		close(w.beating)
	}
	now := time.Now()
	if w.beat.IsZero() {
		w.beat = now
		return false
	}
	return now.Sub(w.beat) >= w.interval*3/4 // one that Discord asked for may follow at once
}

// isHeartbeat looks into a masked client frame.
func isHeartbeat(p []byte) bool {
	const want = `{"op":1,`
	at := 2
	switch p[1] & 0x7f {
	case 126:
		at += 2
	case 127:
		at += 8
	}
	if len(p) < at+4+len(want) || p[1]&0x80 == 0 {
		return false
	}
	mask, body := p[at:at+4], p[at+4:]
	for i := range len(want) {
		if body[i]^mask[i%4] != want[i] {
			return false
		}
	}
	return true
}
