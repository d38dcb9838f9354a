package main

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"typist/agent/metrics"
	"typist/config"
)

// service is what a config becomes: store, backends, adapters and the hub between them.
type service interface {
	// Run serves until ctx ends, then shuts down within 10 s (C5). An error means that it could
	// not go on.
	Run(ctx context.Context) error
	// Update takes over what a reload can change (O5). An error keeps everything as it was.
	Update(c *config.Config) error
	Health(ctx context.Context) Health
	// Events serves run events below /v1 (O6). The server guards it.
	Events() http.Handler
	// Pair lets in the person with this code and says who it is (C2).
	Pair(ctx context.Context, code string) (string, error)
	// Paired says who was let in by a code, and who waits for it.
	Paired(ctx context.Context) (string, error)
	// Revoke takes back what a code let in, by the person's id, and says who that was.
	Revoke(ctx context.Context, id string) (string, error)
	// Heartbeat starts a heartbeat of an agent ("" = each that has one) and says what came of it.
	Heartbeat(ctx context.Context, agent string) (string, error)
	Close() error
}

// builder makes the service. What it opened is closed again when it fails.
type builder func(ctx context.Context, c *config.Config, log *slog.Logger, m *metrics.Metrics) (service, error)

// Health is the state of a process (O1).
type Health struct {
	Version  string                   `json:"version"`
	Channels map[string]ChannelHealth `json:"channels"`
	Store    StoreHealth              `json:"store"`
	Runs     int                      `json:"runs"` // in flight
}

// ChannelHealth is the state of a channel.
type ChannelHealth struct {
	Connected bool      `json:"connected"`
	Since     time.Time `json:"since,omitzero"`
	Error     string    `json:"error,omitempty"` // the last one, one sentence
}

// StoreHealth is the state of the store.
type StoreHealth struct {
	OK      bool   `json:"ok"`
	Error   string `json:"error,omitempty"`
	Bytes   int64  `json:"bytes,omitempty"`
	Waiting int    `json:"waiting"` // messages that wait for their turn
}

// OK reports whether all is well: the store works, every channel is connected and none is refused
// something.
func (h Health) OK() bool {
	for _, c := range h.Channels {
		if !c.Connected || c.Error != "" {
			return false
		}
	}
	return h.Store.OK
}
