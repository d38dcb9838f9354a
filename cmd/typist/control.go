package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// The control socket lets `typist pair` and `typist heartbeat` reach the process that runs. It
// lies in the data directory and is its owner's alone.
const (
	socketName = "typist.sock"
	maxSocket  = 103 // bytes of a socket's path that every system takes
)

type controlRequest struct {
	Code   string `json:"code,omitempty"`
	Person string `json:"person,omitempty"`
	Agent  string `json:"agent,omitempty"`
}

type controlAnswer struct {
	Text  string `json:"text,omitempty"`
	Error string `json:"error,omitempty"`
}

// control serves the control socket. A nil *server closes like any other.
func control(ctx context.Context, dataDir string, s service, log *slog.Logger) (*server, error) {
	path, err := socketPath(dataDir)
	if err != nil {
		return nil, err
	}
	// The store's lock is held: what lies here was left by a process that has ended.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("control socket: %w", err), listener.Close())
	}
	mux := http.NewServeMux()
	handle := func(name string, do func(context.Context, controlRequest) (string, error)) {
		mux.HandleFunc("POST /"+name, func(w http.ResponseWriter, r *http.Request) {
			var req controlRequest
			var answer controlAnswer
			err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096)).Decode(&req)
			if err == nil {
				answer.Text, err = do(r.Context(), req)
			}
			if err != nil {
				answer.Error = err.Error()
				w.WriteHeader(http.StatusUnprocessableEntity)
			}
			// An error means that the caller has gone.
			_ = json.NewEncoder(w).Encode(answer)
		})
	}
	handle("pair", func(ctx context.Context, r controlRequest) (string, error) { return s.Pair(ctx, r.Code) })
	handle("paired", func(ctx context.Context, _ controlRequest) (string, error) { return s.Paired(ctx) })
	handle("revoke", func(ctx context.Context, r controlRequest) (string, error) { return s.Revoke(ctx, r.Person) })
	handle("heartbeat", func(ctx context.Context, r controlRequest) (string, error) { return s.Heartbeat(ctx, r.Agent) })
	c := &server{
		listener: listener,
		served:   make(chan struct{}),
		http: &http.Server{
			Handler: mux, ReadHeaderTimeout: 5 * time.Second,
			BaseContext: func(net.Listener) context.Context { return ctx },
			ErrorLog:    slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		},
	}
	go c.serve(log)
	return c, nil
}

func socketPath(dataDir string) (string, error) {
	path := filepath.Join(dataDir, socketName)
	if len(path) > maxSocket {
		return "", fmt.Errorf("the path of dataDir is too long for a socket: %s", path)
	}
	return path, nil
}

// ask sends a request to the process that runs with this data directory and returns its answer.
func ask(ctx context.Context, dataDir, name string, req controlRequest) (string, error) {
	path, err := socketPath(dataDir)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(req)
	if err != nil {
		return "", err
	}
	client := http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
		DisableKeepAlives: true,
	}}
	call, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://typist/"+name, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	resp, err := client.Do(call)
	if err != nil {
		return "", fmt.Errorf("no typist runs with the data directory %s: start one with typist run", dataDir)
	}
	defer resp.Body.Close()
	var answer controlAnswer
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&answer); err != nil {
		return "", fmt.Errorf("answer of the running typist: %w", err)
	}
	if answer.Error != "" {
		return "", errors.New(answer.Error)
	}
	return answer.Text, nil
}
