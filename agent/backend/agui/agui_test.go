package agui

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"typist/agent"
	"typist/agent/backend/backendtest"
	"typist/agent/backend/sse"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const finished = `{"type":"RUN_FINISHED","threadId":"t","runId":"RUN"}`

// server is a strict agent: it refuses what is no RunAgentInput, wants a new run id each time, and
// answers with the next prepared events. RUN in them is the run's id.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	inputs  []map[string]any
	bodies  [][]byte
	answers [][]string
	cancels chan string
	gone    chan struct{} // a stream was closed by the client
}

func serve(t *testing.T, answers ...[]string) (*server, *Backend) {
	t.Helper()
	s := &server{answers: answers, cancels: make(chan string, 9), gone: make(chan struct{}, 9)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.HasPrefix(r.URL.Path, "/cancel/") {
			s.cancels <- r.Method + " " + r.URL.Path + " " + string(body)
			return
		}
		if r.Method != http.MethodPost {
			http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		input, problem := s.check(body)
		if problem != "" || r.Header.Get("Accept") == "" || r.Header.Get("X-Key") != "k" {
			t.Errorf("%s: %s", problem, body)
			http.Error(w, problem, http.StatusUnprocessableEntity)
			return
		}
		n := len(s.inputs)
		s.inputs, s.bodies = append(s.inputs, input), append(s.bodies, body)
		if n >= len(s.answers) {
			http.Error(w, "unexpected run", http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		events := append([]string{`{"type":"RUN_STARTED","threadId":"t","runId":"RUN"}`}, s.answers[n]...)
		for _, ev := range events {
			if ev == "hang" {
				<-r.Context().Done()
				s.gone <- struct{}{}
				return
			}
			fmt.Fprintf(w, ": keep-alive\n\ndata: %s\n\n", strings.ReplaceAll(ev, "RUN\"", input["runId"].(string)+"\""))
			_ = http.NewResponseController(w).Flush()
		}
	}))
	t.Cleanup(s.Close)
	b := New(Config{URL: s.URL + "/agent", CancelURL: s.URL + "/cancel/{threadId}/{runId}", Headers: map[string]string{"X-Key": "k"}, HTTPClient: backendtest.Client(t)})
	return s, b
}

func (s *server) check(body []byte) (map[string]any, string) {
	var strict struct {
		ThreadID, RunID, ProtocolVersion string
		State, ForwardedProps            json.RawMessage
		Messages                         []struct {
			ID, Role, ToolCallID, Error, EncryptedValue string
			Content                                     json.RawMessage
			ToolCalls                                   []struct {
				ID, Type string
				Function struct{ Name, Arguments string }
			}
		}
		Tools []struct {
			Name, Description string
			Parameters        json.RawMessage
		}
		Context []struct{ Description, Value string }
		Resume  []struct {
			InterruptID, Status string
			Payload             json.RawMessage
		}
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&strict); err != nil {
		return nil, err.Error()
	}
	var input map[string]any
	_ = json.Unmarshal(body, &input)
	for _, name := range []string{"threadId", "runId", "state", "messages", "tools", "context", "forwardedProps"} {
		if input[name] == nil {
			return nil, name + " is missing"
		}
	}
	for _, old := range s.inputs {
		if old["runId"] == input["runId"] || old["threadId"] != input["threadId"] {
			return nil, "a run id again, or another thread"
		}
	}
	ids, open := map[string]bool{}, map[string]bool{}
	for _, m := range strict.Messages {
		if m.ID == "" || ids[m.ID] {
			return nil, "message id " + m.ID
		}
		ids[m.ID] = true
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				return nil, "a result of nothing"
			}
			delete(open, m.ToolCallID)
		}
		for _, c := range m.ToolCalls {
			open[c.ID] = true
			if c.Type != "function" || !json.Valid([]byte(c.Function.Arguments)) {
				return nil, "call " + c.ID
			}
		}
	}
	if len(open) > len(strict.Resume) {
		return nil, fmt.Sprint("no results of ", open)
	}
	return input, ""
}

