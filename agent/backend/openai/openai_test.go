package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"typist/agent"
	"typist/agent/backend/backendtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// deltas wraps choices' deltas, and ends as OpenAI does.
func deltas(finish string, deltas ...string) http.HandlerFunc {
	var events []string
	for _, d := range deltas {
		events = append(events, `{"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":`+d+`,"finish_reason":null}],"usage":null}`)
	}
	events = append(events, `{"choices":[{"index":0,"delta":{},"finish_reason":"`+finish+`"}]}`, "[DONE]")
	return backendtest.Stream(events...)
}

func serve(t *testing.T, answers ...http.HandlerFunc) *backendtest.Server {
	t.Helper()
	return backendtest.Serve(t, "/v1/chat/completions", answers...)
}

func backend(t *testing.T, s *backendtest.Server, change func(*Config)) *Backend {
	c := Config{BaseURL: s.URL + "/v1/", APIKey: "key", Model: "qwen3", HTTPClient: backendtest.Client(t)}
	if change != nil {
		change(&c)
	}
	return New(c)
}

func TestA2_StreamsOfManyServers(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   []string
	}{
		"OpenAI": {backendtest.Stream(
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
		"no DONE, comments":   {backendtest.Stream("\n: PROCESSING\n\ndata: " + `{"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}`), []string{"text Hi", "text.", "success"}},
		"DONE, no reason":     {backendtest.Stream(`{"choices":[{"delta":{"content":"Hi"}}]}`, "[DONE]"), []string{"text Hi", "text.", "success"}},
		"no stream":           {backendtest.JSON(`{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","reasoning_content":"hm"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3.0,"completion_tokens":1}}`), []string{"think", "thought hm", `thought. {"field":"reasoning_content"}`, "text Hi", "text.", "usage 3 1", "success"}},
		"second answer":       {backendtest.Stream(`{"choices":[{"index":1,"delta":{"content":"No"}}]}`, `{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}`), []string{"text Hi", "text.", "success"}},
		"token limit":         {deltas("length", `{"content":"Hi"}`), []string{"text Hi", "text cut", "success"}},
		"filtered":            {deltas("content_filter", `{"content":"Hi"}`), []string{"text Hi", "text cut", "failed: invalid: the model's provider refused to go on with this answer"}},
		"error in the stream": {backendtest.Stream(`{"choices":[{"delta":{"content":"Hi"}}]}`, `{"error":{"message":"Bad tool","code":400}}`), []string{"text Hi", "text cut", "failed: invalid (HTTP 400): Bad tool"}},
		"error in a choice":   {backendtest.Stream(`{"choices":[{"delta":{"content":""},"finish_reason":"error","error":{"message":"too long","code":"context_length_exceeded"}}]}`), []string{"failed: too_long: too long"}},
		"old vLLM error":      {backendtest.Stream(`{"object":"error","message":"bad","type":"BadRequestError","code":400}`), []string{"failed: invalid (HTTP 400): bad"}},
		"no JSON":             {backendtest.Stream(`{"choices":[}`), []string{"failed: malformed: a chunk of the answer is no JSON: invalid character '}' looking for beginning of value"}},
		"a web page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>")
		}, []string{`failed: malformed: answered "text/html" where an event stream was due`}},
	} {
		t.Run(name, func(t *testing.T) {
			backendtest.Want(t, backendtest.Run(context.Background(), backend(t, serve(t, c.answer), nil), agent.Request{}), c.want...)
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
			got := backendtest.SortResults(backendtest.Run(context.Background(), backend(t, s, nil), agent.Request{Tools: backendtest.Echo{}}))
			if c.want != nil {
				backendtest.Want(t, got, c.want...)
			}
			if len(s.Asked) != 2 {
				t.Fatalf("asked %d times: %s", len(s.Asked), strings.Join(got, "\n"))
			}
			// The second request holds the calls and one answer for each, by the model's own ids.
			messages := s.Asked[1]["messages"].([]any)
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
		backendtest.Run(context.Background(), backend(t, s, nil), agent.Request{Tools: backendtest.Echo{}})
		got := s.Asked[1]["messages"].([]any)[1].(map[string]any)
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
	backendtest.Run(context.Background(), backend(t, s, nil), agent.Request{History: []agent.Message{
		agent.UserText("a"),
		{Role: agent.Assistant, Blocks: []agent.Part{{Kind: agent.PartReasoning, Text: "old", Signature: `{"field":"reasoning_content"}`}, call}}, result,
		agent.UserText("b"),
		{Role: agent.Assistant, Blocks: []agent.Part{{Kind: agent.PartReasoning, Text: "other", Signature: "EqQBCg=="}, call}}, result,
	}})
	if b, _ := json.Marshal(s.Asked[0]["messages"]); strings.Contains(string(b), "old") || strings.Contains(string(b), "other") {
		t.Errorf("%s", b)
	}
}

func TestA2_Request(t *testing.T) {
	s := serve(t, deltas("stop", `{"content":"ok"}`))
	b := backend(t, s, func(c *Config) {
		c.MaxTokens = 100
		c.Reasoning = "low"
		c.Headers = map[string]string{"X-Title": "typist"}
	})
	backendtest.Run(context.Background(), b, agent.Request{System: "be <brief>", Tools: backendtest.Echo{}, Resume: true, History: []agent.Message{
		{Role: agent.User, Blocks: []agent.Part{{Kind: agent.PartText, Text: "look"}, {Kind: agent.PartFile, Name: "a.png", MIME: "image/png", Data: []byte("png")}, {Kind: agent.PartFile, Name: "b.txt", MIME: "text/plain", Data: []byte("x```y")}}},
		{Role: agent.Assistant, Blocks: []agent.Part{{Kind: agent.PartText, Text: "I see", Incomplete: true}}},
	}})
	got, _ := json.MarshalIndent(s.Asked[0], "", " ")
	for _, piece := range []string{
		`"model": "qwen3"`, `"stream": true`, `"include_usage": true`, `"max_tokens": 100`, `"reasoning_effort": "low"`,
		`"url": "data:image/png;base64,cG5n"`, "File b.txt:\\n````\\nx```y\\n````", `"name": "Bash"`, `"content": "I see"`, "Your last message was interrupted",
	} {
		if !strings.Contains(string(got), piece) {
			t.Errorf("no %s in\n%s", piece, got)
		}
	}
	if h := s.Headers[0]; h.Get("Authorization") != "Bearer key" || h.Get("X-Title") != "typist" {
		t.Errorf("headers: %v", h)
	}
}

func TestA2_OptionsThatAServerRefusesAreLeftOut(t *testing.T) {
	ok := deltas("stop", `{"content":"ok"}`)
	s := serve(t,
		backendtest.Refuse(400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","code":"unsupported_parameter"}}`),
		backendtest.Refuse(422, `{"detail":"reasoning_effort: extra fields not permitted"}`),
		backendtest.Refuse(400, `{"error":"bad request"}`),
		ok, ok)
	b := backend(t, s, func(c *Config) { c.MaxTokens = 100; c.Reasoning = "low" })
	backendtest.Want(t, backendtest.Run(context.Background(), b, agent.Request{}), "text ok", "text.", "success")
	backendtest.Want(t, backendtest.Run(context.Background(), b, agent.Request{}), "text ok", "text.", "success")
	for _, last := range s.Asked[3:] {
		if last["max_tokens"] != nil || last["max_completion_tokens"] != 100.0 || last["reasoning_effort"] != nil || last["stream_options"] != nil {
			t.Errorf("%v", last)
		}
	}
	// What no option is to blame for is not asked again.
	s = serve(t, backendtest.Refuse(400, `{"error":{"message":"long","code":"context_length_exceeded"}}`))
	backendtest.Want(t, backendtest.Run(context.Background(), backend(t, s, nil), agent.Request{}), "failed: too_long (HTTP 400): long")
	s = serve(t, backendtest.Refuse(400, `{"error":"bad"}`), backendtest.Refuse(400, `{"error":"bad"}`))
	backendtest.Want(t, backendtest.Run(context.Background(), backend(t, s, nil), agent.Request{}), "failed: invalid (HTTP 400): bad")
}

func TestS3_CutStreamIsAskedForAgain(t *testing.T) {
	cut := func(w http.ResponseWriter, r *http.Request) {
		backendtest.Stream(`{"choices":[{"delta":{"content":"The ans"}}]}`)(w, r)
		panic(http.ErrAbortHandler)
	}
	early := backendtest.Stream(`{"choices":[{"delta":{"content":"The answ"}}]}`) // ends without a reason
	s := serve(t, cut, early, deltas("stop", `{"content":"The answer"}`))
	backendtest.Want(t, backendtest.Run(context.Background(), backend(t, s, nil), agent.Request{}),
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
					backendtest.Stream(before)(w, r)
				}
				<-r.Context().Done() // the server sees the client go
				close(left)
			})
			defer stop()
			started := time.Now()
			agent.Drive(ctx, backend(t, s, nil), agent.Request{History: []agent.Message{agent.UserText("x")}}, func(ev agent.Event) {
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
		"without DONE": {[]string{`{"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}`}, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				backendtest.Stream(c.events...)(w, r)
				<-r.Context().Done()
			})
			started := time.Now()
			backendtest.Want(t, backendtest.Run(context.Background(), backend(t, s, nil), agent.Request{}), "text Hi", "text.", "success")
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
		}, "qwen3, one of 2 models; no key set, none asked for"},
		"other": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"data":[{"id":"a"}]}`) }, `not_found: "qwen3" is not among its models: a`},
		"many": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"data":[{"id":"a"},{"id":"b"},{"id":"c"},{"id":"d"},{"id":"e"},{"id":"f"}]}`)
		}, `not_found: "qwen3" is not among its models: a, b, c, d, e, … (6 in all)`},
		"none": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"data":null}`) }, `not_found: answers, but has no models`},
		"llama.cpp": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"data":[{"id":"x.gguf","owned_by":"llamacpp"}]}`)
		}, `llama.cpp with x.gguf, whatever model says; no key set, none asked for`},
		"no list":    {http.NotFound, "answers, but has no list of models: neither model nor key was checked"},
		"wrong key":  {backendtest.Refuse(401, `{"error":{"message":"Incorrect API key provided"}}`), "unauthorized (HTTP 401): Incorrect API key provided"},
		"a web page": {backendtest.Refuse(200, `<html>`), "malformed: its list of models is no JSON; is the base URL right?: invalid character '<' looking for beginning of value"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(c.answer)
			defer s.Close()
			client := backendtest.Client(t)
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

// TestO4_ProbeSaysWhetherTheKeyWasChecked: a list that everybody gets proves nothing of the key.
func TestO4_ProbeSaysWhetherTheKeyWasChecked(t *testing.T) {
	for want, guarded := range map[string]bool{
		"qwen3, its only model; key accepted":                              true,
		"qwen3, its only model; key not checked (its list is open to all)": false,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if guarded && r.Header.Get("Authorization") != "Bearer right" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			_, _ = io.WriteString(w, `{"data":[{"id":"qwen3"}]}`)
		}))
		defer s.Close()
		got, err := New(Config{BaseURL: s.URL, Model: "qwen3", APIKey: "right", HTTPClient: backendtest.Client(t)}).Probe(t.Context())
		if err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
}
