package turn

import (
	"encoding/json"
	"fmt"
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
	From      string           `json:"from,omitempty"`  // retry, resume: the node to go on from
	Parts     []agent.Part     `json:"parts,omitempty"` // files that are loaded already (S7)

	Kind store.InputKind `json:"-"`
	rows []int64         // inbox rows that become this turn
	also []string        // further message ids (collect)
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
func (in input) refs() []string { return append([]string{in.Message.ID}, in.also...) }

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
	in.Message.Text += "\n\n" + next.Message.Text
	in.Message.Files = append(in.Message.Files, next.Message.Files...)
	in.Message.Mentioned = in.Message.Mentioned || next.Message.Mentioned
	in.also = append(append(in.also, in.Message.ID), next.also...)
	in.Message.ID, in.Message.From = next.Message.ID, next.Message.From
	in.rows = append(in.rows, next.rows...)
	return in
}

// mergeable: ordinary messages become one turn, everything else is a turn of its own.
func (in input) mergeable() bool { return in.Kind == store.InputMessage && in.Branch == nil }
