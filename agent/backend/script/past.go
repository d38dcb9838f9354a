package script

import (
	"strconv"
	"strings"

	"typist/agent"
)

// past is what a resumed run's history shows of the runs before it, by the lines of the script.
type past struct {
	texts   map[int]string // what was said
	results map[int]bool   // calls with a result, "outcome unknown" included
}

// remember reads the messages after the last one of the person.
func remember(history []agent.Message) past {
	p := past{texts: map[int]string{}, results: map[int]bool{}}
	for _, m := range history {
		if m.Role == agent.User {
			p = past{texts: map[int]string{}, results: map[int]bool{}}
			continue
		}
		for _, part := range m.Blocks {
			switch part.Kind {
			case agent.PartText:
				if line, ok := lineOf(part.ID, "t"); ok {
					p.texts[line] += part.Text
				}
			case agent.PartResult:
				if line, ok := lineOf(part.ID, "c"); ok {
					p.results[line] = true
				}
			case agent.PartReasoning, agent.PartToolCall, agent.PartFile, agent.PartSubagent:
			}
		}
	}
	return p
}

// lineOf reads the line out of an id that player.id made.
func lineOf(id, letter string) (int, bool) {
	dot := strings.LastIndexByte(id, '.')
	number, ok := strings.CutPrefix(id[dot+1:], letter)
	if !ok {
		return 0, false
	}
	line, err := strconv.Atoi(number)
	return line, err == nil
}

func (p past) said(n *node) string { return p.texts[n.line] }

// begun reports whether the history shows something of a directive.
func (p past) begun(n *node) bool {
	if p.texts[n.line] != "" || p.results[n.line] {
		return true
	}
	for _, c := range n.children {
		if p.begun(c) {
			return true
		}
	}
	return false
}

// done reports whether a call has its result.
func (p past) done(n *node) bool { return p.results[n.line] }

// reached is the index of the directive that goes on: the last one that the history shows, or the
// one after it if that is a call.
func (p past) reached(nodes []*node) int {
	for i := len(nodes) - 1; i >= 0; i-- {
		if p.begun(nodes[i]) {
			if p.done(nodes[i]) {
				return i + 1
			}
			return i
		}
	}
	return 0
}
