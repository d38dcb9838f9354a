package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"typist/agent/eventlog"
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
	mux.Handle("/v1/", eventlog.Guard(token, s.Events()))
	return mux
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
