package turn

import (
	"context"
	"fmt"
	"slices"
	"time"

	"typist/adapters"
	"typist/agent"
	"typist/agent/progress"
	"typist/agent/store"
)

// goOn is a pressed Resume or Retry button: a turn of its own in the chat's inbox, at most one per
// run, however often the button is pressed and whenever the program ends (S5).
func (l *lane) goOn(runID string, resume bool, p adapters.Press) {
	l.hub.go_(func() {
		ctx := context.WithoutCancel(l.hub.callCtx)
		run, ok, err := l.hub.store.Run(ctx, runID)
		if err == nil && (!ok || run.Chat != l.chat.Key()) {
			l.mail.put(saying{l.words().ButtonOld})
			return
		}
		if err == nil && run.State == store.RunRunning {
			l.mail.put(saying{l.words().Busy})
			return
		}
		var in input
		if err == nil {
			in, err = l.hub.again(ctx, run, resume)
		}
		taken := false
		if err == nil {
			in.Message.Origin = p.Origin
			in.Message.Origin.EventID = "again/" + run.ID
			in.Pressed = &pressedButton{Message: p.ID, Run: run.ID, Resume: resume}
			taken, err = l.hub.offer(ctx, in, time.Now())
		}
		if err != nil {
			l.log.Error("a run could not go on", "run", run.ID, "error", err)
			l.mail.put(saying{l.words().Busy})
		} else if !taken {
			l.mail.put(pressedAgain{*in.Pressed})
		}
	})
}

// pressedButton is the Resume or Retry button that asked for a turn. It stands until that turn
// begins: a turn that a stop drops from the queue can be asked for again.
type pressedButton struct {
	Message string `json:"message"` // that has the button
	Run     string `json:"run"`
	Resume  bool   `json:"resume,omitempty"`
}

// pressedAgain: the turn that the button asks for is in the inbox, or was.
type pressedAgain struct{ pressedButton }

func (pressedAgain) isLetter() {}

func (p pressedAgain) read(l *lane) {
	rows, err := l.hub.store.Waiting(l.hub.callCtx, l.chat.Key())
	if err != nil {
		l.log.Error("the inbox could not be read", "error", err)
		return
	}
	if !slices.ContainsFunc(rows, func(row store.Input) bool { return row.EventID == "again/"+p.Run }) {
		l.takeButton(p.pressedButton)
	}
}

// takeButton is for a run that goes on. Its old message loses its button; a failed one that is
// retried goes, because its partial text is replaced (S3).
func (l *lane) takeButton(p pressedButton) {
	if p.Message == "" {
		return
	}
	s := &slot{id: p.Message, class: classFirst}
	if !p.Resume {
		s.drop()
		l.cleanUp(p.Run, s)
		l.hub.go_(func() { l.dropAnswer(p) })
		return
	}
	l.hub.go_(func() {
		ctx := context.WithoutCancel(l.hub.callCtx)
		run, _, err := l.hub.store.Run(ctx, p.Run)
		var board *progress.Board
		if err == nil {
			board, err = l.hub.boardOf(ctx, run, l.lang())
		}
		l.mail.put(unbutton{slot: s, run: run, board: board, err: err})
	})
}

// dropAnswer deletes the other messages of a failed run's partial text.
func (l *lane) dropAnswer(p pressedButton) {
	run, _, err := l.hub.store.Run(context.WithoutCancel(l.hub.callCtx), p.Run)
	if err != nil {
		l.log.Error("a failed run's messages could not be looked up", "run", p.Run, "error", err)
	}
	for _, id := range run.Answer {
		if id != p.Message {
			s := &slot{id: id, class: classFirst}
			s.drop()
			l.mail.put(tidy{slot: s, run: p.Run})
		}
	}
}

// unbutton: a stopped run's message stays as it is, without its buttons.
type unbutton struct {
	slot  *slot
	run   store.Run
	board *progress.Board
	err   error
}

func (unbutton) isLetter() {}

func (u unbutton) read(l *lane) {
	if u.err != nil {
		l.log.Error("a stopped run's events could not be read", "run", u.run.ID, "error", u.err)
		return
	}
	parts := l.chn.adapter.Fit(u.board.Ended(endOf(u.run), l.view(), u.run.EndedAt))
	u.slot.show(adapters.Post{Doc: parts[len(parts)-1], Silent: true})
	l.out.push(u.slot)
}

// endOf is how the board names a run's end.
func endOf(run store.Run) progress.End {
	switch run.State {
	case store.RunStopped:
		return progress.End{Kind: progress.EndStopped}
	case store.RunInterrupted, store.RunRunning:
		return progress.End{Kind: progress.EndInterrupted}
	case store.RunFailed:
		return progress.End{Kind: progress.EndFailed, Failure: &agent.Failure{Kind: agent.FailureKind(run.Failure)}}
	case store.RunDone, store.RunSilent:
	}
	return progress.End{Kind: progress.EndWorked}
}

// again makes the input with which a run goes on. A resume continues after all that was received
// (S5). A retry starts where nothing that has taken effect is repeated (S3, S4): after the last
// tool results if there are some, else at the person's message.
func (h *Hub) again(ctx context.Context, run store.Run, resume bool) (input, error) {
	in := input{Kind: store.InputRetry, From: run.Node}
	twigs, err := h.twigsOf(ctx, run)
	if err != nil {
		return in, err
	}
	for _, twig := range twigs {
		if resume || twig.Role == agent.ToolRole {
			in.From, in.Kind = twig.ID, store.InputResume
		}
	}
	in.Message.ID = run.Anchor
	in.Message.Mentioned = true // somebody asked for it
	in.Agent, err = h.agentOf(ctx, run.Chat)
	return in, err
}

// twigsOf lists the nodes that a run appended, in order.
func (h *Hub) twigsOf(ctx context.Context, run store.Run) ([]store.Twig, error) {
	all, err := h.store.RunTwigs(ctx, run.ID)
	return slices.DeleteFunc(all, func(t store.Twig) bool { return t.ID == run.Node }), err
}

// agentOf is the agent that serves a chat, whose group may be configured by its name.
func (h *Hub) agentOf(ctx context.Context, key string) (string, error) {
	chat, err := adapters.ParseChat(key)
	if err != nil {
		return "", fmt.Errorf("agent of %s: %w", key, err)
	}
	info, _, err := h.store.Chat(ctx, key)
	if err != nil {
		return "", err
	}
	ch := h.settings().Channels[chat.Channel]
	if g, ok := ch.group(chat.ID, info.Name); ok && g.Agent != "" {
		return g.Agent, nil
	}
	return ch.Agent, nil
}

// agent is the one that serves the chat.
func (l *lane) agent() Agent {
	name, err := l.hub.agentOf(l.hub.callCtx, l.chat.Key())
	if err != nil {
		l.log.Error("the chat's agent could not be looked up", "error", err)
	}
	return l.hub.settings().agent(name)
}

// boardOf rebuilds a run's board from its stored events (P6: durations survive).
func (h *Hub) boardOf(ctx context.Context, run store.Run, lang progress.Lang) (*progress.Board, error) {
	stored, err := h.store.RunEvents(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	stamped := make([]progress.Stamped, len(stored))
	for i, e := range stored {
		stamped[i] = progress.Stamped{At: e.At, Event: e.Event}
	}
	return progress.Replay(progress.Options{Lang: lang, StartedAt: run.StartedAt}, stamped), nil
}
