package turn

import (
	"context"
	"time"

	"typist/adapters"
	"typist/agent"
	"typist/agent/progress"
	"typist/agent/store"
)

// recovered: a run of the last process is to be brought to its end, before the chat goes on.
type recovered struct {
	leftOver
	in input
}

func (recovered) isLetter() {}

func (rec recovered) read(l *lane) {
	l.leftOvers = append(l.leftOvers, rec)
	if id := rec.in.Message.ID; id != "" && rec.in.Kind == store.InputMessage {
		l.react(&sign{message: id, stands: true}) // a mark that it waits may be left
	}
	l.check = true
}

// settle looks up what was on its way when the process ended; landing follows.
func (l *lane) settle(rec recovered) {
	r := l.restore(rec)
	l.setRun(r)
	l.hub.metrics.RunStarted(l.chat.Channel)
	if rec.run.Indicator {
		r.clear()
	}
	run, posts, adapter := rec.run, rec.posts, l.chn.adapter
	l.hub.go_(func() {
		found := lookedUp{run: r, posts: map[string]fate{}}
		ctx := l.hub.callCtx
		if run.Progress == "" && run.ProgressKey != "" {
			found.progress = fateOf(ctx, adapter, l.chat, run.ProgressKey, run.StartedAt)
		}
		for _, p := range posts {
			switch {
			case p.Sent:
				found.posts[p.Key] = fate{id: p.MessageID, sent: true}
			case p.Purpose == purposeAnswer, p.Purpose == purposeApproval:
				found.posts[p.Key] = fateOf(ctx, adapter, l.chat, p.Key, p.At)
			}
		}
		l.mail.put(found)
	})
}

// restore rebuilds a run's state from what is stored. From landing on all is as at any other end.
func (l *lane) restore(rec recovered) *run {
	r := l.newRun(rec.in)
	run := rec.run
	r.id, r.started, r.anchor, r.agent.Backend = run.ID, run.StartedAt, run.Anchor, run.Backend
	r.begun = &begun{parent: run.Node}
	r.phase, r.asking, r.finishAt = landing, true, time.Now()
	r.cancel = func(error) {}
	r.recovered = true
	r.posts, r.storedProgress = rec.posts, run.Progress
	last := run.StartedAt
	stamped := make([]progress.Stamped, 0, len(rec.events)+1)
	apply := func(ev agent.Event, at time.Time) {
		r.transcript.Apply(ev)
		stamped = append(stamped, progress.Stamped{At: at, Event: ev})
		last = at
	}
	said := map[string]bool{} // texts with something in them
	for _, e := range rec.events {
		if agent.Terminal(e.Event) {
			r.terminal = e.Event
		}
		if c, ok := e.Event.(agent.TextContent); ok {
			said[c.ID] = true
		}
		if end, ok := e.Event.(agent.TextEnded); ok && end.Subagent == "" && (end.Silent || said[end.ID]) {
			r.silent = end.Silent
		}
		apply(e.Event, e.At)
	}
	if r.terminal == nil {
		r.terminal = agent.RunFinished{RunID: run.ID, Outcome: agent.Interrupt}
		apply(r.terminal, last)
		r.unsaved = append(r.unsaved, r.terminal)
	}
	r.endedAt = last
	r.board = progress.Replay(progress.Options{Lang: l.lang(), Reasoning: r.reasoning, StartedAt: run.StartedAt}, stamped)
	return r
}

// fate is what became of a post that was on its way when the process ended.
type fate struct {
	id   string
	sent bool // it stands; without an id nobody knows where (P11)
}

// fateOf asks the platform. Where it can't be asked, the post counts as sent (S3).
func fateOf(ctx context.Context, a adapters.Adapter, chat adapters.Chat, key string, since time.Time) fate {
	finder, ok := a.(adapters.Finder)
	if !ok {
		return fate{sent: true}
	}
	for try := 1; try <= 5; try++ {
		ref, found, err := finder.Find(ctx, chat, key, since.Add(-time.Minute))
		if err == nil {
			return fate{id: ref.ID, sent: found}
		}
		if !waitFor(ctx, retryDelay(err, try)) {
			break
		}
	}
	return fate{sent: true}
}

// lookedUp: it is known what stands in the chat of an interrupted run.
type lookedUp struct {
	run      *run
	progress fate
	posts    map[string]fate
}

func (lookedUp) isLetter() {}

func (k lookedUp) read(l *lane) {
	r := k.run
	r.asking = false
	r.sent = map[int]fate{}
	for _, p := range r.posts {
		f := k.posts[p.Key]
		switch {
		case p.Purpose == purposeAnswer && f.sent:
			r.sent[p.Part] = f
		case p.Purpose == purposeApproval:
			l.clean(f.id)
			l.forgetPost(p.Key)
		}
	}
	if id := r.storedProgress; id != "" || k.progress.sent {
		if id == "" {
			id = k.progress.id
		}
		r.progress = &slot{id: id, class: classAnswer, lost: id == ""}
	}
	r.land(time.Now())
}

// presented gives the parts of an answer that stand already, or count as sent.
func (r *run) presented(posts []adapters.Post) []*slot {
	if len(r.sent) == 0 {
		return nil
	}
	slots := make([]*slot, len(posts))
	for i, post := range posts {
		f, ok := r.sent[i]
		slots[i] = &slot{id: f.id, key: newID(), lost: ok && f.id == "", showing: ok, shown: post}
	}
	return slots
}
