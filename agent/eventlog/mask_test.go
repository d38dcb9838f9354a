package eventlog

import (
	"strings"
	"testing"
	"time"

	"typist/agent"
)

// Readers see no secret, live or replayed; what is stored stays whole, since a run that goes on
// after a crash needs it (S5).
func TestP4_ReadersSeeNoSecrets(t *testing.T) {
	const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"
	log := newLog(t)
	live := log.Subscribe(chat, 0)
	defer live.Close()
	evs := []agent.Event{
		agent.ToolCallStarted{ID: "1", Name: "Bash " + secret, Title: secret},
		agent.ToolCallArgs{ID: "1", Delta: `{"command":"export K=` + secret + `"}`},
		agent.ToolCallResult{ID: "1", Content: "K=" + secret},
		agent.ApprovalRequested{Approval: agent.Approval{Title: secret, Detail: secret, Options: []agent.Option{{ID: "y", Name: secret}}}},
		agent.StepStarted{Name: secret}, agent.StepFinished{Name: secret},
		agent.SubagentStarted{Sub: agent.Sub{Subagent: "s"}, Name: secret},
		agent.FileProduced{Name: secret},
		agent.RunError{Failure: agent.Failure{Kind: agent.Crashed, Detail: secret}},
	}
	if _, err := log.Append(background, chat, "r", time.Now(), evs); err != nil {
		t.Fatal(err)
	}
	replay := log.Subscribe(chat, 0)
	defer replay.Close()
	for name, sub := range map[string]*Subscription{"live": live, "replayed": replay} {
		text, err := format(take(t, sub, len(evs)))
		if err != nil || strings.Contains(text, secret) {
			t.Errorf("%s, %v:\n%s", name, err, text)
		}
		if !strings.Contains(text, "export K=") {
			t.Errorf("%s: what is no secret is gone:\n%s", name, text)
		}
	}
	stored, err := log.st.Events(background, chat, 0, 100)
	if err != nil || len(stored) != len(evs) || stored[1].Event != evs[1] {
		t.Errorf("stored: %v, %v", stored, err)
	}
	if ask := evs[3].(agent.ApprovalRequested); ask.Approval.Options[0].Name != secret {
		t.Error("masking has changed the event of others")
	}
}
