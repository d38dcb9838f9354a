package progress

import (
	"time"

	"typist/adapters/rich"
	"typist/agent"
)

// EndKind is how a progress message that stays ends (P12).
type EndKind uint8

// The ends.
const (
	EndWorked      EndKind = iota // the answer is a message of its own: "Worked for 42s · 7 steps"
	EndStopped                    // a person stopped it (S2)
	EndInterrupted                // shutdown or crash (S9)
	EndFailed                     // with the sentence of Failure (S3)
)

// End says how the run ended.
type End struct {
	Kind    EndKind
	Failure *agent.Failure // EndFailed
}

// Ended is the final state of a progress message. What was done so far is kept: the steps (not in
// the overview) and the whole partial text, which may need splitting. A run that has no terminal
// event yet ends now.
func (b *Board) Ended(end End, level Level, now time.Time) rich.Doc {
	w, d := b.words, b.elapsed(now)
	var line string
	switch end.Kind {
	case EndStopped:
		line = w.Stopped(d)
	case EndInterrupted:
		line = w.Interrupted
	case EndFailed:
		line = w.Failure(end.Failure)
	default:
		return rich.Doc{paragraph(plain(w.WorkedFor(d, b.steps)))}
	}
	head := bold(line)
	if end.Kind == EndFailed {
		head = plain(line)
	}
	doc := rich.Doc{paragraph(head)}
	if level != Overview {
		for i := range b.run.steps {
			if s := &b.run.steps[i]; !s.done {
				s.cut = true
			}
		}
		if steps, ok := b.stepList(b.run); ok {
			doc = append(doc, steps)
		}
	}
	if text := b.Text(); text != "" {
		doc = append(doc, rich.Parse(text)...)
	}
	return doc
}
