// Package simnet has the listener that the miniature platforms serve on: loopback TCP for
// programs, or memory, which is what a testing/synctest bubble needs (a goroutine blocked on a
// real socket never lets a bubble's clock go on). Both can be broken and refuse connections for a
// while, as a platform that is away does.
package simnet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"syscall"
	"time"
)

// memoryAddr stands where a memory listener has no port; nothing resolves it.
const memoryAddr = "sim.invalid:80"

// backlog is how many dialled connections may wait for Accept.
const backlog = 128

// Listener accepts connections. It is safe for concurrent use.
type Listener struct {
	tcp    string // address of a loopback listener; "" = memory
	closed chan struct{}
	queue  chan net.Conn // memory: dialled, not accepted

	mu     sync.Mutex
	socket net.Listener // loopback: nil while it refuses
	opened chan struct{}
	back   time.Time // refuses until then
	timer  *time.Timer
	conns  map[*tracked]struct{}
}

var _ net.Listener = (*Listener)(nil)

// Listen makes a listener in memory; connections come from its own Dial.
func Listen() *Listener {
	return &Listener{
		closed: make(chan struct{}),
		queue:  make(chan net.Conn, backlog),
		opened: make(chan struct{}),
		conns:  map[*tracked]struct{}{},
	}
}

// Loopback makes a listener on a free port of 127.0.0.1.
func Loopback() (*Listener, error) {
	socket, err := listen("127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	l := Listen()
	l.tcp, l.socket = socket.Addr().String(), socket
	return l, nil
}

func listen(address string) (net.Listener, error) {
	var lc net.ListenConfig
	return lc.Listen(context.Background(), "tcp", address)
}

// Addr is where it listens.
func (l *Listener) Addr() net.Addr {
	if l.tcp == "" {
		return addr(memoryAddr)
	}
	return addr(l.tcp)
}

type addr string

func (addr) Network() string  { return "tcp" }
func (a addr) String() string { return string(a) }

// URL is "http://" and the address.
func (l *Listener) URL() string {
	if l.tcp == "" {
		return "http://sim.invalid"
	}
	return "http://" + l.tcp
}

// Dial connects to the listener, whatever network and address say.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: l.Addr(), Err: err}
	}
	if l.tcp != "" {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", l.tcp)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isClosed() || time.Now().Before(l.back) || len(l.queue) == cap(l.queue) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: l.Addr(), Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	near, far := pair()
	l.queue <- l.track(far)
	return near, nil
}

// HTTPClient is a client whose every request goes to this listener. Close its idle connections
// (CloseIdleConnections) when done with it.
func (l *Listener) HTTPClient() *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: l.Dial, DialTLSContext: l.Dial, MaxIdleConnsPerHost: 64}}
}

// Accept waits for the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		if l.tcp == "" {
			select {
			case c := <-l.queue:
				return c, nil
			case <-l.closed:
				return nil, net.ErrClosed
			}
		}
		l.mu.Lock()
		socket, opened := l.socket, l.opened
		l.mu.Unlock()
		if socket == nil {
			select {
			case <-opened:
				continue
			case <-l.closed:
				return nil, net.ErrClosed
			}
		}
		c, err := socket.Accept()
		if err == nil {
			l.mu.Lock()
			t := l.track(c)
			l.mu.Unlock()
			return t, nil
		}
		l.mu.Lock()
		broken := l.socket != socket
		l.mu.Unlock()
		if l.isClosed() || !broken {
			return nil, err
		}
	}
}

// Break cuts every connection, and refuses new ones for that long.
func (l *Listener) Break(refuse time.Duration) {
	l.mu.Lock()
	l.back = time.Now().Add(refuse)
	if l.tcp != "" && refuse > 0 && !l.isClosed() {
		if l.socket != nil {
			l.socket.Close()
			l.socket = nil
		}
		if l.timer != nil {
			l.timer.Stop()
		}
		l.timer = time.AfterFunc(refuse, l.reopen)
	}
	cut := l.takeConns()
	l.mu.Unlock()
	for _, c := range cut {
		c.Conn.Close()
	}
}

func (l *Listener) reopen() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isClosed() || l.socket != nil || time.Now().Before(l.back) {
		return
	}
	socket, err := listen(l.tcp)
	if err != nil { // the port is taken for the moment: it stays away a little longer
		l.timer = time.AfterFunc(50*time.Millisecond, l.reopen)
		return
	}
	l.socket = socket
	close(l.opened)
	l.opened = make(chan struct{})
}

// Close stops listening and cuts every connection, also those an HTTP server has given away.
func (l *Listener) Close() error {
	l.mu.Lock()
	if l.isClosed() {
		l.mu.Unlock()
		return nil
	}
	close(l.closed)
	var err error
	if l.socket != nil {
		err = l.socket.Close()
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	cut := l.takeConns()
	l.mu.Unlock()
	for _, c := range cut {
		c.Conn.Close()
	}
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (l *Listener) isClosed() bool {
	select {
	case <-l.closed:
		return true
	default:
		return false
	}
}

// tracked is an accepted connection that Break and Close can cut.
type tracked struct {
	net.Conn
	from *Listener
}

// track and takeConns are called with mu held.
func (l *Listener) track(c net.Conn) *tracked {
	t := &tracked{Conn: c, from: l}
	l.conns[t] = struct{}{}
	if l.isClosed() {
		c.Close()
	}
	return t
}

func (l *Listener) takeConns() []*tracked {
	cut := make([]*tracked, 0, len(l.conns))
	for c := range l.conns {
		cut = append(cut, c)
	}
	clear(l.conns)
	return cut
}

func (t *tracked) Close() error {
	t.from.mu.Lock()
	delete(t.from.conns, t)
	t.from.mu.Unlock()
	return t.Conn.Close()
}
