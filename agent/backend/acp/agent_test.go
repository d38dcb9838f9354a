package acp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	sdk "github.com/coder/acp-go-sdk"
)

// testAgent is the agent that the tests start: the test binary, started again. What it does stands
// in the last text of a prompt, a command in each line. It is strict about what it is sent, by the
// SDK's types, and exits with what it does not like as its last words.
type testAgent struct {
	mu       sync.Mutex // of stdout
	id       int
	answers  map[string]chan json.RawMessage
	sessions map[string]bool
	cancels  map[string]chan struct{}
	busy     map[string]bool
	state    sync.Mutex
}

func runTestAgent() {
	a := &testAgent{answers: map[string]chan json.RawMessage{}, sessions: map[string]bool{}, cancels: map[string]chan struct{}{}, busy: map[string]bool{}}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		var m struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Method  string          `json:"method"`
			Params  json.RawMessage `json:"params"`
			Result  json.RawMessage `json:"result"`
			Error   json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" {
			a.die("not JSON-RPC 2.0: %s", line)
		}
		if m.Method == "" {
			a.state.Lock()
			wait := a.answers[string(m.ID)]
			a.state.Unlock()
			if wait == nil {
				a.die("an answer to nothing: %s", line)
			}
			if m.Result == nil {
				m.Result = m.Error
			}
			wait <- m.Result
			continue
		}
		a.note(m.Method)
		a.serve(m.ID, m.Method, m.Params)
	}
}

func (a *testAgent) die(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(9)
}

// note lets the test see what was asked.
func (a *testAgent) note(s string) {
	f, err := os.OpenFile(os.Getenv("ACP_TEST_NOTES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		a.die("%v", err)
	}
	fmt.Fprintln(f, s)
	f.Close()
}

// must decodes parameters as the SDK's type, which has what the protocol requires.
func must[T any, P interface {
	*T
	Validate() error
}](a *testAgent, raw json.RawMessage) T {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		a.die("%s: %v", raw, err)
	}
	if err := P(&v).Validate(); err != nil {
		a.die("%s: %v", raw, err)
	}
	return v
}

func (a *testAgent) serve(id json.RawMessage, method string, params json.RawMessage) {
	able := func(what string) bool { return strings.Contains(os.Getenv("ACP_TEST_ABLE"), what) }
	switch method {
	case "initialize":
		p := must[sdk.InitializeRequest](a, params)
		if p.ProtocolVersion != 1 || p.ClientCapabilities.Terminal || p.ClientCapabilities.Fs.ReadTextFile || p.ClientCapabilities.Fs.WriteTextFile || p.ClientInfo == nil {
			a.die("initialize: %s", params)
		}
		if able("dies") {
			fmt.Fprint(os.Stderr, "no key sk-ant-REDACTED") // without a line's end
			os.Exit(4)
		}
		if able("mute") {
			select {}
		}
		version := 1
		if able("v2") {
			version = 2
		}
		session := map[string]any{}
		if able("resume") {
			session["resume"] = map[string]any{}
		}
		a.answer(id, map[string]any{"protocolVersion": version, "agentInfo": map[string]any{"name": "test", "title": "Test agent", "version": "7"},
			"authMethods": []any{map[string]any{"id": "login", "name": "Log in with the browser"}},
			"agentCapabilities": map[string]any{"loadSession": able("load"), "sessionCapabilities": session, "mcpCapabilities": map[string]any{"http": able("http")},
				"promptCapabilities": map[string]any{"image": able("image"), "embeddedContext": able("context")}}})
	case "session/new":
		p := must[sdk.NewSessionRequest](a, params)
		if !filepath.IsAbs(p.Cwd) {
			a.die("cwd: %s", params)
		}
		a.note("params " + string(params))
		if able("locked") {
			a.refuse(id, -32000, "Authentication required")
			return
		}
		a.id++
		name := fmt.Sprintf("s%d-%d", os.Getpid(), a.id)
		a.open(name)
		a.answer(id, map[string]any{"sessionId": name})
	case "session/load":
		p := must[sdk.LoadSessionRequest](a, params)
		if able("forgets") {
			a.refuse(id, -32002, "Resource not found")
			return
		}
		a.open(string(p.SessionId))
		a.update(string(p.SessionId), `{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"old"}}`)
		a.update(string(p.SessionId), `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"old answer"}}`)
		a.answer(id, nil)
	case "session/resume":
		a.open(string(must[sdk.ResumeSessionRequest](a, params).SessionId))
		a.answer(id, map[string]any{})
	case "session/cancel":
		p := must[sdk.CancelNotification](a, params)
		a.state.Lock()
		defer a.state.Unlock()
		if !a.busy[string(p.SessionId)] {
			a.die("cancelled, but there is no turn")
		}
		close(a.cancels[string(p.SessionId)])
	case "session/prompt":
		p := must[sdk.PromptRequest](a, params)
		s := string(p.SessionId)
		a.state.Lock()
		if !a.sessions[s] || a.busy[s] {
			a.die("prompt for a session that is not open, or has a turn: %s", params)
		}
		a.busy[s], a.cancels[s] = true, make(chan struct{})
		a.state.Unlock()
		go a.turn(id, s, p.Prompt, params)
	default:
		a.die("unexpected %s", method)
	}
}

