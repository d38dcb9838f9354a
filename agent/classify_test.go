package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// ask does what a backend does: it posts, reads the whole answer, and gives the error that results.
func ask(t *testing.T, ctx context.Context, url string) error {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(`{"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return &HTTPError{Status: resp.StatusCode, Header: resp.Header, Body: body}
	}
	for line := range strings.Lines(string(body)) {
		var chunk struct{ Error json.RawMessage }
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok {
			continue
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			return fmt.Errorf("read the stream: %w", err)
		}
		if chunk.Error != nil {
			return &HTTPError{Body: []byte(data)}
		}
	}
	return nil
}

// raw serves one connection with f after it has read the request.
func raw(t *testing.T, f func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		buf := make([]byte, 4096)
		for got := ""; !strings.HasSuffix(got, "}"); {
			n, err := c.Read(buf)
			if err != nil {
				return
			}
			got += string(buf[:n])
		}
		f(c)
	}()
	t.Cleanup(func() { l.Close(); <-ended })
	return "http://" + l.Addr().String()
}

// reset closes a connection with RST.
func reset(c net.Conn) {
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
}

const sseHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

func TestS3_BrokenConnectionsAreToldApart(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	defer plain.Close()
	secure := httptest.NewUnstartedServer(nil)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of the handshakes that fail here
	secure.StartTLS()
	defer secure.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + closed.Addr().String()
	closed.Close()
	stopped, stop := context.WithCancel(context.Background())
	stop()
	late, cancel := context.WithDeadline(context.Background(), time.Now())
	defer cancel()

	bg := context.Background()
	for name, c := range map[string]struct {
		ctx  context.Context
		url  string
		want FailureKind
	}{
		"DNS":                          {bg, "http://no-such-host.invalid", NeverSent},
		"refused":                      {bg, nobody, NeverSent},
		"unknown authority":            {bg, secure.URL, NeverSent},
		"wrong host":                   {bg, strings.Replace(secure.URL, "127.0.0.1", "localhost", 1), NeverSent},
		"plain server for TLS":         {bg, strings.Replace(plain.URL, "http:", "https:", 1), NeverSent},
		"reset before the first byte":  {bg, raw(t, reset), CutEarly},
		"closed before the first byte": {bg, raw(t, func(net.Conn) {}), CutEarly},
		"reset after the first byte": {bg, raw(t, func(c net.Conn) {
			_, _ = io.WriteString(c, sseHead+chunk("data: {}\n\n"))
			reset(c)
		}), CutEarly},
		"cut in mid-text": {bg, raw(t, func(c net.Conn) {
			_, _ = io.WriteString(c, sseHead+chunk("data: {\"choices\":[{\"delta\":{\"content\":\"Hel")[:30])
		}), CutEarly},
		"no HTTP":              {bg, raw(t, func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.6\r\n\r\n") }), Malformed},
		"no JSON":              {bg, raw(t, func(c net.Conn) { _, _ = io.WriteString(c, sseHead+chunk("data: {\"choices\":[}\n\n")+"0\r\n\r\n") }), Malformed},
		"timed out":            {late, plain.URL, TimedOut},
		"a stop is no failure": {stopped, plain.URL, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := ask(t, c.ctx, c.url)
			if err == nil {
				t.Fatal("no error")
			}
			f := Classify(fmt.Errorf("model: %w", err))
			switch {
			case c.want == "" && f != nil:
				t.Errorf("%v (%T) → %+v, want none", err, err, f)
			case c.want != "" && (f == nil || f.Kind != c.want || f.Detail == "" || !errors.Is(f, err)):
				t.Errorf("%v (%T) → %+v, want %s", err, err, f, c.want)
			}
		})
	}
}

func TestS3_RefusalsAreToldApart(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		header http.Header
		body   string
		want   Failure
	}{
		"OpenAI 400":       {400, nil, `{"error":{"message":"Invalid value: 'x'.","type":"invalid_request_error","param":"messages","code":"invalid_value"}}`, Failure{Kind: Invalid, Detail: "Invalid value: 'x'."}},
		"OpenAI 401":       {401, nil, `{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, Failure{Kind: Unauthorized, Detail: "Incorrect API key provided."}},
		"403":              {403, nil, `{"error":{"type":"permission_error","message":"no access"}}`, Failure{Kind: Unauthorized, Detail: "no access"}},
		"OpenAI 404 model": {404, nil, `{"error":{"message":"The model 'gpt-9' does not exist","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, Failure{Kind: NotFound, Detail: "The model 'gpt-9' does not exist"}},
		"Ollama 404 model": {404, nil, `{"error":{"message":"model 'qwen9' not found","type":"not_found_error","param":null,"code":null}}`, Failure{Kind: NotFound, Detail: "model 'qwen9' not found"}},
		"Ollama 404 short": {404, nil, `{"error":"model \"qwen9\" not found, try pulling it first"}`, Failure{Kind: NotFound, Detail: `model "qwen9" not found, try pulling it first`}},
		"404 page":         {404, nil, "404 page not found\n", Failure{Kind: NotFound, Detail: "404 page not found"}},
		"400 model":        {400, nil, `{"error":{"message":"unknown model","code":"model_not_found"}}`, Failure{Kind: NotFound, Detail: "unknown model"}},

		"OpenAI too long":     {400, nil, `{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, Failure{Kind: TooLong, Detail: "This model's maximum context length is 8192 tokens."}},
		"Anthropic too long":  {400, nil, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, Failure{Kind: TooLong, Detail: "prompt is too long: 210000 tokens > 200000 maximum"}},
		"Anthropic 413":       {413, nil, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, Failure{Kind: TooLong, Detail: "Request exceeds the maximum size"}},
		"nginx 413":           {413, nil, "<html><head><title>413 Request Entity Too Large</title></head></html>", Failure{Kind: TooLong, Detail: "<html><head><title>413 Request Entity Too Large</title></head></html>"}},
		"vLLM too long":       {400, nil, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","param":null,"code":400}`, Failure{Kind: TooLong, Detail: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens"}},
		"OpenRouter too long": {400, nil, `{"error":{"message":"This endpoint's maximum context length is 8192 tokens.","code":400,"metadata":{"provider_name":"x"}}}`, Failure{Kind: TooLong, Detail: "This endpoint's maximum context length is 8192 tokens."}},
		"llama.cpp too long":  {400, nil, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}`, Failure{Kind: TooLong, Detail: "the request exceeds the available context size, try increasing it"}},
		"Ollama too long":     {400, nil, `{"error":{"message":"the input length exceeds the context length","type":"invalid_request_error","param":null,"code":null}}`, Failure{Kind: TooLong, Detail: "the input length exceeds the context length"}},
		"422":                 {422, nil, `{"detail":"Field required"}`, Failure{Kind: Invalid, Detail: "Field required"}},
		"422 list":            {422, nil, `{"detail":[{"msg":"Field required"}]}`, Failure{Kind: Invalid, Detail: `{"detail":[{"msg":"Field required"}]}`}},

		"429 without":           {429, nil, `{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`, Failure{Kind: RateLimited, Detail: "Rate limit reached"}},
		"429 seconds":           {429, http.Header{"Retry-After": {"7"}}, `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`, Failure{Kind: RateLimited, RetryAfter: 7 * time.Second, Detail: "slow down"}},
		"429 date":              {429, http.Header{"Retry-After": {"Mon, 02 Jan 2006 15:04:35 GMT"}, "Date": {"Mon, 02 Jan 2006 15:04:05 GMT"}}, ``, Failure{Kind: RateLimited, RetryAfter: 30 * time.Second}},
		"429 past":              {429, http.Header{"Retry-After": {"Mon, 02 Jan 2006 15:04:00 GMT"}, "Date": {"Mon, 02 Jan 2006 15:04:05 GMT"}}, ``, Failure{Kind: RateLimited}},
		"429 ms":                {429, http.Header{"Retry-After-Ms": {"1250"}, "Retry-After": {"2"}}, ``, Failure{Kind: RateLimited, RetryAfter: 1250 * time.Millisecond}},
		"429 reset":             {429, http.Header{"X-Ratelimit-Remaining-Requests": {"5"}, "X-Ratelimit-Reset-Requests": {"9s"}, "X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {"1m2s"}}, ``, Failure{Kind: RateLimited, RetryAfter: 62 * time.Second}},
		"429 epoch":             {429, http.Header{"X-Ratelimit-Reset": {"1136214247000"}, "Date": {"Mon, 02 Jan 2006 15:04:05 GMT"}}, ``, Failure{Kind: RateLimited, RetryAfter: 2 * time.Second}},
		"429 absurd":            {429, http.Header{"Retry-After": {"1e300"}}, ``, Failure{Kind: RateLimited, RetryAfter: maxWait}},
		"429 quota":             {429, nil, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, Failure{Kind: Invalid, Detail: "You exceeded your current quota"}},
		"429 that talks of 401": {429, nil, `{"error":{"message":"not a 401 Unauthorized"}}`, Failure{Kind: RateLimited, Detail: "not a 401 Unauthorized"}},

		"500":                {500, nil, `{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}`, Failure{Kind: ServerError, Detail: "The server had an error"}},
		"502 page":           {502, nil, "<html>\n  <h1>502 Bad Gateway</h1>\n</html>", Failure{Kind: ServerError, Detail: "<html> <h1>502 Bad Gateway</h1> </html>"}},
		"503 told":           {503, http.Header{"Retry-After": {"3"}}, ``, Failure{Kind: ServerError, RetryAfter: 3 * time.Second}},
		"503 load":           {503, nil, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, Failure{Kind: ServerError, Detail: "Loading model"}},
		"503 busy":           {503, nil, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, Failure{Kind: Overloaded, Detail: "server busy, please try again. maximum pending requests exceeded"}},
		"500 of a busy tool": {500, nil, `{"error":"panic in overloaded operator"}`, Failure{Kind: ServerError, Detail: "panic in overloaded operator"}},
		"529":                {529, nil, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, Failure{Kind: Overloaded, Detail: "Overloaded"}},
		"408":                {408, nil, ``, Failure{Kind: ServerError}},
		"redirect":           {304, nil, ``, Failure{Kind: Malformed}},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for k, v := range c.header {
					w.Header()[k] = v
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			got := Classify(ask(t, context.Background(), server.URL))
			c.want.Status = c.status
			if got == nil || got.Kind != c.want.Kind || got.Status != c.want.Status || got.RetryAfter != c.want.RetryAfter || got.Detail != c.want.Detail {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestS3_ErrorsInTheStreamAreToldApart(t *testing.T) {
	for body, want := range map[string]Failure{
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`:                 {Kind: Overloaded},
		`{"error":{"message":"Provider disconnected","code":502}}`:                                    {Kind: ServerError, Status: 502},
		`{"error":{"message":"Rate limited","code":429}}`:                                             {Kind: RateLimited, Status: 429},
		`{"error":{"message":"bad","type":"BadRequestError","code":400}}`:                             {Kind: Invalid, Status: 400},
		`{"error":{"message":"no such tool","type":"invalid_request_error"}}`:                         {Kind: Invalid},
		`{"error":{"message":"key","type":"authentication_error"}}`:                                   {Kind: Unauthorized},
		`{"error":{"message":"gone","type":"not_found_error"}}`:                                       {Kind: NotFound},
		`{"error":{"message":"The server had an error","type":"server_error","code":"server_error"}}`: {Kind: ServerError},
		`{"error":{"message":"long","code":"context_length_exceeded"}}`:                               {Kind: TooLong},
		`{"error":"llama runner process has terminated"}`:                                             {Kind: ServerError},
	} {
		url := raw(t, func(c net.Conn) { _, _ = io.WriteString(c, sseHead+chunk("data: "+body+"\n\n")+"0\r\n\r\n") })
		got := Classify(ask(t, context.Background(), url))
		if got == nil || got.Kind != want.Kind || got.Status != want.Status || got.Detail == "" {
			t.Errorf("%s → %+v, want %+v", body, got, want)
		}
	}
}

func TestS3_OtherFailures(t *testing.T) {
	exit := exec.Command("false").Run()
	_, missing := exec.LookPath("no-such-program-anywhere")
	for _, c := range []struct {
		err  error
		want FailureKind
	}{
		{exit, Crashed},
		{missing, Crashed},
		{errors.New("something"), Crashed},
		{&UnsentError{Err: io.EOF}, NeverSent},
		{&ProtocolError{Detail: "line too long"}, Malformed},
		{fmt.Errorf("x: %w", &Failure{Kind: TooLong}), TooLong},
		{io.ErrUnexpectedEOF, CutEarly},
		{errors.New("http2: server sent GOAWAY and closed the connection"), CutEarly},
	} {
		if got := Classify(c.err); got == nil || got.Kind != c.want {
			t.Errorf("Classify(%v) = %+v, want %s", c.err, got, c.want)
		}
	}
	if got := Classify(nil); got != nil {
		t.Errorf("Classify(nil) = %+v", got)
	}
}

func TestP4_DetailsAreMaskedOnShortLines(t *testing.T) {
	secret := "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
	for _, err := range []error{
		&HTTPError{Status: 401, Body: []byte(`{"error":{"message":"Incorrect API key provided: ` + secret + `"}}`)},
		&Failure{Kind: Crashed, Detail: "token=" + secret},
		errors.New("dial: " + secret + strings.Repeat(" long", 1000) + "\nsecond line"),
	} {
		f := Classify(err)
		if s := f.Error(); strings.Contains(s, secret) || strings.Contains(s, "\n") || len(s) > 4*detailLimit {
			t.Errorf("%q", s)
		}
	}
}
