package telegram

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"typist/adapters"
	"typist/adapters/rich"
)

// transport answers requests by a function.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// against makes an adapter whose requests all go to f.
func against(t *testing.T, f transport) *Adapter {
	t.Helper()
	a, err := New(Config{Token: "4711:a-very-secret-token", HTTPClient: &http.Client{Transport: f}}, Deps{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestO3_WhoeverRepeatsTheTokenItIsMasked(t *testing.T) {
	replies := map[string]func(url string) (*http.Response, error){
		"an error with the URL": func(url string) (*http.Response, error) { return nil, errors.New("no route to " + url) },
		"a description": func(url string) (*http.Response, error) {
			return answer(400, `{"ok":false,"error_code":400,"description":"Bad Request: `+url+`"}`), nil
		},
		"a page":                 func(url string) (*http.Response, error) { return answer(502, "<html>"+url+"</html>"), nil },
		"a result of wrong type": func(url string) (*http.Response, error) { return answer(200, `{"ok":true,"result":"`+url+`"}`), nil },
	}
	for name, reply := range replies {
		a := against(t, func(r *http.Request) (*http.Response, error) { return reply(r.URL.String()) })
		chat := adapters.Chat{ID: "1"}
		post := adapters.Post{Doc: rich.Plain("x")}
		_, errSend := a.Send(context.Background(), chat, post)
		_, errFetch := a.Fetch(context.Background(), adapters.File{Source: "x"}, 10)
		_, errProbe := a.Probe(context.Background())
		for _, err := range []error{errSend, errFetch, errProbe, a.Pulse(context.Background(), chat, adapters.Indication{}),
			a.Edit(context.Background(), adapters.Ref{Chat: chat, ID: "1"}, post)} {
			for e := err; e != nil; e = errors.Unwrap(e) {
				if strings.Contains(e.Error(), "very-secret") {
					t.Errorf("%s: %v", name, e)
				}
			}
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		}
	}
}

func TestC7_FetchCountsWhatComes(t *testing.T) {
	a := against(t, func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/getFile") { // a size is optional
			return answer(200, `{"ok":true,"result":{"file_id":"x","file_unique_id":"y","file_path":"documents/x"}}`), nil
		}
		return answer(200, strings.Repeat("x", 11)), nil
	})
	if data, err := a.Fetch(context.Background(), adapters.File{Source: "x"}, 10); !errors.Is(err, adapters.ErrInvalid) {
		t.Errorf("got %d bytes, %v", len(data), err)
	}
	if data, err := a.Fetch(context.Background(), adapters.File{Source: "x"}, 11); err != nil || len(data) != 11 {
		t.Errorf("got %d bytes, %v", len(data), err)
	}
	if _, err := a.Fetch(context.Background(), adapters.File{Source: "x", Size: 12}, 11); !errors.Is(err, adapters.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}

func TestT11_A429WithoutAWaitStillWaits(t *testing.T) {
	for body, header := range map[string]string{"Too many": "3", `{"ok":false,"error_code":429,"description":"slow down"}`: ""} {
		a := against(t, func(*http.Request) (*http.Response, error) {
			resp := answer(429, body)
			if header != "" {
				resp.Header.Set("Retry-After", header)
			}
			return resp, nil
		})
		err := a.Pulse(context.Background(), adapters.Chat{ID: "1"}, adapters.Indication{})
		var limited *adapters.RateLimitError
		if !errors.As(err, &limited) || limited.RetryAfter <= 0 || header == "3" && limited.RetryAfter.Seconds() != 3 {
			t.Errorf("%q: got %v", body, err)
		}
	}
}

// memory is an adapters.Memory in a map.
type memory map[string]string

func (m memory) Load(_ context.Context, key string) (string, error) { return m[key], nil }

func (m memory) Save(_ context.Context, key, value string) error {
	m[key] = value
	return nil
}

func TestC6_ForumsAreRemembered(t *testing.T) {
	var asked []string
	a := against(t, func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		asked = append(asked, r.URL.Path[strings.LastIndex(r.URL.Path, "/"):])
		if strings.HasSuffix(r.URL.Path, "/sendChatAction") && !strings.Contains(string(body), "message_thread_id") {
			t.Error("the pulse names no topic")
		}
		return answer(200, `{"ok":true,"result":true}`), nil
	})
	a.memory = memory{"telegram/forum/-1005": "true"}
	if err := a.Pulse(context.Background(), adapters.Chat{ID: "-1005"}, adapters.Indication{}); err != nil {
		t.Fatal(err)
	}
	if len(asked) != 1 {
		t.Errorf("asked %v", asked)
	}
}
