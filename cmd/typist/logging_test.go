package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"
)

func listenUnixgram(t *testing.T, path string) *net.UnixConn {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

type valuer struct{ s string }

func (v valuer) LogValue() slog.Value { return slog.StringValue(v.s) }

type broken struct{}

func (*broken) Error() string { panic("no") }

func TestO3_NoSecretInTheLog(t *testing.T) {
	const secret = "pl4in/looking word+"
	for _, format := range []string{"text", "json"} {
		out, secrets := new(record), new(secretList)
		secrets.set([]string{secret, "abc"})
		log := logFlags{LogFormat: format, LogLevel: "debug"}.logger(out, secrets)
		log.Info("message "+secret, "string", secret, "error", fmt.Errorf("x: %w", errors.New("url /bot"+secret)))
		log.With("with", secret).WithGroup("g").Warn("m", slog.Group("inner", "deep", secret, "abc", 1))
		log.Debug("m", "valuer", valuer{secret}, "struct", struct{ S string }{secret}, "list", []string{secret}, "bytes", []byte(secret))
		log.Error("m", "escaped", "http://h/?q=pl4in%2Flooking+word%2B", "path", "http://h/pl4in%2Flooking%20word+")
		log.Error("m", "token", "Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345", "panics", (*broken)(nil), "nil", nil)
		log.Info("m", "kept", "ordinary abc words", "at", time.Second, "n", 7)
		text := out.String()
		for _, bad := range []string{"pl4in", "abcdefghijklmnop"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %q stands in the log:\n%s", format, bad, text)
			}
		}
		out.wants(t, "ordinary abc words", "***", "can't be written")
		if n := strings.Count(text, "\n"); n != 6 {
			t.Errorf("%s: %d lines for 6 records:\n%s", format, n, text)
		}
	}
}

func TestO3_LevelIsKept(t *testing.T) {
	out := new(record)
	log := logFlags{LogLevel: "warn"}.logger(out, new(secretList))
	log.Info("quiet")
	log.Warn("loud")
	if got := out.String(); strings.Contains(got, "quiet") || !strings.Contains(got, "loud") {
		t.Errorf("log = %s", got)
	}
}
