package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/coder/acp-go-sdk"
)

// agentEnv makes the test binary, started again, an agent that speaks the Agent Client Protocol.
// It appends the ids of its processes to the file that the variable names.
const agentEnv = "TYPIST_E2E_AGENT"

func init() {
	if file := os.Getenv(agentEnv); file != "" {
		serveAgent(file)
		os.Exit(0)
	}
}

// serveAgent is an agent on the SDK's connection, which is not ours.
func serveAgent(file string) {
	var conn *acp.Connection
	var stop sync.Map // session → context.CancelFunc
	note := func(pid int) {
		f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			fmt.Fprintln(f, pid)
			f.Close()
		}
	}
	note(os.Getpid())
	update := func(session acp.SessionId, u map[string]any) {
		_ = conn.SendNotification(context.Background(), "session/update", map[string]any{"sessionId": session, "update": u})
	}
	say := func(session acp.SessionId, text string) {
		update(session, map[string]any{"sessionUpdate": "agent_message_chunk", "content": acp.TextBlock(text)})
	}
	prompt := func(ctx context.Context, p acp.PromptRequest) (any, *acp.RequestError) {
		text := p.Prompt[len(p.Prompt)-1].Text.Text
		call := map[string]any{"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Build it", "kind": "execute", "status": "pending", "rawInput": map[string]any{"command": "make"}}
		switch text {
		case "work":
			child := exec.Command("sleep", "300")
			if err := child.Start(); err == nil {
				note(child.Process.Pid)
			}
			call["status"] = "in_progress"
			update(p.SessionId, call)
			ctx, cancel := context.WithCancel(ctx)
			stop.Store(p.SessionId, cancel)
			<-ctx.Done()
			return acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
		case "stuck":
			update(p.SessionId, call)
			select {}
		case "ask":
			update(p.SessionId, call)
			answer, err := acp.SendRequest[acp.RequestPermissionResponse](conn, ctx, "session/request_permission", map[string]any{"sessionId": p.SessionId,
				"toolCall": map[string]any{"toolCallId": "c"}, "options": []map[string]any{{"optionId": "y", "name": "Do it", "kind": "allow_once"}, {"optionId": "n", "name": "Leave it", "kind": "reject_once"}}})
			if err != nil || answer.Outcome.Selected == nil {
				return nil, acp.NewInternalError(nil)
			}
			say(p.SessionId, "You chose "+string(answer.Outcome.Selected.OptionId))
		default:
			say(p.SessionId, fmt.Sprintf("You said %s in %s", text, p.SessionId))
		}
		return acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
	}
	conn = acp.NewConnection(func(ctx context.Context, method string, params json.RawMessage) (any, *acp.RequestError) {
		switch method {
		case "initialize":
			return map[string]any{"protocolVersion": 1, "agentCapabilities": map[string]any{"loadSession": true}}, nil
		case "session/new":
			return map[string]any{"sessionId": fmt.Sprintf("s%d", os.Getpid())}, nil
		case "session/load":
			return nil, nil
		case "session/cancel":
			var p acp.CancelNotification
			if json.Unmarshal(params, &p) == nil {
				if cancel, ok := stop.Load(p.SessionId); ok {
					cancel.(context.CancelFunc)()
				}
			}
			return nil, nil
		case "session/prompt":
			var p acp.PromptRequest
			if err := json.Unmarshal(params, &p); err != nil {
				return nil, acp.NewInvalidParams(err.Error())
			}
			return prompt(ctx, p)
		}
		return nil, acp.NewMethodNotFound(method)
	}, os.Stdout, os.Stdin)
	<-conn.Done()
}

