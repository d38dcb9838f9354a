package discord

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"typist/adapters/sim"
)

const maxBody = 30 << 20

// request is one REST call on its way.
type request struct {
	s      *Server
	http   *http.Request
	path   []string // below /api/vN, unescaped
	body   []byte   // JSON, or payload_json of a multipart body
	files  []sim.File
	header http.Header // of the answer
}

// failure is an answer that refuses.
type failure struct {
	status int
	body   any
	raw    string // sent as it is
}

// refused makes Discord's usual error body.
func refused(status, code int, message string) *failure {
	return &failure{status: status, body: map[string]any{"code": code, "message": message}}
}

// invalidForm is error 50035 for one field.
func invalidForm(field, code, message string) *failure {
	errs := map[string]any{"_errors": []any{map[string]any{"code": code, "message": message}}}
	var nested any = errs
	parts := strings.Split(field, ".")
	for i := len(parts) - 1; i >= 0; i-- {
		nested = map[string]any{parts[i]: nested}
	}
	return &failure{status: http.StatusBadRequest, body: map[string]any{
		"code": 50035, "message": "Invalid Form Body", "errors": nested,
	}}
}

var (
	errUnauthorized = refused(401, 0, "401: Unauthorized")
	errNotFound     = refused(404, 0, "404: Not Found")
	errNoMethod     = refused(405, 0, "405: Method Not Allowed")
	errNoChannel    = refused(404, 10003, "Unknown Channel")
	errNoMessage    = refused(404, 10008, "Unknown Message")
	errNoAccess     = refused(403, 50001, "Missing Access")
	errNotYours     = refused(403, 50005, "Cannot edit a message authored by another user")
	errEmpty        = refused(400, 50006, "Cannot send an empty message")
	errLateAck      = refused(404, 10062, "Unknown interaction")
	errAckedAlready = refused(400, 40060, "Interaction has already been acknowledged.")
	errNoWebhook    = refused(404, 10015, "Unknown Webhook")
)

// route is what a call turned out to be.
type route struct {
	op     sim.Op
	method string // as recorded
	chat   string // a channel id; translated to chat and thread
	kind   string // of the rate limit
	open   bool   // needs no token
	do     func(*request) (any, *failure)
}

// rest serves one REST call.
func (s *Server) rest(w http.ResponseWriter, r *http.Request) {
	q := &request{s: s, http: r, header: w.Header()}
	if name, ok := strings.CutPrefix(r.URL.Path, "/attachments/"); ok {
		s.attachment(w, r, name)
		return
	}
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), "/api/")
	if !ok {
		http.NotFound(w, r)
		return
	}
	for part := range strings.SplitSeq(strings.Trim(rest, "/"), "/") {
		if plain, err := url.PathUnescape(part); err == nil {
			part = plain
		}
		q.path = append(q.path, part)
	}
	if len(q.path) > 0 && (q.path[0] == "v9" || q.path[0] == "v10") {
		q.path = q.path[1:]
	}
	to := s.route(r.Method, q.path)
	call := sim.Call{Op: to.op, Method: to.method}
	if c, ok := s.channel(to.chat); ok {
		call.Chat, call.Thread = c.place()
	} else {
		call.Chat = to.chat
	}
	if fail := q.read(); fail != nil {
		to.do = func(*request) (any, *failure) { return nil, fail }
	}
	s.world.Intercept(w, call, s.closing, func() *sim.Answer {
		if !to.open && r.Header.Get("Authorization") != "Bot "+s.token() {
			return q.answer(nil, errUnauthorized)
		}
		if !to.open {
			if wait, global := s.limits.take(to.kind, to.chat, q.header); wait > 0 {
				return q.answer(nil, s.limited(q.header, wait, global))
			}
		}
		return q.answer(to.do(q))
	}, func(f sim.Fault) *sim.Answer {
		return q.answer(nil, s.fault(q, f))
	})
}

func (s *Server) token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opts.Token
}

// RevokeToken makes another token the valid one, as a reset in the developer portal does.
func (s *Server) RevokeToken(now string) {
	s.mu.Lock()
	s.opts.Token = now
	s.mu.Unlock()
}

// fault is the answer to an injected fault.
func (s *Server) fault(q *request, f sim.Fault) *failure {
	switch f.Status {
	case http.StatusTooManyRequests:
		return s.limited(q.header, f.RetryAfter, false)
	case http.StatusUnauthorized:
		return errUnauthorized
	case http.StatusForbidden:
		return errNoAccess
	case http.StatusNotFound:
		return errNoMessage
	case http.StatusBadRequest:
		return invalidForm("content", "BASE_TYPE_BAD", "refused by a fault")
	}
	return &failure{status: f.Status, raw: http.StatusText(f.Status)}
}

// read takes the body in.
func (q *request) read() *failure {
	if strings.HasPrefix(q.http.Header.Get("Content-Type"), "multipart/form-data") {
		if err := q.http.ParseMultipartForm(maxBody); err != nil {
			return refused(400, 50109, "The request body contains invalid multipart data.")
		}
		defer q.http.MultipartForm.RemoveAll()
		q.body = []byte(q.http.FormValue("payload_json"))
		for _, key := range slices.SortedFunc(maps.Keys(q.http.MultipartForm.File), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) // files[2] before files[10]
		}) {
			headers := q.http.MultipartForm.File[key]
			if !strings.HasPrefix(key, "files[") {
				return invalidForm(key, "BASE_TYPE_BAD", "unexpected file field")
			}
			for _, h := range headers {
				f, err := h.Open()
				if err != nil {
					return errNotFound
				}
				data, err := io.ReadAll(f)
				f.Close()
				if err != nil {
					return errNotFound
				}
				q.files = append(q.files, sim.File{Name: h.Filename, MIME: h.Header.Get("Content-Type"), Data: data})
			}
		}
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(q.http.Body, maxBody))
	if err != nil {
		return refused(400, 50109, "The request body contains invalid JSON.")
	}
	q.body = data
	return nil
}

// decode reads the JSON body.
func (q *request) decode(into any) *failure {
	if err := json.Unmarshal(q.body, into); err != nil {
		return refused(400, 50109, "The request body contains invalid JSON.")
	}
	return nil
}

// answer writes out what a call came to; a nil body is 204.
func (q *request) answer(body any, fail *failure) *sim.Answer {
	out := &sim.Answer{Header: q.header, Status: http.StatusOK}
	if fail != nil {
		out.Status, body = fail.status, fail.body
		out.Error = http.StatusText(fail.status)
		if m, ok := fail.body.(map[string]any); ok {
			out.Error, _ = m["message"].(string)
		}
		if fail.body == nil {
			out.Body = []byte(fail.raw)
			return out
		}
	}
	if body == nil {
		out.Status = http.StatusNoContent
		return out
	}
	data, err := json.Marshal(body)
	if err != nil {
		panic("sim discord: " + err.Error())
	}
	out.Body = data
	out.Header.Set("Content-Type", "application/json")
	return out
}
