package turn

import (
	"context"
	"strconv"
	"time"

	"typist/adapters"
	"typist/adapters/rich"
)

// reclaims looks for the parts of an answer of which nobody knows whether they were sent, where the
// last process ended in between and the platform can't be asked by key (S3, S9). A note shows the
// people what is the matter, and its id bounds the search. What surely was not sent is sent after
// it. true: the search is on, and landing goes on when it is over.
func (r *run) reclaims(now time.Time) bool {
	finder, ok := r.lane.chn.adapter.(adapters.Reclaimer)
	if !ok || r.reclaimed || !r.recovered || r.anchor == "" {
		return false
	}
	unsure := false
	for _, f := range r.sent {
		unsure = unsure || f.id == ""
	}
	if !unsure {
		return false
	}
	r.reclaimed, r.asking = true, true
	l, posts, after := r.lane, r.endPosts(r.state(), now), r.newestKnown()
	sent := map[int]fate{}
	for i, f := range r.sent {
		sent[i] = f
	}
	l.hub.go_(func() {
		ctx, cancel := context.WithTimeout(l.hub.callCtx, sweepLimit)
		defer cancel()
		note, err := l.chn.adapter.Send(ctx, l.chat, adapters.Post{Doc: rich.Plain(l.words().MaybeLost), Silent: true})
		if err != nil {
			l.log.Warn("whether an answer arrived can't be found out; it counts as sent", "run", r.id, "error", err)
			l.mail.put(reclaimed{run: r, sent: sent})
			return
		}
		unsure := false
		for i, post := range posts {
			if f, ok := sent[i]; !ok || f.id != "" {
				continue
			}
			ref, found, complete, err := finder.Reclaim(ctx, l.chat, after, note.ID, post, l.claims(ctx))
			switch {
			case found:
				sent[i] = fate{id: ref.ID, sent: true}
				after = ref.ID
			case complete && err == nil:
				delete(sent, i)
			default:
				unsure = true
			}
		}
		l.mail.put(reclaimed{run: r, sent: sent, note: note.ID, keep: unsure})
	})
	return true
}

// newestKnown is the newest message of the chat that came before the lost part: the question, or the
// progress message below it.
func (r *run) newestKnown() string {
	question, err := strconv.Atoi(r.anchor)
	if p, e := strconv.Atoi(r.storedProgress); err == nil && e == nil && p > question {
		return r.storedProgress
	}
	return r.anchor
}

// reclaimed: it is known, as far as it can be, what of an answer was sent.
type reclaimed struct {
	run  *run
	sent map[int]fate
	note string
	keep bool // something stays unknown, and so does the note
}

func (reclaimed) isLetter() {}

func (k reclaimed) read(l *lane) {
	r := k.run
	r.sent, r.asking = k.sent, false
	if !k.keep {
		l.clean(k.note)
	}
	r.land(time.Now())
}
