package turn

import (
	"slices"
	"strings"

	"typist/adapters"
	"typist/agent"
)

// A message that the platform delivered in pieces (a long paste, an album) is one text, in which
// each piece can be edited for itself (S7).

// block is a message's text for the model, with the places of its pieces.
func block(m adapters.Message) agent.Part {
	p := agent.Part{Kind: agent.PartText, ID: m.ID, Text: quoted(m)}
	for i, id := range m.Parts {
		if i < len(m.Cuts) {
			p.Joined = append(p.Joined, agent.JoinedPart{ID: id, At: len(p.Text) - len(m.Text) + m.Cuts[i]})
		}
	}
	return p
}

// isOf reports whether a message became the block, or a piece of it.
func isOf(p agent.Part, id string) bool {
	return p.ID == id || slices.ContainsFunc(p.Joined, func(j agent.JoinedPart) bool { return j.ID == id })
}

// reword gives a message, or the piece of it that id names, its new text; false: neither is meant,
// or nothing is new.
func reword(m adapters.Message, id, text string) (adapters.Message, bool) {
	bare := m
	bare.ReplyTo = nil
	p := block(bare)
	if !isOf(p, id) {
		return m, false
	}
	whole, joined, changed := repiece(p, 0, id, text)
	if !changed {
		return m, false
	}
	m.Text, m.Cuts = whole, nil
	for _, j := range joined {
		m.Cuts = append(m.Cuts, j.At)
	}
	return m, true
}

// repiece replaces the piece that id names in a block whose own text begins at start.
func repiece(p agent.Part, start int, id, text string) (whole string, joined []agent.JoinedPart, changed bool) {
	at := slices.IndexFunc(p.Joined, func(j agent.JoinedPart) bool { return j.ID == id }) // -1: the first
	begin, end := start, len(p.Text)
	if at >= 0 {
		begin = p.Joined[at].At
	}
	separator := ""
	if at+1 < len(p.Joined) {
		end = p.Joined[at+1].At
	}
	if begin < start || begin > end || end > len(p.Text) {
		return "", nil, false
	}
	old := p.Text[begin:end]
	if at+1 < len(p.Joined) {
		separator = old[len(strings.TrimRight(old, "\n")):] // stays before the next piece
		old = strings.TrimSuffix(old, separator)
	}
	if old == text {
		return p.Text, p.Joined, false
	}
	if old == "" && begin > start && p.Text[begin-1] != '\n' { // a picture gets a caption
		text = "\n" + text
	}
	joined = slices.Clone(p.Joined)
	for i := at + 1; i < len(joined); i++ {
		joined[i].At += len(text) - len(old)
	}
	return p.Text[:begin] + text + separator + p.Text[end:], joined, true
}
