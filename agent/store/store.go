// Package store keeps what must survive: the inbox, session trees, runs with their events, posts,
// tool calls, settings and small values, in one SQLite file (DESIGN "Store").
//
// A write returns once it is durable. One goroutine writes; what many callers ask for at the same
// time is committed together (group commit), and a statement of one caller that fails does not
// touch the others. Reads run beside the writer on connections of their own and see every write
// that has returned.
//
// Chats are named by adapters.Chat.Key(). Times are kept in milliseconds. All SQL of the program
// is in this package, written so that PostgreSQL takes it with $1 for ?1.
//
// Errors are *Error where a person has to do something (full disk, corrupt or locked file), and
// ErrNotFound, ErrNotWaiting, ErrRunEnded and ErrClosed otherwise; see errors.go.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modernc.org/sqlite"
)

// FileName is the database's file in Options.Dir; LockName is the file that keeps a second
// process away from it.
const (
	FileName = "typist.db"
	LockName = "typist.lock"
)

// Options say where the store is and what it forgets.
type Options struct {
	// Dir holds the files; it is made if it is missing. "" is a private store in memory: nothing
	// survives Close.
	Dir string
	// Retention bounds what is kept; the zero value takes the defaults.
	Retention Retention
}

// Store is an open store. It is safe for concurrent use.
type Store struct {
	dir     string
	keep    Retention
	lock    *fileLock
	db      *sql.DB
	writer  *writer
	readers chan *conn // idle read connections and nil places for ones not opened yet; nil in memory

	closing sync.Once
	closeMu sync.RWMutex // held for reading while a read runs
	closed  bool
	stop    chan struct{} // ends the pruning
	pruned  chan struct{} // closed when it has ended
	err     error         // of Close
}

// readConns is how many reads run side by side. Two: one long replay never blocks a lane's read.
const readConns = 2

// Page caches in KiB: the writer's holds the hot ends of the trees, a reader's a path.
const (
	writerCache = 2048
	readerCache = 512
)

// Open opens or creates the store and brings its schema up to date. It holds the directory's lock
// until Close. Errors of the kinds of errors.go are *Error with a sentence for the operator.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{dir: o.Dir, keep: o.Retention.withDefaults(), stop: make(chan struct{}), pruned: make(chan struct{})}
	if s.dir != "" {
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			return nil, &Error{Kind: ErrUnusable, Sentence: fmt.Sprintf("The data directory %s can't be made: check the path and its owner's rights.", s.dir), Err: err}
		}
		lock, err := takeLock(filepath.Join(s.dir, LockName))
		if err != nil {
			return nil, err
		}
		s.lock = lock
	}
	if err := s.open(); err != nil {
		if s.db != nil {
			_ = s.db.Close()
		}
		s.lock.release()
		return nil, s.problem("open store", err)
	}
	go s.writer.loop()
	go s.pruneLoop()
	return s, nil
}

func (s *Store) open() error {
	dsn := "file::memory:?"
	if s.dir != "" {
		// Where fdatasync is missing fsync is used, which is as durable.
		_, _ = sqlite.Fdatasync(true)
		dsn = "file:" + escapePath(filepath.Join(s.dir, FileName)) + "?_pragma=journal_mode(WAL)&_pragma=journal_size_limit(8388608)&"
	}
	dsn += "_pragma=busy_timeout(2000)&_pragma=synchronous(FULL)&_pragma=mmap_size(0)&_pragma=foreign_keys(0)"
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return err
	}
	s.db = db
	db.SetMaxOpenConns(1 + readConns)
	db.SetMaxIdleConns(1 + readConns)
	c, err := s.connect(writerCache)
	if err != nil {
		return err
	}
	if err := migrate(c); err != nil {
		return err
	}
	s.writer = newWriter(c, s.problem)
	if s.dir == "" {
		return nil // a database in memory belongs to its one connection
	}
	s.readers = make(chan *conn, readConns)
	for range readConns {
		s.readers <- nil
	}
	return nil
}

func (s *Store) connect(cache int) (*conn, error) {
	c, err := s.db.Conn(context.Background())
	if err != nil {
		return nil, err
	}
	if _, err := c.ExecContext(context.Background(), fmt.Sprintf("PRAGMA cache_size = -%d", cache)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return newConn(c), nil
}

// Close waits for the writes that were accepted, ends the goroutines and releases the lock.
// Later calls of any method return ErrClosed. It can be called again.
func (s *Store) Close() error {
	s.closing.Do(func() {
		close(s.stop)
		<-s.pruned
		s.writer.close()
		s.closeMu.Lock()
		s.closed = true
		s.closeMu.Unlock()
		var errs []error
		if s.readers != nil {
			for range readConns {
				if c := <-s.readers; c != nil {
					errs = append(errs, c.close())
				}
			}
			s.writer.checkpoint()
		}
		errs = append(errs, s.writer.conn.close(), s.db.Close())
		s.lock.release()
		if err := errors.Join(errs...); err != nil {
			s.err = s.problem("close store", err)
		}
	})
	return s.err
}

// write runs fn in the writer and returns when it is durable. fn can run more than once (its
// transaction may be repeated): it sets results, it never adds to them.
func (s *Store) write(ctx context.Context, what string, fn func(*conn) error) error {
	return s.writer.do(ctx, what, fn)
}

// read runs fn on a read connection. fn must not call the store.
func (s *Store) read(ctx context.Context, what string, fn func(*conn) error) error {
	if s.readers == nil {
		return s.writer.do(ctx, what, fn)
	}
	s.closeMu.RLock()
	defer s.closeMu.RUnlock()
	if s.closed {
		return fmt.Errorf("%s: %w", what, ErrClosed)
	}
	var c *conn
	select {
	case c = <-s.readers:
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", what, context.Cause(ctx))
	}
	defer func() { s.readers <- c }()
	if c == nil {
		opened, err := s.connect(readerCache)
		if err == nil {
			_, err = opened.exec("PRAGMA query_only = 1")
		}
		if err != nil {
			return s.problem(what, err)
		}
		c = opened
	}
	if err := fn(c); err != nil {
		return s.problem(what, err)
	}
	return nil
}

// millis is t as it is stored; 0 is no time.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