func textEvents(id string, deltas ...string) []string {
	out := []string{`{"type":"TEXT_MESSAGE_START","messageId":"` + id + `","role":"assistant"}`}
	for _, d := range deltas {
		out = append(out, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"`+id+`","delta":"`+d+`"}`)
	}
	return append(out, `{"type":"TEXT_MESSAGE_END","messageId":"`+id+`"}`)
}

func TestA1_EventsOfARun(t *testing.T) {
	for name, c := range map[string]struct{ events, want []string }{
		"text": {append(textEvents("m", "Hel", "", "lo"), `{"type":"RUN_FINISHED","threadId":"t","runId":"RUN","outcome":{"type":"success"},"usage":[{"inputTokens":3,"outputTokens":1},{"inputTokens":4}]}`),
			[]string{"text Hello", "text.", "usage 7 1", "success"}},
		"chunks": {[]string{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","delta":"Hel"}`, `{"type":"RAW","event":{}}`, `{"type":"TEXT_MESSAGE_CHUNK","delta":"lo"}`,
			`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"search","delta":"{\"q\":"}`, `{"type":"TOOL_CALL_CHUNK","delta":"1}"}`,
			`{"type":"TOOL_CALL_RESULT","messageId":"r","toolCallId":"c","content":[{"type":"text","text":"found"},{"type":"image","source":{"type":"url","value":"x"}}]}`,
			`{"type":"TEXT_MESSAGE_CHUNK","messageId":"n","delta":"Done"}`, finished},
			[]string{"text Hello", "text.", "call c1 search", `args c1 {"q":1}`, "result c1 found", "text Done", "text.", "success"}},
		"reasoning": {append([]string{`{"type":"REASONING_START","messageId":"s"}`, `{"type":"REASONING_MESSAGE_START","messageId":"s","role":"reasoning"}`, `{"type":"REASONING_MESSAGE_CONTENT","messageId":"s","delta":"hm"}`,
			`{"type":"REASONING_MESSAGE_END","messageId":"s"}`, `{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"s","encryptedValue":"secret"}`, `{"type":"REASONING_END","messageId":"s"}`}, append(textEvents("m", "Hi"), finished)...),
			[]string{"think", "thought hm", "thought. agui:s\nsecret", "text Hi", "text.", "success"}},
		"a span without words": {append([]string{`{"type":"REASONING_START","messageId":"s"}`, `{"type":"REASONING_END","messageId":"s"}`}, append(textEvents("m", "Hi"), finished)...),
			[]string{"think", "thought.", "text Hi", "text.", "success"}},
		"reasoning chunks": {append([]string{`{"type":"REASONING_MESSAGE_CHUNK","messageId":"s","delta":"a"}`, `{"type":"REASONING_MESSAGE_CHUNK","delta":"b"}`}, append(textEvents("m", "Hi"), finished)...),
			[]string{"think", "thought ab", "thought.", "text Hi", "text.", "success"}},
		"old thinking": {append([]string{`{"type":"THINKING_START"}`, `{"type":"THINKING_TEXT_MESSAGE_START"}`, `{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"hm"}`, `{"type":"THINKING_TEXT_MESSAGE_END"}`, `{"type":"THINKING_END"}`}, append(textEvents("m", "Hi"), finished)...),
			[]string{"think", "thought hm", "thought.", "text Hi", "text.", "success"}},
		"what is not shown": {append([]string{`{"type":"STATE_SNAPSHOT","snapshot":{"a":1}}`, `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/b","value":2}]}`, `{"type":"CUSTOM","name":"x","value":1}`,
			`{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"PLAN","content":{"steps":[]}}`, `{"type":"SOMETHING_NEW","x":[1]}`,
			`{"type":"TEXT_MESSAGE_START","messageId":"u","role":"user"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"u","delta":"hello"}`, `{"type":"TEXT_MESSAGE_END","messageId":"u"}`}, append(textEvents("m", "Hi"), finished)...),
			[]string{"text Hi", "text.", "success"}},
		"only a snapshot": {[]string{`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"o","role":"assistant","content":"old"},{"id":"u","role":"user","content":"hello"},{"id":"a","role":"assistant","content":"new"}]}`, finished},
			[]string{"text new", "text.", "success"}},
		"a stream with a snapshot too": {append(textEvents("m", "Hi"), `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":"Hi"}]}`, finished), []string{"text Hi", "text.", "success"}},
		"another run id":               {append(textEvents("m", "Hi"), `{"type":"RUN_FINISHED","threadId":"t","runId":"other"}`), []string{"text Hi", "text.", "success"}},
		"nothing":                      {[]string{finished}, []string{"failed: malformed: the agent ended without an answer"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, b := serve(t, c.events)
			backendtest.Want(t, backendtest.Run(t.Context(), b, agent.Request{}), c.want...)
		})
	}
}

