package turn

import (
	"context"
	"time"

	"typist/adapters"
	"typist/adapters/rich"
	"typist/agent/progress"
)

// wantsProgress decides whether the run's progress message appears now (P1).
func (r *run) wantsProgress(now time.Time) bool {
	if r.superseded {
		return false
	}
	if !r.ackStop.IsZero() {
		return true // a stop shows at once (S2)
	}
	if r.in.Heartbeat != nil {
		return false // its text is held until the run ends (H2)
	}
	if r.quietGroup() && !r.visible {
		return false
	}
	return r.board.Worked() || !now.Before(r.started.Add(r.lane.hub.settings().Delay))
}

// quietGroup: a group in which the bot was not mentioned.
func (r *run) quietGroup() bool { return r.lane.kind == adapters.Group && !r.in.Message.Mentioned }

// showProgress makes or renews the progress message.
func (r *run) showProgress(now time.Time) {
	if r.phase > stopping {
		return
	}
	if r.progress == nil {
		if !r.wantsProgress(now) {
			return
		}
		r.progress = &slot{class: classFirst, key: newID(), live: r.renderProgress, stale: true, durable: progressRecord{store: r.lane.hub.store, run: r.id}}
		r.tick, _ = r.board.NextTick(now)
	}
	if !r.tick.IsZero() && !r.tick.After(now) {
		r.progress.ticked = true
		r.progress.touch(r.lane)
	}
	if !r.progress.stale {
		return
	}
	if r.progress.id != "" {
		r.progress.class = classEdit
	}
	if r.phase == stopping && !r.ackStop.IsZero() {
		r.progress.class = classStop
	}
	r.lane.out.push(r.progress)
}

// renderProgress is the progress message as it should stand now.
func (r *run) renderProgress(now time.Time) adapters.Post {
	r.tick, _ = r.board.NextTick(now)
	words := progress.Words(r.lane.lang())
	post := adapters.Post{Silent: true, Doc: r.lane.chn.fitOne(r.view(now))}
	if r.phase == running {
		post.Buttons = [][]adapters.Button{{{Text: words.Stop, Data: "s:" + r.id, Style: adapters.StyleDanger}}}
		if r.board.Worked() && r.lane.view() != progress.Detail {
			post.Buttons[0] = append(post.Buttons[0], adapters.Button{Text: words.Details, Data: "d:" + r.id})
		}
	}
	if r.lane.chn.caps.RepliesInGroups && r.lane.kind == adapters.Group {
		post.ReplyTo = r.anchor
	}
	return post
}

// view is the board as the chat wants it, with its trace where somebody asked for that (P7, P8).
func (r *run) view(now time.Time) rich.Doc {
	if r.details {
		return r.board.View(progress.Detail, now)
	}
	return r.board.View(r.lane.view(), now)
}

// fitOne cuts a document to what one message holds.
func (c *channel) fitOne(doc rich.Doc) rich.Doc { return c.adapter.Fit(doc)[0] }

// progressRecord keeps the progress message findable after a crash (S9).
type progressRecord struct {
	store progressStore
	run   string
}

type progressStore interface {
	SaveProgress(ctx context.Context, runID, key, messageID string) error
}

func (p progressRecord) sending(ctx context.Context, key string) error {
	return p.store.SaveProgress(ctx, p.run, key, "")
}

func (p progressRecord) unsent(ctx context.Context, _ string) error {
	return p.store.SaveProgress(ctx, p.run, "", "")
}

func (p progressRecord) sent(ctx context.Context, key, id string) error {
	return p.store.SaveProgress(ctx, p.run, key, id)
}

// pauseOrResume pauses the indicator while all the run does is wait for a person (T12).
func (r *run) pauseOrResume(now time.Time) {
	if r.board.OnlyWaiting() {
		r.ctl.Pause(now)
		r.coverage.Pause(now)
		return
	}
	r.ctl.Resume(now)
	if r.coverage.counted {
		r.coverage.Start(now)
	}
}

// statusEvery bounds how often a changed status text is sent (Slack): a run of quick tools would
// spend the calls that the progress message needs.
const statusEvery = 2 * time.Second

// statusChanged renews a status text that says something else by now (T6).
func (r *run) statusChanged(now time.Time) {
	if !r.restated || !r.watchesStatus() || now.Before(r.statusAt.Add(statusEvery)) {
		return
	}
	r.restated = false
	if r.board.Status(now) != r.status && (r.lane.chn.status == nil || r.lane.chn.status.AllowN(now, 1)) {
		r.ctl.Changed(now)
	}
}

// watchesStatus: a status text shows that can become outdated.
func (r *run) watchesStatus() bool {
	return r.lane.chn.caps.IndicatorText && r.status != "" && r.pulse == nil && r.ctl.Active()
}

// cutIndicator takes the indicator away when typingMaxSeconds have passed (T13).
func (r *run) cutIndicator(now time.Time) {
	if at, ok := r.ctl.CutAt(); ok && !r.cut && !now.Before(at) {
		r.cut = true
		r.coverage.Pause(now)
		r.clear()
	}
}

// next is when the run wants to be looked at again.
func (r *run) next() time.Time {
	var at time.Time
	sooner := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if r.phase < landing {
		if due, ok := r.ctl.Due(); ok {
			sooner(due)
		}
		if at, ok := r.ctl.CutAt(); ok && !r.cut {
			sooner(at)
		}
	}
	if r.phase <= stopping {
		if r.restated && r.watchesStatus() {
			sooner(r.statusAt.Add(statusEvery))
		}
		if r.progress == nil && r.in.Heartbeat == nil && !r.superseded && (!r.quietGroup() || r.visible) {
			sooner(r.started.Add(r.lane.hub.settings().Delay))
		} else if r.progress != nil && !r.progress.stale {
			sooner(r.tick)
		}
	}
	if r.phase == queued {
		sooner(r.endedAt.Add(lineLimit))
	}
	if r.phase <= stopping {
		sooner(r.deadline)
	}
	if len(r.unsaved) > 0 && !r.saving {
		sooner(r.saveAt)
	}
	if r.phase == landing {
		sooner(r.finishAt)
	}
	return at
}

// step does what is due.
func (r *run) step(now time.Time) {
	if r.phase < landing {
		r.statusChanged(now)
		r.sendPulse(now)
		r.cutIndicator(now)
		r.showProgress(now)
	}
	if r.phase == queued && !now.Before(r.endedAt.Add(lineLimit)) {
		r.land(now)
	}
	if r.phase <= stopping && !r.deadline.IsZero() && !now.Before(r.deadline) {
		r.abandon(now)
	}
	r.save(now)
	if r.phase == landing && !now.Before(r.finishAt) {
		r.land(now)
	}
}
