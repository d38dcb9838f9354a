package telegram_test

import (
	"errors"
	"strings"
	"testing"

	"typist/adapters"
	"typist/adapters/sim/simnet"
	simtelegram "typist/adapters/sim/telegram"
	"typist/adapters/telegram"
)

// TestO4_ProbeFindsPrivacyModeInTheWay: a group without requireMention hears nothing in privacy mode.
func TestO4_ProbeFindsPrivacyModeInTheWay(t *testing.T) {
	for _, test := range []struct{ privacy, all, wrong bool }{
		{false, false, false}, {false, true, false}, {true, false, false}, {true, true, true},
	} {
		srv, err := simtelegram.New(simtelegram.Options{Listener: simnet.Listen(), Privacy: test.privacy})
		if err != nil {
			t.Fatal(err)
		}
		a := newAdapter(t, telegram.Config{Token: simtelegram.DefaultToken, APIURL: srv.URL(), HTTPClient: srv.Client(), AllMessages: test.all}, telegram.Deps{})
		found, err := a.Probe(t.Context())
		var fatal *adapters.FatalError
		if test.wrong != errors.As(err, &fatal) || test.wrong && !strings.Contains(fatal.Sentence, "/setprivacy") || strings.HasSuffix(found, "privacy mode on") != test.privacy {
			t.Errorf("%+v: %q, %v", test, found, err)
		}
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	}
}
