package acp

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"typist/agent"
	"typist/agent/backend/backendtest"
)

func TestMain(m *testing.M) {
	if os.Getenv("ACP_TEST_NOTES") != "" {
		runTestAgent()
		return
	}
	goleak.VerifyTestMain(m)
}

// fixture is a backend whose agent is the test agent, and one chat's history.
type fixture struct {
	*Backend
	t       *testing.T
	notes   string
	history []agent.Message
	runs    int
	approve func(context.Context, string, agent.Approval) (string, error)
	events  []agent.Event
	onEvent func(agent.Event)
}

type values struct {
	mu sync.Mutex
	m  map[string]string
}

func (v *values) Load(_ context.Context, key string) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.m[key], nil
}

func (v *values) Save(_ context.Context, key, value string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.m == nil {
		v.m = map[string]string{}
	}
	v.m[key] = value
	return nil
}

func newFixture(t *testing.T, able string, memory Memory) *fixture {
	t.Helper()
	f := &fixture{t: t, notes: filepath.Join(t.TempDir(), "notes")}
	f.Backend = New(Config{Name: "test", Command: []string{os.Args[0]}, Env: map[string]string{"ACP_TEST_NOTES": f.notes, "ACP_TEST_ABLE": able}, Memory: memory})
	t.Cleanup(func() { f.Close() })
	return f
}

// noted is what the agent was asked, without the handshake.
func (f *fixture) noted(prefix string) []string {
	b, _ := os.ReadFile(f.notes)
	var out []string
	for _, line := range strings.Fields(strings.ReplaceAll(string(b), " ", "\x00")) {
		line = strings.ReplaceAll(line, "\x00", " ")
		if strings.HasPrefix(line, prefix) {
			out = append(out, line)
		}
	}
	return out
}

func (f *fixture) count(method string) int {
	n := 0
	for _, s := range f.noted(method) {
		if s == method {
			n++
		}
	}
	return n
}

// say sends a message of the person, and adds what came of it to the history.
func (f *fixture) say(ctx context.Context, text string) []string {
	f.history = append(f.history, agent.UserText(text))
	return f.run(ctx, agent.Request{})
}

func (f *fixture) run(ctx context.Context, req agent.Request) []string {
	f.runs++
	req.RunID, req.Session, req.History, req.Approve = "r"+strconv.Itoa(f.runs), "chat", f.history, f.approve
	var tr agent.Transcript
	f.events = nil
	out := backendtest.Run(ctx, backendFunc(func(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
		return f.Backend.Run(ctx, req, func(ev agent.Event) {
			f.events = append(f.events, ev)
			tr.Apply(ev)
			if f.onEvent != nil {
				f.onEvent(ev)
			}
			emit(ev)
		})
	}), req)
	f.history = append(slices.Clone(f.history), tr.Messages()...)
	return out
}

type backendFunc func(context.Context, agent.Request, func(agent.Event)) error

func (b backendFunc) Run(ctx context.Context, req agent.Request, emit func(agent.Event)) error {
	return b(ctx, req, emit)
}

func lines(s ...string) string { return strings.Join(s, "\n") }

func TestA1_UpdatesBecomeEvents(t *testing.T) {
	f := newFixture(t, "", nil)
	got := f.say(t.Context(), lines(
		`update {"sessionUpdate":"available_commands_update","availableCommands":[]}`,
		`update {"sessionUpdate":"something_new","content":[1]}`,
		`other {"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"not mine"}}`,
		`update {"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`,
		`say Let me`, `say  see`,
		`update {"sessionUpdate":"tool_call","toolCallId":"a","title":"List files","kind":"execute","status":"pending","rawInput":{}}`,
		`update {"sessionUpdate":"tool_call_update","toolCallId":"a","status":"in_progress","rawInput":{"command":"ls"}}`,
		`update {"sessionUpdate":"tool_call_update","toolCallId":"a","content":[{"type":"content","content":{"type":"text","text":"one"}}]}`,
		`update {"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed","content":[{"type":"content","content":{"type":"text","text":"one\ntwo"}},{"type":"diff","path":"/x","oldText":null,"newText":"y"}]}`,
		`update {"sessionUpdate":"tool_call","toolCallId":"b","title":"Read","_meta":{"claudeCode":{"toolName":"Read"}},"rawInput":"plain"}`,
		`update {"sessionUpdate":"tool_call_update","toolCallId":"b","status":"failed","rawOutput":"no such file"}`,
		`say Two files.`,
		`usage {"inputTokens":10,"outputTokens":3,"totalTokens":13}`))
	backendtest.Want(t, got, "think", "thought hm", "thought.", "text Let me see", "text.",
		"call c1 execute", `args c1 {"command":"ls"}`, "result c1 one\ntwo\nchanged /x",
		"call c2 Read", `args c2 {"input":"plain"}`, "result c2 no such file", "text Two files.", "usage 10 3", "text.", "success")
	for _, ev := range f.events {
		if s, ok := ev.(agent.ToolCallStarted); ok && (s.Name == "execute") != (s.Title == "List files") {
			t.Errorf("call %+v", s)
		}
	}
	got = f.say(t.Context(), `usage {"inputTokens":25,"outputTokens":4,"totalTokens":29}`+"\nsay Hi")
	backendtest.Want(t, got, "text Hi", "usage 15 1", "text.", "success")
}

