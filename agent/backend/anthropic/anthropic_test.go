package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"typist/agent"
	"typist/agent/backend/backendtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t *testing.T, answers ...http.HandlerFunc) *backendtest.Server {
	t.Helper()
	return backendtest.Serve(t, "/v1/messages", answers...)
}

func backend(t *testing.T, s *backendtest.Server, change func(*Config)) *Backend {
	c := Config{BaseURL: s.URL, APIKey: "key", Model: "claude", HTTPClient: backendtest.Client(t)}
	if change != nil {
		change(&c)
	}
	return New(c)
}

const (
	start = `{"type":"message_start","message":{"id":"msg","role":"assistant","content":[],"usage":{"input_tokens":5,"cache_read_input_tokens":2,"output_tokens":1}}}`
	stop  = `{"type":"message_stop"}`
)

func begin(i int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, block)
}
func piece(i int, delta string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, delta)
}
func end(i int) string { return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i) }
func reason(r string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + r + `"},"usage":{"output_tokens":9}}`
}

// says is an answer of one text.
func says(text, why string) http.HandlerFunc {
	return backendtest.Stream(start, begin(0, `{"type":"text","text":""}`), `{"type":"ping"}`, piece(0, `{"type":"text_delta","text":"`+text+`"}`), end(0), reason(why), stop)
}

func TestA2_MessagesStream(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   []string
	}{
		"text": {says("Hi", "end_turn"), []string{"text Hi", "text.", "usage 7 9", "success"}},
		"thinking": {backendtest.Stream(start, begin(0, `{"type":"thinking","thinking":"","signature":""}`), piece(0, `{"type":"thinking_delta","thinking":"h"}`), piece(0, `{"type":"thinking_delta","thinking":"m"}`), piece(0, `{"type":"signature_delta","signature":"EqQB"}`), end(0),
			begin(1, `{"type":"redacted_thinking","data":"AAA"}`), end(1), begin(2, `{"type":"text","text":""}`), piece(2, `{"type":"text_delta","text":"Hi"}`), end(2), reason("end_turn"), stop),
			[]string{"think", "thought hm", "thought. EqQB", "think", "thought. redacted:AAA", "text Hi", "text.", "usage 7 9", "success"}},
		"thinking omitted":    {backendtest.Stream(start, begin(0, `{"type":"thinking","thinking":""}`), piece(0, `{"type":"signature_delta","signature":"S"}`), end(0), begin(1, `{"type":"text","text":"Hi"}`), end(1), reason("end_turn"), stop), []string{"think", "thought. S", "text Hi", "text.", "usage 7 9", "success"}},
		"token limit":         {says("Hi", "max_tokens"), []string{"text Hi", "text cut", "usage 7 9", "success"}},
		"refusal":             {says("Hi", "refusal"), []string{"text Hi", "text cut", "usage 7 9", "failed: invalid: the model's provider refused to go on with this answer"}},
		"no message_stop":     {backendtest.Stream(start, begin(0, `{"type":"text","text":"Hi"}`), end(0), reason("end_turn")), []string{"text Hi", "text.", "usage 7 9", "success"}},
		"unknown things":      {backendtest.Stream(start, `{"type":"news"}`, begin(0, `{"type":"server_tool_use","id":"x","name":"web_search"}`), piece(0, `{"type":"input_json_delta","partial_json":"{}"}`), end(0), begin(1, `{"type":"text","text":"Hi"}`), piece(1, `{"type":"citations_delta","citation":{}}`), piece(7, `{"type":"text_delta","text":"lost"}`), end(1), end(8), reason("end_turn"), stop), []string{"text Hi", "text.", "usage 7 9", "success"}},
		"error in the stream": {backendtest.Stream(start, begin(0, `{"type":"text","text":"Hi"}`), `{"type":"error","error":{"type":"invalid_request_error","message":"bad"}}`), []string{"text Hi", "text cut", "failed: invalid: bad"}},
		"no JSON":             {backendtest.Stream(`{"type":`), []string{"failed: malformed: an event of the answer is no JSON: unexpected end of JSON input"}},
		"no stream":           {backendtest.JSON(`{"type":"message","content":[{"type":"thinking","thinking":"hm","signature":"S"},{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}`), []string{"think", "thought hm", "thought. S", "text Hi", "text.", "usage 1 2", "success"}},
	} {
		t.Run(name, func(t *testing.T) {
			backendtest.Want(t, backendtest.Run(context.Background(), backend(t, serve(t, c.answer), nil), agent.Request{}), c.want...)
		})
	}
}

