package discord

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"typist/adapters"
)

type nowhere struct{}

func (nowhere) Deliver(context.Context, adapters.Event) error { return nil }
func (nowhere) Status(string, adapters.Status)                {}

func testReceiver(t testing.TB) *receiver {
	a, err := New(Config{Token: "x", APIURL: "http://sim.invalid"}, Deps{
		HTTP: refusing{},
		Dial: func(context.Context, string, string) (net.Conn, error) { return nil, io.EOF },
	})
	if err != nil {
		t.Fatal(err)
	}
	a.bot = user{ID: "2900"}
	r, err := newReceiver(t.Context(), a, nowhere{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// FuzzC3_AnyEventIsSurvived hands any payload to the decoders.
func FuzzC3_AnyEventIsSurvived(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal("no payloads in testdata", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(strings.ToUpper(strings.SplitN(filepath.Base(name), ".", 2)[0]), data)
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		r := testReceiver(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // nothing may wait
		done := make(chan error)
		close(done)
		r.handleOrPanic(ctx, gatewayEvent{name: name, data: json.RawMessage(data), acked: done})
	})
}

// FuzzC4_WireSurvivesAnyBytes hands any bytes of a server to the wire.
func FuzzC4_WireSurvivesAnyBytes(f *testing.F) {
	head := "HTTP/1.1 101 Switching Protocols\r\n\r\n"
	f.Add([]byte(head + string(textFrame(`{"op":10,"d":{"heartbeat_interval":45000}}`))))
	f.Add([]byte(head + string(textFrame(`{"op":0,"t":"READY","s":1,"d":{"guilds":[null]}}`)) + "\x88\x02\x0f\xa4"))
	f.Add([]byte(head + "\x01\x02{\"\x80\x07op\":11}"))
	f.Add([]byte(head + "\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("HTTP/1.1 429 Too Many Requests\r\n\r\nbody"))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := newWire(&replay{Reader: bytes.NewReader(data)}, func(string, json.RawMessage) {})
		w.hasBeaten = true
		close(w.beating)
		out, _ := io.ReadAll(w)
		if w.raw || len(out) == 0 {
			return
		}
		in := bufio.NewReader(bytes.NewReader(out))
		for { // what the client gets after the answer is whole frames
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if strings.TrimSpace(line) == "" {
				break
			}
		}
		for {
			_, payload, err := readFrame(in)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatalf("the client gets a broken frame: %v", err)
			}
			_ = payload
		}
	})
}

type replay struct {
	net.Conn
	io.Reader
}

func (r *replay) Read(p []byte) (int, error)         { return r.Reader.Read(p) }
func (r *replay) Write(p []byte) (int, error)        { return len(p), nil }
func (r *replay) Close() error                       { return nil }
func (r *replay) SetWriteDeadline(_ time.Time) error { return nil }

func TestC4_WireAssemblesFragments(t *testing.T) {
	var got []string
	w := newWire(&replay{Reader: strings.NewReader("HTTP/1.1 101 ok\r\n\r\n" +
		"\x01\x11{\"op\":0,\"t\":\"A\",\"" + "\x89\x01p" + "\x80\x08s\":7,\"d\"" + "")}, func(name string, _ json.RawMessage) { got = append(got, name) })
	close(w.beating)
	out, _ := io.ReadAll(w)
	if len(got) != 0 || !bytes.Contains(out, []byte("\x89\x01p")) {
		t.Errorf("half a message was taken: %v, %q", got, out)
	}
	w = newWire(&replay{Reader: strings.NewReader("HTTP/1.1 101 ok\r\n\r\n" +
		"\x01\x11{\"op\":0,\"t\":\"A\",\"" + "\x89\x01p" + "\x80\x0bs\":7,\"d\":1}")}, func(name string, _ json.RawMessage) { got = append(got, name) })
	close(w.beating)
	out, _ = io.ReadAll(w)
	if len(got) != 1 || !bytes.Contains(out, []byte(`"s":7`)) || bytes.Contains(out, []byte(`"A"`)) {
		t.Errorf("got %v, the client sees %q", got, out)
	}
}

func TestC4_WireKnowsHeartbeatsAndHoldsCloseFrames(t *testing.T) {
	masked := func(op byte, text string) []byte {
		frame := []byte{0x80 | op, 0x80 | byte(len(text)), 1, 2, 3, 4}
		for i := range len(text) {
			frame = append(frame, text[i]^byte(i%4+1))
		}
		return frame
	}
	if !isHeartbeat(masked(1, `{"op":1,"d":5}`)) || isHeartbeat(masked(1, `{"op":11,"d":5}`)) || isHeartbeat(masked(1, `{}`)) {
		t.Error("heartbeats are not recognised")
	}
	var sent bytes.Buffer
	w := newWire(&recordingConn{replay: replay{Reader: strings.NewReader("")}, to: &sent}, func(string, json.RawMessage) {})
	w.upgraded = true
	if _, err := w.Write(masked(8, "\x03\xe8")); err != nil || sent.Len() != 0 {
		t.Errorf("a close frame left: %v %q", err, sent.Bytes())
	}
	if _, err := w.Write(masked(1, `{"op":2}`)); err != nil || sent.Len() == 0 {
		t.Errorf("a message did not leave: %v", err)
	}
	sent.Reset()
	w.goodbye()
	if got := sent.Bytes(); len(got) != 8 || binary.BigEndian.Uint16(got[6:]) != 1000 {
		t.Errorf("goodbye sent %x", got)
	}
}

type recordingConn struct {
	replay
	to *bytes.Buffer
}

func (c *recordingConn) Write(p []byte) (int, error) { return c.to.Write(p) }

// refusing is a transport without network.
type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, io.EOF }