func TestT1_ExecutionBeginsInProgress(t *testing.T) {
	f := newFixture(t, "", nil)
	f.say(t.Context(), lines(
		`update {"sessionUpdate":"tool_call","toolCallId":"a","title":"Think hard","status":"pending","rawInput":{"a":1}}`,
		`say waiting`,
		`update {"sessionUpdate":"tool_call_update","toolCallId":"a","status":"in_progress"}`))
	var order []string
	for _, ev := range f.events {
		switch ev.(type) {
		case agent.ToolCallStarted:
			order = append(order, "started")
		case agent.TextContent:
			order = append(order, "text")
		case agent.ToolCallEnded:
			order = append(order, "executes")
		default:
		}
	}
	if want := []string{"started", "text", "executes"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

func TestP5_AThoughtInTheMiddleOfAnAnswerLosesNothing(t *testing.T) {
	f := newFixture(t, "", nil)
	got := f.say(t.Context(), lines(`say First.`, `update {"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"and"}}`, `say Second.`))
	backendtest.Want(t, got, "text First.", "think", "thought and", "thought.", "text \n\nSecond.", "text.", "success")
}

func TestP9_PlanBecomesSteps(t *testing.T) {
	f := newFixture(t, "", nil)
	f.say(t.Context(), lines(
		`update {"sessionUpdate":"plan","entries":[{"content":"A","status":"in_progress","priority":"high"},{"content":"B","status":"pending","priority":"low"}]}`,
		`update {"sessionUpdate":"plan","entries":[{"content":"A","status":"completed","priority":"high"},{"content":"B","status":"in_progress","priority":"low"},{"content":"C","status":"completed","priority":"low"}]}`,
		`update {"sessionUpdate":"plan","entries":[{"content":"A","status":"completed","priority":"high"}]}`, `say x`))
	var got []string
	for _, ev := range f.events {
		switch ev := ev.(type) {
		case agent.StepStarted:
			got = append(got, "+"+ev.Name)
		case agent.StepFinished:
			got = append(got, "-"+ev.Name)
		default:
		}
	}
	if want := []string{"+A", "-A", "+B", "+C", "-C", "-B"}; !slices.Equal(got, want) {
		t.Errorf("steps %v, want %v", got, want)
	}
}

func TestC7_FilesGoBothWays(t *testing.T) {
	files := []agent.Part{{Kind: agent.PartFile, Name: "p.png", MIME: "image/png", Data: []byte("png")}, {Kind: agent.PartFile, Name: "a b.txt", MIME: "text/plain", Data: []byte("inside")}}
	for able, want := range map[string][]string{
		"":              {`{"type":"text","text":"[The image \"p.png\" was sent along`, "File a b.txt:\\n```\\ninside"},
		"image context": {`{"type":"image","mimeType":"image/png","data":"cG5n"}`, `{"type":"resource","resource":{"uri":"attachment:///1/a%20b.txt","mimeType":"text/plain","text":"inside"}}`},
	} {
		f := newFixture(t, able, nil)
		f.history = []agent.Message{{Role: agent.User, Blocks: append(slices.Clone(files), agent.Part{Kind: agent.PartText, Text: lines("prompt",
			`update {"sessionUpdate":"agent_message_chunk","content":{"type":"image","mimeType":"image/png","data":"cG5n"}}`)})}}
		f.run(t.Context(), agent.Request{})
		asked := strings.Join(f.noted("prompt "), "")
		for _, w := range want {
			if !strings.Contains(asked, w) {
				t.Errorf("%q: prompt %s\nlacks %s", able, asked, w)
			}
		}
		if !slices.ContainsFunc(f.events, func(ev agent.Event) bool {
			file, ok := ev.(agent.FileProduced)
			return ok && file.Name == "image.png" && string(file.Data) == "png"
		}) {
			t.Errorf("no file among %v", f.events)
		}
	}
}

func TestA4_ApprovalsHaveTheAgentsOwnOptions(t *testing.T) {
	const question = `{"toolCall":{"toolCallId":"%","title":"Delete x","rawInput":{"path":"x"}},"options":[{"optionId":"y","name":"Always","kind":"allow_always"},{"optionId":"n","name":"Never","kind":"reject_once"}]}`
	f := newFixture(t, "", nil)
	var asked []agent.Approval
	choice := "y"
	f.approve = func(_ context.Context, _ string, a agent.Approval) (string, error) {
		asked = append(asked, a)
		return choice, nil
	}
	got := f.say(t.Context(), lines(`update {"sessionUpdate":"tool_call","toolCallId":"a","title":"Delete x","kind":"delete"}`, `ask `+strings.ReplaceAll(question, "%", "a")))
	backendtest.Want(t, got, "call c1 delete", `args c1 {"path":"x"}`, `text {"outcome":{"outcome":"selected","optionId":"y"}}`, "text.", "result c1 cut", "success")
	want := []agent.Option{{ID: "y", Name: "Always", Allow: true}, {ID: "n", Name: "Never"}}
	if len(asked) != 1 || asked[0].ToolCall != "r1.a" || asked[0].Title != "Delete x" || asked[0].Detail != "{\n  \"path\": \"x\"\n}" || !slices.Equal(asked[0].Options, want) {
		t.Errorf("asked %+v", asked)
	}
	executes := func() bool {
		return slices.ContainsFunc(f.events, func(ev agent.Event) bool { _, ok := ev.(agent.ToolCallEnded); return ok })
	}
	if !executes() {
		t.Error("an allowed call does not execute")
	}
	choice = "n" // a refusal is an ordinary answer
	got = f.say(t.Context(), `ask `+strings.ReplaceAll(question, "%", "b"))
	backendtest.Want(t, got, "call c1 tool", `args c1 {"path":"x"}`, `text {"outcome":{"outcome":"selected","optionId":"n"}}`, "text.", "result c1 cut", "success")
	if executes() {
		t.Error("a refused call executes")
	}
}

func TestA4_ParallelQuestionsWaitEachForItself(t *testing.T) {
	f := newFixture(t, "", nil)
	var both sync.WaitGroup
	both.Add(2)
	f.approve = func(_ context.Context, _ string, a agent.Approval) (string, error) {
		both.Done()
		both.Wait() // neither is answered before both have been asked
		return "o" + a.ToolCall, nil
	}
	f.say(t.Context(), `both {"toolCall":{"toolCallId":"a"},"options":[{"optionId":"or1.a","name":"A","kind":"allow_once"}]} | {"toolCall":{"toolCallId":"b"},"options":[{"optionId":"or1.b","name":"B","kind":"allow_once"}]}`)
	got := f.noted("answer ")
	slices.Sort(got)
	want := []string{`answer {"outcome":{"outcome":"selected","optionId":"or1.a"}}`, `answer {"outcome":{"outcome":"selected","optionId":"or1.b"}}`}
	if !slices.Equal(got, want) {
		t.Errorf("answers %q", got)
	}
}

func TestA2_OnlyWhatWasOfferedIsServed(t *testing.T) {
	f := newFixture(t, "", nil)
	got := f.say(t.Context(), `method fs/read_text_file`)
	backendtest.Want(t, got, `text {"code":-32601,"message":"Method not found"}`, "text.", "success")
}

func TestA2_NoiseOnStdoutIsNoMessage(t *testing.T) {
	f := newFixture(t, "", nil)
	got := f.say(t.Context(), lines(`raw [info] starting`, `raw Welcome!`, `say Hi`))
	backendtest.Want(t, got, "text Hi", "text.", "success")
	got = f.say(t.Context(), `raw {"jsonrpc": nonsense`)
	if len(got) != 1 || !strings.HasPrefix(got[0], "failed: malformed: a message that is no JSON-RPC") {
		t.Errorf("got %q", got)
	}
}

func TestA2_AFastAgentIsSlowedNotCutOff(t *testing.T) {
	f := newFixture(t, "", nil)
	slow := make(chan struct{})
	f.onEvent = func(agent.Event) { <-slow }
	time.AfterFunc(50*time.Millisecond, func() { close(slow) })
	got := f.say(t.Context(), `burst 5000`)
	backendtest.Want(t, got, "text "+strings.Repeat("x", 5000), "text.", "success")
}

// gone reports whether a process ends within a moment: a signal takes effect beside.
// dead reports whether a process has ended; one that nobody has waited for yet counts.
func TestA2_IdleProcessesAreBounded(t *testing.T) {
	f := newFixture(t, "", nil)
	for i := range maxIdle + 2 {
		req := agent.Request{RunID: "r", Session: strconv.Itoa(i), History: []agent.Message{agent.UserText("say x")}}
		if err := f.Backend.Run(t.Context(), req, func(agent.Event) {}); err != nil {
			t.Fatal(err)
		}
	}
	f.ending.Wait()
	alive := 0
	for _, c := range f.chats {
		if c.alive() {
			alive++
		}
	}
	if alive != maxIdle {
		t.Errorf("%d processes are kept", alive)
	}
	f.chats["9"].retire(time.Hour) // not long enough
	if !f.chats["9"].alive() {
		t.Error("a process was ended early")
	}
	f.chats["9"].retire(0)
	if f.chats["9"].alive() {
		t.Error("a quiet process was not ended")
	}
	req := agent.Request{RunID: "r", Session: "9", History: []agent.Message{agent.UserText("say x")}}
	if err := f.Backend.Run(t.Context(), req, func(agent.Event) {}); err != nil {
		t.Error(err)
	}
}
