package eventlog

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"typist/adapters"
	"typist/agent"
)

// Pattern is what Handler serves (O6). {chat} is the url-escaped adapters.Chat.Key().
const Pattern = "GET /v1/chats/{chat}/events"

// How often an idle stream gets a comment, so that proxies and readers see that it lives, and how
// long a write to a reader that takes nothing may last before its connection is given up.
const (
	keepalive    = 15 * time.Second
	writeTimeout = 30 * time.Second
)

// Line is the data of one server-sent event: the event of the run with what the log knows of it.
type Line struct {
	Seq   int64           `json:"seq"` // the SSE id too
	RunID string          `json:"runId"`
	At    int64           `json:"at"` // milliseconds since 1970
	Event json.RawMessage `json:"event"`
}

// Decode reads the event in a line.
func (l Line) Decode() (agent.Event, error) { return agent.Decode(l.Event) }

// Handler serves a chat's events as server-sent events at Pattern, wherever it is mounted above
// that: those after the number in the
// Last-Event-ID header or the query's after (the greater of both; none = from the beginning), then
// what comes, until the reader leaves or the log is closed. Wrap it with Guard.
func (l *Log) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(Pattern, l.serve)
	return mux
}

func (l *Log) serve(w http.ResponseWriter, r *http.Request) {
	chat := r.PathValue("chat")
	if _, err := adapters.ParseChat(chat); err != nil {
		http.Error(w, "unknown chat: want the url-escaped key of one, such as telegram%2F42", http.StatusNotFound)
		return
	}
	after, err := place(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	sub := l.Subscribe(chat, after)
	defer sub.Close()
	out := &stream{w: w, ctl: http.NewResponseController(w)}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	if out.send(": typist run events\n\n") != nil {
		return
	}
	for {
		evs, err := next(r.Context(), sub)
		text := ": keepalive\n\n"
		switch {
		case errors.Is(err, errQuiet):
		case err != nil:
			return // the reader left, the log is closed, or the store fails: a reconnecting reader asks again
		default:
			if text, err = format(evs); err != nil {
				return
			}
		}
		if out.send(text) != nil {
			return
		}
	}
}

// place is the number that the reader has seen last.
func place(r *http.Request) (after int64, err error) {
	for _, text := range []string{r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after")} {
		if text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("bad event number %.20q: want the id of the last event seen", text)
		}
		after = max(after, n)
	}
	return after, nil
}

var errQuiet = errors.New("nothing came")

func next(ctx context.Context, sub *Subscription) ([]Event, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, keepalive, errQuiet)
	defer cancel()
	return sub.Next(ctx)
}

func format(evs []Event) (string, error) {
	var b strings.Builder
	for _, ev := range evs {
		event, err := agent.Encode(ev.Event)
		if err != nil {
			return "", err
		}
		data, err := json.Marshal(Line{Seq: ev.Seq, RunID: ev.RunID, At: ev.At.UnixMilli(), Event: event})
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "id: %d\ndata: %s\n\n", ev.Seq, data)
	}
	return b.String(), nil
}

// stream writes to one reader, who can't hold it up for longer than writeTimeout.
type stream struct {
	w   http.ResponseWriter
	ctl *http.ResponseController
}

func (s *stream) send(text string) error {
	if err := s.ctl.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.ctl.Flush()
}

// Guard lets through who may read: with a token, whoever sends it as "Authorization: Bearer" or as
// the query's token (a browser's EventSource can send no header); without one only callers on this
// machine who named this machine as the host: not through a proxy, and not from a web page that
// had its own name point here (DNS rebinding).
func Guard(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token == "" {
			if proxied(r.Header) || !local(r.RemoteAddr) || !local(r.Host) || !localOrigin(r.Header.Get("Origin")) {
				http.Error(w, "without http.token only this machine is served: set one in the configuration", http.StatusForbidden)
				return
			}
		} else if !allowed(r, token) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the token is missing or wrong", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func allowed(r *http.Request, token string) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		given = r.URL.Query().Get("token")
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}

func proxied(h http.Header) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if h.Get(name) != "" {
			return true
		}
	}
	return false
}

// local reports whether a host or host:port names this machine.
func local(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func localOrigin(origin string) bool {
	if origin == "" {
		return true // no browser, or the page's own
	}
	_, host, ok := strings.Cut(origin, "://")
	return ok && local(host)
}
