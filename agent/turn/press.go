package turn

import (
	"strings"
	"time"

	"typist/adapters"
)

// pressed: a button was pressed. Buttons carry what they are about in their data, by id, so that a
// late press can never hit another run (S2): "s:RUN" stop, "r:RUN" resume, "t:RUN" retry,
// "d:RUN" details, "a:QUESTION:N" decide, "b:RUN" show that branch's answer, "n" nothing.
type pressed struct{ adapters.Press }

func (pressed) isLetter() {}

func (p pressed) read(l *lane) {
	what, rest, _ := strings.Cut(p.Data, ":")
	if strings.Contains("rtdb", what) && l.afterTurn(p) {
		return
	}
	switch what {
	case "s":
		if l.run != nil && l.run.id == rest {
			l.run.stop(time.Now())
			return
		}
		l.note(l.words().RunOver)
	case "r", "t":
		l.goOn(rest, what == "r", p.Press)
	case "d":
		l.toggleDetails(rest, p.ID)
	case "a":
		key, choice, _ := strings.Cut(rest, ":")
		l.decide(key, choice, p.Press)
	case "b":
		l.switchTo(rest, p.ID)
	case "n":
	default:
		l.note(l.words().ButtonOld)
	}
}

// decide takes a press on one of a question's buttons (A4).
func (l *lane) decide(key, choice string, p adapters.Press) {
	switch r := l.run; {
	case r != nil && r.approvals[key] != nil:
		r.approvals[key].decide(l, choice, p.From)
	case r != nil && r.decided[key]:
		l.note(l.words().Decided) // somebody was faster
	default:
		l.outdated(p.ID)
		l.note(l.words().ButtonOld)
	}
}

// outdated takes a question out of the chat that nobody waits for any more.
func (l *lane) outdated(message string) {
	if message != "" {
		l.clean(message)
	}
}

// isStop reports whether a press is on a Stop button.
func isStop(p adapters.Press) bool { return strings.HasPrefix(p.Data, "s:") }
