package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"typist/agent"
	"typist/agent/backend/sse"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server answers chat completions with prepared bodies, one after the other, and keeps what it was asked.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	asked   []map[string]any
	headers []http.Header
}

func serve(t *testing.T, answers ...http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var asked map[string]any
		if err := json.Unmarshal(body, &asked); err != nil {
			t.Errorf("request %s: %v", body, err)
		}
		s.mu.Lock()
		n := len(s.asked)
		s.asked = append(s.asked, asked)
		s.headers = append(s.headers, r.Header)
		s.mu.Unlock()
		if r.URL.Path != "/v1/chat/completions" || n >= len(answers) {
			http.Error(w, "unexpected request", http.StatusTeapot)
			return
		}
		answers[n](w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// stream answers with server-sent events, each piece flushed for itself.
func stream(events ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, ev := range events {
			_, _ = io.WriteString(w, "data: "+ev+"\n\n")
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// deltas wraps choices' deltas, and ends as OpenAI does.
func deltas(finish string, deltas ...string) http.HandlerFunc {
	var events []string
	for _, d := range deltas {
		events = append(events, `{"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":`+d+`,"finish_reason":null}],"usage":null}`)
	}
	events = append(events, `{"choices":[{"index":0,"delta":{},"finish_reason":"`+finish+`"}]}`, "[DONE]")
	return stream(events...)
}

func refuse(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); _, _ = io.WriteString(w, body) }
}

func (s *server) backend(t *testing.T, change func(*Config)) *Backend {
	c := Config{BaseURL: s.URL + "/v1/", APIKey: "key", Model: "qwen3", HTTPClient: sse.NewClient()}
	if change != nil {
		change(&c)
	}
	t.Cleanup(c.HTTPClient.CloseIdleConnections)
	return New(c)
}

type echo struct{}

func (echo) List(context.Context) ([]agent.Tool, error) {
	return []agent.Tool{{Name: "Bash", Description: "run", InputSchema: json.RawMessage(`{"type":"object"}`)}}, nil
}
func (echo) Call(_ context.Context, c agent.ToolCall) (agent.ToolResult, error) {
	return agent.ToolResult{Content: "ran " + string(c.Args)}, nil
}

// run drives a request and returns its events, merged and short, ids of calls as c1, c2 ….
func run(ctx context.Context, b agent.Backend, req agent.Request) []string {
	if req.History == nil {
		req.History = []agent.Message{agent.UserText("hello")}
	}
	req.RunID = "r"
	c := agent.NewCoalescer()
	agent.Drive(ctx, b, req, c.Add)
	var out []string
	names := map[string]string{}
	name := func(id string) string {
		if names[id] == "" {
			names[id] = fmt.Sprintf("c%d", len(names)+1)
		}
		return names[id]
	}
	for _, ev := range c.Take() {
		switch ev := ev.(type) {
		case agent.ReasoningStarted:
			out = append(out, "think")
		case agent.ReasoningContent:
			out = append(out, "thought "+ev.Delta)
		case agent.ReasoningEnded:
			out = append(out, strings.TrimSpace("thought. "+ev.Signature))
		case agent.TextContent:
			out = append(out, "text "+ev.Delta)
		case agent.TextEnded:
			out = append(out, map[bool]string{false: "text.", true: "text cut"}[ev.Incomplete])
		case agent.ToolCallStarted:
			out = append(out, "call "+name(ev.ID)+" "+ev.Name)
		case agent.ToolCallArgs:
			out = append(out, "args "+name(ev.ID)+" "+ev.Delta)
		case agent.ToolCallResult:
			out = append(out, "result "+name(ev.ID)+" "+ev.Content)
		case agent.Usage:
			out = append(out, fmt.Sprintf("usage %d %d", ev.Input, ev.Output))
		case agent.RunFinished:
			out = append(out, string(ev.Outcome))
		case agent.RunError:
			out = append(out, "failed: "+ev.Failure.Error())
		}
	}
	return out
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestA2_StreamsOfManyServers(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   []string
	}{
		"OpenAI": {stream(
			`{"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}],"usage":null}`,
			`{"choices":[{"index":0,"delta":{"content":"Hel"},"finish_reason":null}]}`, `{"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":null}]}`,
			`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}`, `[DONE]`),
			[]string{"text Hello", "text.", "usage 9 2", "success"}},
		"refusal": {deltas("stop", `{"refusal":"I can't."}`), []string{"text I can't.", "text.", "success"}},
		"DeepSeek": {deltas("stop", `{"reasoning_content":"","content":null}`, `{"reasoning_content":"Let me ","content":null}`, `{"reasoning_content":"think.","content":null}`, `{"content":"Hi"}`),
			[]string{"think", "thought Let me think.", `thought. {"field":"reasoning_content"}`, "text Hi", "text.", "success"}},
		"vLLM with both fields": {deltas("stop", `{"reasoning":"hm","reasoning_content":"hm"}`, `{"content":"\n\nHi"}`),
			[]string{"think", "thought hm", `thought. {"field":"reasoning_content"}`, "text Hi", "text.", "success"}},
		"Ollama": {deltas("stop", `{"role":"assistant","content":"","reasoning":"hm"}`, `{"role":"assistant","content":"Hi"}`),
			[]string{"think", "thought hm", `thought. {"field":"reasoning"}`, "text Hi", "text.", "success"}},
		"OpenRouter": {deltas("stop",
			`{"content":"","reasoning":"h","reasoning_details":[{"type":"reasoning.text","text":"h","format":"x","index":0}]}`,
			`{"content":"","reasoning":"m","reasoning_details":[{"type":"reasoning.text","text":"m","format":"x","index":0,"signature":"s"}]}`,
			`{"content":"Hi","reasoning":null,"reasoning_details":[]}`),
			[]string{"think", "thought hm", `thought. {"field":"reasoning_details","value":[{"format":"x","index":0,"signature":"s","text":"hm","type":"reasoning.text"}]}`, "text Hi", "text.", "success"}},
		"OpenRouter, hidden": {deltas("stop", `{"reasoning_details":[{"type":"reasoning.encrypted","data":"AAA"}]}`, `{"content":"Hi"}`),
			[]string{"think", `thought. {"field":"reasoning_details","value":[{"data":"AAA","type":"reasoning.encrypted"}]}`, "text Hi", "text.", "success"}},
		"OpenRouter, details only": {deltas("stop", `{"reasoning_details":[{"type":"reasoning.summary","summary":"hm"}]}`, `{"content":"Hi"}`),
			[]string{"think", "thought hm", `thought. {"field":"reasoning_details","value":[{"summary":"hm","type":"reasoning.summary"}]}`, "text Hi", "text.", "success"}},
		"Mistral": {deltas("stop", `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`, `{"content":[{"type":"text","text":"Hi"}]}`),
			[]string{"think", "thought hm", "thought.", "text Hi", "text.", "success"}},
		"inline tags": {deltas("stop", `{"content":"<thi"}`, `{"content":"nk>\nhm </th"}`, `{"content":"ough </think"}`, `{"content":">\n\nHi </think> there"}`),
			[]string{"think", "thought hm </though ", "thought.", "text Hi </think> there", "text.", "success"}},
		"inline, closed only": {deltas("stop", `{"content":"hm, hm"}`, `{"content":"\n</think>\n\nHi"}`), []string{"text hm, hm\n", "text.", "text Hi", "text.", "success"}},
		"inline, empty":       {deltas("stop", `{"content":"<think>\n\n</think>\n\n"}`, `{"content":"Hi"}`), []string{"text Hi", "text.", "success"}},
		"a tag as a word":     {deltas("stop", `{"content":"Use <"}`, `{"content":"think> here"}`), []string{"text Use <think> here", "text.", "success"}},
		"a bare less-than":    {deltas("stop", `{"content":"<"}`), []string{"text <", "text.", "success"}},
		"no DONE, comments":   {stream("\n: PROCESSING\n\ndata: " + `{"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}`), []string{"text Hi", "text.", "success"}},
		"DONE, no reason":     {stream(`{"choices":[{"delta":{"content":"Hi"}}]}`, "[DONE]"), []string{"text Hi", "text.", "success"}},
		"no stream": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			_, _ = io.WriteString(w, `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","reasoning_content":"hm"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3.0,"completion_tokens":1}}`)
		}, []string{"think", "thought hm", `thought. {"field":"reasoning_content"}`, "text Hi", "text.", "usage 3 1", "success"}},
		"second answer":       {stream(`{"choices":[{"index":1,"delta":{"content":"No"}}]}`, `{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}`), []string{"text Hi", "text.", "success"}},
		"token limit":         {deltas("length", `{"content":"Hi"}`), []string{"text Hi", "text cut", "success"}},
		"filtered":            {deltas("content_filter", `{"content":"Hi"}`), []string{"text Hi", "text cut", "failed: invalid: the model's provider refused to go on with this answer"}},
		"error in the stream": {stream(`{"choices":[{"delta":{"content":"Hi"}}]}`, `{"error":{"message":"Bad tool","code":400}}`), []string{"text Hi", "text cut", "failed: invalid (HTTP 400): Bad tool"}},
		"error in a choice":   {stream(`{"choices":[{"delta":{"content":""},"finish_reason":"error","error":{"message":"too long","code":"context_length_exceeded"}}]}`), []string{"failed: too_long: too long"}},
		"old vLLM error":      {stream(`{"object":"error","message":"bad","type":"BadRequestError","code":400}`), []string{"failed: invalid (HTTP 400): bad"}},
		"no JSON":             {stream(`{"choices":[}`), []string{"failed: malformed: a chunk of the answer is no JSON: invalid character '}' looking for beginning of value"}},
		"a web page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>")
		}, []string{`failed: malformed: answered "text/html" where an event stream was due`}},
	} {
		t.Run(name, func(t *testing.T) {
			want(t, run(context.Background(), serve(t, c.answer).backend(t, nil), agent.Request{}), c.want...)
		})
	}
}

