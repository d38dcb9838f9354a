package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Stats describe the store for health and metrics (O1, O2).
type Stats struct {
	Path    string // of the file; "" in memory
	Bytes   int64  // of the file and its log
	Waiting int    // inputs that wait
	Running int    // runs that are running
	Queue   int    // writes that wait for the writer
	Writes  int64  // writes since Open
	Commits int64  // transactions they took
	// Err is the trouble with the file that the last write met (an *Error by errors.As); nil: none.
	Err error
}

// Stats reads the store's state; it is cheap enough for every health check. After Close or with
// an unreadable file the error says so, and what is known without reading is filled in.
func (s *Store) Stats(ctx context.Context) (Stats, error) {
	st := Stats{Queue: len(s.writer.ops), Writes: s.writer.writes.Load(), Commits: s.writer.commits.Load()}
	if err := s.writer.lastErr.Load(); err != nil {
		st.Err = *err
	}
	if s.dir != "" {
		st.Path = filepath.Join(s.dir, FileName)
		for _, name := range []string{st.Path, st.Path + "-wal"} {
			info, err := os.Stat(name)
			if err != nil {
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				return st, s.problem("stats", err)
			}
			st.Bytes += info.Size()
		}
	}
	err := s.read(ctx, "stats", func(c *conn) error {
		if _, err := c.row(`SELECT COUNT(*) FROM inbox WHERE state IN ('waiting', 'running') AND state = 'waiting'`, nil, &st.Waiting); err != nil {
			return err
		}
		_, err := c.row(`SELECT COUNT(*) FROM runs WHERE state = 'running'`, nil, &st.Running)
		return err
	})
	return st, err
}
