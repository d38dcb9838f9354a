package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// The kinds of trouble that a person has to end. Errors of these kinds are *Error.
var (
	// ErrFull: the disk (or a quota) is full. Nothing of the write was kept.
	ErrFull = errors.New("store: disk full")
	// ErrCorrupt: the file is damaged, or is no database.
	ErrCorrupt = errors.New("store: file is damaged")
	// ErrLocked: another process uses the directory or the file.
	ErrLocked = errors.New("store: in use by another process")
	// ErrNewer: the file was written by a newer version of the program.
	ErrNewer = errors.New("store: file is newer than this program")
	// ErrUnusable: the directory or file can't be read or written (rights, read-only file
	// system, I/O error).
	ErrUnusable = errors.New("store: file can't be used")
)

// What callers handle themselves.
var (
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("store: closed")
	// ErrNotFound: there is no such node, run or input.
	ErrNotFound = errors.New("store: not found")
	// ErrNotWaiting: an input that a turn wanted to begin with does not wait any more.
	ErrNotWaiting = errors.New("store: input does not wait")
	// ErrRunEnded: the run has ended already; nothing was changed.
	ErrRunEnded = errors.New("store: run has ended")
)

// Error is trouble with the file that a person has to end. Sentence says what is wrong and what
// to do. errors.Is finds Kind and what Err wraps.
type Error struct {
	Kind     error
	Sentence string
	Err      error // may be nil
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Sentence
	}
	return e.Sentence + " (" + e.Err.Error() + ")"
}

// Unwrap implements errors.Is and errors.As.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// problem names the operation and turns SQLite's codes into the typed errors.
func (s *Store) problem(what string, err error) error {
	if err == nil {
		return nil
	}
	var known *Error
	if errors.As(err, &known) {
		return fmt.Errorf("%s: %w", what, err)
	}
	file := "in memory"
	if s.dir != "" {
		file = filepath.Join(s.dir, FileName)
	}
	kind, sentence := classify(err, file)
	if kind == nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, &Error{Kind: kind, Sentence: sentence, Err: err})
}

func classify(err error, file string) (kind error, sentence string) {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return ErrFull, full(file)
	}
	return sentenceOf(code(err), file)
}

func sentenceOf(code int, file string) (kind error, sentence string) {
	switch code {
	case sqlite3.SQLITE_FULL:
		return ErrFull, full(file)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return ErrCorrupt, fmt.Sprintf("The store %s is damaged: stop typist, keep a copy of the file and put back a backup, or move it (and the -wal and -shm files beside it) away to begin with an empty store.", file)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return ErrLocked, fmt.Sprintf("The store %s is locked by another program: close whatever has it open (a database browser, a backup), then try again.", file)
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOLFS:
		return ErrUnusable, fmt.Sprintf("The store %s can't be read or written: check the owner and the rights of the file and its directory, and the disk.", file)
	}
	return nil, ""
}

func full(file string) string {
	return fmt.Sprintf("The disk of the store %s is full: make room there; nothing of the last write was kept, and what comes later is stored again as soon as there is room.", file)
}

// code is SQLite's primary result code, or -1.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return -1
}

// lockedBy is the error of a second process; owner is the first one's process id, "" unknown.
func lockedBy(lockFile, owner string) error {
	who := "another typist"
	if owner != "" {
		who += " (process " + owner + ")"
	}
	return &Error{Kind: ErrLocked, Sentence: fmt.Sprintf("The data directory %s is in use by %s: stop that one, or give this one a dataDir of its own.", filepath.Dir(lockFile), who)}
}
