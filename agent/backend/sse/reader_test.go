package sse

import (
	"bytes"
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"

	"typist/agent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// read returns all events as name|data, with + for an open one.
func read(r io.Reader, limit int) ([]string, error) {
	events := NewReader(r, limit)
	var out []string
	for {
		ev, err := events.Next()
		if err != nil {
			return out, err
		}
		s := ev.Name + "|" + string(ev.Data)
		if ev.Open {
			s += "+"
		}
		out = append(out, s)
	}
}

func TestA2_SSEReader(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"plain":                          {"data: a\n\ndata: b\n\n", []string{"|a", "|b"}},
		"named":                          {"event: error\ndata: {}\nid: 7\nretry: 10\n\n", []string{"error|{}"}},
		"several lines":                  {"data: a\ndata:b\ndata:  c\ndata\n\n", []string{"|a\nb\n c\n"}},
		"CRLF":                           {"data: a\r\n\r\ndata: b\r\n\r\n", []string{"|a", "|b"}},
		"CRLF inside":                    {"data: a\r\ndata: b\r\n\r\n", []string{"|a\nb"}},
		"CR":                             {"data: a\r\rdata: b\r\r", []string{"|a", "|b"}},
		"comments":                       {": keep-alive\n\n: OPENROUTER PROCESSING\ndata: a\n\n:\n\n", []string{"|a"}},
		"byte order mark":                {"\uFEFFdata: a\n\n", []string{"|a"}},
		"name without data is forgotten": {"event: ping\n\ndata: a\n\n", []string{"|a"}},
		"no last blank line":             {"data: a\n\ndata: [DONE]\n", []string{"|a", "|[DONE]+"}},
		"no last line end":               {"data: a\n\ndata: {\"x", []string{"|a", "|{\"x+"}},
		"empty":                          {"", nil},
		"unknown fields":                 {"<html>\nfoo: bar\ndata: a\n\n", []string{"|a"}},
	} {
		t.Run(name, func(t *testing.T) {
			for kind, r := range map[string]io.Reader{"whole": strings.NewReader(c.in), "byte by byte": iotest.OneByteReader(strings.NewReader(c.in))} {
				got, err := read(r, 100)
				if !reflect.DeepEqual(got, c.want) || !errors.Is(err, io.EOF) {
					t.Errorf("%s: %q, %v, want %q", kind, got, err, c.want)
				}
			}
		})
	}
}

func TestA2_SSEReaderLimits(t *testing.T) {
	for name, in := range map[string]string{
		"one line":     "data: " + strings.Repeat("x", 101) + "\n\n",
		"endless line": strings.Repeat("x", 1000),
		"many lines":   strings.Repeat("data: xxxxxxxxxx\n", 20) + "\n",
		"at the end":   strings.Repeat("data: xxxxxxxxxx\n", 9) + "data: " + strings.Repeat("x", 30),
	} {
		got, err := read(strings.NewReader(in), 100)
		var protocol *agent.ProtocolError
		if len(got) != 0 || !errors.As(err, &protocol) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestS3_SSEReaderPassesOnHowItWasCut(t *testing.T) {
	reset := &net.OpError{Op: "read", Err: errors.New("connection reset by peer")}
	got, err := read(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(reset)), 100)
	if !reflect.DeepEqual(got, []string{"|a"}) || !errors.Is(err, reset) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestT7_SSEReaderDoesNotWait: an event is there as soon as its blank line is, even if that is a
// CR whose LF is still to come.
func TestT7_SSEReaderDoesNotWait(t *testing.T) {
	for _, first := range []string{"data: a\n\n", "data: a\r\r", "data: a\r\n\r"} {
		in, out := io.Pipe()
		go func() { _, _ = io.WriteString(out, first) }()
		ev, err := NewReader(in, 100).Next()
		if err != nil || string(ev.Data) != "a" {
			t.Errorf("%q: %+v, %v", first, ev, err)
		}
		_ = out.Close()
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("event: x\ndata: a\r\n\r\n\rdata: b\n\n: c\n"))
	f.Add([]byte("\uFEFFdata\ndata:\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := read(bytes.NewReader(in), 64)
		if err == nil {
			t.Fatal("no end")
		}
		bytewise, err2 := read(iotest.OneByteReader(bytes.NewReader(in)), 64)
		if !reflect.DeepEqual(whole, bytewise) || errors.Is(err, io.EOF) != errors.Is(err2, io.EOF) {
			t.Fatalf("%q, %v\n%q, %v", whole, err, bytewise, err2)
		}
		for _, s := range whole {
			if len(s) > 64+len(in) {
				t.Fatalf("%d bytes", len(s))
			}
		}
	})
}
