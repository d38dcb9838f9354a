package telegram_test

import (
	"testing"

	"typist/adapters"
	simtelegram "typist/adapters/sim/telegram"
	"typist/adapters/telegram"
)

// BenchmarkPulse is one indicator call over loopback, the platform's part included.
func BenchmarkPulse(b *testing.B) {
	srv, err := simtelegram.New(simtelegram.Options{})
	if err != nil {
		b.Fatal(err)
	}
	client := srv.Client()
	a, err := telegram.New(telegram.Config{Token: simtelegram.DefaultToken, APIURL: srv.URL(), HTTPClient: client}, telegram.Deps{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := a.Pulse(b.Context(), direct, adapters.Indication{}); err != nil {
				b.Error(err)
			}
		}
	})
	b.StopTimer()
	client.CloseIdleConnections()
	if err := srv.Close(); err != nil {
		b.Error(err)
	}
}
