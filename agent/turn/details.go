package turn

import (
	"context"
	"slices"
	"time"

	"typist/adapters"
	"typist/agent"
	"typist/agent/progress"
	"typist/agent/store"
)

// toggleDetails shows the run's trace in its own message, or hides it again (P8). It never posts.
func (l *lane) toggleDetails(runID, message string) {
	if r := l.run; r != nil && r.id == runID && r.phase <= stopping {
		r.details = !r.details
		if r.progress != nil {
			r.progress.stale = true
			l.out.push(r.progress)
		}
		return
	}
	if message == "" || l.run != nil && l.run.id == runID {
		return // its message is about to become the answer
	}
	l.hub.go_(func() {
		ctx := context.WithoutCancel(l.hub.callCtx)
		run, ok, err := l.hub.store.Run(ctx, runID)
		if err == nil && (!ok || run.Chat != l.chat.Key() || run.State == store.RunDone && slices.Contains(run.Answer, message)) {
			return // nothing of another chat is shown, and no answer is written over
		}
		var board *progress.Board
		if err == nil {
			board, err = l.hub.boardOf(ctx, run, l.lang())
		}
		l.mail.put(detailsRead{run: run, board: board, message: message, err: err})
	})
}

// detailsRead: an ended run's trace is at hand.
type detailsRead struct {
	run     store.Run
	board   *progress.Board
	message string
	err     error
}

func (detailsRead) isLetter() {}

func (d detailsRead) read(l *lane) {
	if d.err != nil {
		l.log.Error("a run's trace could not be read", "run", d.run.ID, "error", d.err)
		return
	}
	level := l.view()
	end := endOf(d.run)
	if end.Kind == progress.EndWorked {
		level = progress.Overview
	}
	parts := l.chn.adapter.Fit(d.board.Ended(end, level, d.run.EndedAt))
	doc := parts[len(parts)-1] // the buttons are under the last one
	if i := slices.Index(l.opened, d.message); i >= 0 {
		l.opened = slices.Delete(l.opened, i, i+1)
	} else {
		l.opened = append(l.opened, d.message)
		if len(l.opened) > 50 {
			l.opened = slices.Delete(l.opened, 0, 1)
		}
		doc = append(slices.Clone(doc), d.board.Trace(time.Now())...)
	}
	kind := agent.FailureKind(d.run.Failure)
	buttons := [][]adapters.Button{l.endButtons(d.run.ID, d.run.State, kind, true)}
	s := &slot{id: d.message, class: classAnswer}
	s.show(adapters.Post{Doc: l.chn.fitOne(doc), Buttons: buttons, Silent: true})
	l.out.push(s)
}
