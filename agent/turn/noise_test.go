package turn

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
)

// awayMenu is a platform that is away for its first calls.
type awayMenu struct {
	*fake
	fails int
	tries int
}

func (m *awayMenu) SetCommands(context.Context, []adapters.CommandSpec) error {
	if m.tries++; m.tries <= m.fails {
		return errors.New("no route to host")
	}
	return nil
}

// TestO3_AnOutageIsOneLine: the menu that can't be registered while the platform is away is told
// of once, not with every try.
func TestO3_AnOutageIsOneLine(t *testing.T) {
	for _, test := range []struct{ fails, lines int }{{0, 0}, {4, 1}, {100, 2}} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			m := &awayMenu{fake: newFake("telegram")}
			b := start(t, setup{adapter: m, fake: m.fake, backend: answering(0, "Hello")})
			b.hub.log = slog.New(slog.NewTextHandler(&log, nil))
			after(time.Second)
			m.tries, m.fails = 0, test.fails
			b.hub.setCommands(t.Context(), b.hub.channels["telegram"])
			after(time.Hour)
			if n := strings.Count(log.String(), "command menu"); n != test.lines || m.tries < min(test.fails, 2) {
				t.Errorf("%d failures: %d lines, %d tries:\n%s", test.fails, n, m.tries, log.String())
			}
		})
	}
}

// TestO3_AStoppedChannelIsToldOnce: serve says why a channel stops for good; its status does not
// say it again.
func TestO3_AStoppedChannelIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		b := start(t, setup{backend: answering(0, "Hello")})
		b.hub.log = slog.New(slog.NewTextHandler(&log, nil))
		b.hub.Status("telegram", adapters.Status{Err: &adapters.FatalError{Channel: "telegram", Sentence: "wrong token"}})
		if log.Len() > 0 {
			t.Errorf("log: %s", log.String())
		}
		b.hub.Status("telegram", adapters.Status{Connected: true})
		b.hub.Status("telegram", adapters.Status{Err: errors.New("away")})
		if !strings.Contains(log.String(), "not connected") {
			t.Errorf("log: %s", log.String())
		}
	})
}
