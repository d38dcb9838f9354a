package slack

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"typist/adapters/sim/simnet"
)

// rig is a miniature Slack in memory and a bare client of it.
type rig struct {
	t    *testing.T
	s    *Server
	ln   *simnet.Listener
	http *http.Client
}

func bubble(t *testing.T, opts Options, f func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, ln: simnet.Listen()}
		opts.Listener = r.ln
		r.http = r.ln.HTTPClient()
		var err error
		if r.s, err = New(opts); err != nil {
			t.Fatal(err)
		}
		defer func() {
			r.http.CloseIdleConnections()
			if err := r.s.Close(); err != nil {
				t.Error(err)
			}
		}()
		f(r)
	})
}

type answer map[string]any

func (a answer) error() string {
	if a["ok"] == true {
		return ""
	}
	code, _ := a["error"].(string)
	return code
}

// call makes a call with the bot token, or with another where token is set.
func (r *rig) call(method string, params ...string) answer {
	r.t.Helper()
	a, _ := r.raw(method, params...)
	return a
}

func (r *rig) raw(method string, params ...string) (answer, *http.Response) {
	r.t.Helper()
	form := url.Values{"token": {BotToken}}
	for i := 0; i+1 < len(params); i += 2 {
		form.Set(params[i], params[i+1])
	}
	resp, err := r.http.PostForm(r.s.URL()+method, form)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	var out answer
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		r.t.Fatal(err)
	}
	return out, resp
}

// post is a message of the bot.
func (r *rig) post(params ...string) string {
	r.t.Helper()
	a := r.call("chat.postMessage", params...)
	ts, _ := a["ts"].(string)
	if a.error() != "" || ts == "" {
		r.t.Fatalf("got %v", a)
	}
	return ts
}

// client is a bare Socket Mode client that collects envelopes and acknowledges them as told.
type client struct {
	conn *websocket.Conn
	ack  bool

	mu  sync.Mutex
	got []map[string]any
	raw []json.RawMessage
}

func (r *rig) connect(ack bool) *client {
	r.t.Helper()
	a := r.call("apps.connections.open", "token", AppToken)
	address, _ := a["url"].(string)
	if a.error() != "" || !strings.HasPrefix(address, "ws://") {
		r.t.Fatalf("got %v", a)
	}
	d := websocket.Dialer{NetDialContext: r.ln.Dial}
	conn, _, err := d.Dial(address, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	c := &client{conn: conn, ack: ack}
	go func() {
		defer conn.Close()
		for {
			_, raw, err := conn.ReadMessage()
			if err != nil {
				return
			}
			var m map[string]any
			_ = json.Unmarshal(raw, &m) // what is no object is kept as raw only
			c.mu.Lock()
			c.got = append(c.got, m)
			c.raw = append(c.raw, raw)
			c.mu.Unlock()
			if id, ok := m["envelope_id"].(string); ok && c.ack {
				if conn.WriteJSON(map[string]any{"envelope_id": id}) != nil {
					return
				}
			}
		}
	}()
	r.settle()
	return c
}

func (r *rig) settle() {
	<-time.After(time.Millisecond)
	synctest.Wait()
}

// take gives what came since the last time.
func (c *client) take() []map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.got
	c.got, c.raw = nil, nil
	return out
}
