package eventlog

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"typist/agent"
	"typist/agent/eventlog/consumer"
	"typist/agent/store"
)

func serve(t *testing.T, log *Log, token string) *httptest.Server {
	mux := http.NewServeMux()
	mux.Handle("/v1/", Guard(token, log.Handler()))
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

// read reads n events of a stream.
func read(t *testing.T, body io.Reader, n int) (out []Line) {
	t.Helper()
	sc := bufio.NewScanner(body)
	id := ""
	for len(out) < n && sc.Scan() {
		if v, ok := strings.CutPrefix(sc.Text(), "id: "); ok {
			id = v
		}
		if v, ok := strings.CutPrefix(sc.Text(), "data: "); ok {
			var l Line
			if err := json.Unmarshal([]byte(v), &l); err != nil || fmt.Sprint(l.Seq) != id {
				t.Fatalf("%s: id %s, %v", v, id, err)
			}
			out = append(out, l)
		}
	}
	if len(out) != n {
		t.Fatalf("%d events, want %d (%v)", len(out), n, sc.Err())
	}
	return out
}

func get(t *testing.T, address string, header ...string) *http.Response {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close(); http.DefaultClient.CloseIdleConnections() })
	return resp
}

// TestO6_EventsOverSSE: a reader gets what was, then what comes, and goes on after a lost
// connection where it was, over the de-duplicating consumer: nothing twice, nothing lost.
func TestO6_EventsOverSSE(t *testing.T) {
	log := newLog(t)
	srv := serve(t, log, "")
	address := srv.URL + "/v1/chats/" + url.PathEscape(chat) + "/events"
	appendText(t, log, "one ", "two ")
	resp := get(t, address)
	if got := resp.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/event-stream") {
		t.Errorf("content type %q", got)
	}
	var seen consumer.Consumer
	said := ""
	use := func(lines []Line) {
		for _, l := range lines {
			ev, err := l.Decode()
			if err != nil || l.RunID != "r" || l.At == 0 {
				t.Fatalf("%+v %v", l, err)
			}
			if seen.Fresh(l.Seq, ev) {
				said += ev.(agent.TextContent).Delta
			}
		}
	}
	use(read(t, resp.Body, 2))
	appendText(t, log, "two ")
	use(read(t, resp.Body, 1))
	resp.Body.Close()
	appendText(t, log, "four ", "five ")
	use(read(t, get(t, address, "Last-Event-ID", "2").Body, 3)) // one of them again
	use(read(t, get(t, address+"?after=1", "Last-Event-ID", fmt.Sprint(seen.Last()-1)).Body, 1))
	if said != "one two two four five " {
		t.Errorf("read %q", said)
	}
	for query, want := range map[string]int{"?after=x": 400, "?after=-1": 400} {
		if resp := get(t, address+query); resp.StatusCode != want {
			t.Errorf("%s: %s", query, resp.Status)
		}
	}
	if resp := get(t, srv.URL+"/v1/chats/nonsense/events"); resp.StatusCode != 404 {
		t.Error(resp.Status)
	}
}

// TestO6_ChatsWithSlashesInTheirIDs are escaped twice, as ids in keys are escaped once.
func TestO6_ChatsWithSlashesInTheirIDs(t *testing.T) {
	log := newLog(t)
	key := "slack/" + url.PathEscape("C/1 %") + "/" + url.PathEscape("17.5")
	if _, err := log.Append(background, key, "r", time.Now(), []agent.Event{text("x")}); err != nil {
		t.Fatal(err)
	}
	resp := get(t, serve(t, log, "").URL+"/v1/chats/"+url.PathEscape(key)+"/events")
	read(t, resp.Body, 1)
}

func TestO6_TokenRequired(t *testing.T) {
	log := newLog(t)
	appendText(t, log, "x")
	address := serve(t, log, "s3cret").URL + "/v1/chats/" + url.PathEscape(chat) + "/events"
	for name, resp := range map[string]*http.Response{
		"none":  get(t, address),
		"wrong": get(t, address, "Authorization", "Bearer s3cre"),
		"basic": get(t, address, "Authorization", "Basic s3cret"),
		"query": get(t, address+"?token=S3cret"),
	} {
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %s", name, resp.Status)
		}
	}
	read(t, get(t, address, "Authorization", "Bearer s3cret").Body, 1)
	read(t, get(t, address+"?token=s3cret", "Host", "typist.example").Body, 1)
}

