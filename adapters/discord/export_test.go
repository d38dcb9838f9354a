package discord

import (
	"context"
	"crypto/tls"
	"net"
	"net/url"
)

// LimitQueue makes the queue before the sink small.
func (a *Adapter) LimitQueue(n int) { a.queueCap.Store(int64(n)) }

// SetTLS is the TLS configuration of gateway connections.
func (a *Adapter) SetTLS(cfg *tls.Config) { a.tls = cfg }

// ConnectThrough asks a proxy for a tunnel.
func ConnectThrough(ctx context.Context, c net.Conn, proxy *url.URL, addr string) error {
	return connectThrough(ctx, c, proxy, addr)
}
