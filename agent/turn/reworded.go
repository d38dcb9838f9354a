package turn

import (
	"context"
	"time"

	"typist/adapters"
	"typist/agent"
	"typist/agent/store"
)

// rewording is a changed message on its way to become a branch. There is one per message, so that
// quick edits keep their order: the newest text wins until it is in the inbox, and a newer one is
// taken up when it is (S7).
type rewording struct {
	newest adapters.Edited
	again  bool // newest came after what is being stored
	// in is the turn in work that the message belongs to; nil: it was answered.
	in *input
}

// placeTries bounds the look-ups for the node of a turn that has just begun: 10 s.
const placeTries = 100

// editRunning makes a branch from the message of the run in work, which is being superseded.
func (l *lane) editRunning(in input, e adapters.Edited) {
	l.reword(&rewording{newest: e, in: &in}, placeTries)
}

// editAnswered makes a branch from a message that was answered.
func (l *lane) editAnswered(e adapters.Edited) {
	l.reword(&rewording{newest: e}, 1)
}

// reword looks up where the branch hangs.
func (l *lane) reword(w *rewording, tries int) {
	id := w.newest.ID
	l.edits[id] = w
	l.hub.go_(func() {
		f := rewordingFound{rewording: w}
		for try := 1; ; try++ {
			f.node, f.ok, f.err = l.hub.store.NodeByRef(context.WithoutCancel(l.hub.callCtx), l.chat.Key(), id)
			if f.ok && f.err == nil || try == tries || !waitFor(l.hub.callCtx, 100*time.Millisecond) {
				break
			}
		}
		l.mail.put(f)
	})
}

// rewordingFound: it is known which node the changed message stands for.
type rewordingFound struct {
	rewording *rewording
	node      store.Node
	ok        bool
	err       error
}

func (rewordingFound) isLetter() {}

func (f rewordingFound) read(l *lane) {
	w := f.rewording
	e := w.newest
	in, due := f.branch(l, e)
	if !due {
		delete(l.edits, e.ID)
		return
	}
	w.again = false
	in.Branch = &branchAt{Parent: f.node.Parent}
	in.Message.Origin.EventID = "edit/" + e.EventID
	l.hub.go_(func() {
		ctx := context.WithoutCancel(l.hub.callCtx)
		if l.storeBranch(ctx, in, w.in != nil) && w.in == nil {
			l.hideTurn(ctx, f.node)
		}
		l.mail.put(rewordingStored{w})
	})
}

// branch makes the input of the new branch; false: there is nothing to do.
func (f rewordingFound) branch(l *lane, e adapters.Edited) (input, bool) {
	if f.err != nil || !f.ok && f.rewording.in != nil {
		l.log.Error("an edited message could not be looked up", "error", f.err)
		return input{}, false
	}
	if in := f.rewording.in; in != nil {
		branch := *in
		branch.retext(e.ID, e.Text)
		branch.rows = nil
		return branch, true
	}
	if !f.ok || f.node.Message.Role != agent.User {
		return input{}, false
	}
	blocks, changed := retext(f.node.Message.Blocks, e.ID, e.Text)
	if !changed {
		return input{}, false
	}
	if window := l.hub.settings().EditWindow; window > 0 && time.Since(f.node.At) > window {
		l.note(l.words().EditIgnored)
		return input{}, false
	}
	in := input{Kind: store.InputMessage, Blocks: blocks, Message: adapters.Message{Origin: e.Origin, ID: e.ID, Text: e.Text, Mentioned: true}}
	for _, ref := range f.node.Refs {
		if ref != e.ID {
			in.Earlier = append(in.Earlier, adapters.Message{ID: ref})
		}
	}
	return in, true
}

// storeBranch puts the branch into the inbox and reports whether it is there. One that replaces
// the run in work takes that run's place, however many messages wait.
func (l *lane) storeBranch(ctx context.Context, in input, replaces bool) bool {
	name, err := l.hub.agentOf(ctx, l.chat.Key())
	if err != nil {
		l.log.Error("an edited message could not be stored", "error", err)
		return false
	}
	in.Agent = name
	put := l.hub.offer
	if replaces {
		put = l.hub.enqueue
	}
	taken, err := put(ctx, in, time.Now())
	if err != nil {
		l.log.Error("an edited message could not be stored", "error", err)
	}
	return taken
}

// rewordingStored: the branch is in the inbox, or could not be taken.
type rewordingStored struct{ rewording *rewording }

func (rewordingStored) isLetter() {}

func (s rewordingStored) read(l *lane) {
	w := s.rewording
	delete(l.edits, w.newest.ID)
	if w.again {
		edited{w.newest}.read(l)
	}
}
