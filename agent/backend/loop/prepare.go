package loop

import (
	"fmt"
	"slices"
	"strings"

	"typist/agent"
)

// Words for the model, not for people.
const (
	goOn        = "[Your last message was interrupted. Go on exactly where it stops. Do not repeat what it already says.]"
	noResult    = "No result: whether this call was executed is unknown. Do not repeat it without asking."
	notFinished = "The call was not finished, so it was not executed."
)

// Prepare makes of a history what model APIs accept: every call is answered exactly once, by the
// message right after it; what subagents did is told as text; nothing ends with the model's own
// words (S5: the model is asked to go on after them instead).
func Prepare(history []agent.Message) []agent.Message {
	var out []agent.Message
	for i, m := range history {
		switch m.Role {
		case agent.User:
			if len(m.Blocks) > 0 {
				out = append(out, m)
			}
		case agent.Assistant:
			own, results := flatten(m, resultsAfter(history[i+1:]))
			if len(own.Blocks) > 0 {
				out = append(out, own)
			}
			if len(results.Blocks) > 0 {
				out = append(out, results)
			}
		case agent.ToolRole: // taken with the message before
		}
	}
	if n := len(out); n > 0 && out[n-1].Role == agent.Assistant {
		out = append(out, agent.UserText(goOn))
	}
	return out
}

// resultsAfter are the results that directly follow an assistant's message, by call.
func resultsAfter(rest []agent.Message) map[string]agent.Part {
	results := map[string]agent.Part{}
	for _, m := range rest {
		if m.Role != agent.ToolRole {
			break
		}
		for _, p := range m.Blocks {
			if p.Kind == agent.PartResult {
				results[p.ID] = p
			}
		}
	}
	return results
}

// flatten makes one assistant message fit, and the message with the results of its calls.
func flatten(m agent.Message, results map[string]agent.Part) (own, answers agent.Message) {
	own.Role, answers.Role = agent.Assistant, agent.ToolRole
	var calls []agent.Part
	var told strings.Builder
	for _, p := range m.Blocks {
		switch {
		case p.Kind == agent.PartSubagent || p.Subagent != "":
			tell(&told, p, results)
		case p.Kind == agent.PartToolCall:
			calls = append(calls, p)
		case p.Kind == agent.PartFile:
			fmt.Fprintf(&told, "\n[The file %s was sent to the chat.]", p.Name)
		case p.Kind == agent.PartReasoning && p.Incomplete: // no API takes half a thought back
		default:
			own.Blocks = append(own.Blocks, p)
		}
	}
	if told.Len() > 0 {
		own.Blocks = append(own.Blocks, agent.Part{Kind: agent.PartText, Text: told.String()[1:]})
	}
	for _, call := range calls {
		result, ok := results[call.ID]
		if !ok {
			result = agent.Part{Kind: agent.PartResult, ID: call.ID, Text: noResult, IsError: true}
			if call.Incomplete {
				result.Text = notFinished
			}
		}
		if call.Args == nil {
			call.Args = agent.ToolArgs("{}")
		}
		own.Blocks = append(own.Blocks, call)
		answers.Blocks = append(answers.Blocks, result)
	}
	if !slices.ContainsFunc(own.Blocks, func(p agent.Part) bool { return p.Kind != agent.PartReasoning }) {
		own.Blocks = nil // a thought alone is no message
	}
	return own, answers
}

// tell writes a subagent's part as a line of text.
func tell(b *strings.Builder, p agent.Part, results map[string]agent.Part) {
	switch p.Kind {
	case agent.PartSubagent:
		fmt.Fprintf(b, "\n[Subagent %s]", p.Name)
	case agent.PartText:
		fmt.Fprintf(b, "\n%s", p.Text)
	case agent.PartToolCall:
		fmt.Fprintf(b, "\n[It called %s %s]", p.Name, p.Args)
		if result, ok := results[p.ID]; ok {
			fmt.Fprintf(b, "\n%s", result.Text)
		}
	case agent.PartReasoning, agent.PartResult, agent.PartFile:
	}
}

// InlineFile writes a text file for a model.
func InlineFile(p agent.Part) string {
	fence := "```"
	for strings.Contains(string(p.Data), fence) {
		fence += "`"
	}
	return fmt.Sprintf("File %s:\n%s\n%s\n%s", p.Name, fence, strings.ToValidUTF8(string(p.Data), "\uFFFD"), fence)
}
