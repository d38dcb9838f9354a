package turn

import (
	"context"
	"errors"
	"time"

	"typist/adapters"
	"typist/adapters/rich"
	"typist/agent"
	"typist/agent/progress"
	"typist/agent/store"
)

// land brings an ended run to its answer: once that may leave, the indicator ends, the last events are stored, the
// pulse in flight gets 50 ms (T8), then the answer leaves. It is called again by whatever it
// waits for.
func (r *run) land(now time.Time) {
	if r.phase < landing {
		if r.waitsInLine(now) {
			return
		}
		r.phase = landing
		r.finishAt = now.Add(pulseWait)
		r.endIndicator(now)
		r.closeApprovals()
		if r.progress != nil {
			// What becomes of it is decided with the answer; only the acknowledgement of a stop goes
			// out before, which may come sooner than a new message is allowed (S2).
			if p := r.progress; !r.ackStop.IsZero() && !r.superseded && (p.id != "" || p.flying) {
				r.board.Note(progress.NoteStopping)
			} else {
				r.progress.held = true
			}
		}
	}
	if r.phase != landing || r.begun == nil || len(r.offers) > 0 || r.asking {
		return
	}
	r.save(now)
	if r.saving {
		return
	}
	if (r.pulse != nil || r.clearing) && now.Before(r.finishAt) {
		return
	}
	if r.reclaims(now) {
		return
	}
	r.phase = delivering
	r.finish(now)
}

// finish sends what is left of the run for people (P12); the turn ends in the store when that
// stands (hop 8). A crash in between is found by the stored terminal event and the posts' records.
func (r *run) finish(now time.Time) {
	l, state := r.lane, r.state()
	if r.endedAt.IsZero() {
		r.endedAt = now
	}
	elapsed := r.endedAt.Sub(r.started)
	l.hub.ended(r, state, elapsed)
	r.answerStops(state, elapsed)
	posts := r.endPosts(state, now)
	if len(posts) == 0 {
		r.dropProgress()
		r.close(state, nil, nil)
		return
	}
	reuse := r.presented(posts)
	edits := reuse == nil && !r.asNew(state, elapsed, now)
	if edits {
		reuse = []*slot{r.progress}
	}
	chat := l.chat.Key()
	l.deliver(posts, reuse, func(part int) durable {
		return postRecord{store: l.hub.store, run: r.id, chat: chat, part: part, purpose: purposeAnswer}
	}, func(slots []*slot, err error) {
		r.answered(time.Now())
		r.sweep(slots)
		if !edits {
			r.retireProgress(state, elapsed)
		}
		r.close(state, slots, err)
	})
}

// asNew decides between a new message and an edit of the progress message (P12).
func (r *run) asNew(state store.RunState, elapsed time.Duration, now time.Time) bool {
	p := r.progress
	if p == nil || p.dead || p.lost || p.id == "" && !p.flying {
		return true
	}
	if r.asked {
		return true // an answer that is edited in would stand above the question
	}
	if len(r.files) > 0 && state == store.RunDone {
		return true // an edit brings no files
	}
	if (state == store.RunDone || state == store.RunFailed) && elapsed > r.lane.hub.settings().NotifyAfter {
		return true
	}
	return r.lane.chn.caps.EditKeepsIndicator && r.ctl.MayShow(now)
}

