package acp

import (
	"context"
	"slices"
	"strings"
	"testing"

	"typist/agent"
	"typist/agent/backend/backendtest"
)

func TestS5_ResumeGoesOnInTheSameSession(t *testing.T) {
	f := newFixture(t, "", nil)
	ctx, stop := context.WithCancel(t.Context())
	f.onEvent = func(ev agent.Event) {
		if _, ok := ev.(agent.TextContent); ok {
			stop()
		}
	}
	f.say(ctx, "say half\nwait")
	f.onEvent = nil
	// The words to go on with are no command of the test agent, which therefore says nothing.
	got := f.run(t.Context(), agent.Request{Resume: true})
	backendtest.Want(t, got, "failed: malformed: the agent ended without an answer")
	f.say(t.Context(), "say on")
	if n := f.count("session/new"); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

func TestS1_ABranchBeginsANewSessionThatIsToldTheStory(t *testing.T) {
	f := newFixture(t, "", nil)
	f.say(t.Context(), "say one")
	trunk := f.history
	f.say(t.Context(), "say two")
	f.say(t.Context(), "say three")
	if n := f.count("session/new"); n != 1 {
		t.Fatalf("%d sessions for one conversation", n)
	}
	f.history = slices.Clone(trunk) // an edit of the second message
	f.say(t.Context(), "prompt\nsay other")
	asked := strings.Join(f.noted("prompt "), "")
	if n := f.count("session/new"); n != 2 || !strings.Contains(asked, `Person: say one\n\nYou: one`) || strings.Contains(asked, "two") {
		t.Errorf("%d sessions, told %s", n, asked)
	}
	f.history = f.history[:len(f.history)-1] // a retry: the same message again
	f.run(t.Context(), agent.Request{})
	if n := f.count("session/new"); n != 3 {
		t.Errorf("%d sessions after a retry", n)
	}
}

func TestS1_SystemPromptIsToldOncePerSession(t *testing.T) {
	f := newFixture(t, "", nil)
	for range 2 {
		f.history = append(f.history, agent.UserText("prompt\nsay x"))
		f.run(t.Context(), agent.Request{System: "Be brief."})
	}
	asked := f.noted("prompt ")
	if len(asked) != 2 || !strings.Contains(asked[0], "Be brief.") || strings.Contains(asked[1], "Be brief.") {
		t.Errorf("asked %q", asked)
	}
}

func TestS5_ARestartOpensTheSessionAgainWhereTheAgentCan(t *testing.T) {
	for able, want := range map[string][3]int{ // new, load, resume
		"": {2, 0, 0}, "load": {1, 1, 0}, "load resume": {1, 0, 1}, "load forgets": {2, 1, 0},
	} {
		memory := &values{}
		f := newFixture(t, able, memory)
		f.say(t.Context(), "say one")
		f.Close()
		g := newFixture(t, able, memory)
		g.notes, g.history, g.runs = f.notes, f.history, f.runs
		g.config.Env["ACP_TEST_NOTES"] = f.notes
		backendtest.Want(t, g.say(t.Context(), "say two"), "text two", "text.", "success")
		if got := [3]int{g.count("session/new"), g.count("session/load"), g.count("session/resume")}; got != want {
			t.Errorf("%q: new, load, resume: %v, want %v", able, got, want)
		}
	}
}

func TestA3_ToolServersAreHandedToTheAgent(t *testing.T) {
	servers := []MCPServer{{Name: "files", Command: []string{"mcp", "--stdio"}, Env: map[string]string{"K": "v"}}, {Name: "web", URL: "http://127.0.0.1:1/mcp", Headers: map[string]string{"A": "b"}}}
	const stdio = `{"args":["--stdio"],"command":"mcp","env":[{"name":"K","value":"v"}],"name":"files"}`
	for able, want := range map[string]string{
		"http": `"mcpServers":[` + stdio + `,{"headers":[{"name":"A","value":"b"}],"name":"web","type":"http","url":"http://127.0.0.1:1/mcp"}]`,
		"":     `"mcpServers":[` + stdio + `]`,
	} {
		f := newFixture(t, able, nil)
		f.config.MCPServers = servers
		f.say(t.Context(), "say x")
		if got := f.noted("params "); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%q: %q", able, got)
		}
	}
}

func TestO4_ProbeStartsTheAgent(t *testing.T) {
	for able, want := range map[string]string{"": "Test agent 7", "v2": "the agent speaks version 2", "locked": "Log in with the browser", "dies": "(exit status 4): no key sk-ant-"} {
		found, err := newFixture(t, able, nil).Probe(t.Context())
		if err != nil {
			found = err.Error()
		}
		if !strings.Contains(found, want) || strings.Contains(found, "456789") {
			t.Errorf("%q: %q, want %q", able, found, want)
		}
	}
}
