package loop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"typist/agent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a model whose requests are answered by its functions, one after the other.
type fake struct {
	mu      sync.Mutex
	answers []func(ctx context.Context, out *Writer) error
	asked   []ModelRequest
}

func (f *fake) Stream(ctx context.Context, req ModelRequest, out *Writer) error {
	f.mu.Lock()
	req.Messages = slices.Clone(req.Messages)
	f.asked = append(f.asked, req)
	if len(f.answers) == 0 {
		f.mu.Unlock()
		return errors.New("asked too often")
	}
	answer := f.answers[0]
	f.answers = f.answers[1:]
	f.mu.Unlock()
	return answer(ctx, out)
}

type answer = func(ctx context.Context, out *Writer) error

func says(text string) answer {
	return func(_ context.Context, out *Writer) error { out.Text(text); return nil }
}

func calls(calls ...string) answer { // name, arguments, name, arguments …
	return func(_ context.Context, out *Writer) error {
		for pair := range slices.Chunk(calls, 2) {
			c := out.Call("")
			c.Name(pair[0])
			c.Args(pair[1])
		}
		return nil
	}
}

func fails(err error, before ...answer) answer {
	return func(ctx context.Context, out *Writer) error {
		for _, b := range before {
			_ = b(ctx, out)
		}
		return err
	}
}

// toolbox is a toolbox of one function.
type toolbox func(ctx context.Context, call agent.ToolCall) (agent.ToolResult, error)

func (b toolbox) List(context.Context) ([]agent.Tool, error) {
	return []agent.Tool{{Name: "Bash", Title: "Shell"}}, nil
}
func (b toolbox) Call(ctx context.Context, call agent.ToolCall) (agent.ToolResult, error) {
	return b(ctx, call)
}

func echo(_ context.Context, call agent.ToolCall) (agent.ToolResult, error) {
	return agent.ToolResult{Content: call.Name + string(call.Args)}, nil
}

// runs drives a request through the normaliser and returns the events, with call ids as c1, c2 ….
func runs(ctx context.Context, m Model, req agent.Request) []string {
	if req.RunID == "" {
		req.RunID = "r"
	}
	if req.History == nil {
		req.History = []agent.Message{agent.UserText("hello")}
	}
	var out []string
	names := map[string]string{}
	agent.Drive(ctx, New(m), req, func(ev agent.Event) {
		s := strings.TrimPrefix(fmt.Sprintf("%T%+v", ev, ev), "agent.")
		s = regexp.MustCompile(`call_[A-Z0-9]{16}`).ReplaceAllStringFunc(s, func(id string) string {
			if names[id] == "" {
				names[id] = fmt.Sprintf("c%d", len(names)+1)
			}
			return names[id]
		})
		s = strings.NewReplacer("Sub:{Subagent:} ", "", "{top:{} RunID:r", "{", " Signature: Incomplete:false", "", " IsError:false", "", " Incomplete:false", "", " Silent:false", "", " Signature:}", "}", " Title:}", "}").Replace(s)
		out = append(out, s)
	})
	return out
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestA3_ModelToolsModel(t *testing.T) {
	m := &fake{answers: []answer{
		func(ctx context.Context, out *Writer) error {
			out.Reasoning("\n\nhm")
			out.EndReasoning("sig")
			out.Text(" \n")
			out.Text("  Let me see.")
			_ = calls("Bash", `{"command":"ls"}`)(ctx, out)
			out.Usage(10, 5)
			return nil
		},
		says("Done."),
	}}
	got := runs(context.Background(), m, agent.Request{Tools: toolbox(echo), System: "be brief", Reasoning: "low"})
	want(t, got, "RunStarted{}", "ModelRequest{ID:r.m1}",
		"ReasoningStarted{ID:r.m1.r1 Request:r.m1}", "ReasoningContent{ID:r.m1.r1 Delta:hm}", "ReasoningEnded{ID:r.m1.r1 Signature:sig}",
		"TextStarted{ID:r.m1.t2 Request:r.m1}", "TextContent{ID:r.m1.t2 Delta:  Let me see.}",
		"ToolCallStarted{ID:c1 Request:r.m1 Name:Bash Title:Shell}", `ToolCallArgs{ID:c1 Delta:{"command":"ls"}}`,
		"TextEnded{ID:r.m1.t2}", "Usage{Request:r.m1 Input:10 Output:5}",
		"ToolCallEnded{ID:c1}", `ToolCallResult{ID:c1 Content:Bash{"command":"ls"}}`,
		"ModelRequest{ID:r.m2}", "TextStarted{ID:r.m2.t1 Request:r.m2}", "TextContent{ID:r.m2.t1 Delta:Done.}", "TextEnded{ID:r.m2.t1}",
		"RunFinished{ Outcome:success}")
	second := m.asked[1]
	if len(second.Messages) != 3 || second.System != "be brief" || second.Reasoning != "low" || len(second.Tools) != 1 {
		t.Fatalf("second request: %+v", second)
	}
	var kinds []agent.PartKind
	for _, p := range second.Messages[1].Blocks {
		kinds = append(kinds, p.Kind)
	}
	if !slices.Equal(kinds, []agent.PartKind{agent.PartReasoning, agent.PartText, agent.PartToolCall}) || second.Messages[1].Blocks[0].Signature != "sig" {
		t.Errorf("assistant: %+v", second.Messages[1])
	}
	if r := second.Messages[2]; r.Role != agent.ToolRole || r.Blocks[0].ID != second.Messages[1].Blocks[2].ID {
		t.Errorf("results: %+v", r)
	}
}

func TestA3_ParallelCallsRunSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &fake{answers: []answer{calls("Bash", `{"n":1}`, "Bash", `{"n":2}`, "Bash", `{"n":3}`), says("ok")}}
		started := time.Now()
		got := runs(context.Background(), m, agent.Request{Tools: toolbox(func(ctx context.Context, c agent.ToolCall) (agent.ToolResult, error) {
			d := map[string]time.Duration{`{"n":1}`: 3 * time.Second, `{"n":2}`: time.Second, `{"n":3}`: 2 * time.Second}[string(c.Args)]
			return agent.ToolResult{Content: string(c.Args), IsError: d == time.Second}, sleep(ctx, d)
		})})
		if d := time.Since(started); d != 3*time.Second {
			t.Errorf("took %v", d)
		}
		i := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(s, "ToolCallResult") })
		want(t, got[i:i+3], `ToolCallResult{ID:c2 Content:{"n":2} IsError:true}`, `ToolCallResult{ID:c3 Content:{"n":3}}`, `ToolCallResult{ID:c1 Content:{"n":1}}`)
		var order []string
		for _, p := range m.asked[1].Messages[2].Blocks {
			order = append(order, p.Text)
		}
		want(t, order, `{"n":1}`, `{"n":2}`, `{"n":3}`)
	})
}

