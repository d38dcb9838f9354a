package discord

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
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
//   - A payload that it cannot decode becomes nil inside it, and some of those make it panic, on a
//     goroutine that nobody can recover: events are taken here, and it only gets their numbers.
type wire struct {
	net.Conn
	in   *bufio.Reader
	out  []byte // read and judged, not yet taken by the client
	raw  bool   // the answer to the upgrade was no 101: its body passes as it is
	head bool   // the answer to the upgrade is read
	body []byte // of a message that is not complete
	live bool   // the first event has passed
	take func(name string, data json.RawMessage)

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

// writeWait bounds one write, so that a dead connection cannot hold the client's locks.
const writeWait = 10 * time.Second

var (
	errAskedToReconnect = errors.New("discord asked to reconnect")
	errSessionInvalid   = errors.New("discord no longer knows the session")
	errNoAck            = errors.New("no heartbeat acknowledgement")
)

// newWire lies on a connection; take is given every event, in order, and must not block.
func newWire(c net.Conn, take func(name string, data json.RawMessage)) *wire {
	return &wire{Conn: c, take: take, in: bufio.NewReaderSize(c, 16<<10),
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
		time.Sleep(10 * time.Millisecond) // behind the write it takes the lock once more
	case <-time.After(time.Second):
	}
}

// goodbye ends the session at Discord, and the connection.
func (w *wire) goodbye() {
	w.Conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = w.Conn.Write([]byte{0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8}) // close frame, zero mask, 1000
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
		w.awaitBeat()
		return frame, nil
	case kind > 8: // ping, pong
		return frame, nil
	}
	if len(w.body)+len(payload) > maxFrame {
		return nil, errBadFrame
	}
	w.body = append(w.body, payload...)
	if !final {
		return nil, nil
	}
	body := w.body
	w.body = nil
	return w.judge(body)
}

// judge looks at a gateway message, and gives what the client sees of it as a frame; an error ends
// the connection.
func (w *wire) judge(body []byte) ([]byte, error) {
	var m struct {
		Op int             `json:"op"`
		T  string          `json:"t"`
		S  int64           `json:"s"`
		D  json.RawMessage `json:"d"`
	}
	if json.Unmarshal(body, &m) != nil {
		return nil, nil
	}
	switch m.Op {
	case 0:
		if !w.live {
			w.live = true
			close(w.firstSeen)
		}
		w.take(m.T, m.D)
		return event(m.T, m.S, m.D), nil
	case 1:
		return textFrame(`{"op":1,"d":null}`), nil
	case 7:
		w.end(ending{asked: true, err: errAskedToReconnect})
		return nil, errAskedToReconnect
	case 9:
		w.end(ending{lost: string(bytes.TrimSpace(m.D)) != "true", err: errSessionInvalid})
		return nil, errSessionInvalid
	case 10:
		var hello struct {
			Interval int64 `json:"heartbeat_interval"`
		}
		if json.Unmarshal(m.D, &hello) != nil || hello.Interval <= 0 || hello.Interval > 10*60*1000 {
			return nil, errBadFrame // the client's ticker would panic
		}
		w.mu.Lock()
		w.interval = time.Duration(hello.Interval) * time.Millisecond
		w.mu.Unlock()
		return textFrame(fmt.Sprintf(`{"op":10,"d":{"heartbeat_interval":%d}}`, hello.Interval)), nil
	case 11:
		w.mu.Lock()
		w.beat = time.Time{}
		w.mu.Unlock()
		if w.live {
			return textFrame(`{"op":11}`), nil
		}
	}
	return nil, nil
}

// event is what the client sees of an event: its number, and of READY the session.
func event(name string, seq int64, data json.RawMessage) []byte {
	var d any
	switch name {
	case "READY":
		var r struct {
			SessionID string `json:"session_id"`
		}
		if json.Unmarshal(data, &r) != nil {
			r.SessionID = ""
		}
		d = map[string]any{"session_id": r.SessionID, "guilds": []any{}}
	case "RESUMED":
	default:
		name = "HANDLED"
	}
	text, err := json.Marshal(map[string]any{"op": 0, "t": name, "s": seq, "d": d})
	if err != nil {
		return nil
	}
	return textFrame(string(text))
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
