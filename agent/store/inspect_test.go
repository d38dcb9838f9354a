package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestO4_InspectChangesNothing and tells a whole store, one in use, a damaged and a newer one apart.
func TestO4_InspectChangesNothing(t *testing.T) {
	dir := t.TempDir()
	wants := func(want string) {
		t.Helper()
		if found, err := Inspect(t.Context(), dir); err != nil || !strings.Contains(found, want) {
			t.Errorf("%q, %v; want %s", found, err, want)
		}
	}
	wants("none yet")
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), "a", strings.Repeat("b", 100_000)); err != nil {
		t.Fatal(err)
	}
	wants("in use by a typist")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wants("whole, ")
	file := filepath.Join(dir, FileName)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func([]byte) []byte{
		"no database":    func([]byte) []byte { return []byte(strings.Repeat("not a database. ", 1000)) },
		"cut short":      func(b []byte) []byte { return b[:len(b)/2] },
		"a spoiled page": func(b []byte) []byte { copy(b[4096:], strings.Repeat("x", 4096)); return b },
	} {
		if err := os.WriteFile(file, damage(append([]byte(nil), data...)), 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := Inspect(t.Context(), dir)
		var e *Error
		if !errors.Is(err, ErrCorrupt) || !errors.As(err, &e) || !strings.Contains(e.Sentence, "put back a backup") {
			t.Errorf("%s: %q, %v", name, found, err)
		}
	}
	future := append([]byte(nil), data...)
	future[63] = 200 // the header's user_version, big endian, at offset 60
	if err := os.WriteFile(file, future, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Inspect(t.Context(), dir); !errors.Is(err, ErrNewer) {
		t.Errorf("newer: %v", err)
	}
}
