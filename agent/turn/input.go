package turn

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"typist/adapters"
	"typist/agent"
	"typist/agent/store"
)

// input is what a turn is made of; it is the payload of an inbox row.
type input struct {
	Message   adapters.Message `json:"message"`
	Agent     string           `json:"agent,omitempty"`
	Heartbeat *Heartbeat       `json:"heartbeat,omitempty"`
	Branch    *branchAt        `json:"branch,omitempty"`
	From      string           `json:"from,omitempty"` // retry, resume: the node to go on from
	Pressed   *pressedButton   `json:"pressed,omitempty"`
	// Earlier are the messages before Message that became the same turn (collect, S10).
	Earlier []adapters.Message `json:"earlier,omitempty"`
	// Blocks are what the agent is given, made already (S7: those of the edited turn).
	Blocks []agent.Part `json:"blocks,omitempty"`

	Kind store.InputKind `json:"-"`
	rows []int64         // inbox rows that become this turn
	at   time.Time
}

// branchAt says that the turn hangs on a node other than the active leaf (S7).
type branchAt struct {
	Parent string `json:"parent"` // "" = a new root
}

// Heartbeat is a heartbeat's turn (H).
type Heartbeat struct {
	Agent   string `json:"agent"`
	Slot    string `json:"slot"` // names the tick: an input is accepted once per slot (H6, H8)
	Prompt  string `json:"prompt"`
	Deliver bool   `json:"deliver"`
}

// accepted is when the platform's event reached the hub.
func (in input) accepted() time.Time { return in.at }

// refs are the platform messages that the turn's user node stands for.
func (in input) refs() []string {
	refs := append([]string{in.Message.ID}, in.Message.Parts...)
	for _, m := range in.Earlier {
		refs = append(append(refs, m.ID), m.Parts...)
	}
	return refs
}

func (in input) payload() []byte {
	b, err := json.Marshal(in)
	if err != nil {
		panic(fmt.Sprintf("turn: an input does not encode: %v", err)) // plain data: a programming error
	}
	return b
}

func readInput(row store.Input) (input, error) {
	var in input
	if err := json.Unmarshal(row.Payload, &in); err != nil {
		return in, fmt.Errorf("inbox row %d: %w", row.ID, err)
	}
	in.Kind, in.rows, in.at = row.Kind, []int64{row.ID}, row.At
	return in, nil
}

// merge makes one turn of two inputs (collect, S10).
func (in input) merge(next input) input {
	out := next
	out.Earlier = append(append(in.Earlier, in.Message), next.Earlier...)
	out.Message.Mentioned = in.Message.Mentioned || next.Message.Mentioned
	out.rows, out.at = append(in.rows, next.rows...), in.at
	return out
}

// retext gives one of the turn's messages its new text (S7); false: it is none of them, or says
// nothing new.
func (in *input) retext(id, text string) bool {
	if len(in.Blocks) > 0 {
		var changed bool
		in.Blocks, changed = retext(in.Blocks, id, text)
		return changed
	}
	all := append(in.Earlier, in.Message)
	for i, m := range all {
		if m, changed := reword(m, id, text); changed {
			all = slices.Clone(all)
			all[i] = m
			in.Earlier, in.Message = all[:len(all)-1], all[len(all)-1]
			return true
		}
	}
	return false
}

// retext gives the block that one message became its new text, and keeps the quote in front of it.
// false: the text is the same.
func retext(blocks []agent.Part, id, text string) ([]agent.Part, bool) {
	for i, p := range blocks {
		if p.Kind != agent.PartText || !isOf(p, id) {
			continue
		}
		quote, _ := unquote(p.Text)
		next, joined, changed := repiece(p, len(quote), id, text)
		if !changed || next == p.Text || p.Text == text {
			return blocks, false
		}
		blocks = slices.Clone(blocks)
		blocks[i].Text, blocks[i].Joined = next, joined
		return blocks, true
	}
	return blocks, false
}

// quoted puts what a message answers in front of its text.
func quoted(m adapters.Message) string {
	if m.ReplyTo == nil || m.ReplyTo.Text == "" {
		return m.Text
	}
	return "> " + strings.ReplaceAll(m.ReplyTo.Text, "\n", "\n> ") + "\n\n" + m.Text
}

// unquote divides what quoted made.
func unquote(text string) (quote, own string) {
	if !strings.HasPrefix(text, "> ") {
		return "", text
	}
	head, own, found := strings.Cut(text, "\n\n")
	if !found {
		return "", text
	}
	return head + "\n\n", own
}

// mergeable: ordinary messages become one turn, everything else is a turn of its own.
func (in input) mergeable() bool { return in.Kind == store.InputMessage && in.Branch == nil }
