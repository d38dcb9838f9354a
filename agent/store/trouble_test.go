package store

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"typist/agent"
)

// limit bounds the file to its present size and n pages, which is what a full disk does to it.
func limit(t *testing.T, s *Store, n int) {
	t.Helper()
	if err := s.write(background, "limit", func(c *conn) error {
		var pages int
		if _, err := c.row("PRAGMA page_count", nil, &pages); err != nil {
			return err
		}
		_, err := c.row(fmt.Sprintf("PRAGMA max_page_count = %d", pages+n), nil, &pages)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestFullDisk: a write that does not fit fails with ErrFull and leaves nothing; those that fit
// go on, in the same batch too; with room everything goes on.
func TestFullDisk(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		id := accept(t, s, chatA, "e1")
		limit(t, s, 2)
		big := strings.Repeat("x", 1<<20)
		errs := gather(t, s,
			func() error { return s.Save(background, "small", "1") },
			func() error {
				return s.BeginTurn(background, Begin{Inputs: []int64{id}, Node: text("n1", chatA, "", agent.User, big), Run: Run{ID: "r1"}})
			},
			func() error { return s.Save(background, "other", "2") },
		)
		if errs[0] != nil || errs[2] != nil {
			t.Errorf("writes that fit failed: %v", errs)
		}
		var trouble *Error
		if !errors.Is(errs[1], ErrFull) || !errors.As(errs[1], &trouble) || !strings.Contains(trouble.Sentence, "make room") {
			t.Errorf("error: %v", errs[1])
		}
		if _, err := s.Append(background, chatA, "r1", at(1), []agent.Event{agent.TextContent{ID: "t", Delta: big}, agent.TextContent{ID: "t", Delta: "y"}}); !errors.Is(err, ErrFull) {
			t.Errorf("append: %v", err)
		}
		if stats, err := s.Stats(background); err != nil || !errors.Is(stats.Err, ErrFull) {
			t.Errorf("health says %v, %v", stats.Err, err)
		}
		if left, err := s.Waiting(background, chatA); err != nil || len(left) != 1 {
			t.Errorf("inputs: %+v %v", left, err)
		}
		if path, err := s.Path(background, chatA, ""); err != nil || len(path) != 0 {
			t.Errorf("path: %+v %v", path, err)
		}
		if _, ok, err := s.Run(background, "r1"); ok || err != nil {
			t.Errorf("run exists: %v %v", ok, err)
		}
		limit(t, s, 10_000)
		if first, err := s.Append(background, chatA, "r1", at(1), []agent.Event{agent.TextContent{ID: "t", Delta: big}}); err != nil || first != 1 {
			t.Errorf("append with room: %d %v", first, err)
		}
		if stats, _ := s.Stats(background); stats.Err != nil {
			t.Errorf("health still says %v", stats.Err)
		}
	})
}

func wantTrouble(t *testing.T, dir string, kind error, words ...string) {
	t.Helper()
	s, err := Open(background, Options{Dir: dir})
	if err == nil {
		_ = s.Close()
		t.Fatalf("opened, want %v", kind)
	}
	var trouble *Error
	if !errors.Is(err, kind) || !errors.As(err, &trouble) {
		t.Fatalf("error is %v, want %v", err, kind)
	}
	for _, word := range words {
		if !strings.Contains(trouble.Sentence, word) {
			t.Errorf("sentence %q lacks %q", trouble.Sentence, word)
		}
	}
}

func TestSecondOpenIsRefused(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(background, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	wantTrouble(t, dir, ErrLocked, dir, fmt.Sprintf("process %d", os.Getpid()), "stop that one")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), restartDir+"="+dir)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err == nil || !strings.Contains(said.String(), "in use by another typist") {
		t.Errorf("second process: %v, %q", err, said.String())
	}
	if err := s.Save(background, "a", "b"); err != nil {
		t.Errorf("the first was disturbed: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
}

func TestFileLockedByAnotherProgram(t *testing.T) {
	dir := t.TempDir()
	open(t, dir).Close()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	// An exclusive lock from before WAL, as a browser of databases takes it.
	for _, q := range []string{"PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE", "DELETE FROM kv", "COMMIT"} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	wantTrouble(t, dir, ErrLocked, "another program", "close")
}

func TestDamagedFile(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"no database": func([]byte) []byte { return []byte(strings.Repeat("this is a text file\n", 500)) },
		"cut":         func(b []byte) []byte { return b[:8192] },
		"overwritten": func(b []byte) []byte {
			for i := 4096; i < len(b); i++ {
				b[i] = 0xA5
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, FileName)
			s := open(t, dir)
			for i := range 50 {
				accept(t, s, chatA, fmt.Sprint(i))
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, damage(data), 0o600); err != nil {
				t.Fatal(err)
			}
			wantTrouble(t, dir, ErrCorrupt, file, "backup")
			// What is refused is not touched: a repair finds it as it was.
			if now, _ := os.ReadFile(file); !bytes.Equal(now, damage(data)) {
				t.Error("the damaged file was changed")
			}
		})
	}
}

func TestNewerFile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.write(background, "age", func(c *conn) error { return c.script("PRAGMA user_version = 999") }); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantTrouble(t, dir, ErrNewer, "newer typist", "999")
}

func TestUnusableDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantTrouble(t, file, ErrUnusable, file)
	wantTrouble(t, filepath.Join(file, "below"), ErrUnusable, file)
}
