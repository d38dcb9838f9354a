package main

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// server is the HTTP server of /healthz, /metrics and /v1 (O1, O2, O6).
type server struct {
	http     *http.Server
	listener net.Listener
	served   chan struct{} // closed when it has ended
}

// routes are the paths of the HTTP server. Health and metrics hold no message texts and are open
// to whoever reaches the address; events are not.
func routes(s service, metrics http.Handler, token string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		h := s.Health(r.Context())
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		if !h.OK() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		// An error means that the caller has gone.
		_ = json.NewEncoder(w).Encode(h)
	})
	mux.Handle("GET /metrics", metrics)
	mux.Handle("/v1/", authorised(s.Events(), token))
	return mux
}

// authorised lets through who has the token; without a token, who calls from this machine (O6).
func authorised(next http.Handler, token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token != "" {
			given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			if !ok || subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1 {
				w.Header().Set("WWW-Authenticate", `Bearer realm="typist"`)
				http.Error(w, "run events need the token of http.token", http.StatusUnauthorized)
				return
			}
		} else if !local(r) {
			http.Error(w, "without http.token run events are only for callers on this machine", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// local reports whether a request comes from this machine by its own name: not through a proxy,
// and not from a page that had its own name point here.
func local(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() {
		return false
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.IsLoopback()
}

// serve starts the HTTP server. Requests end with ctx.
func serve(ctx context.Context, address string, h http.Handler, log *slog.Logger) (*server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf(`http.listen: %w: choose another address, or "" for none`, err)
	}
	s := &server{
		listener: listener,
		served:   make(chan struct{}),
		http: &http.Server{
			Handler:           h,
			ReadHeaderTimeout: 5 * time.Second,
			IdleTimeout:       time.Minute,
			MaxHeaderBytes:    16 << 10,
			BaseContext:       func(net.Listener) context.Context { return ctx },
			ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		},
	}
	go s.serve(log)
	return s, nil
}

func (s *server) serve(log *slog.Logger) {
	defer close(s.served)
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		log.Error("the server failed", "address", s.listener.Addr().String(), "error", err)
	}
}

// close ends the server: open requests get a moment, event streams end with serve's context.
func (s *server) close() {
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := s.http.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
		_ = s.http.Close() // what is left has had its moment
	}
	<-s.served
}
