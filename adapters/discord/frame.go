package discord

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// maxFrame bounds what one gateway message may take; a large guild's GUILD_CREATE is some MB.
const maxFrame = 64 << 20

var errBadFrame = errors.New("malformed websocket frame")

// readFrame reads one frame of a server: as it came, and its payload.
func readFrame(in *bufio.Reader) (frame, payload []byte, err error) {
	head := make([]byte, 2, 10)
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, nil, err
	}
	if head[1]&0x80 != 0 { // servers do not mask
		return nil, nil, errBadFrame
	}
	size, more := uint64(head[1]), 0
	switch head[1] {
	case 126:
		more = 2
	case 127:
		more = 8
	}
	if more > 0 {
		head = head[:2+more]
		if _, err := io.ReadFull(in, head[2:]); err != nil {
			return nil, nil, err
		}
		size = 0
		for _, b := range head[2:] {
			size = size<<8 | uint64(b)
		}
	}
	if size > maxFrame {
		return nil, nil, errBadFrame
	}
	var buf bytes.Buffer // grows with what really comes, whatever the header claims
	buf.Write(head)
	if _, err := io.CopyN(&buf, in, int64(size)); err != nil {
		return nil, nil, err
	}
	return buf.Bytes(), buf.Bytes()[len(head):], nil
}

// isHeartbeat looks into a masked client frame.
func isHeartbeat(p []byte) bool {
	const want = `{"op":1,`
	at := 2
	switch p[1] & 0x7f {
	case 126:
		at += 2
	case 127:
		at += 8
	}
	if len(p) < at+4+len(want) || p[1]&0x80 == 0 {
		return false
	}
	mask, body := p[at:at+4], p[at+4:]
	for i := range len(want) {
		if body[i]^mask[i%4] != want[i] {
			return false
		}
	}
	return true
}

// textFrame is a text message as a server sends it.
func textFrame(text string) []byte {
	head := []byte{0x81, byte(len(text))}
	if len(text) > 125 {
		head = binary.BigEndian.AppendUint16([]byte{0x81, 126}, uint16(len(text)))
	}
	return append(head, text...)
}
