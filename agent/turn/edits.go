package turn

import (
	"context"
	"slices"
	"strings"

	"typist/adapters"
	"typist/agent"
	"typist/agent/store"
)

// edited: a person changed a message (S7).
type edited struct{ adapters.Edited }

func (edited) isLetter() {}

func (e edited) read(l *lane) {
	if l.afterTurn(e) {
		return
	}
	set := l.hub.settings()
	if set.OnEdit == EditIgnore || strings.HasPrefix(e.Text, "/") || strings.TrimSpace(e.Text) == "" {
		return // commands in edited messages are not executed
	}
	if p := l.edits[e.ID]; p != nil {
		p.newest, p.again = e.Edited, true
		return
	}
	waiting, err := l.hub.store.Waiting(l.hub.callCtx, l.chat.Key())
	if err != nil {
		l.log.Error("the inbox could not be read", "error", err)
		return
	}
	for _, row := range waiting {
		if l.run != nil && slices.Contains(l.run.in.rows, row.ID) {
			continue // the run in work is that turn, though its beginning is not stored yet
		}
		if row.Kind == store.InputMessage && l.editWaiting(row, e.ID, e.Text) {
			return
		}
	}
	if r := l.run; r != nil && r.phase <= stopping && r.in.Kind == store.InputMessage && slices.Contains(r.in.refs(), e.ID) {
		in := r.in
		if in.retext(e.ID, e.Text) {
			l.editRunning(r.in, e.Edited)
			r.supersede()
			r.superseded = true // of a run that a person has stopped nothing stays either
		}
		return
	}
	l.editAnswered(e.Edited)
}

// editWaiting gives a message that still waits its new text; false: it is another message's.
func (l *lane) editWaiting(row store.Input, id, text string) bool {
	in, err := readInput(row)
	if err != nil {
		l.log.Error("a waiting message could not be read", "error", err)
		return row.MessageID == id
	}
	if !slices.Contains(in.refs(), id) {
		return false
	}
	if !in.retext(id, text) {
		return true
	}
	if _, err := l.hub.store.EditWaiting(l.hub.callCtx, l.chat.Key(), row.MessageID, in.payload()); err != nil {
		l.log.Error("a waiting message could not be changed", "error", err)
	}
	return true
}

// hideTurn deletes what the chat shows of the old answers to an edited message; the branch itself
// stays, reachable by ◀ (S7).
func (l *lane) hideTurn(ctx context.Context, user store.Node) {
	runs, err := l.hub.runsUnder(ctx, user)
	if err != nil {
		l.log.Error("the old answer could not be looked up", "error", err)
		return
	}
	for _, run := range runs {
		for _, id := range append(run.Answer, run.Progress) {
			if id != "" {
				s := &slot{id: id, class: classFirst}
				s.drop()
				l.mail.put(tidy{slot: s, run: run.ID})
			}
		}
	}
}

// runsUnder lists the runs that answered one wording of a person's message.
func (h *Hub) runsUnder(ctx context.Context, user store.Node) ([]store.Run, error) {
	turn, err := h.store.Turn(ctx, user.Chat, user.Parent)
	if err != nil {
		return nil, err
	}
	below := map[string]bool{user.ID: true}
	ids := []string{user.RunID}
	for _, t := range turn { // parents come first
		if below[t.Parent] && t.Role != agent.User {
			below[t.ID] = true
			if !slices.Contains(ids, t.RunID) {
				ids = append(ids, t.RunID)
			}
		}
	}
	var runs []store.Run
	for _, id := range ids {
		run, ok, err := h.store.Run(ctx, id)
		if err != nil {
			return nil, err
		}
		if ok {
			runs = append(runs, run)
		}
	}
	return runs, nil
}

// tidy: a message of an earlier run goes.
type tidy struct {
	slot *slot
	run  string
}

func (tidy) isLetter() {}

func (t tidy) read(l *lane) { l.cleanUp(t.run, t.slot) }

// textOf is the text of a message.
func textOf(m agent.Message) string {
	for _, p := range m.Blocks {
		if p.Kind == agent.PartText {
			return p.Text
		}
	}
	return ""
}