func TestA3_ToolCallsOfManyServers(t *testing.T) {
	done := deltas("stop", `{"content":"ok"}`)
	two := []string{"call c1 Bash", `args c1 {"n":1}`, "call c2 Bash", `args c2 {"n":2}`, `result c1 ran {"n":1}`, `result c2 ran {"n":2}`, "text ok", "text.", "success"}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   []string
	}{
		"OpenAI": {deltas("tool_calls",
			`{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"Bash","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"{\"n\""}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`,
			`{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"Bash","arguments":""}}]}`, `{"tool_calls":[{"index":1,"function":{"arguments":"{\"n\":2}"}}]}`), two},
		"interleaved": {deltas("tool_calls",
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"Bash"}},{"index":1,"id":"b","function":{"name":"Bash"}}]}`,
			`{"tool_calls":[{"index":1,"function":{"arguments":"{\"n\":"}},{"index":0,"function":{"arguments":"{\"n\":1}"}}]}`, `{"tool_calls":[{"index":1,"function":{"arguments":"2}"}}]}`), nil},
		"several in one chunk": {deltas("tool_calls", `{"tool_calls":[{"index":0,"id":"a","function":{"name":"Bash","arguments":"{\"n\":1}"}},{"index":1,"id":"b","function":{"name":"Bash","arguments":"{\"n\":2}"}}]}`), two},
		"Ollama, one index":    {deltas("tool_calls", `{"content":"","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"Bash","arguments":"{\"n\":1}"}}]}`, `{"tool_calls":[{"index":0,"id":"call_2","type":"function","function":{"name":"Bash","arguments":"{\"n\":2}"}}]}`), two},
		"no ids, no index":     {deltas("stop", `{"tool_calls":[{"function":{"name":"Bash","arguments":"{\"n\":1}"}}]}`, `{"tool_calls":[{"function":{"name":"Bash","arguments":"{\"n\":"}}]}`, `{"tool_calls":[{"function":{"arguments":"2}"}}]}`), two},
		"objects":              {deltas("tool_calls", `{"tool_calls":[{"index":0,"function":{"name":"Bash","arguments":{"n":1}}},{"index":1,"function":{"name":"Bash","arguments":{"n":2}}}]}`), two},
		"name in every chunk":  {deltas("tool_calls", `{"tool_calls":[{"index":0,"id":"a","function":{"name":"Bash","arguments":"{\"n\":"}}]}`, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"Bash","arguments":"1}"}}]}`, `{"tool_calls":[{"index":1,"id":"b","function":{"name":"Bash","arguments":"{\"n\":2}"}}]}`), two},
		"same ids each time":   {deltas("tool_calls", `{"tool_calls":[{"index":0,"id":"functions.Bash:0","function":{"name":"Bash","arguments":"{\"n\":1}"}},{"index":1,"id":"functions.Bash:1","function":{"name":"Bash","arguments":"{\"n\":2}"}}]}`), two},
		"no arguments":         {deltas("tool_calls", `{"tool_calls":[{"index":0,"id":"a","function":{"name":"Bash","arguments":""}}]}`), []string{"call c1 Bash", "result c1 ran {}", "text ok", "text.", "success"}},
		"text before":          {deltas("tool_calls", `{"content":"Let me."}`, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"Bash","arguments":"{}"}}]}`), []string{"text Let me.", "call c1 Bash", "args c1 {}", "text.", "result c1 ran {}", "text ok", "text.", "success"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, c.answer, done)
			got := run(context.Background(), s.backend(t, nil), agent.Request{Tools: echo{}})
			results := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.HasPrefix(s, "result") })
			slices.Sort(results) // parallel
			i := 0
			for j, s := range got {
				if strings.HasPrefix(s, "result") {
					got[j] = results[i]
					i++
				}
			}
			if c.want != nil {
				want(t, got, c.want...)
			}
			if len(s.asked) != 2 {
				t.Fatalf("asked %d times: %s", len(s.asked), strings.Join(got, "\n"))
			}
			// The second request holds the calls and one answer for each, by the model's own ids.
			messages := s.asked[1]["messages"].([]any)
			assistant := messages[1].(map[string]any)
			for i, call := range assistant["tool_calls"].([]any) {
				id := call.(map[string]any)["id"]
				if answer := messages[2+i].(map[string]any); answer["role"] != "tool" || answer["tool_call_id"] != id || id == "" || strings.Contains(id.(string), "~") {
					t.Errorf("call %v is answered by %v", id, answer)
				}
			}
			if name == "same ids each time" && assistant["tool_calls"].([]any)[0].(map[string]any)["id"] != "functions.Bash:0" {
				t.Errorf("%v", assistant)
			}
		})
	}
}

func TestA2_ThoughtsAreGivenBackAsTheyCame(t *testing.T) {
	callIt := `{"tool_calls":[{"index":0,"id":"a","function":{"name":"Bash","arguments":"{}"},"extra_content":{"google":{"thought_signature":"g"}}}]}`
	for field, delta := range map[string]string{
		"reasoning_content": `{"reasoning_content":"hm"}`,
		"reasoning":         `{"reasoning":"hm"}`,
		"reasoning_details": `{"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]}`,
	} {
		s := serve(t, deltas("tool_calls", delta, callIt), deltas("stop", `{"content":"ok"}`))
		run(context.Background(), s.backend(t, nil), agent.Request{Tools: echo{}})
		got := s.asked[1]["messages"].([]any)[1].(map[string]any)
		value := fmt.Sprint(got[field])
		if !regexp.MustCompile(`^hm$|^\[map\[text:hm type:reasoning.text\]\]$`).MatchString(value) {
			t.Errorf("%s: %v", field, got)
		}
		if extra := got["tool_calls"].([]any)[0].(map[string]any)["extra_content"]; fmt.Sprint(extra) != "map[google:map[thought_signature:g]]" {
			t.Errorf("extra_content: %v", extra)
		}
	}
	// Not those of earlier turns, nor another API's.
	s := serve(t, deltas("stop", `{"content":"ok"}`))
	call := agent.Part{Kind: agent.PartToolCall, ID: "1", Name: "Bash"}
	result := agent.Message{Role: agent.ToolRole, Blocks: []agent.Part{{Kind: agent.PartResult, ID: "1"}}}
	run(context.Background(), s.backend(t, nil), agent.Request{History: []agent.Message{
		agent.UserText("a"),
		{Role: agent.Assistant, Blocks: []agent.Part{{Kind: agent.PartReasoning, Text: "old", Signature: `{"field":"reasoning_content"}`}, call}}, result,
		agent.UserText("b"),
		{Role: agent.Assistant, Blocks: []agent.Part{{Kind: agent.PartReasoning, Text: "other", Signature: "EqQBCg=="}, call}}, result,
	}})
	if b, _ := json.Marshal(s.asked[0]["messages"]); strings.Contains(string(b), "old") || strings.Contains(string(b), "other") {
		t.Errorf("%s", b)
	}
}