// endPosts is what people read at the end; none for a silent run (T5).
func (r *run) endPosts(state store.RunState, now time.Time) []adapters.Post {
	l := r.lane
	var doc rich.Doc
	var kind agent.FailureKind
	if r.superseded || r.unseen(state) {
		return nil
	}
	switch state {
	case store.RunSilent, store.RunRunning:
		return nil
	case store.RunDone:
		text := r.board.Text()
		if r.in.Heartbeat != nil {
			if text = r.lane.hub.heartbeatText(r, text); text == "" {
				return nil
			}
		}
		doc = rich.Parse(text)
		if !visible(doc) {
			if len(r.files) == 0 && r.in.Heartbeat != nil {
				return nil
			}
			doc = r.wordless(now)
		}
	case store.RunStopped:
		doc = r.board.Ended(progress.End{Kind: progress.EndStopped}, l.view(), now)
	case store.RunInterrupted:
		doc = r.board.Ended(progress.End{Kind: progress.EndInterrupted}, l.view(), now)
	case store.RunFailed:
		failure := r.terminal.(agent.RunError).Failure
		doc = r.board.Ended(progress.End{Kind: progress.EndFailed, Failure: &failure}, l.view(), now)
		kind = failure.Kind
	}
	parts := l.chn.adapter.Fit(doc)
	posts := make([]adapters.Post, len(parts))
	for i, part := range parts {
		posts[i] = adapters.Post{Doc: part, Silent: state == store.RunStopped || state == store.RunInterrupted}
	}
	last := &posts[len(posts)-1]
	if state == store.RunDone {
		last.Files = r.files
		last.Buttons = branchButtons(r.begun.versions)
	} else if row := l.endButtons(r.id, state, kind, r.board.Worked()); len(row) > 0 {
		last.Buttons = [][]adapters.Button{row}
	}
	r.address(&posts[0], now)
	return posts
}

// unseen: a run that nobody saw begin or asked for ends without a word if it has no answer: a
// heartbeat, and in a group without mention one that had shown nothing yet (P1). Whoever stops one
// reads that it stopped (S2).
func (r *run) unseen(state store.RunState) bool {
	if state == store.RunDone {
		return false
	}
	if state == store.RunStopped {
		return false
	}
	return r.in.Heartbeat != nil || r.quietGroup() && r.progress == nil && !r.visible
}

// address makes the answer a reply where people expect one: in groups, to an edited message
// (S7), and as the ping for a long run (P12).
func (r *run) address(post *adapters.Post, now time.Time) {
	if r.anchor == "" || r.in.Heartbeat != nil {
		return
	}
	long := now.Sub(r.started) > r.lane.hub.settings().NotifyAfter
	if r.lane.chn.caps.PingReplies && long {
		post.ReplyTo, post.Ping = r.anchor, !post.Silent
		return
	}
	if r.in.Branch != nil || r.lane.chn.caps.RepliesInGroups && r.lane.kind == adapters.Group {
		post.ReplyTo = r.anchor
	}
}

// wordless is the answer of a run that ended well without a text.
func (r *run) wordless(now time.Time) rich.Doc {
	if len(r.files) > 0 {
		return rich.Plain(agent.Mask(r.files[0].Name))
	}
	if r.board.Worked() {
		return r.board.Ended(progress.End{Kind: progress.EndWorked}, r.lane.view(), now)
	}
	return rich.Plain(progress.Words(r.lane.lang()).NoAnswer)
}

// dropProgress deletes the progress message, after a crash too (S9).
func (r *run) dropProgress() {
	if r.progress == nil {
		return
	}
	r.progress.class = classFirst
	r.progress.drop()
	r.lane.cleanUp(r.id, r.progress)
}

// cleanUp brings a message that nothing stands for any more out of the way. The intent is stored
// first, so that a crash can't leave it behind (S9).
func (l *lane) cleanUp(runID string, s *slot) {
	hub, chat, id := l.hub, l.chat.Key(), s.id
	s.held = true
	l.out.slots[s] = struct{}{} // so that a shutdown waits for it (C5)
	hub.go_(func() {
		ctx := context.WithoutCancel(hub.callCtx)
		if id != "" {
			if err := hub.store.PostIntent(ctx, store.Post{Key: "clean-" + chat + "/" + id, Chat: chat, RunID: runID, Purpose: purposeCleanUp, Body: []byte(id)}); err != nil {
				hub.log.Error("a clean-up could not be stored", "error", err)
			}
		}
		l.mail.put(cleanUpStored{slot: s, id: id})
	})
}

// purposeCleanUp marks the intent to delete a message of the bot.
const purposeCleanUp = "clean-up"

