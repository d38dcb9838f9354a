package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	sqlite3 "modernc.org/sqlite/lib"
)

// maxBatch bounds how many callers share one transaction, so that no one waits long for others.
const maxBatch = 256

// op is what one caller wants written.
type op struct {
	what string
	fn   func(*conn) error
	ctx  context.Context
	err  error
	done chan struct{}
}

// writer owns the one connection that writes.
type writer struct {
	conn    *conn
	problem func(what string, err error) error
	ops     chan *op

	mu     sync.RWMutex // held for reading while an op is handed over
	closed bool
	ended  chan struct{}

	commits, writes atomic.Int64
	lastErr         atomic.Pointer[error]
}

func newWriter(c *conn, problem func(string, error) error) *writer {
	return &writer{conn: c, problem: problem, ops: make(chan *op, maxBatch), ended: make(chan struct{})}
}

// do hands fn to the writer and waits until it is committed or has failed. A ctx that ends before
// the writer takes it up leaves nothing written; after that the outcome is waited for (a commit
// takes milliseconds), so that the caller always knows it.
func (w *writer) do(ctx context.Context, what string, fn func(*conn) error) error {
	o := &op{what: what, fn: fn, ctx: ctx, done: make(chan struct{})}
	if err := w.hand(ctx, o); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	<-o.done
	return o.err
}

func (w *writer) hand(ctx context.Context, o *op) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return ErrClosed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case w.ops <- o:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// close stops taking ops and returns when those taken are done.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	close(w.ops)
	<-w.ended
}

// loop takes what has gathered while the last commit ran, and commits it together.
func (w *writer) loop() {
	defer close(w.ended)
	batch := make([]*op, 0, maxBatch)
	for first := range w.ops {
		batch = append(batch[:0], first)
	gather:
		for len(batch) < maxBatch {
			select {
			case o, ok := <-w.ops:
				if !ok {
					break gather
				}
				batch = append(batch, o)
			default:
				break gather
			}
		}
		w.run(batch)
		clear(batch)
	}
}

// run commits a batch and tells every caller its outcome.
func (w *writer) run(batch []*op) {
	live := batch[:0]
	for _, o := range batch {
		if o.ctx.Err() != nil {
			o.err = fmt.Errorf("%s: %w", o.what, context.Cause(o.ctx))
			close(o.done)
			continue
		}
		live = append(live, o)
	}
	w.commit(live)
	for _, o := range live {
		w.note(o.err)
		close(o.done)
	}
}

// commit first tries the batch as one plain transaction. Only if that fails are savepoints paid
// for, and only if those can't save it (disk full) is each op tried alone, so that a caller whose
// write fits is not failed by one whose write does not.
func (w *writer) commit(batch []*op) {
	if len(batch) == 0 {
		return
	}
	if w.together(batch, false) == nil {
		return
	}
	if len(batch) == 1 {
		return
	}
	if w.together(batch, true) == nil {
		return
	}
	for i := range batch {
		_ = w.together(batch[i:i+1], false)
	}
}

// together runs a batch in one transaction and sets each op's err. The error returned is the
// transaction's own: with savepoints an op's failure is no failure of the transaction.
func (w *writer) together(batch []*op, savepoints bool) error {
	fail := func(err error) error {
		w.rollback()
		for _, o := range batch {
			o.err = w.problem(o.what, err)
		}
		return err
	}
	if _, err := w.conn.exec("BEGIN IMMEDIATE"); err != nil {
		return fail(err)
	}
	for _, o := range batch {
		if savepoints {
			if _, err := w.conn.exec("SAVEPOINT one"); err != nil {
				return fail(err)
			}
		}
		err := guard(o, w.conn)
		o.err = w.problem(o.what, err)
		if err == nil {
			if savepoints {
				if _, err := w.conn.exec("RELEASE one"); err != nil {
					return fail(err)
				}
			}
			continue
		}
		if !savepoints || breaks(err) {
			return fail(err)
		}
		for _, undo := range []string{"ROLLBACK TO one", "RELEASE one"} {
			if _, err := w.conn.exec(undo); err != nil {
				return fail(err)
			}
		}
	}
	if _, err := w.conn.exec("COMMIT"); err != nil {
		return fail(err)
	}
	w.commits.Add(1)
	w.writes.Add(int64(len(batch)))
	return nil
}

// guard turns a panic of an op into its error: the writer must outlive it.
func guard(o *op, c *conn) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return o.fn(c)
}

// breaks tells errors after which SQLite may have rolled the whole transaction back by itself.
func breaks(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_CORRUPT:
		return true
	}
	return false
}

// rollback ends the transaction if it is still open; SQLite says so by an error when it is not.
func (w *writer) rollback() { _, _ = w.conn.exec("ROLLBACK") }

// checkpoint moves the log into the file, so that a copy of it alone is complete. Only after close.
// Where it can't be done (full disk) nothing is lost: the next Open reads the log.
func (w *writer) checkpoint() {
	_ = w.conn.rows("PRAGMA wal_checkpoint(TRUNCATE)", nil, func(scanner) error { return nil })
}

// note keeps the last trouble with the file for Stats; a write that worked ends it.
func (w *writer) note(err error) {
	var trouble *Error
	switch {
	case err == nil:
		if w.lastErr.Load() != nil {
			w.lastErr.Store(nil)
		}
	case errors.As(err, &trouble):
		w.lastErr.Store(&err)
	}
}
