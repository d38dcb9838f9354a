package turn

import (
	"context"
	"errors"

	"typist/adapters"
	"typist/adapters/rich"
	"typist/agent"
	"typist/agent/store"
)

// redeliver sends an answer once more that did not reach the chat (S3).
type redeliver struct {
	run     store.Run
	doc     rich.Doc // empty: there is nothing to send
	files   []adapters.File
	node    string // that people see as the answer
	command commanded
}

func (redeliver) isLetter() {}

// storedAnswer is what a run has left for people: its last text, and its files (C7).
func (l *lane) storedAnswer(ctx context.Context, run store.Run) (redeliver, error) {
	d := redeliver{run: run}
	twigs, err := l.hub.twigsOf(ctx, run)
	if err != nil {
		return d, err
	}
	for _, t := range twigs {
		d.node = t.ID
		n, ok, err := l.hub.store.Node(ctx, t.ID)
		if err != nil {
			return d, err
		}
		if text := lastText(n.Message); ok && n.Message.Role == agent.Assistant && text != "" {
			d.doc = rich.Parse(text)
		}
	}
	events, err := l.hub.store.RunEvents(ctx, run.ID)
	if err != nil {
		return d, err
	}
	for _, e := range events {
		if f, ok := e.Event.(agent.FileProduced); ok {
			d.files = append(d.files, adapters.File{Name: f.Name, MIME: f.MIME, Data: f.Data})
		}
	}
	if !visible(d.doc) {
		d.doc = nil
		if len(d.files) > 0 {
			d.doc = rich.Plain(agent.Mask(d.files[0].Name))
		}
	}
	return d, nil
}

func (d redeliver) read(l *lane) {
	if d.command.command.Answer != nil {
		d.command.answer(l, l.words().Redelivered)
	}
	var posts []adapters.Post
	for _, part := range l.chn.adapter.Fit(d.doc) {
		posts = append(posts, adapters.Post{Doc: part})
	}
	posts[len(posts)-1].Files = d.files
	l.deliver(posts, nil, nil, func(slots []*slot, err error) {
		if err != nil {
			retried{}.read(l)
			l.log.Error("the stored answer could not be delivered", "error", err)
			return
		}
		run := d.run
		run.Failure, run.Answer = "", ids(slots)
		l.hub.go_(func() {
			ctx := context.WithoutCancel(l.hub.callCtx)
			if err := errors.Join(l.hub.store.UpdateRun(ctx, run), l.hub.store.SetRefs(ctx, d.node, run.Answer)); err != nil {
				l.log.Error("a delivery could not be stored", "error", err)
			}
			l.mail.put(retried{delivered: true})
		})
	})
}

// retried: a /retry is carried out, or has become a turn. Those that came while it delivered the
// stored answer asked for nothing else.
type retried struct{ delivered bool }

func (retried) isLetter() {}

func (r retried) read(l *lane) {
	more := l.retries
	l.retrying, l.retries = false, nil
	for _, c := range more {
		switch {
		case !r.delivered:
			retry(l, c)
		case c.command.Answer != nil:
			c.answer(l, l.words().Redelivered)
		}
	}
}
