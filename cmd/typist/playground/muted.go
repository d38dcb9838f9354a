package playground

import (
	"context"
	"log/slog"
	"sync/atomic"
)

// muted is a log handler that can be silenced: a killed bot says nothing more.
type muted struct {
	slog.Handler
	off *atomic.Bool
}

func newMuted(log *slog.Logger) *muted { return &muted{Handler: log.Handler(), off: new(atomic.Bool)} }

func (m *muted) mute() { m.off.Store(true) }

// Enabled implements slog.Handler.
func (m *muted) Enabled(ctx context.Context, l slog.Level) bool {
	return !m.off.Load() && m.Handler.Enabled(ctx, l)
}

// WithAttrs implements slog.Handler.
func (m *muted) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &muted{Handler: m.Handler.WithAttrs(attrs), off: m.off}
}

// WithGroup implements slog.Handler.
func (m *muted) WithGroup(name string) slog.Handler {
	return &muted{Handler: m.Handler.WithGroup(name), off: m.off}
}
