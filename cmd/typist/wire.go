package main

import (
	"context"
	"errors"
	"log/slog"

	"typist/agent/metrics"
	"typist/config"
)

func build(context.Context, *config.Config, *slog.Logger, *metrics.Metrics) (service, error) {
	return nil, errors.New("not wired")
}

func probes(*config.Config) []probe { return nil }
