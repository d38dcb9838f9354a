package discord_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"typist/adapters/discord"
	"typist/adapters/sim"
	simdiscord "typist/adapters/sim/discord"
)

// What runs against Discord itself: TLS on both ways, real sockets, a proxy given as APIURL.
func TestC4_OverTLSAndSockets(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		if err := goleak.Find(before); err != nil {
			t.Error(err)
		}
	})
	server, err := simdiscord.New(simdiscord.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	to, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(to)
	mux := http.NewServeMux()
	mux.Handle("/", forward)
	edge := httptest.NewTLSServer(mux)
	defer edge.Close()
	mux.HandleFunc("/api/v9/gateway", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]string{"url": "wss" + strings.TrimPrefix(edge.URL, "https")})
	})
	a, err := discord.New(discord.Config{Token: "Bot " + simdiscord.Token, APIURL: edge.URL}, discord.Deps{HTTP: edge.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	a.SetTLS(edge.Client().Transport.(*http.Transport).TLSClientConfig)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := &sink{moved: make(chan struct{}, 1)}
	until := func(what string, ok func() bool) {
		t.Helper()
		late := time.After(20 * time.Second)
		for !ok() {
			select {
			case <-s.moved:
			case <-late:
				t.Fatalf("waited in vain for %s", what)
			}
		}
	}
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx, s) }()
	until("the connection", s.connected)
	if _, err := server.Say(sim.Say{Chat: simdiscord.DM, Person: simdiscord.Ann, Text: "over TLS"}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Send(ctx, directChat, text("heard")); err != nil {
		t.Fatal(err)
	}
	until("the message", func() bool { return len(s.texts()) == 1 })
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run ended with %v", err)
	}
	if got := s.texts(); len(got) != 1 || got[0] != "over TLS" {
		t.Errorf("got %q", got)
	}
}

func TestC4_ThroughAProxy(t *testing.T) {
	for status, ok := range map[string]bool{"200 Connection established": true, "407 Proxy Authentication Required": false} {
		near, far := net.Pipe()
		asked := make(chan string, 1)
		go func() {
			req, err := http.ReadRequest(bufio.NewReader(far))
			if err != nil {
				asked <- err.Error()
				return
			}
			asked <- req.Method + " " + req.Host + " " + req.Header.Get("Proxy-Authorization")
			io.WriteString(far, "HTTP/1.1 "+status+"\r\n\r\nfirst bytes of the tunnel")
			far.Close()
		}()
		err := discord.ConnectThrough(t.Context(), near, &url.URL{Scheme: "http", User: url.UserPassword("u", "secret"), Host: "proxy:3128"}, "gateway.discord.gg:443")
		if got := <-asked; got != "CONNECT gateway.discord.gg:443 Basic dTpzZWNyZXQ=" {
			t.Errorf("asked %q", got)
		}
		if (err == nil) != ok {
			t.Errorf("%s: %v", status, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows the password: %v", err)
		}
		if ok {
			if rest, _ := io.ReadAll(near); string(rest) != "first bytes of the tunnel" {
				t.Errorf("the tunnel lost bytes: %q", rest)
			}
		}
		near.Close()
	}
}