func TestP10_SubagentsDoNotCross(t *testing.T) {
	_, b := serve(t, []string{
		`{"type":"SUBAGENT_STARTED","subagentRunId":"A","name":"one"}`, `{"type":"SUBAGENT_STARTED","subagentRunId":"B","name":"two","parentSubagentRunId":"A"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","subagentRunId":"A","delta":"1"}`, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"b","subagentRunId":"B","delta":"2"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","subagentRunId":"A","delta":"3"}`, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"b","delta":"4"}`,
		`{"type":"STEP_STARTED","subagentRunId":"B","stepName":"s"}`, `{"type":"STEP_FINISHED","subagentRunId":"B","stepName":"s"}`,
		`{"type":"TEXT_MESSAGE_START","messageId":"c","subagentRunId":"A"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"c","delta":"5"}`, `{"type":"TEXT_MESSAGE_END","messageId":"c"}`,
		`{"type":"SUBAGENT_FINISHED","subagentRunId":"A"}`, `{"type":"SUBAGENT_ERROR","subagentRunId":"B","message":"no"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"Hi"}`, finished})
	said := map[string]string{}
	var ends []string
	agent.Drive(t.Context(), b, agent.Request{RunID: "r", History: []agent.Message{agent.UserText("x")}}, func(ev agent.Event) {
		switch ev := ev.(type) {
		case agent.TextContent:
			said[ev.Subagent] += ev.Delta
		case agent.StepStarted:
			ends = append(ends, ev.Subagent+" step "+ev.Name)
		case agent.SubagentStarted:
			ends = append(ends, ev.Subagent+" in "+ev.Parent)
		case agent.SubagentFinished:
			ends = append(ends, fmt.Sprint(ev.Subagent, " failed ", ev.IsError))
		case agent.RunError:
			t.Error(ev.Failure.Error())
		default:
		}
	})
	if said["A"] != "135" || said["B"] != "24" || said[""] != "Hi" {
		t.Errorf("said %q", said)
	}
	if want := []string{"A in ", "B in A", "B step s", "A failed false", "B failed true"}; !slices.Equal(ends, want) {
		t.Errorf("got %q", ends)
	}
}