func TestA3_ToolUse(t *testing.T) {
	s := serve(t,
		backendtest.Stream(start, begin(0, `{"type":"thinking","thinking":"hm"}`), piece(0, `{"type":"signature_delta","signature":"S"}`), end(0),
			begin(1, `{"type":"text","text":"Let me."}`), end(1),
			begin(2, `{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}`), piece(2, `{"type":"input_json_delta","partial_json":""}`), piece(2, `{"type":"input_json_delta","partial_json":"{\"n\""}`), piece(2, `{"type":"input_json_delta","partial_json":":1}"}`), end(2),
			begin(3, `{"type":"tool_use","id":"toolu_2","name":"Bash","input":{"n":2}}`), end(3), reason("tool_use"), stop),
		says("ok", "end_turn"))
	got := backendtest.Run(context.Background(), backend(t, s, nil), agent.Request{Tools: backendtest.Echo{}})
	backendtest.Want(t, backendtest.SortResults(got), "think", "thought hm", "thought. S", "text Let me.", "call c1 Bash", `args c1 {"n":1}`, "call c2 Bash", `args c2 {"n":2}`, "text.", "usage 7 9",
		`result c1 ran {"n":1}`, `result c2 ran {"n":2}`, "text ok", "text.", "usage 7 9", "success")
	messages, _ := json.Marshal(s.Asked[1]["messages"].([]any)[1:])
	if want := `[{"content":[{"signature":"S","thinking":"hm","type":"thinking"},{"text":"Let me.","type":"text"},{"id":"toolu_1","input":{"n":1},"name":"Bash","type":"tool_use"},{"id":"toolu_2","input":{"n":2},"name":"Bash","type":"tool_use"}],"role":"assistant"},` +
		`{"content":[{"content":"ran {\"n\":1}","tool_use_id":"toolu_1","type":"tool_result"},{"content":"ran {\"n\":2}","tool_use_id":"toolu_2","type":"tool_result"}],"role":"user"}]`; string(messages) != want {
		t.Errorf("got  %s\nwant %s", messages, want)
	}
}

func TestA2_MessagesRequest(t *testing.T) {
	s := serve(t, says("ok", "end_turn"))
	b := backend(t, s, func(c *Config) {
		c.BaseURL += "/v1/"
		c.MaxTokens = 100
		c.Headers = map[string]string{"Anthropic-Beta": "x"}
	})
	backendtest.Run(context.Background(), b, agent.Request{System: "be brief", Tools: backendtest.Echo{}, Resume: true, History: []agent.Message{
		{Role: agent.User, Blocks: []agent.Part{{Kind: agent.PartText, Text: " "}, {Kind: agent.PartText, Text: "look"}, {Kind: agent.PartFile, Name: "a.png", MIME: "image/png", Data: []byte("png")}, {Kind: agent.PartFile, Name: "a.tiff", MIME: "image/tiff"}, {Kind: agent.PartFile, Name: "b.txt", MIME: "text/plain", Data: []byte("x")}}},
		{Role: agent.Assistant, Blocks: []agent.Part{{Kind: agent.PartReasoning, Text: "foreign", Signature: `{"field":"reasoning"}`}, {Kind: agent.PartToolCall, ID: "functions.Bash:0~X", Name: "Bash"}}},
		{Role: agent.ToolRole, Blocks: []agent.Part{{Kind: agent.PartResult, ID: "functions.Bash:0~X", Text: "r", IsError: true}}},
		{Role: agent.Assistant, Blocks: []agent.Part{{Kind: agent.PartText, Text: "I see", Incomplete: true}}},
	}})
	got, _ := json.Marshal(s.Asked[0])
	for _, piece := range []string{`"model":"claude"`, `"stream":true`, `"max_tokens":100`, `"system":"be brief"`, `"media_type":"image/png"`, `"data":"cG5n"`, "image/tiff, which you can't see", "File b.txt:", `"input_schema":{"type":"object"}`,
		`"id":"functions_Bash_0"`, `"tool_use_id":"functions_Bash_0"`, `"is_error":true`, `"I see"`, "Your last message was interrupted"} {
		if !strings.Contains(string(got), piece) {
			t.Errorf("no %s in\n%s", piece, got)
		}
	}
	if strings.Contains(string(got), "foreign") || strings.Contains(string(got), `"text":" "`) {
		t.Errorf("%s", got)
	}
	if h := s.Headers[0]; h.Get("X-Api-Key") != "key" || h.Get("Anthropic-Version") != version || h.Get("Anthropic-Beta") != "x" {
		t.Errorf("%v", h)
	}
}