func (a *testAgent) open(session string) {
	a.state.Lock()
	defer a.state.Unlock()
	a.sessions[session] = true
}

func (a *testAgent) send(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		a.die("%v", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	os.Stdout.Write(append(b, '\n'))
}

func (a *testAgent) answer(id json.RawMessage, result any) {
	a.send(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

func (a *testAgent) refuse(id json.RawMessage, code int, text string) {
	a.send(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": text}})
}

func (a *testAgent) update(session, update string) {
	a.send(map[string]any{"jsonrpc": "2.0", "method": "session/update", "params": map[string]any{"sessionId": session, "update": json.RawMessage(update)}})
}

func (a *testAgent) say(session, text string) {
	b, _ := json.Marshal(text)
	a.update(session, `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":`+string(b)+`}}`)
}

func (a *testAgent) ask(session, params string) json.RawMessage {
	a.state.Lock()
	a.id++
	id := strconv.Quote("q" + strconv.Itoa(a.id)) // ids are words too
	wait := make(chan json.RawMessage, 1)
	a.answers[id] = wait
	a.state.Unlock()
	a.send(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": "session/request_permission",
		"params": json.RawMessage(`{"sessionId":"` + session + `",` + params[1:])})
	return <-wait
}

// turn carries out what a prompt says.
func (a *testAgent) turn(id json.RawMessage, session string, prompt []sdk.ContentBlock, raw json.RawMessage) {
	text := ""
	for _, b := range prompt {
		if b.Text != nil {
			text = b.Text.Text
		}
	}
	reason := "end_turn"
	var usage any
	a.state.Lock()
	cancel := a.cancels[session]
	a.state.Unlock()
	for _, line := range strings.Split(text, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "say":
			a.say(session, rest)
		case "prompt":
			a.note("prompt " + string(raw))
		case "update":
			a.update(session, rest)
		case "other":
			a.update("another session", rest)
		case "raw":
			a.mu.Lock()
			fmt.Println(rest)
			a.mu.Unlock()
		case "method":
			a.state.Lock()
			wait := make(chan json.RawMessage, 1)
			a.answers["77"] = wait
			a.state.Unlock()
			a.send(map[string]any{"jsonrpc": "2.0", "id": 77, "method": rest, "params": map[string]any{"path": "/etc/passwd"}})
			a.say(session, string(<-wait))
		case "ask":
			a.say(session, string(a.ask(session, rest)))
		case "both":
			var both sync.WaitGroup
			for _, question := range strings.Split(rest, " | ") {
				both.Go(func() { a.note("answer " + string(a.ask(session, question))) })
			}
			both.Wait()
		case "child":
			child := exec.Command("sleep", "300")
			child.Stdout, child.Stderr = os.Stdout, os.Stderr // it holds them open
			if err := child.Start(); err != nil {
				a.die("%v", err)
			}
			a.say(session, strconv.Itoa(child.Process.Pid))
		case "burst":
			n, _ := strconv.Atoi(rest)
			for range n {
				a.say(session, "x")
			}
		case "wait":
			<-cancel
			a.say(session, " late")
			reason = "cancelled"
		case "ignore":
			select {}
		case "deaf":
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			select {} // other threads stop a little later
		case "cry":
			fmt.Fprintln(os.Stderr, rest)
		case "exit":
			code, _ := strconv.Atoi(rest)
			os.Exit(code)
		case "stop":
			reason = rest
		case "usage":
			usage = json.RawMessage(rest)
		case "error":
			code, words, _ := strings.Cut(rest, " ")
			n, _ := strconv.Atoi(code)
			a.idle(session)
			a.refuse(id, n, words)
			return
		}
	}
	a.idle(session)
	a.answer(id, map[string]any{"stopReason": reason, "usage": usage})
}

func (a *testAgent) idle(session string) {
	a.state.Lock()
	defer a.state.Unlock()
	a.busy[session] = false
}