func TestA3_CallsThatCannotBeMade(t *testing.T) {
	m := &fake{answers: []answer{calls("Bash", `{"cut`, "Bash", "", "Bash", `{"panic":1}`, "Bash", `{"err":1}`, "Bash", `{"big":1}`), says("ok")}}
	got := runs(context.Background(), m, agent.Request{Tools: toolbox(func(_ context.Context, c agent.ToolCall) (agent.ToolResult, error) {
		switch string(c.Args) {
		case `{"panic":1}`:
			panic("boom")
		case `{"err":1}`:
			return agent.ToolResult{}, errors.New("no server")
		case `{"big":1}`:
			return agent.ToolResult{Content: strings.Repeat("ä", maxResult)}, nil
		}
		return agent.ToolResult{Content: "args " + string(c.Args)}, nil
	})})
	results := map[string]string{}
	for _, p := range m.asked[1].Messages[2].Blocks {
		results[p.ID] = p.Text
	}
	all := strings.Join(slices.Collect(mapValues(results)), "|")
	for _, s := range []string{"no valid JSON", "args {}", "broke down", "could not be called: no server", "more bytes were cut"} {
		if !strings.Contains(all, s) {
			t.Errorf("no result says %q", s)
		}
	}
	ended := 0
	for _, s := range got {
		if strings.HasPrefix(s, "ToolCallEnded") {
			ended++
		}
	}
	if ended != 4 {
		t.Errorf("%d executions\n%s", ended, strings.Join(got, "\n"))
	}
}