// cleanUpStored: a clean-up may begin.
type cleanUpStored struct {
	slot *slot
	id   string
}

func (cleanUpStored) isLetter() {}

func (c cleanUpStored) read(l *lane) {
	c.slot.held = false
	deleting := c.slot.remove
	c.slot.settled = func(err error) {
		if err != nil && !deleting && !c.slot.remove {
			// It can't be changed: then it goes, so that nothing says "Working…" beside the answer.
			c.slot.drop()
			c.read(l)
			return
		}
		if err != nil || c.id == "" {
			return
		}
		l.hub.go_(func() {
			if err := l.hub.store.DropPost(context.WithoutCancel(l.hub.callCtx), "clean-"+l.chat.Key()+"/"+c.id); err != nil {
				l.log.Error("a clean-up could not be stored as done", "error", err)
			}
		})
	}
	l.out.push(c.slot)
}

// retireProgress is the progress message's end beside an answer of its own: it goes, or after a
// long run shrinks to its summary (P12).
func (r *run) retireProgress(state store.RunState, elapsed time.Duration) {
	if r.progress == nil {
		return
	}
	if state != store.RunDone || elapsed <= r.lane.hub.settings().NotifyAfter || r.progress.id == "" && !r.progress.flying {
		r.dropProgress()
		return
	}
	now := r.started.Add(elapsed)
	post := adapters.Post{Silent: true, Doc: r.lane.chn.fitOne(r.board.Ended(progress.End{Kind: progress.EndWorked}, progress.Overview, now))}
	if r.board.Worked() {
		post.Buttons = [][]adapters.Button{{{Text: progress.Words(r.lane.lang()).Details, Data: "d:" + r.id}}}
	}
	r.progress.class = classFirst
	r.progress.show(post)
	r.lane.cleanUp(r.id, r.progress)
}

// close ends the turn in the store: inputs done, nodes appended, leaf moved, run state and answer
// known, in one transaction; then the next row begins.
func (r *run) close(state store.RunState, slots []*slot, err error) {
	l, now := r.lane, time.Now()
	chat := l.chat.Key()
	r.phase = over
	r.answered(now)
	r.measured()
	end := store.End{RunID: r.id, State: state, EndedAt: now, Leaf: r.begun.parent, KeepProgress: r.keepsProgress()}
	if e, ok := r.terminal.(agent.RunError); ok {
		end.Failure = string(e.Failure.Kind)
	}
	if err != nil {
		end.Failure = undelivered
		l.hub.metrics.Undelivered(l.chat.Channel)
		l.log.Error("an answer could not be delivered; /retry delivers it again", "run", r.id, "error", err)
	}
	for _, s := range slots {
		if s.lost && end.Failure == "" {
			end.Failure = undelivered // nobody knows: /retry delivers it again, and runs nothing
		}
	}
	for _, id := range ids(slots) {
		end.Answer = append(end.Answer, store.PostRef{MessageID: id})
	}
	messages, open, steered := r.transcript.Messages(), r.transcript.Open(), r.steered
	if state == store.RunDone || state == store.RunSilent {
		for _, s := range steered {
			end.Inputs = append(end.Inputs, s.row)
		}
	} else {
		steered = nil // they wait on, and become turns of their own
	}
	hub, recovered := l.hub, r.recovered
	hub.go_(func() {
		leaf := end.Leaf
		for _, m := range withSteered(append(messages, hub.answerOpen(end.RunID, open)...), steered) {
			n := store.Node{ID: newID(), Chat: chat, Parent: leaf, RunID: end.RunID, Message: m, At: now,
				Incomplete: state != store.RunDone && state != store.RunSilent}
			end.Nodes = append(end.Nodes, n)
			leaf = n.ID
		}
		end.Leaf = leaf
		if recovered && !hub.stillAt(chat, r.begun.parent) {
			end.Leaf = "" // the conversation has gone on elsewhere
		}
		hub.storeEnd(end)
		l.mail.put(turnOver{run: r})
	})
}

