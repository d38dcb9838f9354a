package playground

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"time"
)

//go:embed page
var pageFiles embed.FS

// maxStreams bounds the open pages.
const maxStreams = 200

// web serves the page and its API.
type web struct {
	p        *Playground
	listener net.Listener
	http     *http.Server
	token    string
	streams  chan struct{}
	ctx      context.Context
	stop     context.CancelFunc
	served   chan struct{}
}

func newWeb(p *Playground, l net.Listener) *web {
	w := &web{p: p, listener: l, token: rand.Text(), streams: make(chan struct{}, maxStreams), served: make(chan struct{})}
	w.ctx, w.stop = context.WithCancel(context.Background())
	w.http = &http.Server{
		Handler:           w.routes(),
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		BaseContext:       func(net.Listener) context.Context { return w.ctx },
		ErrorLog:          slog.NewLogLogger(p.log.Handler(), slog.LevelWarn),
	}
	return w
}

func (w *web) openURL() string { return "http://" + w.listener.Addr().String() + "/?token=" + w.token }

func (w *web) start() {
	go func() {
		defer close(w.served)
		if err := w.http.Serve(w.listener); !errors.Is(err, http.ErrServerClosed) {
			w.p.log.Error("the page is not served any more", "error", err)
		}
	}()
}

func (w *web) close() error {
	w.stop() // ends the streams
	err := w.http.Close()
	if closing := w.listener.Close(); err == nil && !errors.Is(closing, net.ErrClosed) {
		err = closing
	}
	select {
	case <-w.served:
	default: // it may never have started
	}
	return err
}

func (w *web) routes() http.Handler {
	page, err := fs.Sub(pageFiles, "page")
	if err != nil {
		panic(err) // the folder is embedded
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(page))
	mux.HandleFunc("GET /api/stream", w.stream)
	mux.HandleFunc("GET /api/setup", w.setup)
	mux.HandleFunc("GET /api/session", w.session)
	mux.HandleFunc("GET /api/message", w.message)
	mux.HandleFunc("GET /api/file", w.file)
	mux.HandleFunc("GET /v1/chats/{chat}/events", w.events)
	for path, act := range map[string]action{
		"say": w.say, "edit": w.edit, "press": w.press, "command": w.command, "heartbeat": w.heartbeat,
		"settings": w.settings, "fault": w.fault, "mend": w.mend, "disconnect": w.disconnect, "kill": w.kill, "break": w.breakBackend,
	} {
		mux.Handle("POST /api/"+path, act)
	}
	return w.guard(mux)
}

// action is something that the person at the page does. Its error is shown to them.
type action func(r *http.Request) (any, error)

// badRequest is an error in what the page sent.
type badRequest struct{ error }

func (a action) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxBody)
	answer, err := a(r)
	respond(rw, answer, err)
}

func respond(rw http.ResponseWriter, answer any, err error) {
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Set("Cache-Control", "no-store")
	if err != nil {
		status := http.StatusConflict
		var bad badRequest
		if errors.As(err, &bad) {
			status = http.StatusBadRequest
		}
		rw.WriteHeader(status)
		answer = map[string]string{"error": err.Error()}
	}
	if answer == nil {
		answer = struct{}{}
	}
	// An error means that the page has gone.
	_ = json.NewEncoder(rw).Encode(answer)
}

// maxBody bounds what a page may send; files are in it, in base64.
const maxBody = 8 << 20

// read decodes the body of a request.
func read(r *http.Request, into any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return badRequest{err}
	}
	return nil
}

// events is the bot's own stream of run events (O6), behind the page's guard.
func (w *web) events(rw http.ResponseWriter, r *http.Request) {
	log, _ := w.p.bot.events()
	if log == nil {
		http.Error(rw, errDown.Error(), http.StatusServiceUnavailable)
		return
	}
	log.Handler().ServeHTTP(rw, r)
}