func mapValues(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

func TestS3_CutTextIsReplacedSilently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cutShort := func(ctx context.Context, out *Writer) error {
			out.Reasoning("hm")
			out.Text("The ans")
			return fails(io.ErrUnexpectedEOF, calls("Bash", `{"comm`))(ctx, out)
		}
		m := &fake{answers: []answer{cutShort, says("The answer.")}}
		got := runs(context.Background(), m, agent.Request{})
		want(t, got, "RunStarted{}", "ModelRequest{ID:r.m1}", "ReasoningStarted{ID:r.m1.r1 Request:r.m1}", "ReasoningContent{ID:r.m1.r1 Delta:hm}", "ReasoningEnded{ID:r.m1.r1}",
			"TextStarted{ID:r.m1.t2 Request:r.m1}", "TextContent{ID:r.m1.t2 Delta:The ans}", "ToolCallStarted{ID:c1 Request:r.m1 Name:Bash}", `ToolCallArgs{ID:c1 Delta:{"comm}`,
			"TextEnded{ID:r.m1.t2 Incomplete:true}", "ToolCallResult{ID:c1 Content: Incomplete:true}",
			"ModelRequest{ID:r.m2}", "TextStarted{ID:r.m2.t1 Request:r.m2}", "TextContent{ID:r.m2.t1 Delta:The answer.}", "TextEnded{ID:r.m2.t1}", "RunFinished{ Outcome:success}")
		if !reflect.DeepEqual(m.asked[0], m.asked[1]) {
			t.Error("the second request differs")
		}
		var transcript agent.Transcript
		agent.Drive(context.Background(), New(&fake{answers: []answer{cutShort, says("The answer.")}}), agent.Request{RunID: "r", History: []agent.Message{agent.UserText("x")}}, transcript.Apply)
		if got := transcript.Messages(); len(got) != 1 || len(got[0].Blocks) != 1 || transcript.Text() != "The answer." {
			t.Errorf("transcript: %+v", got)
		}
	})
}

func TestS3_RetriesAreBoundedAndKeepToWhatWasTold(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		tries int
		min   time.Duration
		max   time.Duration
		kind  agent.FailureKind
	}{
		"never sent":        {&agent.UnsentError{Err: io.EOF}, 4, 3500 * time.Millisecond, 4500 * time.Millisecond, agent.NeverSent},
		"overloaded":        {&agent.Failure{Kind: agent.Overloaded, Status: 529}, 4, 3500 * time.Millisecond, 4500 * time.Millisecond, agent.Overloaded},
		"server failed":     {&agent.HTTPError{Status: 500}, 4, 3500 * time.Millisecond, 4500 * time.Millisecond, agent.ServerError},
		"told to wait":      {&agent.Failure{Kind: agent.RateLimited, RetryAfter: 10 * time.Second}, 4, 30 * time.Second, 30 * time.Second, agent.RateLimited},
		"told to wait long": {&agent.Failure{Kind: agent.RateLimited, RetryAfter: 61 * time.Second}, 1, 0, 0, agent.RateLimited},
		"invalid":           {&agent.Failure{Kind: agent.Invalid}, 1, 0, 0, agent.Invalid},
		"malformed":         {&agent.ProtocolError{Detail: "x"}, 1, 0, 0, agent.Malformed},
		"inner context":     {context.Canceled, 4, 3500 * time.Millisecond, 4500 * time.Millisecond, agent.CutEarly},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &fake{answers: slices.Repeat([]answer{fails(c.err, says("x"))}, 10)}
				started := time.Now()
				var last agent.Event
				agent.Drive(context.Background(), New(m), agent.Request{History: []agent.Message{agent.UserText("x")}}, func(ev agent.Event) { last = ev })
				took := time.Since(started)
				if len(m.asked) != c.tries || took < c.min || took > c.max {
					t.Errorf("%d tries in %v", len(m.asked), took)
				}
				if f, ok := last.(agent.RunError); !ok || f.Failure.Kind != c.kind {
					t.Errorf("ended with %+v", last)
				}
			})
		})
	}
}

func TestS3_NothingIsExecutedTwiceAfterACut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		executed := 0
		m := &fake{answers: []answer{calls("Bash", `{}`), fails(io.ErrUnexpectedEOF, says("half")), says("whole")}}
		runs(context.Background(), m, agent.Request{Tools: toolbox(func(context.Context, agent.ToolCall) (agent.ToolResult, error) {
			executed++
			return agent.ToolResult{Content: "done"}, nil
		})})
		if executed != 1 || len(m.asked) != 3 || len(m.asked[2].Messages) != 3 {
			t.Errorf("executed %d times, asked %d times", executed, len(m.asked))
		}
	})
}