func TestA2_Request(t *testing.T) {
	s := serve(t, deltas("stop", `{"content":"ok"}`))
	b := s.backend(t, func(c *Config) {
		c.MaxTokens = 100
		c.Reasoning = "low"
		c.Headers = map[string]string{"X-Title": "typist"}
	})
	run(context.Background(), b, agent.Request{System: "be <brief>", Tools: echo{}, Resume: true, History: []agent.Message{
		{Role: agent.User, Blocks: []agent.Part{{Kind: agent.PartText, Text: "look"}, {Kind: agent.PartFile, Name: "a.png", MIME: "image/png", Data: []byte("png")}, {Kind: agent.PartFile, Name: "b.txt", MIME: "text/plain", Data: []byte("x```y")}}},
		{Role: agent.Assistant, Blocks: []agent.Part{{Kind: agent.PartText, Text: "I see", Incomplete: true}}},
	}})
	got, _ := json.MarshalIndent(s.asked[0], "", " ")
	for _, piece := range []string{
		`"model": "qwen3"`, `"stream": true`, `"include_usage": true`, `"max_tokens": 100`, `"reasoning_effort": "low"`,
		`"url": "data:image/png;base64,cG5n"`, "File b.txt:\\n````\\nx```y\\n````", `"name": "Bash"`, `"content": "I see"`, "Your last message was interrupted",
	} {
		if !strings.Contains(string(got), piece) {
			t.Errorf("no %s in\n%s", piece, got)
		}
	}
	if h := s.headers[0]; h.Get("Authorization") != "Bearer key" || h.Get("X-Title") != "typist" {
		t.Errorf("headers: %v", h)
	}
}