func TestA3_OurToolsAreExecutedBetweenRuns(t *testing.T) {
	calls := []string{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"Let me see"}`,
		`{"type":"TOOL_CALL_START","toolCallId":"x","toolCallName":"own","parentMessageId":"m"}`, `{"type":"TOOL_CALL_END","toolCallId":"x"}`, `{"type":"TOOL_CALL_RESULT","messageId":"xr","toolCallId":"x","content":"inside"}`,
		`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"Bash","parentMessageId":"m"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"command\":\"ls\"}"}`, `{"type":"TOOL_CALL_END","toolCallId":"c"}`,
		`{"type":"RUN_FINISHED","threadId":"t","runId":"RUN","outcome":{"type":"success","pendingToolCallIds":["c"]}}`}
	s, b := serve(t, calls, append(textEvents("n", "Done"), finished))
	got := backendtest.Run(t.Context(), b, agent.Request{System: "Be brief.", Tools: backendtest.Echo{}})
	backendtest.Want(t, got, "text Let me see", "text.", "call c1 own", "result c1 inside", "call c2 Bash", `args c2 {"command":"ls"}`, `result c2 ran {"command":"ls"}`, "text Done", "text.", "success")
	body := string(s.bodies[1])
	want := `"messages":[{"id":"system","role":"system","content":"Be brief."},{"id":"m1","role":"user","content":"hello"},` +
		`{"id":"m","role":"assistant","content":"Let me see","toolCalls":[{"id":"x","type":"function","function":{"name":"own","arguments":"{}"}},{"id":"c","type":"function","function":{"name":"Bash","arguments":"{\"command\":\"ls\"}"}}]},` +
		`{"id":"xr","role":"tool","content":"inside","toolCallId":"x"},{"id":"result-c","role":"tool","content":"ran {\"command\":\"ls\"}","toolCallId":"c"}],` +
		`"tools":[{"name":"Bash","description":"run","parameters":{"type":"object"}}]`
	if !strings.Contains(body, want) {
		t.Errorf("second run %s\nwant %s", body, want)
	}
}

func TestT1_OurToolsExecuteOnlyWhenTheyDo(t *testing.T) {
	_, b := serve(t, []string{`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"Bash"}`, `{"type":"TOOL_CALL_END","toolCallId":"c"}`, `{"type":"TOOL_CALL_START","toolCallId":"o","toolCallName":"own"}`, `{"type":"TOOL_CALL_END","toolCallId":"o"}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"r","toolCallId":"o","content":"x"}`, finished}, append(textEvents("n", "Done"), finished))
	var order []string
	agent.Drive(t.Context(), b, agent.Request{RunID: "r", History: []agent.Message{agent.UserText("x")}, Tools: backendtest.Echo{}}, func(ev agent.Event) {
		switch ev := ev.(type) {
		case agent.ToolCallEnded:
			order = append(order, "executes "+ev.ID)
		case agent.ToolCallResult:
			order = append(order, "result "+ev.ID)
		default:
		}
	})
	if want := []string{"executes o", "result o", "executes c", "result c"}; !slices.Equal(order, want) {
		t.Errorf("order %q", order)
	}
}

func TestS5_HistoryIsWhatTheProtocolWants(t *testing.T) {
	s, b := serve(t, append(textEvents("n", "on"), finished))
	history := []agent.Message{
		{Role: agent.User, Blocks: []agent.Part{{Kind: agent.PartText, Text: "look"}, {Kind: agent.PartFile, Name: "p.png", MIME: "image/png", Data: []byte("png")}}},
		{Role: agent.Assistant, Blocks: []agent.Part{{Kind: agent.PartReasoning, ID: "r0.r1", Text: "hm", Signature: "agui:rm\nsecret"}, {Kind: agent.PartReasoning, ID: "z", Text: "hm", Signature: `{"field":"reasoning"}`},
			{Kind: agent.PartText, ID: "a1", Text: "half"}, {Kind: agent.PartToolCall, ID: "c", Name: "Bash", Args: agent.ToolArgs(`{}`)}}},
		{Role: agent.ToolRole, Blocks: []agent.Part{{Kind: agent.PartResult, ID: "c", Text: "no disk", IsError: true}}},
	}
	backendtest.Run(t.Context(), b, agent.Request{History: history, Resume: true, Session: "telegram/1001"})
	want := `"messages":[{"id":"m1","role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"data","value":"cG5n","mimeType":"image/png"}}]},` +
		`{"id":"rm","role":"reasoning","content":"hm","encryptedValue":"secret"},` +
		`{"id":"a1","role":"assistant","content":"half","toolCalls":[{"id":"c","type":"function","function":{"name":"Bash","arguments":"{}"}}]},` +
		`{"id":"result-c","role":"tool","content":"no disk","toolCallId":"c","error":"no disk"}`
	if body := string(s.bodies[0]); !strings.Contains(body, want) || strings.Contains(body, "1001") {
		t.Errorf("run %s\nwant %s", body, want)
	}
}

func TestA4_InterruptsBecomeApprovals(t *testing.T) {
	interrupt := func(schema string) []string {
		return []string{`{"type":"STATE_SNAPSHOT","snapshot":{"n":1}}`, `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"pay"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"eur\":5}"}`, `{"type":"TOOL_CALL_END","toolCallId":"c"}`,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"RUN","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"tool_call","message":"Pay 5 EUR?","toolCallId":"c"` + schema + `}]}}`}
	}
	after := append([]string{`{"type":"TOOL_CALL_RESULT","messageId":"r","toolCallId":"c","content":"paid"}`}, append(textEvents("n", "Done"), finished)...)
	for _, c := range []struct{ schema, option, want string }{
		{"", "allow", `"resume":[{"interruptId":"i","status":"resolved","payload":{"approved":true}}]`},
		{"", "deny", `"resume":[{"interruptId":"i","status":"resolved","payload":{"approved":false}}]`},
		{`,"responseSchema":{"type":"boolean"}`, "allow", `"payload":true`},
		{`,"responseSchema":{"type":"object","properties":{"ok":{"type":"boolean"},"why":{"type":"string"}},"required":["ok"]}`, "deny", `"payload":{"ok":false}`},
		{`,"responseSchema":{"type":"object","properties":{"how":{"enum":["card","cash"]}}}`, `"cash"`, `"payload":{"how":"cash"}`},
		{`,"expiresAt":"2001-01-01T00:00:00Z"`, "allow", `"resume":[{"interruptId":"i","status":"cancelled"}]`},
	} {
		s, b := serve(t, interrupt(c.schema), after)
		var asked []agent.Approval
		got := backendtest.Run(t.Context(), b, agent.Request{Approve: func(_ context.Context, _ string, a agent.Approval) (string, error) {
			asked = append(asked, a)
			return c.option, nil
		}})
		backendtest.Want(t, got, "call c1 pay", `args c1 {"eur":5}`, "result c1 paid", "text Done", "text.", "success")
		if body := string(s.bodies[1]); !strings.Contains(body, c.want) || !strings.Contains(body, `"state":{"n":1}`) || !strings.Contains(body, `"toolCalls":[{"id":"c"`) {
			t.Errorf("second run %s\nwant %s", body, c.want)
		}
		if strings.Contains(c.schema, "expires") && len(asked) > 0 {
			t.Errorf("asked what can't be answered any more: %+v", asked)
		}
		if !strings.Contains(c.schema, "expires") && (len(asked) != 1 || asked[0].Title != "Pay 5 EUR?" || asked[0].ToolCall != "c" || asked[0].Detail != "{\n  \"eur\": 5\n}") {
			t.Errorf("asked %+v", asked)
		}
	}
}

func TestA4_AQuestionForWordsIsAnsweredByTheNextMessage(t *testing.T) {
	s, b := serve(t, []string{`{"type":"RUN_FINISHED","threadId":"t","runId":"RUN","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"input","message":"Which one?","responseSchema":{"type":"object","properties":{"answer":{"type":"string"}}}}]}}`},
		append(textEvents("n", "Thanks"), finished))
	backendtest.Want(t, backendtest.Run(t.Context(), b, agent.Request{}), "text Which one?", "text.", "success")
	history := []agent.Message{agent.UserText("hello"), {Role: agent.Assistant, Blocks: []agent.Part{{Kind: agent.PartText, ID: "r.r1", Text: "Which one?"}}}, agent.UserText("the red one")}
	backendtest.Want(t, backendtest.Run(t.Context(), b, agent.Request{RunID: "r2", History: history}), "text Thanks", "text.", "success")
	if body := string(s.bodies[1]); !strings.Contains(body, `"resume":[{"interruptId":"i","status":"resolved","payload":{"answer":"the red one"}}]`) {
		t.Errorf("second run %s", body)
	}
}

func TestA5_StopClosesTheStreamAndCallsTheCancelEndpoint(t *testing.T) {
	s, b := serve(t, append(textEvents("m", "Hi"), "hang"))
	ctx, stop := context.WithCancel(t.Context())
	var end agent.Event
	agent.Drive(ctx, b, agent.Request{RunID: "r", History: []agent.Message{agent.UserText("x")}}, func(ev agent.Event) {
		if _, ok := ev.(agent.TextEnded); ok {
			stop()
		}
		end = ev
	})
	if f, ok := end.(agent.RunFinished); !ok || f.Outcome != agent.Cancelled {
		t.Errorf("ended %+v", end)
	}
	<-s.gone
	thread := s.inputs[0]["threadId"].(string)
	if got, want := <-s.cancels, "POST /cancel/"+thread+`/r {"runId":"r","threadId":"`+thread+`"}`; got != want {
		t.Errorf("cancel %s, want %s", got, want)
	}
}

func TestS2_ACancelEndpointThatHangsDelaysAStopLittle(t *testing.T) {
	s, b := serve(t, []string{"hang"})
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body); <-r.Context().Done() }))
	defer hanging.Close()
	b.config.CancelURL = hanging.URL
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, stop)
	begin := time.Now()
	got := backendtest.Run(ctx, b, agent.Request{})
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	backendtest.Want(t, got, "cancelled")
	<-s.gone
}

