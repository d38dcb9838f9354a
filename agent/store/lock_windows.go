package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
)

// fileLock is held by a handle that shares the file with nobody; the system closes it when the
// process dies, however it dies.
type fileLock struct{ h syscall.Handle }

const sharingViolation syscall.Errno = 32

// takeLock locks path for this process.
func takeLock(path string) (*fileLock, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, lockedBy(path, "")
	}
	if err != nil {
		return nil, &Error{Kind: ErrUnusable, Sentence: fmt.Sprintf("The data directory %s can't be written: check its rights.", filepath.Dir(path)), Err: err}
	}
	return &fileLock{h: h}, nil
}

func (l *fileLock) release() {
	if l != nil {
		_ = syscall.CloseHandle(l.h)
	}
}