// storeEnd stores the end of a turn, however long that takes: the next turn must not begin beside
// an answer that its history lacks.
func (h *Hub) storeEnd(end store.End) {
	for try := 1; ; try++ {
		err := h.store.EndTurn(context.WithoutCancel(h.callCtx), end)
		if err == nil {
			return
		}
		h.log.Error("the end of a turn could not be stored", "run", end.RunID, "error", err)
		if errors.Is(err, store.ErrRunEnded) || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrClosed) || !waitFor(h.callCtx, backoff(try)) {
			return
		}
	}
}

// stillAt reports whether the chat's active leaf is this node.
func (h *Hub) stillAt(chat, node string) bool {
	leaf, err := h.store.Leaf(context.WithoutCancel(h.callCtx), chat)
	return err == nil && leaf == node
}

// answerOpen gives a result to every call that the run did not live to see answered, so that a
// resume executes none of them again (S4, S5).
func (h *Hub) answerOpen(runID string, open []agent.ToolCall) []agent.Message {
	if len(open) == 0 {
		return nil
	}
	records, err := h.store.ToolsOf(context.WithoutCancel(h.callCtx), runID)
	if err != nil {
		h.log.Error("the tool calls of a run could not be read; they count as unknown", "run", runID, "error", err)
	}
	msg := agent.Message{Role: agent.ToolRole}
	for _, call := range open {
		result := agent.ToolResult{IsError: true, Content: "This call was not executed: the run ended before."}
		if err != nil {
			result = unknownResult(call.Name)
		}
		for _, rec := range records {
			if rec.CallID != call.ID {
				continue
			}
			if result = unknownResult(call.Name); rec.Finished {
				result = rec.Result
			}
		}
		msg.Blocks = append(msg.Blocks, agent.Part{Kind: agent.PartResult, ID: call.ID, Text: result.Content, IsError: result.IsError})
	}
	return []agent.Message{msg}
}

// undelivered is the Failure of a run whose answer did not reach the chat.
const undelivered = "undelivered"

// keepsProgress: the progress message stands on, as the answer or as the run's summary.
func (r *run) keepsProgress() bool {
	return r.progress != nil && !r.progress.remove
}

// afterTurn keeps a letter for the moment when the turn that is ending is stored: an answer and its
// buttons stand in the chat before that, and people may be quick. false: no turn is ending.
func (l *lane) afterTurn(m letter) bool {
	if l.run == nil || l.run.phase <= stopping {
		return false
	}
	l.run.after = append(l.run.after, m)
	return true
}

// turnOver: the turn is over and stored as such.
type turnOver struct{ run *run }

func (turnOver) isLetter() {}

func (t turnOver) read(l *lane) {
	if l.run == t.run {
		l.setRun(nil)
		for _, m := range t.run.after {
			m.read(l)
		}
		if l.rootNext {
			l.rootNext = false
			if err := l.beginRoot(l.hub.callCtx); err != nil {
				l.log.Error("a new conversation could not be stored", "error", err)
			}
		}
	}
}

// purposeAnswer marks the posts of an answer.
const purposeAnswer = "answer"

// postRecord keeps an answer's part findable after a crash (S3).
type postRecord struct {
	store   postStore
	run     string
	chat    string
	part    int
	purpose string
}

type postStore interface {
	PostIntent(ctx context.Context, p store.Post) error
	PostSent(ctx context.Context, key, messageID string) error
	DropPost(ctx context.Context, key string) error
}

func (p postRecord) sending(ctx context.Context, key string) error {
	return p.store.PostIntent(ctx, store.Post{Key: key, Chat: p.chat, RunID: p.run, Purpose: p.purpose, Part: p.part})
}

func (p postRecord) unsent(ctx context.Context, key string) error {
	return p.store.DropPost(ctx, key)
}

func (p postRecord) sent(ctx context.Context, key, id string) error {
	err := p.store.PostSent(ctx, key, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil // somebody was quicker: the question is decided, and its record forgotten
	}
	return err
}