func TestS3_FailuresAreToldApart(t *testing.T) {
	run := func(events ...string) []string {
		_, b := serve(t, events)
		return backendtest.Run(t.Context(), b, agent.Request{})
	}
	backendtest.Want(t, run(`{"type":"RUN_ERROR","message":"too many","code":"rate_limit_exceeded"}`), "failed: rate_limited: too many")
	backendtest.Want(t, run(`{"type":"RUN_ERROR","message":"bad key","code":401}`), "failed: unauthorized (HTTP 401): bad key")
	backendtest.Want(t, run(`{"type":"RUN_ERROR","message":"broken"}`), "failed: server_error: broken")
	backendtest.Want(t, run(append(textEvents("m", "half"), finished, `{"type":"RUN_ERROR","message":"late","code":"500"}`)...), "text half", "text.", "failed: server_error (HTTP 500): late")
	backendtest.Want(t, run(textEvents("m", "half")...), "text half", "text.", "failed: cut: unexpected EOF")
	backendtest.Want(t, run(`{"type":"RUN_FINISHED","threadId":"t","runId":"RUN","outcome":{"type":"cancelled"}}`), "failed: cut: the agent's run was cancelled there")
	backendtest.Want(t, run(`{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}`), "failed: malformed: a TEXT_MESSAGE_CHUNK that continues nothing in particular")
	backendtest.Want(t, run(`{"type":"TOOL_CALL_CHUNK","toolCallId":"c"}`), "failed: malformed: a first TOOL_CALL_CHUNK without toolCallName")
	backendtest.Want(t, run(`[1]`), "failed: malformed: an event that is none of AG-UI's: json: cannot unmarshal array into Go value of type agui.event")
}