func TestA2_OptionsThatAServerRefusesAreLeftOut(t *testing.T) {
	ok := deltas("stop", `{"content":"ok"}`)
	s := serve(t,
		refuse(400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","code":"unsupported_parameter"}}`),
		refuse(422, `{"detail":"reasoning_effort: extra fields not permitted"}`),
		refuse(400, `{"error":"bad request"}`),
		ok, ok)
	b := s.backend(t, func(c *Config) { c.MaxTokens = 100; c.Reasoning = "low" })
	want(t, run(context.Background(), b, agent.Request{}), "text ok", "text.", "success")
	want(t, run(context.Background(), b, agent.Request{}), "text ok", "text.", "success")
	for _, last := range s.asked[3:] {
		if last["max_tokens"] != nil || last["max_completion_tokens"] != 100.0 || last["reasoning_effort"] != nil || last["stream_options"] != nil {
			t.Errorf("%v", last)
		}
	}
	// What no option is to blame for is not asked again.
	s = serve(t, refuse(400, `{"error":{"message":"long","code":"context_length_exceeded"}}`))
	want(t, run(context.Background(), s.backend(t, nil), agent.Request{}), "failed: too_long (HTTP 400): long")
	s = serve(t, refuse(400, `{"error":"bad"}`), refuse(400, `{"error":"bad"}`))
	want(t, run(context.Background(), s.backend(t, nil), agent.Request{}), "failed: invalid (HTTP 400): bad")
}

func TestS3_CutStreamIsAskedForAgain(t *testing.T) {
	cut := func(w http.ResponseWriter, r *http.Request) {
		stream(`{"choices":[{"delta":{"content":"The ans"}}]}`)(w, r)
		panic(http.ErrAbortHandler)
	}
	early := stream(`{"choices":[{"delta":{"content":"The answ"}}]}`) // ends without a reason
	s := serve(t, cut, early, deltas("stop", `{"content":"The answer"}`))
	want(t, run(context.Background(), s.backend(t, nil), agent.Request{}),
		"text The ans", "text cut", "text The answ", "text cut", "text The answer", "text.", "success")
}

func TestS2_A5_StopClosesTheStream(t *testing.T) {
	for name, before := range map[string]string{"before the head": "", "in mid-text": `{"choices":[{"delta":{"content":"Hi"}}]}`} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(context.Background())
			left := make(chan struct{})
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if before == "" {
					stop()
				} else {
					stream(before)(w, r)
				}
				<-r.Context().Done() // the server sees the client go
				close(left)
			})
			defer stop()
			started := time.Now()
			agent.Drive(ctx, s.backend(t, nil), agent.Request{History: []agent.Message{agent.UserText("x")}}, func(ev agent.Event) {
				if _, ok := ev.(agent.TextContent); ok {
					stop()
				}
				if f, ok := ev.(agent.RunFinished); ok && f.Outcome != agent.Cancelled {
					t.Errorf("%+v", f)
				}
			})
			<-left
			if d := time.Since(started); d > 2*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

