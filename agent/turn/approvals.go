package turn

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"typist/adapters"
	"typist/adapters/rich"
	"typist/agent"
)

// approval is a question to the chat's people about a tool call (A4). Parallel calls wait each for
// itself.
type approval struct {
	key   string
	run   *run
	ask   agent.Approval
	area  string
	reply chan string // the chosen option's id; capacity 1
	slot  *slot
}

// approve is Request.Approve: it asks, and blocks the call until somebody decides. A question that
// can't be posted refuses the call, as a person would who has not seen it.
func (r *run) approve(ctx context.Context, area string, ask agent.Approval) (string, error) {
	option, err := r.ask(ctx, area, ask)
	if errors.Is(err, errUnasked) {
		for _, o := range ask.Options {
			if !o.Allow {
				return o.ID, nil
			}
		}
	}
	return option, err
}

// errUnasked: the question did not reach the chat, so nobody can decide.
var errUnasked = errors.New("the person could not be asked, so the call was not made")

// ask is approve that tells apart a person's refusal and a question that could not be posted.
func (r *run) ask(ctx context.Context, area string, ask agent.Approval) (string, error) {
	ask = masked(ask)
	a := &approval{key: newID(), run: r, ask: ask, area: area, reply: make(chan string, 1)}
	r.feed.emit(agent.ApprovalRequested{Sub: agent.Sub{Subagent: area}, Approval: ask})
	r.lane.mail.put(approvalAsked{a})
	var option string
	var err error
	select {
	case option = <-a.reply:
		if option == unasked {
			option, err = "", errUnasked
		}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	r.lane.mail.put(approvalOver{a, errors.Is(err, context.DeadlineExceeded)})
	r.feed.emit(agent.ApprovalResolved{Sub: agent.Sub{Subagent: area}, ID: ask.ID, Option: option})
	return option, err
}

// unasked stands for the option of a question that could not be posted.
const unasked = "\x00unasked"

// masked is the question without the secrets of what it is about (P4).
func masked(ask agent.Approval) agent.Approval {
	ask.Title, ask.Detail = agent.Mask(ask.Title), agent.Mask(ask.Detail)
	ask.Options = slices.Clone(ask.Options)
	for i := range ask.Options {
		ask.Options[i].Name = agent.Mask(ask.Options[i].Name)
	}
	return ask
}

// approvalAsked: a call waits for a person.
type approvalAsked struct{ approval *approval }

func (approvalAsked) isLetter() {}

func (q approvalAsked) read(l *lane) {
	a := q.approval
	r := a.run
	r.drain(time.Now())
	if r.phase != running {
		return
	}
	r.approvals[a.key] = a
	r.asked = true
	r.pauseOrResume(time.Now())
	post := adapters.Post{Doc: l.chn.fitOne(a.doc(l.words().WaitingApproval))}
	var row []adapters.Button
	for i, o := range a.ask.Options {
		b := adapters.Button{Text: l.optionName(o), Data: "a:" + a.key + ":" + strconv.Itoa(i)}
		if o.Allow {
			b.Style = adapters.StylePrimary
		} else {
			b.Style = adapters.StyleDanger
		}
		row = append(row, b)
	}
	post.Buttons = [][]adapters.Button{row}
	if l.chn.caps.PingReplies && r.anchor != "" {
		post.ReplyTo, post.Ping = r.anchor, true
	} else if l.chn.caps.RepliesInGroups && l.kind == adapters.Group {
		post.ReplyTo = r.anchor // in a busy group people see whom it is about
	}
	a.slot = &slot{key: newID(), class: classAnswer,
		durable: postRecord{store: l.hub.store, run: r.id, chat: l.chat.Key(), purpose: purposeApproval}}
	a.slot.settled = func(err error) {
		if err != nil && a.slot != nil { // else it is over, and could not be taken away
			a.unasked(err)
		}
	}
	a.slot.show(post)
	l.out.push(a.slot)
}

// unasked refuses a call whose question can't be posted, and says so.
func (a *approval) unasked(err error) {
	select {
	case a.reply <- unasked:
	default:
		return // over meanwhile
	}
	l := a.run.lane
	l.log.Warn("a question could not be posted; the call is refused", "run", a.run.id, "error", err)
	l.note(l.words().Unasked(a.ask.Title))
}

// purposeApproval marks the post of a question.
const purposeApproval = "approval"

// doc is the question.
func (a *approval) doc(ask string) rich.Doc {
	doc := rich.Doc{{Kind: rich.Paragraph, Spans: []rich.Span{{Text: ask, Bold: true}, {Text: "\n" + a.ask.Title}}}}
	if a.ask.Detail != "" {
		doc = append(doc, rich.Block{Kind: rich.Code, Lang: "json", Text: a.ask.Detail})
	}
	return doc
}

func (l *lane) optionName(o agent.Option) string {
	switch {
	case o.Name != "":
		return o.Name
	case o.Allow:
		return l.words().Approve
	}
	return l.words().Deny
}

// decide takes a press on one of the question's buttons.
func (a *approval) decide(l *lane, choice string, by adapters.User) {
	i, err := strconv.Atoi(choice)
	if err != nil || i < 0 || i >= len(a.ask.Options) {
		return
	}
	o := a.ask.Options[i]
	select {
	case a.reply <- o.ID:
	default:
		return // decided already
	}
	a.settle(l.decision(a.ask.Title, o, by))
	delete(a.run.approvals, a.key)
	a.run.decided[a.key] = true
	a.run.pauseOrResume(time.Now())
}

// decision says who decided what, with the agent's own name of the option where it has one.
func (l *lane) decision(title string, o agent.Option, by adapters.User) string {
	name := by.Name
	if name == "" {
		name = by.ID
	}
	text := l.words().Denied(title, name)
	if o.Allow {
		text = l.words().Approved(title, name)
	}
	if o.Name != "" {
		text += " (" + o.Name + ")"
	}
	return text
}

// settle puts what became of the question in its place.
func (a *approval) settle(text string) {
	l := a.run.lane
	a.slot.show(adapters.Post{Doc: l.chn.fitOne(rich.Plain(text)), Silent: true})
	l.out.push(a.slot)
	l.forgetPost(a.slot.key)
	a.slot = nil
}

// approvalOver: nobody waits for the question any more.
type approvalOver struct {
	approval *approval
	timedOut bool
}

func (approvalOver) isLetter() {}

func (o approvalOver) read(*lane) {
	a := o.approval
	delete(a.run.approvals, a.key)
	a.run.pauseOrResume(time.Now())
	a.close(o.timedOut)
}

// close ends an undecided question: it goes, or says that nobody decided in time.
func (a *approval) close(timedOut bool) {
	if a.slot == nil {
		return
	}
	s, l := a.slot, a.run.lane
	if timedOut {
		a.settle(l.words().Undecided(a.ask.Title))
		return
	}
	a.slot = nil
	s.drop()
	l.cleanUp(a.run.id, s)
	l.forgetPost(s.key)
}

// forgetPost drops the record of a post that nothing has to be done for after a crash.
func (l *lane) forgetPost(key string) {
	l.hub.go_(func() {
		if err := l.hub.store.DropPost(context.WithoutCancel(l.hub.callCtx), key); err != nil {
			l.log.Error("a post's record could not be removed", "error", err)
		}
	})
}

// refuses reports whether the chosen option does not allow the call; so does none.
func refuses(a agent.Approval, option string) bool {
	for _, o := range a.Options {
		if o.ID == option {
			return !o.Allow
		}
	}
	return true
}
