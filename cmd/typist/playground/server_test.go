package playground_test

import (
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"typist/cmd/typist/playground"
)

// visitor is a browser without a page: it has been let in.
func visitor(t *testing.T, p *playground.Playground) (*http.Client, string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	answer, err := client.Get(p.URL())
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK || answer.Request.URL.RawQuery != "" {
		t.Fatalf("let in with %d at %s", answer.StatusCode, answer.Request.URL)
	}
	u, _ := url.Parse(p.URL())
	return client, "http://" + u.Host
}

func TestW1_OnlyTheTokenLetsIn(t *testing.T) {
	p := start(t, stage)
	u, _ := url.Parse(p.URL())
	if host, _, _ := net.SplitHostPort(u.Host); !net.ParseIP(host).IsLoopback() {
		t.Fatalf("served on %s", u.Host)
	}
	noRedirect := &http.Client{Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer noRedirect.CloseIdleConnections()
	for path, want := range map[string]int{
		"/": 403, "/js/main.js": 403, "/api/setup": 403, "/api/stream": 403, "/?token=wrong": 403, "/?token=": 403, "/v1/chats/telegram%2F1001/events": 403,
	} {
		answer, err := noRedirect.Get("http://" + u.Host + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %d", path, answer.StatusCode)
		}
	}
	answer, err := noRedirect.Get(p.URL())
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	cookies := answer.Cookies()
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/" || len(cookies) != 1 {
		t.Fatalf("%d to %q with %v", answer.StatusCode, answer.Header.Get("Location"), cookies)
	}
	if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Domain != "" || len(c.Value) < 20 {
		t.Errorf("cookie %v", c)
	}
}

func TestW1_OtherSitesAndNamesAreRefused(t *testing.T) {
	p := start(t, stage)
	client, base := visitor(t, p)
	body := `{"platform":"telegram","chat":"1001","text":"hello"}`
	for name, c := range map[string]struct {
		method, path, body string
		set                func(*http.Request)
		want               int
	}{
		"own page":            {"GET", "/", "", func(*http.Request) {}, 200},
		"rebound name":        {"GET", "/", "", func(r *http.Request) { r.Host = "evil.example:80" }, 403},
		"own name, no port":   {"GET", "/", "", func(r *http.Request) { r.Host = "127.0.0.1" }, 403},
		"through a proxy":     {"GET", "/", "", func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.0.2.7") }, 403},
		"foreign origin":      {"GET", "/api/setup", "", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		"foreign stream":      {"GET", "/api/stream", "", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"neighbouring port":   {"POST", "/api/say", body, func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, 403},
		"post without origin": {"POST", "/api/say", body, func(*http.Request) {}, 403},
		"null origin":         {"POST", "/api/say", body, func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"form": {"POST", "/api/say", body, func(r *http.Request) {
			r.Header.Set("Origin", base)
			r.Header.Set("Content-Type", "text/plain")
		}, 415},
		"own post":      {"POST", "/api/say", body, func(r *http.Request) { r.Header.Set("Origin", base) }, 200},
		"get that acts": {"GET", "/api/say", "", func(*http.Request) {}, 404},
	} {
		r, _ := http.NewRequest(c.method, base+c.path, strings.NewReader(c.body))
		if c.method == "POST" {
			r.Header.Set("Content-Type", "application/json")
		}
		c.set(r)
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(name, err)
		}
		answer.Body.Close()
		if answer.StatusCode != c.want {
			t.Errorf("%s: %d, want %d", name, answer.StatusCode, c.want)
		}
	}
}

func TestW1_ThePageMayLoadOnlyWhatItConsistsOf(t *testing.T) {
	p := start(t, stage)
	client, base := visitor(t, p)
	for _, path := range []string{"/", "/js/main.js", "/css/base.css", "/api/setup", "/missing"} {
		answer, err := client.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		content, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		h := answer.Header
		csp := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"} {
			if !strings.Contains(csp, part) {
				t.Errorf("%s: policy %q lacks %q", path, csp, part)
			}
		}
		if strings.Contains(csp, "unsafe") || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: headers %v", path, h)
		}
		if strings.Contains(string(content), "http://") && path == "/" {
			t.Error("the page names another host")
		}
	}
}

func TestW1_NoWayToTheFileSystem(t *testing.T) {
	p := start(t, stage)
	client, base := visitor(t, p)
	a := &api{t, client, base}
	id := a.must("say", object{"platform": "telegram", "chat": "1001", "text": "a file", "files": []object{{"name": "a.html", "mime": "text/html", "data": "PGI+"}}})["id"].(string)
	own := "/api/file?platform=telegram&chat=1001&id=" + id + "&n="
	answer, err := client.Get(base + own + "0")
	if err != nil {
		t.Fatal(err)
	}
	content, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	if string(content) != "<b>" || answer.Header.Get("Content-Type") != "application/octet-stream" || !strings.HasPrefix(answer.Header.Get("Content-Disposition"), "attachment") || !strings.HasPrefix(answer.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("a message's file: %q with %v", content, answer.Header)
	}
	for _, path := range []string{own + "-1", own + "1", "/../playground.go", "/..%2fplayground.go", "/%2e%2e/%2e%2e/etc/passwd", "/api/file?platform=telegram&chat=1001&id=../../x&n=0",
		"/api/file?platform=telegram&chat=1001&id=1&n=-1", "/api/message?platform=nowhere&chat=1&id=1", "/api/session?chat=..", "/v1/chats/x/events"} {
		r, err := http.NewRequest("GET", base, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.URL.Opaque = strings.TrimPrefix(base, "http:") + path // as it stands
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode < 400 {
			t.Errorf("%s: %d", path, answer.StatusCode)
		}
	}
}

func TestW1_ListensOnLoopbackOnly(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "example.org:80", "7433"} {
		if p, err := playground.New(t.Context(), playground.Options{Listen: address}); err == nil {
			t.Errorf("listens on %s", address)
			p.Close()
		} else if !strings.Contains(err.Error(), "--listen") {
			t.Errorf("%s: %v", address, err)
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if p, err := playground.New(t.Context(), playground.Options{Listen: taken.Addr().String()}); err == nil {
		t.Error("listens on an address that is taken")
		p.Close()
	}
}