func TestS3_WhatNeverBeganIsSentAgainACutRunIsNot(t *testing.T) {
	s := backendtest.Serve(t, "/", backendtest.Refuse(http.StatusServiceUnavailable, "busy"), backendtest.Stream(append(textEvents("m", "Hi"), finished)...))
	b := New(Config{URL: s.URL, HTTPClient: backendtest.Client(t)})
	backendtest.Want(t, backendtest.Run(t.Context(), b, agent.Request{}), "text Hi", "text.", "success")
	s = backendtest.Serve(t, "/", backendtest.Refuse(http.StatusUnprocessableEntity, `{"detail":"no"}`))
	b = New(Config{URL: s.URL, HTTPClient: backendtest.Client(t)})
	backendtest.Want(t, backendtest.Run(t.Context(), b, agent.Request{}), "failed: invalid (HTTP 422): no")
	s = backendtest.Serve(t, "/", backendtest.Stream(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`))
	b = New(Config{URL: s.URL, HTTPClient: backendtest.Client(t)})
	backendtest.Want(t, backendtest.Run(t.Context(), b, agent.Request{}), "failed: cut: unexpected EOF")
	if len(s.Asked) != 1 {
		t.Errorf("%d runs", len(s.Asked))
	}
}

func TestO4_Probe(t *testing.T) {
	for status, want := range map[int]string{http.StatusMethodNotAllowed: "answers", http.StatusNotFound: "answers", http.StatusUnauthorized: "unauthorized", http.StatusBadGateway: "server_error"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		found, err := New(Config{URL: s.URL, HTTPClient: backendtest.Client(t)}).Probe(t.Context())
		if err != nil {
			found = err.Error()
		}
		if !strings.HasPrefix(found, want) {
			t.Errorf("%d: %s", status, found)
		}
		s.Close()
	}
	if _, err := New(Config{URL: "http://127.0.0.1:1", HTTPClient: backendtest.Client(t)}).Probe(t.Context()); err == nil {
		t.Error("nothing there, and no error")
	}
}

func FuzzA1_AnyStreamIsWellFormed(f *testing.F) {
	f.Add([]byte(`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"x"}` + "\n" + `{"type":"REASONING_MESSAGE_CHUNK","messageId":"s","subagentRunId":"A","delta":"y"}` + "\n" + finished))
	f.Add([]byte(strings.Join(append(textEvents("m", "x"), `{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"n","delta":1}`), "\n")))
	f.Add([]byte(`{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"assistant","content":[{"type":"text","text":"x"}]}]}` + "\n" + `{"type":"RUN_FINISHED","outcome":{"type":"interrupt","interrupts":[{"id":"i","responseSchema":{"properties":{"a":{"enum":[1]}}}}]},"usage":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		player := streamPlayer(data)
		var tr agent.Transcript
		agent.Drive(t.Context(), player, agent.Request{RunID: "r"}, tr.Apply)
		tr.Messages()
	})
}

