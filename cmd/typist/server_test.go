package main

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"typist/agent/metrics"
)

func TestO1_HealthIs200OrSays503AndWhy(t *testing.T) {
	up := ChannelHealth{Connected: true, Since: time.Unix(1, 0)}
	for _, test := range []struct {
		name   string
		health Health
		code   int
		want   string
	}{
		{"well", Health{Channels: map[string]ChannelHealth{"slack": up}, Store: StoreHealth{OK: true}, Runs: 2}, 200, `"runs":2`},
		{"channel away", Health{Channels: map[string]ChannelHealth{"slack": up, "discord": {Error: "bad token"}}, Store: StoreHealth{OK: true}}, 503, `"discord":{"connected":false,"error":"bad token"}`},
		{"indicator refused", Health{Channels: map[string]ChannelHealth{"slack": {Connected: true, Error: "not allowed"}}, Store: StoreHealth{OK: true}}, 503, `"error":"not allowed"`},
		{"store", Health{Channels: map[string]ChannelHealth{"slack": up}, Store: StoreHealth{Error: "disk full"}}, 503, `"store":{"ok":false,"error":"disk full"`},
	} {
		w := httptest.NewRecorder()
		routes(&fakeService{health: test.health}, metrics.New("v"), "").ServeHTTP(w, httptest.NewRequest("GET", "/healthz", nil))
		if w.Code != test.code || !strings.Contains(w.Body.String(), test.want) || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: %d %s", test.name, w.Code, w.Body)
		}
	}
}

func TestO2_MetricsAreServed(t *testing.T) {
	m := metrics.New("v7")
	w := httptest.NewRecorder()
	routes(&fakeService{}, m, "").ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 || !strings.Contains(w.Body.String(), `typist_info{version="v7"} 1`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestO6_EventsNeedTheTokenOrLoopback(t *testing.T) {
	for _, test := range []struct {
		name, token, remote, host, header, value string
		code                                     int
	}{
		{"token", "secret-token", "192.0.2.1:1", "bot.example", "Authorization", "Bearer secret-token", 200},
		{"wrong token", "secret-token", "127.0.0.1:1", "localhost", "Authorization", "Bearer secret-tokem", 401},
		{"token as it is", "secret-token", "127.0.0.1:1", "localhost", "Authorization", "secret-token", 401},
		{"no token given", "secret-token", "127.0.0.1:1", "localhost", "", "", 401},
		{"loopback", "", "127.0.0.1:1", "127.0.0.1:8080", "", "", 200},
		{"loopback by name", "", "[::1]:1", "localhost:8080", "", "", 200},
		{"loopback v6", "", "[::1]:1", "[::1]:8080", "", "", 200},
		{"mapped", "", "[::ffff:127.0.0.1]:1", "localhost", "", "", 200},
		{"from outside", "", "192.0.2.1:1", "localhost", "", "", 403},
		{"through a proxy", "", "127.0.0.1:1", "localhost", "X-Forwarded-For", "192.0.2.1", 403},
		{"by another name", "", "127.0.0.1:1", "evil.example:8080", "", "", 403},
	} {
		r := httptest.NewRequest("GET", "/v1/chats/slack%2FC1/events", nil)
		r.RemoteAddr, r.Host = test.remote, test.host
		if test.header != "" {
			r.Header.Set(test.header, test.value)
		}
		w := httptest.NewRecorder()
		routes(&fakeService{}, metrics.New("v"), test.token).ServeHTTP(w, r)
		if w.Code != test.code {
			t.Errorf("%s: %d %s, want %d", test.name, w.Code, w.Body, test.code)
		}
	}
}
