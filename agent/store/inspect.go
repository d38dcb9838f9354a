package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	sqlite3 "modernc.org/sqlite/lib"
)

// inspectBytes is up to which size Inspect reads the whole file.
const inspectBytes = 256 << 20

// Inspect looks at the store of a directory without changing or making anything, and says in a few
// words what it found. That another process uses it is no error. Errors are *Error as Open's.
func Inspect(ctx context.Context, dir string) (found string, err error) {
	s := &Store{dir: dir}
	file := filepath.Join(dir, FileName)
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "none yet: typist run makes it", nil
	case err != nil:
		return "", &Error{Kind: ErrUnusable, Sentence: fmt.Sprintf("The store %s can't be looked at: check its owner and rights.", file), Err: err}
	}
	if lockFile := filepath.Join(dir, LockName); exists(lockFile) {
		lock, err := takeLock(lockFile)
		if errors.Is(err, ErrLocked) {
			return "in use by a typist that runs", nil
		}
		if err != nil {
			return "", err
		}
		defer lock.release()
	}
	db, err := sql.Open("sqlite", "file:"+escapePath(file)+"?mode=ro&_pragma=busy_timeout(2000)")
	if err != nil {
		return "", s.problem("open store", err)
	}
	defer db.Close()
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return "", s.problem("read store", err)
	}
	if version > len(migrations) {
		return "", newer(version)
	}
	size := fmt.Sprintf("%.1f MB", float64(info.Size())/(1<<20))
	if info.Size() > inspectBytes {
		return "opens, " + size + " (too large to read all of it here)", nil
	}
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return "", s.problem("read store", err)
	}
	if verdict != "ok" {
		_, sentence := sentenceOf(sqlite3.SQLITE_CORRUPT, file)
		return "", &Error{Kind: ErrCorrupt, Sentence: sentence, Err: errors.New(verdict)}
	}
	return "whole, " + size, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
