package store

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"
)

// conn is one connection with its prepared statements. It is used by one goroutine at a time.
// Statements run with a context that never ends: a cancelled one would leave a transaction in an
// unknown state, and every statement here is short.
type conn struct {
	c     *sql.Conn
	stmts map[string]*sql.Stmt
}

func newConn(c *sql.Conn) *conn { return &conn{c: c, stmts: make(map[string]*sql.Stmt)} }

func (c *conn) stmt(query string) (*sql.Stmt, error) {
	if st := c.stmts[query]; st != nil {
		return st, nil
	}
	st, err := c.c.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	c.stmts[query] = st
	return st, nil
}

// exec returns the number of rows that were changed.
func (c *conn) exec(query string, args ...any) (int64, error) {
	st, err := c.stmt(query)
	if err != nil {
		return 0, err
	}
	res, err := st.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// row scans the first row into dest; false: there is none.
func (c *conn) row(query string, args []any, dest ...any) (bool, error) {
	st, err := c.stmt(query)
	if err != nil {
		return false, err
	}
	err = st.QueryRowContext(context.Background(), args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// scanner is a row of a result.
type scanner interface{ Scan(dest ...any) error }

// rows calls each for every row.
func (c *conn) rows(query string, args []any, each func(scanner) error) error {
	st, err := c.stmt(query)
	if err != nil {
		return err
	}
	rows, err := st.QueryContext(context.Background(), args...)
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := each(rows); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

func (c *conn) close() error {
	var errs []error
	for _, st := range c.stmts {
		errs = append(errs, st.Close())
	}
	return errors.Join(append(errs, c.c.Close())...)
}

// escapePath makes a path safe inside a file: URI.
func escapePath(path string) string {
	return strings.ReplaceAll(url.PathEscape(path), "%2F", "/")
}

// script runs several statements without parameters.
func (c *conn) script(text string) error {
	_, err := c.c.ExecContext(context.Background(), text)
	return err
}
