package simnet

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// serve answers every request with its body, and stops with the listener.
func serve(l *Listener) *http.Server {
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Write(body)
	})}
	go srv.Serve(l)
	return srv
}

func echo(t *testing.T, c *http.Client, url string, n int) {
	t.Helper()
	want := strings.Repeat("x", n)
	resp, err := c.Post(url, "text/plain", strings.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || string(got) != want {
		t.Fatalf("echo of %d bytes: got %d, %v", n, len(got), err)
	}
}

func TestMemoryServesHTTPInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Listen()
		srv := serve(l)
		c := l.HTTPClient()
		for _, n := range []int{0, 1, 5000, 3 << 20} {
			echo(t, c, l.URL(), n)
		}
		before := time.Now()
		<-time.After(time.Hour)
		if time.Since(before) != time.Hour {
			t.Fatal("the bubble's clock did not move by itself")
		}
		echo(t, c, l.URL(), 10)
		c.CloseIdleConnections()
		srv.Close()
	})
}

func TestBreakCutsAndRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := Listen()
		srv := serve(l)
		defer srv.Close()
		c := l.HTTPClient()
		defer c.CloseIdleConnections()
		echo(t, c, l.URL(), 10)
		c.CloseIdleConnections()
		l.Break(time.Second)
		_, err := c.Post(l.URL(), "text/plain", nil)
		if !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatalf("got %v, want a refused connection", err)
		}
		<-time.After(time.Second)
		echo(t, c, l.URL(), 10)
	})
}

func TestLoopbackComesBackOnTheSamePort(t *testing.T) {
	l, err := Loopback()
	if err != nil {
		t.Fatal(err)
	}
	srv := serve(l)
	defer srv.Close()
	c := &http.Client{Transport: &http.Transport{}}
	defer c.CloseIdleConnections()
	echo(t, c, l.URL(), 10)
	c.CloseIdleConnections()
	l.Break(20 * time.Millisecond)
	if _, err := c.Post(l.URL(), "text/plain", nil); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("got %v, want a refused connection", err)
	}
	l.mu.Lock()
	opened := l.opened
	l.mu.Unlock()
	select {
	case <-opened:
	case <-time.After(10 * time.Second):
		t.Fatal("it did not come back")
	}
	echo(t, c, l.URL(), 10)
}

func TestDeadlinesWakeReadersAndWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := pair()
		defer far.Close()
		start := time.Now()
		near.SetReadDeadline(start.Add(3 * time.Second))
		if _, err := near.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("read: %v", err)
		}
		near.SetWriteDeadline(start.Add(5 * time.Second))
		if _, err := near.Write(make([]byte, bufferSize+1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("write: %v", err)
		}
		if since := time.Since(start); since != 5*time.Second {
			t.Fatalf("woke after %s", since)
		}
		near.Close()
		if _, err := near.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Fatalf("read after close: %v", err)
		}
	})
}

func TestDialEndsWithItsContext(t *testing.T) {
	l := Listen()
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Dial(ctx, "tcp", "x"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	l.Close()
	if _, err := l.Dial(t.Context(), "tcp", "x"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatal(err)
	}
}
