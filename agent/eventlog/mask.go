package eventlog

import (
	"slices"

	"typist/agent"
)

// masked is an event as readers may see it (P4): without the secrets in what tools are given and
// give back, in names, questions and failures. The turn code stores a call's arguments in one
// piece, since of a part nobody can tell whether it belongs to a secret.
func masked(ev agent.Event) agent.Event {
	switch ev := ev.(type) {
	case agent.ToolCallArgs:
		ev.Delta = agent.Mask(ev.Delta)
		return ev
	case agent.ToolCallResult:
		ev.Content = agent.Mask(ev.Content)
		return ev
	case agent.ToolCallStarted:
		ev.Name, ev.Title = agent.Mask(ev.Name), agent.Mask(ev.Title)
		return ev
	case agent.ApprovalRequested:
		a := &ev.Approval
		a.Title, a.Detail, a.Options = agent.Mask(a.Title), agent.Mask(a.Detail), slices.Clone(a.Options)
		for i := range a.Options {
			a.Options[i].Name = agent.Mask(a.Options[i].Name)
		}
		return ev
	case agent.StepStarted:
		ev.Name = agent.Mask(ev.Name)
		return ev
	case agent.StepFinished:
		ev.Name = agent.Mask(ev.Name)
		return ev
	case agent.SubagentStarted:
		ev.Name = agent.Mask(ev.Name)
		return ev
	case agent.FileProduced:
		ev.Name = agent.Mask(ev.Name)
		return ev
	case agent.RunError:
		ev.Failure.Detail = agent.Mask(ev.Failure.Detail)
		return ev
	case agent.RunStarted, agent.RunFinished, agent.ModelRequest, agent.ReasoningStarted, agent.ReasoningContent, agent.ReasoningEnded,
		agent.TextStarted, agent.TextContent, agent.TextEnded, agent.ToolCallEnded, agent.SubagentFinished, agent.ApprovalResolved, agent.Retrying, agent.Usage:
	}
	return ev
}
