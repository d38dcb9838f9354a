package acp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"typist/agent"
)

// Words for the agent, not for people.
const (
	goOn     = "[Your last answer was interrupted. Go on exactly where it stops. Do not repeat what it already says, and do not run again what has been run.]"
	before   = "[This conversation began before this session. What was said until now, for your information; none of it is to be answered:]"
	after    = "[That is what was said until now.]"
	noResult = "(no result: whether it was executed is unknown; do not repeat it without asking)"
)

const (
	// maxRetold bounds in bytes what a new session is told of the conversation so far; the newest
	// of it is what is kept.
	maxRetold = 96 << 10
	// maxRetoldResult bounds one tool's result in it.
	maxRetoldResult = 2 << 10
)

// memory is what is known of an agent's session: enough to tell whether a history goes on where
// the session is.
type memory struct {
	ID     string `json:"id"`     // the agent's
	Run    string `json:"run"`    // the last run in it
	Last   string `json:"last"`   // place of the history that it was given
	System string `json:"system"` // digest of the system prompt that it was given
}

// continues reports whether a history goes on where the session is, and from which message on it
// is new. The tree is append-only and ids of parts begin with their run's: where the end of what
// the last run was given stands on a path, all before it is what the session has seen.
func (m memory) continues(history []agent.Message, resume bool) (int, bool) {
	for at := len(history); m.ID != "" && at > 0; at-- {
		if place(history[:at]) == m.Last {
			fresh := at
			for fresh < len(history) && history[fresh].Role != agent.User && ofRun(history[fresh], m.Run) {
				fresh++
			}
			rest := history[fresh:]
			if resume == (len(rest) == 0) && !slices.ContainsFunc(rest, func(m agent.Message) bool { return m.Role != agent.User }) {
				return fresh, true
			}
		}
		if last := history[at-1]; last.Role != agent.User && !ofRun(last, m.Run) {
			break
		}
	}
	return 0, false
}

// ofRun reports whether a message is of a run.
func ofRun(m agent.Message, run string) bool {
	return !slices.ContainsFunc(m.Blocks, func(p agent.Part) bool { return p.ID != "" && !strings.HasPrefix(p.ID, run+".") })
}

// place is a digest of the last message of a history and of what it follows.
func place(history []agent.Message) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	n := len(history) - 1
	_ = enc.Encode(history[n]) // a hash takes everything
	for _, m := range slices.Backward(history[:n]) {
		for _, p := range slices.Backward(m.Blocks) {
			if p.ID != "" {
				_ = enc.Encode(p.ID)
				return hex.EncodeToString(h.Sum(nil))
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// retell writes a conversation as text, the newest of it where it is long.
func retell(history []agent.Message) string {
	results := map[string]agent.Part{}
	for _, m := range history {
		for _, p := range m.Blocks {
			if p.Kind == agent.PartResult {
				results[p.ID] = p
			}
		}
	}
	var told []string
	size := 0
	for _, m := range slices.Backward(history) {
		text := strings.TrimSpace(retellMessage(m, results))
		if text == "" {
			continue
		}
		if size += len(text); size > maxRetold {
			told = append(told, "(what was said before is left out)")
			break
		}
		told = append(told, text)
	}
	if len(told) == 0 {
		return ""
	}
	slices.Reverse(told)
	return before + "\n\n" + strings.Join(told, "\n\n") + "\n\n" + after
}

func retellMessage(m agent.Message, results map[string]agent.Part) string {
	var b strings.Builder
	switch m.Role {
	case agent.User:
		b.WriteString("Person: ")
	case agent.Assistant:
		b.WriteString("You: ")
	default:
		return "" // told with the calls
	}
	empty := b.Len()
	for _, p := range m.Blocks {
		switch p.Kind {
		case agent.PartText:
			fmt.Fprintf(&b, "%s\n", p.Text)
		case agent.PartToolCall:
			fmt.Fprintf(&b, "(called %s %s)\n", p.Name, p.Args)
			if r, ok := results[p.ID]; ok {
				fmt.Fprintf(&b, "(result: %s)\n", short(r.Text))
			} else {
				b.WriteString(noResult + "\n")
			}
		case agent.PartFile:
			fmt.Fprintf(&b, "(the file %s)\n", p.Name)
		case agent.PartReasoning, agent.PartResult, agent.PartSubagent:
		}
	}
	if b.Len() == empty {
		return ""
	}
	return b.String()
}

func short(s string) string {
	if len(s) <= maxRetoldResult {
		return s
	}
	return strings.ToValidUTF8(s[:maxRetoldResult], "") + " …"
}
