package slack

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"typist/adapters/sim"
)

// call is one request of a Web API method.
type call struct {
	name   string
	params url.Values
}

func (c *call) get(name string) string { return c.params.Get(name) }

// failure is an answer with ok false.
type failure struct {
	code     string
	messages []string       // response_metadata.messages
	extra    map[string]any // needed, provided
}

func fail(code string, messages ...string) *failure { return &failure{code: code, messages: messages} }

// method is one method of the Web API.
type method struct {
	op        sim.Op
	scopes    []string // any of these; none = no scope needed
	app       bool     // wants an app-level token
	perMinute float64  // tier; 0 = special, not limited here
	perChat   bool     // the limit counts per channel
	burst     float64
	run       func(*Server, *call) (map[string]any, *failure)
}

// The tiers: calls a minute, with some burst on top (docs.slack.dev/apis/web-api/rate-limits).
const (
	tier1 = 1
	tier2 = 20
	tier3 = 50
	tier4 = 100
)

func methods() map[string]method {
	return map[string]method{
		"auth.test":                   {op: sim.OpOther, run: (*Server).authTest},
		"apps.connections.open":       {op: sim.OpReceive, app: true, perMinute: tier1 * 10, burst: 20, run: (*Server).openConnection},
		"chat.postMessage":            {op: sim.OpSend, scopes: []string{"chat:write"}, perMinute: 60, perChat: true, burst: 5, run: (*Server).postMessage},
		"chat.postEphemeral":          {op: sim.OpSend, scopes: []string{"chat:write"}, perMinute: tier4, burst: 20, run: (*Server).postEphemeral},
		"chat.update":                 {op: sim.OpEdit, scopes: []string{"chat:write"}, perMinute: tier3, burst: 20, run: (*Server).updateMessage},
		"chat.delete":                 {op: sim.OpDelete, scopes: []string{"chat:write"}, perMinute: tier3, burst: 20, run: (*Server).deleteMessage},
		"conversations.history":       {op: sim.OpOther, scopes: []string{"channels:history", "im:history"}, perMinute: tier3, burst: 20, run: (*Server).history},
		"conversations.replies":       {op: sim.OpOther, scopes: []string{"channels:history", "im:history"}, perMinute: tier3, burst: 20, run: (*Server).replies},
		"conversations.open":          {op: sim.OpOther, scopes: []string{"im:write"}, perMinute: tier3, burst: 20, run: (*Server).openChat},
		"conversations.info":          {op: sim.OpOther, scopes: []string{"channels:read", "im:read"}, perMinute: tier3, burst: 20, run: (*Server).chatInfo},
		"conversations.list":          {op: sim.OpOther, scopes: []string{"channels:read"}, perMinute: tier2, burst: 10, run: (*Server).listChats},
		"users.info":                  {op: sim.OpOther, scopes: []string{"users:read"}, perMinute: tier4, burst: 20, run: (*Server).userInfo},
		"users.list":                  {op: sim.OpOther, scopes: []string{"users:read"}, perMinute: tier2, burst: 10, run: (*Server).listUsers},
		"reactions.add":               {op: sim.OpReact, scopes: []string{"reactions:write"}, perMinute: tier3, burst: 20, run: (*Server).addReaction},
		"reactions.remove":            {op: sim.OpReact, scopes: []string{"reactions:write"}, perMinute: tier2, burst: 20, run: (*Server).removeReaction},
		"assistant.threads.setStatus": {op: sim.OpPulse, scopes: []string{"chat:write", "assistant:write"}, perMinute: 600, burst: 60, run: (*Server).setStatus},
		"files.getUploadURLExternal":  {op: sim.OpOther, scopes: []string{"files:write"}, perMinute: tier4, burst: 20, run: (*Server).getUploadURL},
		"files.completeUploadExternal": {op: sim.OpSend, scopes: []string{"files:write"}, perMinute: tier4, burst: 20,
			run: (*Server).completeUpload},
		"files.info": {op: sim.OpOther, scopes: []string{"files:read"}, perMinute: tier4, burst: 20, run: (*Server).fileInfo},
	}
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	all := methods()
	mux.HandleFunc("/api/{method}", func(rw http.ResponseWriter, r *http.Request) {
		s.serveMethod(rw, r, all)
	})
	mux.HandleFunc("/link/", s.serveSocket)
	mux.HandleFunc("/upload/{file}", s.serveUpload)
	mux.HandleFunc("/files/{file}/{name}", s.serveDownload)
	mux.HandleFunc("/respond/{id}", s.serveResponse)
	return mux
}

func (s *Server) serveMethod(rw http.ResponseWriter, r *http.Request, all map[string]method) {
	name := r.PathValue("method")
	params, token, err := readParams(r)
	m, known := all[name]
	op := m.op
	if !known {
		op = sim.OpOther
	}
	c := &call{name: name, params: params}
	channel := params.Get("channel")
	if channel == "" {
		channel = params.Get("channel_id")
	}
	if name == "assistant.threads.setStatus" && params.Get("status") == "" {
		op = sim.OpClear
	}
	log := sim.Call{Op: op, Method: name, Chat: channel, Thread: params.Get("thread_ts")}
	s.world.Intercept(rw, log, s.ctx.Done(), func() *sim.Answer {
		switch {
		case err != nil:
			return s.answer(nil, fail("invalid_form_data"))
		case !known:
			return s.answer(nil, fail("unknown_method"))
		}
		if f := s.authorise(m, token); f != nil {
			return s.answer(nil, f)
		}
		if wait := s.limit(m, name, channel); wait > 0 {
			return s.tooMany(wait)
		}
		return s.answer(m.run(s, c))
	}, s.refuse)
}