func TestA6_ThinkingInTheWayTheModelKnows(t *testing.T) {
	old := `{"type":"error","error":{"type":"invalid_request_error","message":"adaptive thinking is not supported on this model"}}`
	never := `{"type":"error","error":{"type":"invalid_request_error","message":"thinking is not supported"}}`
	s := serve(t, says("new", "end_turn"), backendtest.Refuse(400, old), says("old", "end_turn"), says("old", "end_turn"))
	b := backend(t, s, func(c *Config) { c.Reasoning = "low" })
	backendtest.Run(context.Background(), b, agent.Request{})
	backendtest.Run(context.Background(), b, agent.Request{Reasoning: "high"})
	backendtest.Run(context.Background(), b, agent.Request{Reasoning: "none"})
	for i, want := range []string{"map[display:summarized type:adaptive] map[effort:low] 8192", "map[display:summarized type:adaptive] map[effort:high] 8192", "map[budget_tokens:16384 type:enabled] <nil> 24576", "<nil> <nil> 8192"} {
		if got := fmt.Sprint(s.Asked[i]["thinking"], " ", s.Asked[i]["output_config"], " ", s.Asked[i]["max_tokens"]); got != want {
			t.Errorf("request %d: %s, want %s", i, got, want)
		}
	}
	s = serve(t, backendtest.Refuse(400, old), backendtest.Refuse(400, never), says("a", "end_turn"), says("b", "end_turn"))
	b = backend(t, s, func(c *Config) { c.Reasoning = "odd" })
	backendtest.Want(t, backendtest.Run(context.Background(), b, agent.Request{}), "text a", "text.", "usage 7 9", "success")
	backendtest.Want(t, backendtest.Run(context.Background(), b, agent.Request{}), "text b", "text.", "usage 7 9", "success")
	if len(s.Asked) != 4 || s.Asked[3]["thinking"] != nil {
		t.Errorf("%d requests", len(s.Asked))
	}
	s = serve(t, backendtest.Refuse(400, never))
	backendtest.Want(t, backendtest.Run(context.Background(), backend(t, s, nil), agent.Request{}), "failed: invalid (HTTP 400): thinking is not supported")
}

func TestS3_OverloadedIsAskedAgain(t *testing.T) {
	overloaded := `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
	s := serve(t, backendtest.Refuse(529, overloaded), backendtest.Stream(start, begin(0, `{"type":"text","text":"Hal"}`), overloaded), says("Hallo", "end_turn"))
	backendtest.Want(t, backendtest.Run(context.Background(), backend(t, s, nil), agent.Request{}), "text Hal", "text cut", "text Hallo", "text.", "usage 7 9", "success")
}

func TestS2_A5_StopClosesTheStream(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	left := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		backendtest.Stream(start, begin(0, `{"type":"text","text":"Hi"}`))(w, r)
		<-r.Context().Done() // the server sees the client go
		close(left)
	})
	var last agent.Event
	agent.Drive(ctx, backend(t, s, nil), agent.Request{History: []agent.Message{agent.UserText("x")}}, func(ev agent.Event) {
		if _, ok := ev.(agent.TextContent); ok {
			cancel()
		}
		last = ev
	})
	<-left
	if f, ok := last.(agent.RunFinished); !ok || f.Outcome != agent.Cancelled {
		t.Errorf("%+v", last)
	}
}

func TestO4_Probe(t *testing.T) {
	for answer, want := range map[string]string{
		`{"type":"model","id":"claude","display_name":"Claude"}`: "Claude; no key set, none asked for",
		`{"id":"claude"}`: "claude; no key set, none asked for",
		`<html>`:          "what it says about the model is no JSON; is the base URL right?: invalid character '<' looking for beginning of value",
		``:                "not_found (HTTP 404): no such model",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if answer == "" || r.URL.Path != "/v1/models/claude" {
				backendtest.Refuse(404, `{"type":"error","error":{"type":"not_found_error","message":"no such model"}}`)(w, r)
				return
			}
			_, _ = io.WriteString(w, answer)
		}))
		client := backendtest.Client(t)
		got, err := New(Config{BaseURL: s.URL, Model: "claude", HTTPClient: client}).Probe(context.Background())
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q", answer, got)
		}
		s.Close()
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte("data: " + start + "\n\ndata: " + begin(0, `{"type":"tool_use","id":"a","name":"b","input":{"x":1}}`) + "\n\ndata: " + end(0) + "\n\ndata: " + reason("tool_use") + "\n\n"))
	f.Add([]byte("data: " + begin(0, `{"type":"thinking","thinking":"x"}`) + "\n\ndata: " + piece(0, `{"type":"signature_delta","signature":"S"}`) + "\n\n"))
	f.Add([]byte(`data: {"type":"message","content":[{"type":"text","text":"a"}],"stop_reason":"refusal"}` + "\n\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		b := New(Config{HTTPClient: &http.Client{Transport: answering{body: body, after: cancel}}})
		agent.Drive(ctx, b, agent.Request{History: []agent.Message{agent.UserText("x")}}, func(ev agent.Event) {
			if f, ok := ev.(agent.RunError); ok && f.Failure.Kind == agent.Crashed {
				t.Errorf("%+v", f.Failure)
			}
		})
	})
}

// answering is a transport with one answer; a second request ends the run.
type answering struct {
	body  []byte
	after func()
}

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	rec.Header().Set("Content-Type", "text/event-stream")
	_, _ = rec.Write(a.body)
	resp := rec.Result()
	resp.Body = &endingBody{resp.Body, a.after}
	return resp, nil
}

type endingBody struct {
	io.ReadCloser
	after func()
}

func (b *endingBody) Close() error { b.after(); return b.ReadCloser.Close() }