func TestS2_StopEndsWaitsStreamsAndTools(t *testing.T) {
	hang := func(ctx context.Context, out *Writer) error { out.Text("so far"); <-ctx.Done(); return ctx.Err() }
	for name, answers := range map[string][]answer{
		"in a stream":          {hang},
		"while waiting":        {fails(&agent.Failure{Kind: agent.RateLimited, RetryAfter: time.Minute})},
		"in parallel tools":    {calls("Bash", `{}`, "Bash", `{}`)},
		"in more than may run": {calls(slices.Repeat([]string{"Bash", "{}"}, 2*maxParallel)...)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeoutCause(context.Background(), 5*time.Second, context.Canceled)
				defer stop()
				started := time.Now()
				got := runs(ctx, &fake{answers: answers}, agent.Request{Tools: toolbox(func(ctx context.Context, _ agent.ToolCall) (agent.ToolResult, error) {
					<-ctx.Done()
					return agent.ToolResult{}, ctx.Err()
				})})
				if d := time.Since(started); d != 5*time.Second || got[len(got)-1] != "RunFinished{ Outcome:cancelled}" {
					t.Errorf("after %v\n%s", d, strings.Join(got, "\n"))
				}
			})
		})
	}
}

func TestA2_EndingsThatAreNoAnswer(t *testing.T) {
	finish := func(f Finish, text string) answer {
		return func(_ context.Context, out *Writer) error { out.Text(text); out.Finish(f); return nil }
	}
	for name, c := range map[string]struct {
		answers []answer
		want    string
	}{
		"length, with text":   {[]answer{finish(Length, "half")}, "RunFinished{ Outcome:success}"},
		"length, without":     {[]answer{finish(Length, "")}, "too_long"},
		"filtered":            {[]answer{finish(Filtered, "half")}, "invalid"},
		"nothing":             {[]answer{finish(Stop, "  ")}, "malformed"},
		"nothing after words": {[]answer{func(ctx context.Context, out *Writer) error { out.Text("Look:"); return calls("Bash", "{}")(ctx, out) }, finish(Stop, "")}, "RunFinished{ Outcome:success}"},
		"round and round":     {slices.Repeat([]answer{calls("Bash", "{}")}, maxRounds+1), "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			got := runs(context.Background(), &fake{answers: c.answers}, agent.Request{Tools: toolbox(echo)})
			if last := got[len(got)-1]; !strings.Contains(last, c.want) {
				t.Errorf("ended with %s", last)
			}
			if name == "length, with text" && !slices.Contains(got, "TextEnded{ID:r.m1.t1 Incomplete:true}") {
				t.Errorf("not marked: %s", strings.Join(got, "\n"))
			}
		})
	}
}

func TestS3_ALongWaitIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			wait time.Duration
			told bool
		}{{10 * time.Second, true}, {time.Second, false}} {
			got := strings.Join(runs(t.Context(), &fake{answers: []answer{fails(&agent.Failure{Kind: agent.RateLimited, RetryAfter: c.wait}), says("Hi")}}, agent.Request{}), "\n")
			if told := strings.Contains(got, "Retrying{Kind:rate_limited Wait:10s}"); told != c.told {
				t.Errorf("a wait of %s: told %v in\n%s", c.wait, told, got)
			}
		}
	})
}

func TestS10_SteeringIsTakenWithTheNextRequest(t *testing.T) {
	var l *Loop
	steer := func(text string) (ok bool) {
		ok, _ = l.Steer(context.Background(), "r", agent.UserText(text))
		return ok
	}
	m := &fake{answers: []answer{
		func(ctx context.Context, out *Writer) error {
			if !steer("in red") {
				t.Error("refused while running")
			}
			return calls("Bash", "{}")(ctx, out)
		},
		func(_ context.Context, out *Writer) error { out.Text("done"); steer("and round"); return nil },
		says("done again"),
	}}
	l = New(m)
	agent.Drive(context.Background(), l, agent.Request{RunID: "r", History: []agent.Message{agent.UserText("paint")}, Tools: toolbox(echo)}, func(agent.Event) {})
	if len(m.asked) != 3 {
		t.Fatalf("asked %d times", len(m.asked))
	}
	if last := m.asked[1].Messages; last[len(last)-1].Blocks[0].Text != "in red" {
		t.Errorf("second request: %+v", last)
	}
	if last := m.asked[2].Messages; last[len(last)-1].Blocks[0].Text != "and round" || last[len(last)-2].Blocks[0].Text != "done" {
		t.Errorf("third request: %+v", last)
	}
	if steer("too late") {
		t.Error("accepted after the end")
	}
}
