package simnet

import (
	"errors"
	"os"
	"testing"
	"time"
)

// A deadline in the past ends a read that is just about to wait: net/http's server ends its
// background read like that when a connection is taken over.
func TestPastDeadlineEndsAReadThatIsAboutToWait(t *testing.T) {
	for range 20000 {
		a, _ := pair()
		ended := make(chan error, 1)
		go func() {
			_, err := a.Read(make([]byte, 1))
			ended <- err
		}()
		_ = a.SetReadDeadline(time.Unix(1, 0))
		select {
		case err := <-ended:
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal(err)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("the read waits on")
		}
	}
}
