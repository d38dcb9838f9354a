package discord_test

import (
	"context"
	"sync"
)

// memory is an adapters.Memory.
type memory struct {
	mu     sync.Mutex
	values map[string]string
}

func newMemory() *memory { return &memory{values: map[string]string{}} }

func (m *memory) Load(_ context.Context, key string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[key], nil
}

func (m *memory) Save(_ context.Context, key, value string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[key] = value
	return nil
}
