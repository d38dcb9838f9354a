package playground

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
)

// gate is the bot's only way to a platform: a loopback port that forwards to it. Shutting it cuts
// every connection at once and for good, as the death of a process does.
type gate struct {
	ctx      context.Context // ends with the gate
	end      context.CancelFunc
	listener net.Listener
	target   string
	mu       sync.Mutex
	conns    map[net.Conn]struct{}
	shut     bool
	work     sync.WaitGroup
}

// openGate opens a gate to host:port.
func openGate(target string) (*gate, error) {
	ctx, end := context.WithCancel(context.Background())
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		end()
		return nil, fmt.Errorf("playground: %w", err)
	}
	g := &gate{ctx: ctx, end: end, listener: l, target: target, conns: map[net.Conn]struct{}{}}
	g.work.Go(g.serve)
	return g, nil
}

func (g *gate) address() string { return g.listener.Addr().String() }

func (g *gate) serve() {
	for {
		near, err := g.listener.Accept()
		if err != nil {
			return
		}
		g.work.Go(func() { g.forward(near) })
	}
}

// forward joins two connections; when one side ends, so does the other.
func (g *gate) forward(near net.Conn) {
	if !g.keep(near) {
		return
	}
	defer g.drop(near)
	far, err := new(net.Dialer).DialContext(g.ctx, "tcp", g.target)
	if err != nil || !g.keep(far) {
		return // the platform is away: the bot sees its connection end
	}
	defer g.drop(far)
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(near, far) // either side's end ends both
		near.Close()
	})
	_, _ = io.Copy(far, near)
	far.Close()
	back.Wait()
}

func (g *gate) keep(c net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		c.Close()
		return false
	}
	g.conns[c] = struct{}{}
	return true
}

func (g *gate) drop(c net.Conn) {
	g.mu.Lock()
	delete(g.conns, c)
	g.mu.Unlock()
	c.Close()
}

// close shuts the gate and waits until nothing passes any more.
func (g *gate) close() {
	g.end()
	g.mu.Lock()
	g.shut = true
	g.listener.Close()
	for c := range g.conns {
		c.Close()
	}
	g.mu.Unlock()
	g.work.Wait()
}
