package telegram

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"typist/adapters/sim"
)

// maxBody is the largest request: an upload of 50 MB and its fields.
const maxBody = 51 << 20

// apiError is an answer with ok=false.
type apiError struct {
	code       int
	text       string
	retryAfter int // seconds
}

func (e *apiError) Error() string { return e.text }

func bad(format string, args ...any) error {
	return &apiError{code: http.StatusBadRequest, text: "Bad Request: " + fmt.Sprintf(format, args...)}
}

// params are the fields of a request, all as text, and its uploads by field name.
type params struct {
	text  map[string]string
	files map[string]sim.File
}

func (p params) get(name string) string { return p.text[name] }

func (p params) flag(name string) bool { return p.text[name] == "true" || p.text[name] == "True" }

func (p params) number(name string) (int, error) {
	v := p.text[name]
	if v == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0, bad("parameter \"%s\" is invalid", name)
	}
	return n, nil
}

func (p params) object(name string, dest any) (bool, error) {
	v := p.text[name]
	if v == "" || v == "null" {
		return false, nil
	}
	if err := json.Unmarshal([]byte(v), dest); err != nil {
		return false, bad("can't parse %s JSON object", strings.ReplaceAll(name, "_", " "))
	}
	return true, nil
}

func readParams(r *http.Request) (params, error) {
	p := params{text: map[string]string{}, files: map[string]sim.File{}}
	for k, v := range r.URL.Query() {
		p.text[k] = v[0]
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "multipart/form-data":
		if err := r.ParseMultipartForm(maxBody); err != nil {
			return p, err
		}
		defer r.MultipartForm.RemoveAll()
		for k, v := range r.MultipartForm.Value {
			p.text[k] = v[0]
		}
		for k, v := range r.MultipartForm.File {
			f, err := v[0].Open()
			if err != nil {
				return p, err
			}
			data, err := io.ReadAll(f)
			f.Close()
			if err != nil {
				return p, err
			}
			p.files[k] = sim.File{Name: v[0].Filename, MIME: mimeOf(v[0].Filename, data), Data: data}
		}
	case "application/x-www-form-urlencoded":
		if err := r.ParseForm(); err != nil {
			return p, err
		}
		for k, v := range r.PostForm {
			p.text[k] = v[0]
		}
	case "application/json":
		var fields map[string]json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&fields); err != nil {
			return p, bad("can't parse request body")
		}
		for k, v := range fields {
			var s string
			if json.Unmarshal(v, &s) != nil {
				s = string(v)
			}
			p.text[k] = s
		}
	}
	return p, nil
}

// ServeHTTP answers /bot<token>/<method> and /file/bot<token>/<path>.
func (s *Server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxBody)
	if path, ok := strings.CutPrefix(r.URL.Path, "/file/bot"); ok {
		s.serveFile(rw, path)
		return
	}
	rest, ok := strings.CutPrefix(r.URL.Path, "/bot")
	token, name, cut := strings.Cut(rest, "/")
	if !ok || !cut {
		write(rw, failure(&apiError{code: http.StatusNotFound, text: "Not Found"}))
		return
	}
	p, err := readParams(r)
	if err != nil { // too large, or cut while it was sent
		var own *apiError
		if !errors.As(err, &own) {
			own = &apiError{code: http.StatusRequestEntityTooLarge, text: "Request Entity Too Large"}
		}
		write(rw, failure(own))
		return
	}
	m := methods[strings.ToLower(name)]
	call := sim.Call{Op: m.op, Method: name, Chat: p.get("chat_id"), Thread: p.get("message_thread_id")}
	if call.Op == "" {
		call.Op = sim.OpOther
	}
	s.world.Intercept(rw, call, s.closing, func() *sim.Answer {
		if err := s.checkCall(token, name, m, p); err != nil {
			return failure(err)
		}
		result, err := m.do(s, r, p)
		if err != nil {
			return failure(err)
		}
		body, err := json.Marshal(map[string]any{"ok": true, "result": result})
		if err != nil {
			return failure(err)
		}
		return &sim.Answer{Header: jsonHeader, Body: body}
	}, refuse)
}

func (s *Server) checkCall(token, name string, m method, p params) error {
	if token != s.token {
		if _, _, ok := strings.Cut(token, ":"); !ok { // no token at all: the path does not exist
			return &apiError{code: http.StatusNotFound, text: "Not Found"}
		}
		return &apiError{code: http.StatusUnauthorized, text: "Unauthorized"}
	}
	if m.do == nil {
		return &apiError{code: http.StatusNotFound, text: "Not Found: method not found"}
	}
	for field := range p.text {
		if !m.has(field) {
			return bad("unknown field %q of %s", field, name)
		}
	}
	return nil
}

var jsonHeader = http.Header{"Content-Type": {"application/json"}}

func failure(err error) *sim.Answer {
	var e *apiError
	if !errors.As(err, &e) {
		e = &apiError{code: http.StatusInternalServerError, text: "Internal Server Error"}
	}
	body := map[string]any{"ok": false, "error_code": e.code, "description": e.text}
	if e.retryAfter > 0 {
		body["parameters"] = map[string]any{"retry_after": e.retryAfter}
	}
	b, _ := json.Marshal(body) // plain values
	return &sim.Answer{Status: e.code, Header: jsonHeader, Body: b, Error: e.text}
}

// refuse makes the answer of an injected fault. A gateway in front of the API answers 502 to 504
// itself, and not in JSON.
func refuse(f sim.Fault) *sim.Answer {
	if f.Status >= http.StatusBadGateway {
		text := http.StatusText(f.Status)
		return &sim.Answer{Status: f.Status, Error: text, Header: http.Header{"Content-Type": {"text/html"}},
			Body: []byte("<html><head><title>" + text + "</title></head></html>")}
	}
	e := &apiError{code: f.Status, text: http.StatusText(f.Status)}
	if f.Status == http.StatusTooManyRequests {
		e = tooMany(f.RetryAfter)
	}
	return failure(e)
}

func write(rw http.ResponseWriter, a *sim.Answer) {
	for k, v := range a.Header {
		rw.Header()[k] = v
	}
	rw.WriteHeader(a.Status)
	_, _ = rw.Write(a.Body)
}