func TestO6_WithoutTokenOnlyThisMachine(t *testing.T) {
	guard := Guard("", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	for _, c := range []struct {
		remote, host, origin string
		want                 int
	}{
		{"127.0.0.1:5000", "127.0.0.1:8080", "", 200},
		{"127.0.0.1:5000", "localhost:8080", "http://localhost:8080", 200},
		{"[::1]:5000", "[::1]:8080", "http://[::1]:8080", 200},
		{"[::1]:5000", "[::1]", "", 200},
		{"10.0.0.7:5000", "127.0.0.1:8080", "", 403},
		{"127.0.0.1:5000", "evil.example:8080", "", 403},
		{"127.0.0.1:5000", "127.0.0.1.evil.example", "", 403},
		{"127.0.0.1:5000", "", "", 403},
		{"127.0.0.1:5000", "127.0.0.1:8080", "http://evil.example", 403},
		{"127.0.0.1:5000", "127.0.0.1:8080", "null", 403},
	} {
		req := httptest.NewRequest(http.MethodGet, "/v1/chats/x/events", nil)
		req.RemoteAddr, req.Host = c.remote, c.host
		if c.origin != "" {
			req.Header.Set("Origin", c.origin)
		}
		rec := httptest.NewRecorder()
		guard.ServeHTTP(rec, req)
		if rec.Code != c.want {
			t.Errorf("%+v: %d", c, rec.Code)
		}
	}
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		req := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080/v1/chats/x/events", nil)
		req.RemoteAddr = "127.0.0.1:5000"
		req.Header.Set(name, "10.0.0.7")
		rec := httptest.NewRecorder()
		if guard.ServeHTTP(rec, req); rec.Code != http.StatusForbidden {
			t.Errorf("through a proxy (%s): %d", name, rec.Code)
		}
	}
}

// bubble runs the handler inside a bubble over a pipe and returns the reader's end.
func bubble(t *testing.T, log *Log) (conn net.Conn, stop func()) {
	t.Helper()
	client, server := net.Pipe()
	listener := &oneConn{conn: server, done: make(chan struct{})}
	srv := &http.Server{Handler: log.Handler()}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = srv.Serve(listener) }()
	if _, err := fmt.Fprintf(client, "GET /v1/chats/%s/events HTTP/1.1\r\nHost: x\r\n\r\n", url.PathEscape(chat)); err != nil {
		t.Fatal(err)
	}
	return client, func() { client.Close(); srv.Close(); <-ended }
}

type oneConn struct {
	conn net.Conn
	done chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	<-l.done
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error {
	select {
	case <-l.done:
	default:
		close(l.done)
	}
	return nil
}

func (l *oneConn) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func TestO6_KeepaliveWhileNothingComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, err := store.Open(background, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		log := New(st)
		conn, stop := bubble(t, log)
		start := time.Now()
		sc := bufio.NewScanner(conn)
		alive := 0
		for alive < 3 && sc.Scan() {
			if sc.Text() == ": keepalive" {
				alive++
			}
		}
		if took := time.Since(start); alive != 3 || took != 3*keepalive {
			t.Errorf("%d keepalives in %v, %v", alive, took, sc.Err())
		}
		log.Close()
		stop()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestO6_ReaderThatTakesNothing is given up; appending never waits for it.
func TestO6_ReaderThatTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, err := store.Open(background, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		log := New(st)
		_, stop := bubble(t, log)
		synctest.Wait()
		start := time.Now()
		for range 100 {
			appendText(t, log, "x")
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("appending waited %v", took)
		}
		<-time.After(writeTimeout + time.Second)
		synctest.Wait()
		if n := log.Subscribers(); n != 0 {
			t.Errorf("%d readers are still served", n)
		}
		stop()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
}
