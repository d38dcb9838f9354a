package turn

import (
	"context"
	"errors"

	"typist/adapters"
	"typist/adapters/rich"
)

// sign is how a waiting message shows that it waits (S10): a reaction, or where the platform or
// the chat has none, a note.
type sign struct {
	message string
	note    *slot
	want    bool // the mark shall stand
	stands  bool // the reaction stands
}

// sign marks a message as waiting.
func (l *lane) sign(row int64, message string) {
	s := &sign{message: message, want: true}
	l.waiting[row] = s
	if message == "" {
		return
	}
	if _, ok := l.chn.adapter.(adapters.Reactor); !ok {
		l.noteWaiting(s)
		return
	}
	l.react(s)
}

// unsign takes the mark away.
func (l *lane) unsign(row int64) {
	s := l.waiting[row]
	if s == nil {
		return
	}
	delete(l.waiting, row)
	s.want = false
	if s.note != nil {
		s.note.drop()
		l.out.push(s.note)
	} else if s.message != "" {
		l.react(s)
	}
}

func (l *lane) noteWaiting(s *sign) {
	if s.want {
		s.note = l.post(adapters.Post{Doc: rich.Plain(l.words().Queued(len(l.waiting))), ReplyTo: s.message}, classNote)
	}
}

// reactTries is how often a reaction is tried: a mark that stays is worse than some calls.
const reactTries = 8

// react brings the reaction to the wanted state.
func (l *lane) react(s *sign) {
	l.unreacted = append(l.unreacted, s)
	l.nextReaction()
}

// nextReaction makes the chat's calls for reactions one at a time: a slow "on" can't land after its
// "off", and many messages at once don't use up each other's tries against the platform's limit. A
// mark that is not wanted any more when its turn comes costs no call.
func (l *lane) nextReaction() {
	reactor, ok := l.chn.adapter.(adapters.Reactor)
	for !l.reacting && len(l.unreacted) > 0 {
		s := l.unreacted[0]
		l.unreacted = l.unreacted[1:]
		if ok && s.want != s.stands {
			l.reacting = true
			l.callReaction(reactor, s)
		}
	}
}

func (l *lane) callReaction(reactor adapters.Reactor, s *sign) {
	ref, on := adapters.Ref{Chat: l.chat, ID: s.message}, s.want
	l.hub.go_(func() {
		var err error
		for try := 1; try <= reactTries; try++ {
			ctx, cancel := context.WithTimeout(l.hub.callCtx, callTimeout)
			err = reactor.React(ctx, ref, adapters.ReactionWaiting, on)
			cancel()
			// A told wait can be longer than a call may take.
			if err == nil || refused(err) || !waitFor(l.hub.callCtx, retryDelay(err, try)) {
				break
			}
		}
		l.mail.put(reacted{sign: s, on: on, err: err})
	})
}

// refused: trying again can't help.
func refused(err error) bool {
	return errors.Is(err, adapters.ErrDenied) || errors.Is(err, adapters.ErrInvalid) || errors.Is(err, adapters.ErrGone)
}

// reacted: a call for a reaction came back.
type reacted struct {
	sign *sign
	on   bool
	err  error
}

func (reacted) isLetter() {}

func (r reacted) read(l *lane) {
	l.reacting = false
	defer l.nextReaction()
	if r.err == nil {
		r.sign.stands = r.on
		l.react(r.sign)
		return
	}
	l.log.Warn("a reaction could not be changed", "on", r.on, "error", r.err)
	switch {
	case !r.on:
	case refused(r.err):
		l.noteWaiting(r.sign)
	default:
		r.sign.stands = true // it may stand: it is taken away like one that does
		l.react(r.sign)
	}
}
