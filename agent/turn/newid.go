package turn

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
)

// newID makes an id of 16 characters [a-z2-7] (80 random bits): short enough for button data
// (64 bytes on Telegram) and for a post's key.
func newID() string {
	var b [10]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return strings.ToLower(base32.StdEncoding.EncodeToString(b[:]))
}