func TestA2_AServerThatKeepsTheStreamOpenAfterTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		events []string
		max    time.Duration
	}{
		"after DONE":   {[]string{`{"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}`, "[DONE]"}, time.Second},
		"without DONE": {[]string{`{"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}`}, afterFinish + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) { stream(c.events...)(w, r); <-r.Context().Done() })
			started := time.Now()
			want(t, run(context.Background(), s.backend(t, nil), agent.Request{}), "text Hi", "text.", "success")
			if d := time.Since(started); d > c.max {
				t.Errorf("took %v", d)
			}
		})
	}
}

func TestO4_Probe(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"knows": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"a"},{"id":"qwen3:latest"}]}`)
		}, "qwen3, one of 2 models"},
		"other":      {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"data":[{"id":"a"}]}`) }, `answers; "qwen3" is not among its 1 models`},
		"no list":    {http.NotFound, "answers, but has no list of models"},
		"wrong key":  {refuse(401, `{"error":{"message":"Incorrect API key provided"}}`), "unauthorized (HTTP 401): Incorrect API key provided"},
		"a web page": {refuse(200, `<html>`), "its list of models is no JSON; is the base URL right?: invalid character '<' looking for beginning of value"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(c.answer)
			defer s.Close()
			client := sse.NewClient()
			defer client.CloseIdleConnections()
			got, err := New(Config{BaseURL: s.URL, Model: "qwen3", HTTPClient: client}).Probe(context.Background())
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%q", got)
			}
		})
	}
}
