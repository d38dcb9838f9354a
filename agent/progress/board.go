package progress

import (
	"time"

	"typist/agent"
)

// Board is the state of one run as people see it. Apply feeds it, View and its kin show it. It
// belongs to one goroutine. Everything merges by id (P10); a run of any length costs linear time
// and, but for its last text, bounded memory.
type Board struct {
	opt     Options
	words   *Table
	run     *area
	areas   map[string]*area
	index   map[key]*entry
	note    Note
	started time.Time
	ended   time.Time
	over    bool
	worked  bool
	opened  int // entries so far
	steps   int // tools, steps and subagents that have started
	parsed  parsed
}

// NewBoard returns the board of a run that has yielded nothing yet.
func NewBoard(o Options) *Board {
	o = o.withDefaults()
	run := &area{}
	return &Board{
		opt: o, words: Words(o.Lang), run: run, started: o.StartedAt,
		areas: map[string]*area{"": run}, index: map[key]*entry{},
	}
}

// Stamped is an event with the time at which it came.
type Stamped struct {
	At    time.Time
	Event agent.Event
}

// Replay rebuilds the board of a run from its stored events, durations included (P6, P8).
// Options.StartedAt may be zero: then the first event tells.
func Replay(o Options, evs []Stamped) *Board {
	b := NewBoard(o)
	for _, ev := range evs {
		b.Apply(ev.Event, ev.At)
	}
	return b
}

// NoteKind is a state that comes from outside of the run.
type NoteKind uint8

// The kinds of notes.
const (
	NoNote NoteKind = iota
	Stopping
	WaitingApproval
	Retrying
)

// Note tells the board about such a state; it stands as the run line until the next one.
type Note struct {
	Kind  NoteKind
	Until time.Time // Retrying: when the next try begins
	Title string    // WaitingApproval: what is to be allowed; "" = as the events say
}

// The notes without a value of their own.
var (
	NoteNone            = Note{}
	NoteStopping        = Note{Kind: Stopping}
	NoteWaitingApproval = Note{Kind: WaitingApproval}
)

// NoteRetrying says that a failed model request is sent again at that time (S3).
func NoteRetrying(until time.Time) Note { return Note{Kind: Retrying, Until: until} }

// Note sets the state from outside.
func (b *Board) Note(n Note) { b.note = n }

// Worked reports whether a tool, step or subagent has started (P1). A tool counts once it
// executes, as the typing modes count it (T1).
func (b *Board) Worked() bool { return b.worked }

// Steps is how many tools, steps and subagents have started (P12).
func (b *Board) Steps() int { return b.steps }

// Text is the run's newest text that is not blank, whole: the answer so far, and after the end
// the answer (P5). Subagents' texts are not the run's.
func (b *Board) Text() string {
	if b.run.text == nil {
		return ""
	}
	return string(b.run.text.body)
}

// Running lists the ids of the tool calls that have no result yet, oldest first, the run's own
// before its subagents'.
func (b *Board) Running() []string {
	var ids []string
	b.walk(b.run, func(a *area) {
		for _, e := range a.calls {
			ids = append(ids, e.id)
		}
	})
	return ids
}

// OnlyWaiting reports whether all the run does is wait for a person's decision (T12).
func (b *Board) OnlyWaiting() bool {
	waits, busy := false, false
	b.walk(b.run, func(a *area) {
		waits = waits || len(a.approvals) > 0
		for _, e := range a.thoughts {
			busy = busy || !e.paused
		}
		for _, e := range a.calls { // a call that waits for its subagents is busy only with them
			busy = busy || !a.waits(e.id) && !b.delegated(e)
		}
		// A subagent that waits for nothing has its model at work.
		if a.entry != nil && a.entry.open && len(a.calls) == 0 && len(a.approvals) == 0 && !a.waitsForChild() {
			busy = true
		}
	})
	return waits && !busy && !b.over
}

// delegated reports whether a call's work is done by a subagent that still runs.
func (b *Board) delegated(call *entry) bool {
	for _, a := range b.areas {
		if a.entry != nil && a.entry.open && a.byCall == call {
			return true
		}
	}
	return false
}

// waitsForChild reports whether a subagent of the area still runs.
func (a *area) waitsForChild() bool {
	for _, c := range a.children {
		if c.entry.open {
			return true
		}
	}
	return false
}

// walk visits an area and its subagents, parents first.
func (b *Board) walk(a *area, visit func(*area)) {
	visit(a)
	for _, c := range a.children {
		b.walk(c, visit)
	}
}

// elapsed is how long the run has been going, or went.
func (b *Board) elapsed(now time.Time) time.Duration {
	if !b.ended.IsZero() {
		now = b.ended
	}
	if b.started.IsZero() || now.IsZero() {
		return 0
	}
	return max(now.Sub(b.started), 0)
}
