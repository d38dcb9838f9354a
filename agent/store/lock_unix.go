//go:build !windows

package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// fileLock is held by an open file; the system drops it when the process dies, however it dies.
type fileLock struct{ f *os.File }

// takeLock locks path for this process. The file holds the owner's process id.
func takeLock(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, &Error{Kind: ErrUnusable, Sentence: fmt.Sprintf("The data directory %s can't be written: check its owner and rights.", filepath.Dir(path)), Err: err}
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		owner, _ := io.ReadAll(io.LimitReader(f, 32))
		_ = f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &Error{Kind: ErrUnusable, Sentence: fmt.Sprintf("The data directory %s can't be locked: put it on a local disk.", filepath.Dir(path)), Err: err}
		}
		return nil, lockedBy(path, strings.TrimSpace(string(owner)))
	}
	// The id only helps whoever reads the message of the second process: no error is worth failing for.
	if f.Truncate(0) == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return &fileLock{f: f}, nil
}

func (l *fileLock) release() {
	if l != nil {
		_ = l.f.Close()
	}
}
