package discord

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// dial and dialTLS are what discordgo's websocket dialer uses: they put a wire beneath it, above
// TLS.
func (l *link) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := l.a.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	w := newWire(c, l.r.push)
	l.setWire(w)
	return w, nil
}

func (l *link) dialTLS(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := l.a.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		c.Close()
		return nil, err
	}
	cfg := l.a.tls.Clone()
	cfg.ServerName = host
	secure := tls.Client(c, cfg)
	if err := secure.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, err
	}
	w := newWire(secure, l.r.push)
	l.setWire(w)
	return w, nil
}

// dialGateway connects to the gateway, through the proxy of the environment where there is one:
// the websocket library cannot do that and hand its TLS connection to a wire.
func dialGateway(ctx context.Context, network, addr string) (net.Conn, error) {
	d := &net.Dialer{Timeout: openTimeout, KeepAlive: 15 * time.Second}
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: addr}})
	if err != nil || proxy == nil {
		return d.DialContext(ctx, network, addr)
	}
	if proxy.Scheme != "http" {
		return nil, fmt.Errorf("proxy %s: only http:// proxies can be used for Discord's gateway", proxy.Redacted())
	}
	host := proxy.Host
	if proxy.Port() == "" {
		host = net.JoinHostPort(proxy.Hostname(), "80")
	}
	c, err := d.DialContext(ctx, network, host)
	if err != nil {
		return nil, err
	}
	if err := connectThrough(ctx, c, proxy, addr); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// connectThrough asks an HTTP proxy for a tunnel.
func connectThrough(ctx context.Context, c net.Conn, proxy *url.URL, addr string) error {
	if at, ok := ctx.Deadline(); ok {
		c.SetDeadline(at)
		defer c.SetDeadline(time.Time{})
	}
	r := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: addr}, Host: addr, Header: http.Header{}}
	if u := proxy.User; u != nil {
		password, _ := u.Password()
		r.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)))
	}
	if err := r.Write(c); err != nil {
		return err
	}
	// A byte at a time: nothing of what follows the answer may be taken from the tunnel.
	resp, err := http.ReadResponse(bufio.NewReaderSize(oneByte{c}, 16), r)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("proxy %s refuses: %s", proxy.Redacted(), resp.Status)
	}
	return nil
}

type oneByte struct{ net.Conn }

func (o oneByte) Read(p []byte) (int, error) { return o.Conn.Read(p[:min(1, len(p))]) }
