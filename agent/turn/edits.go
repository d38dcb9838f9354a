package turn

import (
	"context"
	"slices"
	"strings"
	"time"

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
	waiting, err := l.hub.store.Waiting(l.hub.callCtx, l.chat.Key())
	if err != nil {
		l.log.Error("the inbox could not be read", "error", err)
		return
	}
	for _, row := range waiting {
		if row.MessageID == e.ID && row.Kind == store.InputMessage {
			l.editWaiting(row, e.Text)
			return
		}
	}
	if r := l.run; r != nil && r.phase <= stopping && r.in.Kind == store.InputMessage && slices.Contains(r.in.refs(), e.ID) {
		in := r.in
		if !in.retext(e.ID, e.Text) {
			return
		}
		l.branch(in, e.Edited, func(ctx context.Context) (string, error) {
			n, ok, err := l.hub.store.NodeByRef(ctx, l.chat.Key(), e.ID)
			if err != nil || !ok {
				return "", notYet(err)
			}
			return n.Parent, nil
		})
		r.supersede()
		return
	}
	l.editAnswered(e.Edited, set.EditWindow)
}

// editWaiting gives a message that still waits its new text.
func (l *lane) editWaiting(row store.Input, text string) {
	in, err := readInput(row)
	if err != nil {
		l.log.Error("a waiting message could not be read", "error", err)
		return
	}
	if !in.retext(row.MessageID, text) {
		return
	}
	if _, err := l.hub.store.EditWaiting(l.hub.callCtx, l.chat.Key(), row.MessageID, in.payload()); err != nil {
		l.log.Error("a waiting message could not be changed", "error", err)
	}
}

// notYet: the message's node is not stored yet, or could not be read.
func notYet(err error) error {
	if err != nil {
		return err
	}
	return store.ErrNotFound
}

// editAnswered makes a branch from a message that was answered.
func (l *lane) editAnswered(e adapters.Edited, window time.Duration) {
	l.hub.go_(func() {
		ctx := context.WithoutCancel(l.hub.callCtx)
		n, ok, err := l.hub.store.NodeByRef(ctx, l.chat.Key(), e.ID)
		if err != nil {
			l.log.Error("an edited message could not be looked up", "error", err)
			return
		}
		if !ok || n.Message.Role != agent.User {
			return
		}
		blocks, changed := retext(n.Message.Blocks, e.ID, e.Text)
		if !changed {
			return
		}
		if window > 0 && time.Since(n.At) > window {
			l.mail.put(saying{l.words().EditIgnored})
			return
		}
		in := input{Kind: store.InputMessage, Blocks: blocks, Message: adapters.Message{Origin: e.Origin, ID: e.ID, Text: e.Text, Mentioned: true}}
		for _, ref := range n.Refs {
			if ref != e.ID {
				in.Earlier = append(in.Earlier, adapters.Message{ID: ref})
			}
		}
		l.acceptBranch(ctx, in, n.Parent)
		l.hideTurn(ctx, n)
	})
}

// branch puts the edited message of the run in work into the inbox as a branch.
func (l *lane) branch(in input, e adapters.Edited, parent func(context.Context) (string, error)) {
	in.Message.Origin.EventID = e.EventID
	in.rows, in.Branch = nil, nil
	l.hub.go_(func() {
		ctx := context.WithoutCancel(l.hub.callCtx)
		at, err := parent(ctx)
		for try := 1; err != nil && try <= 5; try++ {
			if !waitFor(l.hub.callCtx, 100*time.Millisecond) {
				return
			}
			at, err = parent(ctx)
		}
		if err != nil {
			l.log.Error("an edited message could not be looked up", "error", err)
			return
		}
		l.acceptBranch(ctx, in, at)
	})
}

func (l *lane) acceptBranch(ctx context.Context, in input, parent string) {
	in.Branch = &branchAt{Parent: parent}
	in.Message.Origin.EventID = "edit/" + in.Message.Origin.EventID
	agentName, err := l.hub.agentOf(ctx, store.Run{Chat: l.chat.Key()})
	if err == nil {
		in.Agent = agentName
		err = l.hub.accept(ctx, in, time.Now())
	}
	if err != nil {
		l.log.Error("an edited message could not be stored", "error", err)
	}
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