// alive reports whether a process runs; one that has ended and is not waited for doesn't.
func alive(pid string) bool {
	data, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	_, rest, _ := strings.Cut(string(data), ") ")
	return err == nil && !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// TestA2_AgentOverACP talks to an agent that is a program of its own: answers, approvals with its
// own words (A4), stops (A5, S2), a restart that finds its session again, and no process left.
func TestA2_AgentOverACP(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", quick, "telegram")
	at := s.on["telegram"]
	t.Cleanup(func() { t.Log(transcript(at)) })
	file := filepath.Join(s.dir, "processes")
	s.reconfigure(t, fmt.Sprintf("  main: {type: acp, command: [%q], env: {%s: %q}}", os.Args[0], agentEnv, file), quick)
	s.start(t)
	at.say(t, "hello")
	_, session, _ := strings.Cut(at.sees(t, at.direct, "You said hello in s").Text, " in ")
	at.say(t, "ask")
	at.button(t, at.direct, "Leave it")
	at.press(t, at.direct, "Do it")
	at.answer(t, at.direct, "You chose y")
	at.say(t, "work")
	at.sees(t, at.direct, "Build it: make")
	at.press(t, at.direct, "Stop")
	at.sees(t, at.direct, "Stopped after")
	at.say(t, "still there?")
	at.answer(t, at.direct, "You said still there? in "+session)
	s.restart(t)
	at.say(t, "and now?")
	at.answer(t, at.direct, "You said and now? in "+session)
	at.say(t, "stuck")
	at.sees(t, at.direct, "Build it: make")
	at.press(t, at.direct, "Stop")
	at.say(t, "again")
	at.sees(t, at.direct, "You said again in s")
	s.stop(t)
	data, err := os.ReadFile(file)
	must(t, err)
	pids := strings.Fields(string(data))
	if len(pids) < 4 {
		t.Errorf("processes %v", pids)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %s is left", pid)
		}
	}
}

// TestA2_AgentOverAGUI talks to a remote agent: an answer, and a stop that reaches it (A5).
func TestA2_AgentOverAGUI(t *testing.T) {
	t.Parallel()
	cancelled := make(chan string, 2)
	remote := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id, ok := strings.CutPrefix(r.URL.Path, "/cancel/"); ok {
			cancelled <- id
			return
		}
		var in struct {
			ThreadID, RunID string
			Messages        []struct{ Content string }
		}
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &in); err != nil || len(in.Messages) == 0 {
			http.Error(w, "no run input", http.StatusUnprocessableEntity)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(format string, args ...any) {
			fmt.Fprintf(w, "data: "+format+"\n\n", args...)
			_ = http.NewResponseController(w).Flush()
		}
		send(`{"type":"RUN_STARTED","threadId":%q,"runId":%q}`, in.ThreadID, in.RunID)
		text := in.Messages[len(in.Messages)-1].Content
		if text == "work" {
			send(`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"Bash","delta":"{\"command\":\"make\"}"}`)
			<-r.Context().Done()
			cancelled <- "closed " + in.RunID
			return
		}
		send(`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":%q}`, fmt.Sprintf("You said %s after %d", text, len(in.Messages)-1))
		send(`{"type":"RUN_FINISHED","threadId":%q,"runId":%q}`, in.ThreadID, in.RunID)
	}))
	t.Cleanup(remote.Close)
	s := newStage(t, "", quick, "slack")
	at := s.on["slack"]
	t.Cleanup(func() { t.Log(transcript(at)) })
	s.reconfigure(t, fmt.Sprintf("  main: {type: agui, url: %q, cancelURL: %q}", remote.URL, remote.URL+"/cancel/{runId}"), quick)
	s.start(t)
	at.say(t, "hello")
	at.answer(t, at.direct, "You said hello after 0")
	at.say(t, "work")
	at.sees(t, at.direct, "Bash: make")
	at.press(t, at.direct, "Stop")
	at.sees(t, at.direct, "Stopped after")
	got := []string{<-cancelled, <-cancelled}
	if got[0] != "closed "+got[1] && got[1] != "closed "+got[0] {
		t.Errorf("the agent saw %q", got)
	}
	at.say(t, "more")
	at.answer(t, at.direct, "You said more after 5") // the call that was stopped has an answer too
	s.stop(t)
}