type streamPlayer []byte

func (p streamPlayer) Run(_ context.Context, _ agent.Request, emit func(agent.Event)) error {
	tr := newTranslator("r", nil, emit)
	for _, line := range bytes.Split(p, []byte("\n")) {
		if _, err := tr.step(sse.Event{Data: line}); err != nil {
			return err
		}
	}
	tr.flush()
	for _, i := range tr.interrupts {
		choices(i.Schema)
		worded(i.Schema, "x")
	}
	_ = tr.messages()
	_ = tr.pending(nil)
	return tr.failure
}

// TestA2_BodiesForTheSchemas writes what was sent for a check against the published schemas, where
// AGUI_BODIES names a file.
func TestA2_BodiesForTheSchemas(t *testing.T) {
	path := os.Getenv("AGUI_BODIES")
	if path == "" {
		path = t.TempDir() + "/bodies"
	}
	s, b := serve(t, []string{`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"Bash"}`, `{"type":"TOOL_CALL_END","toolCallId":"c"}`, finished}, append(textEvents("n", "on"), finished))
	history := []agent.Message{
		{Role: agent.User, Blocks: []agent.Part{{Kind: agent.PartText, Text: "look"}, {Kind: agent.PartFile, Name: "p.png", MIME: "image/png", Data: []byte("png")}}},
		{Role: agent.Assistant, Blocks: []agent.Part{{Kind: agent.PartReasoning, Text: "hm", Signature: "agui:rm\nsecret"}, {Kind: agent.PartToolCall, ID: "d", Name: "Bash"}}},
		{Role: agent.ToolRole, Blocks: []agent.Part{{Kind: agent.PartResult, ID: "d", Text: "no disk", IsError: true}}},
		agent.UserText("and now?")}
	backendtest.Run(t.Context(), b, agent.Request{System: "x", History: history, Tools: backendtest.Echo{}})
	if len(s.bodies) != 2 {
		t.Fatalf("%d runs", len(s.bodies))
	}
	if err := os.WriteFile(path, bytes.Join(s.bodies, nil), 0o600); err != nil {
		t.Fatal(err)
	}
}
