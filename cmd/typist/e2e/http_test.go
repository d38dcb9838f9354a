package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// served writes a config with an HTTP server and more keys, and starts the program.
func (s *stage) served(t *testing.T, keys string) (address string) {
	t.Helper()
	body := fmt.Sprintf("dataDir: %s/data\nhttp: {listen: \"127.0.0.1:0\"%s}\nbackends:\n%s\n%s\nchannels:\n", s.dir, keys, s.backend, s.more)
	for name, at := range s.on {
		body += fmt.Sprintf("  %s:\n    apiURL: %q\n    allowFrom: [\"*\"]\n    groups: {\"*\": {}}\n", name, at.platform.URL())
		for key, value := range at.platform.Credentials() {
			body += fmt.Sprintf("    %s: %q\n", key, value)
		}
	}
	s.write(t, body)
	s.start(t)
	found := regexp.MustCompile(`msg=listening address=(\S+)`).FindStringSubmatch(s.program.log.String())
	if found == nil {
		t.Fatalf("no address in the log:\n%s", s.program.log)
	}
	return "http://" + found[1]
}

func get(t *testing.T, address string, header http.Header) (int, string) {
	t.Helper()
	ctx, cancel := contextFor(patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	must(t, err)
	req.Header = header
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp.StatusCode, string(body)
}

// until asks again every 50 ms until ok holds.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		wait(50 * time.Millisecond)
	}
}

// TestO1_HealthAndMetrics: 200 while all is well, 503 with one sentence while a channel is away;
// the metrics move (O2).
func TestO1_HealthAndMetrics(t *testing.T) {
	t.Parallel()
	s := newStage(t, "otherwise:\n  tool 300ms Bash {\"command\":\"make\"} => ok\n  say 1ms: Answer to {{input}}\n", quick)
	address := s.served(t, "")
	code, body := get(t, address+"/healthz", nil)
	if code != http.StatusOK {
		t.Errorf("%d %s", code, body)
	}
	for name, at := range s.on {
		if !strings.Contains(body, `"`+name+`":{"connected":true`) {
			t.Errorf("%s is missing in %s", name, body)
		}
		at.say(t, "hello")
		at.answer(t, at.direct, "Answer to hello")
		at.quiet(t, 300*time.Millisecond)
	}
	_, metrics := get(t, address+"/metrics", nil)
	for name := range s.on {
		for _, metric := range []string{`typist_turns_total{channel="%s",outcome="done"} 1`, `typist_channel_up{channel="%s"} 1`} {
			if want := fmt.Sprintf(metric, name); !strings.Contains(metrics, want) {
				t.Errorf("%s is missing in\n%s", want, metrics)
			}
		}
		if !regexp.MustCompile(`typist_indicator_pulses_total\{channel="` + name + `",result="ok"\} [1-9]`).MatchString(metrics) {
			t.Errorf("%s: no pulses are counted", name)
		}
	}
	s.on["telegram"].platform.Disconnect(2 * time.Second)
	until(t, "503", func() bool {
		code, body = get(t, address+"/healthz", nil)
		return code == http.StatusServiceUnavailable
	})
	var health struct {
		Channels map[string]struct {
			Connected bool
			Error     string
		}
	}
	must(t, json.Unmarshal([]byte(body), &health))
	if tg := health.Channels["telegram"]; tg.Connected || tg.Error == "" || strings.Contains(tg.Error, "SIM-") || strings.Contains(tg.Error, "\n") {
		t.Errorf("%+v", tg)
	}
	until(t, "200", func() bool { code, _ = get(t, address+"/healthz", nil); return code == http.StatusOK })
	s.stop(t)
}

// follow reads n events after the given number.
func follow(t *testing.T, address string, header http.Header, n int) (ids []int64, kinds []string) {
	t.Helper()
	ctx, cancel := contextFor(patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	must(t, err)
	req.Header = header
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d", resp.StatusCode)
	}
	lines := bufio.NewScanner(resp.Body)
	for len(kinds) < n && lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			id, err := strconv.ParseInt(text, 10, 64)
			must(t, err)
			ids = append(ids, id)
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var line struct{ Event struct{ Type string } }
			must(t, json.Unmarshal([]byte(data), &line))
			kinds = append(kinds, line.Event.Type)
		}
	}
	if len(kinds) < n {
		t.Fatalf("%d events, want %d: %v", len(kinds), n, lines.Err())
	}
	return ids, kinds
}

// TestO6_EventsOverTheRealRoute: from the beginning, after Last-Event-ID, live, with the token in
// the header or the query, and not without.
func TestO6_EventsOverTheRealRoute(t *testing.T) {
	t.Parallel()
	s := newStage(t, "otherwise:\n  tool 20ms Bash {\"command\":\"make\"} => ok\n  say 1ms: Answer to {{input}}\n", quick, "telegram")
	at := s.on["telegram"]
	path := "/v1/chats/" + url.QueryEscape("telegram/"+at.direct) + "/events"
	open := s.served(t, "")
	at.say(t, "hello")
	at.answer(t, at.direct, "Answer to hello")
	at.quiet(t, quietTime)
	ids, kinds := follow(t, open+path, nil, 8)
	if !slices.IsSorted(ids) || kinds[0] != "RUN_STARTED" {
		t.Errorf("%v %v", ids, kinds)
	}
	if code, _ := get(t, open+path, http.Header{"X-Forwarded-For": {"192.0.2.1"}}); code != http.StatusForbidden {
		t.Errorf("a proxied caller without a token got %d", code)
	}
	s.stop(t)

	address := s.served(t, `, token: "e2e-secret-token"`)
	if code, _ := get(t, address+path, nil); code != http.StatusUnauthorized {
		t.Errorf("without the token: %d", code)
	}
	bearer := http.Header{"Authorization": {"Bearer e2e-secret-token"}, "Last-Event-Id": {fmt.Sprint(ids[3])}}
	rest, _ := follow(t, address+path, bearer, len(ids)-4)
	if !slices.Equal(rest, ids[4:]) {
		t.Errorf("after %d: %v, want %v", ids[3], rest, ids[4:])
	}
	done := make(chan []string)
	go func() {
		_, live := follow(t, fmt.Sprintf("%s%s?token=e2e-secret-token&after=%d", address, path, rest[len(rest)-1]+1000), nil, 0)
		done <- live
	}()
	<-done
	at.say(t, "again")
	at.answer(t, at.direct, "Answer to again")
	more, kinds := follow(t, address+path+"?token=e2e-secret-token", http.Header{"Last-Event-Id": {fmt.Sprint(rest[len(rest)-1])}}, 3)
	if more[0] <= rest[len(rest)-1] || len(kinds) != 3 {
		t.Errorf("%v %v", more, kinds)
	}
	if code, body := get(t, address+"/v1/chats/nothing/events", http.Header{"Authorization": {"Bearer e2e-secret-token"}}); code != http.StatusNotFound {
		t.Errorf("%d %s", code, body)
	}
	if strings.Contains(s.program.log.String(), "e2e-secret-token") {
		t.Error("the token is in the log")
	}
	began := time.Now()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+path, nil)
	must(t, err)
	req.Header = bearer
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	defer resp.Body.Close()
	s.stop(t) // an open stream does not hold a shutdown up
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the shutdown took %v", took)
	}
}