// readParams reads a form, a JSON body, or the query; the token comes as a field or a header.
func readParams(r *http.Request) (url.Values, string, error) {
	params := r.URL.Query()
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxRequest))
	if err != nil {
		return params, token, err
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		if len(body) == 0 {
			return params, token, nil
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(body, &fields); err != nil {
			return params, token, err
		}
		for k, v := range fields {
			var text string
			if json.Unmarshal(v, &text) != nil {
				text = string(v)
			}
			params.Set(k, text)
		}
	} else {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return params, token, err
		}
		maps.Copy(params, form)
	}
	if t := params.Get("token"); t != "" {
		token = t
	}
	return params, token, nil
}

// authorise checks the token's kind and scopes, with HTTP 200 whatever comes of it, as Slack does.
func (s *Server) authorise(m method, token string) *failure {
	want, other := BotToken, AppToken
	if m.app {
		want, other = AppToken, BotToken
	}
	switch token {
	case want:
	case "":
		return fail("not_authed")
	case other:
		return fail("not_allowed_token_type")
	default:
		return fail("invalid_auth")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.app || len(m.scopes) == 0 || slices.ContainsFunc(m.scopes, func(x string) bool { return s.scopes[x] }) {
		return nil
	}
	return &failure{code: "missing_scope", extra: map[string]any{"needed": m.scopes[0], "provided": strings.Join(slices.Sorted(maps.Keys(s.scopes)), ",")}}
}

// answer makes the JSON of a result.
func (s *Server) answer(result map[string]any, f *failure) *sim.Answer {
	if f == nil {
		if result == nil {
			result = map[string]any{}
		}
		result["ok"] = true
		return s.encode(0, result, "")
	}
	out := map[string]any{"ok": false, "error": f.code}
	maps.Copy(out, f.extra)
	if len(f.messages) > 0 {
		out["errors"] = f.messages
		marked := make([]string, len(f.messages))
		for i, text := range f.messages {
			marked[i] = "[ERROR] " + text
		}
		out["response_metadata"] = map[string]any{"messages": marked}
	}
	return s.encode(0, out, f.code)
}

func (s *Server) encode(status int, v map[string]any, code string) *sim.Answer {
	body, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("miniature Slack cannot encode an answer: %v", err))
	}
	h := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
	s.mu.Lock()
	h.Set("X-Oauth-Scopes", strings.Join(slices.Sorted(maps.Keys(s.scopes)), ","))
	s.mu.Unlock()
	return &sim.Answer{Status: status, Header: h, Body: body, Error: code}
}

func (s *Server) tooMany(wait time.Duration) *sim.Answer {
	a := s.encode(http.StatusTooManyRequests, map[string]any{"ok": false, "error": "ratelimited"}, "ratelimited")
	if !s.opts.NoRetryAfter {
		a.Header.Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(wait.Seconds())))))
	}
	return a
}

// refuse answers an injected fault. What other platforms say by a status, Slack says with HTTP
// 200 and ok false; only 429 and its own failures have a status.
func (s *Server) refuse(f sim.Fault) *sim.Answer {
	switch {
	case f.Status == http.StatusTooManyRequests:
		return s.tooMany(f.RetryAfter)
	case f.Status == http.StatusUnauthorized:
		return s.answer(nil, fail("invalid_auth"))
	case f.Status == http.StatusForbidden:
		return s.answer(nil, fail("restricted_action"))
	case f.Status == http.StatusNotFound:
		return s.answer(nil, fail("message_not_found"))
	case f.Status == http.StatusOK: // seen in the wild: ok false and no error at all
		return s.encode(0, map[string]any{"ok": false}, "ok false")
	case f.Status >= 400 && f.Status < 500:
		return s.answer(nil, fail("invalid_arguments"))
	}
	return &sim.Answer{Status: f.Status, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<html>server error</html>"), Error: http.StatusText(f.Status)}
}

// bucket is a token bucket.
type bucket struct {
	left float64
	at   time.Time
}

// limit takes one call from the method's budget; more than 0 is how long to wait.
func (s *Server) limit(m method, name, channel string) time.Duration {
	if s.opts.NoLimits || m.perMinute == 0 {
		return 0
	}
	key := name
	if m.perChat {
		key += "/" + channel
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	b := s.buckets[key]
	if b == nil {
		b = &bucket{left: m.burst, at: now}
		s.buckets[key] = b
	}
	b.left = min(m.burst, b.left+now.Sub(b.at).Minutes()*m.perMinute)
	b.at = now
	if b.left < 1 {
		return time.Duration((1 - b.left) / m.perMinute * float64(time.Minute))
	}
	b.left--
	return 0
}

func (s *Server) authTest(*call) (map[string]any, *failure) {
	return map[string]any{
		"url": "https://miniature.slack.com/", "team": teamName, "user": "typist", "team_id": teamID,
		"user_id": botUserID, "bot_id": botID, "is_enterprise_install": false,
	}, nil
}
