package progress

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

const (
	thoughtBytes  = 4096 // of a thought, kept for the trace
	replacedBytes = 2048 // of a text that another one replaced
	resultBytes   = 1024 // of a tool's result
	maxEntries    = 400  // of an area; the oldest go first
	maxBodies     = 100  // of an area; older entries keep their preview only
	maxSteps      = 100
)

// kind is what an entry is. The order is the trace's inside a model request (P8).
type kind uint8

const (
	thoughtKind kind = iota
	textKind
	callKind
	areaKind // a subagent, as it stands in the trace of what started it
)

// key names an entry. Ids are unique only inside their area and kind (P10).
type key struct {
	kind kind
	area string
	id   string
}

// entry is one row of the trace.
type entry struct {
	kind       kind
	id         string
	area       *area
	request    int // ordinal of the model request in its area
	seq        int // order of opening
	started    time.Time
	ended      time.Time
	from       time.Time     // thought: since when it is thinking without a pause
	spent      time.Duration // thought: before from
	open       bool
	paused     bool // thought: its request has gone on to text or tools
	incomplete bool
	failed     bool

	body    []byte // thought, text: its text; call: its result
	bodyCut bool
	said    bool  // text: not blank
	live    *live // an open thought
	call    *call
	sub     *area

	window  [2]window // text: what the two views show of it
	preview string    // cached while it is not to change any more
}

// call is what only tool calls have.
type call struct {
	name, title string
	args        argScan
	executing   time.Time // when its execution began; zero: not yet
	begun       bool      // execution began
	preview     string
	previewed   int // bytes of the arguments that preview is of
}

// elapsed is how long a thought has been thinking, or a call executing; ok is false where the
// source has no times (P6).
func (e *entry) elapsed(now time.Time) (d time.Duration, ok bool) {
	if e.started.IsZero() {
		return 0, false
	}
	switch e.kind {
	case thoughtKind:
		d = e.spent
		if !e.from.IsZero() && !now.IsZero() {
			d += now.Sub(e.from)
		}
	default:
		end, begin := now, e.started
		if e.call != nil && e.call.begun {
			begin = e.call.executing
		}
		if !e.open {
			end = e.ended
		}
		if end.IsZero() || begin.IsZero() {
			return 0, false
		}
		d = end.Sub(begin)
	}
	return max(d, 0), true
}

// pause stops a thought's clock: its request goes on with something else (P2).
func (e *entry) pause(now time.Time) {
	e.paused = true
	if !e.from.IsZero() && !now.IsZero() {
		e.spent += max(now.Sub(e.from), 0)
	}
	e.from = time.Time{}
}

// close freezes e's time.
func (e *entry) close(now time.Time, incomplete bool) {
	if !e.open {
		return
	}
	if e.kind == thoughtKind {
		e.pause(now)
		e.live = nil
		e.body = slices.Clone(e.body) // there may be many
	}
	if e.call != nil {
		e.call.args.raw = slices.Clone(e.call.args.raw)
	}
	e.open, e.ended, e.incomplete = false, now, incomplete
}

// write adds to the body of a thought or a text.
func (e *entry) write(delta string, limit int) {
	if limit == 0 {
		e.body = append(e.body, delta...)
		return
	}
	if !e.bodyCut {
		e.body, e.bodyCut = appendCapped(e.body, delta, limit)
	}
}

// shorten cuts a body to limit bytes, in memory of its own size.
func (e *entry) shorten(limit int) {
	if len(e.body) > limit {
		e.body, _ = appendCapped(make([]byte, 0, limit), string(e.body[:min(len(e.body), limit+4)]), limit)
		e.bodyCut = true
	}
}

func spoken(delta string) bool {
	return strings.ContainsFunc(delta, func(r rune) bool { return !unicode.IsSpace(r) && !hidden(r) })
}

// step is a named step (P9).
type step struct {
	name string
	done bool
	cut  bool // the run ended first
}

// approval is a question that waits for a person.
type approval struct{ id, call, title string }

// area is the run itself or one subagent (P10).
type area struct {
	id, name  string
	parent    *area
	entry     *entry // its row in the parent's trace; nil for the run itself
	byCall    *entry // the call that started it, where known
	requests  []string
	entries   []*entry // in the trace's order
	dropped   int      // entries that were let go
	thoughts  []*entry // open
	calls     []*entry // open, in the order they started
	steps     []step
	stepsGone int
	approvals []approval
	text      *entry // the newest text that is not blank
	thought   *entry // the newest thought that has ended
	children  []*area
}

// request is the ordinal of a model request. "" is the newest one.
func (a *area) request(id string) int {
	if id == "" {
		return len(a.requests) - 1
	}
	for i := len(a.requests) - 1; i >= max(0, len(a.requests)-100); i-- { // late events are not that late
		if a.requests[i] == id {
			return i
		}
	}
	a.requests = append(a.requests, id)
	return len(a.requests) - 1
}

// insert puts e where the trace has it: by model request, then thinking, text, tool calls (P8);
// a subagent after the call that started it.
func (a *area) insert(e *entry, after *entry) {
	at := len(a.entries)
	if i := slices.Index(a.entries, after); after != nil && i >= 0 {
		at = i + 1
		for at < len(a.entries) && a.entries[at].kind == areaKind {
			at++
		}
	} else {
		for at > 0 && later(a.entries[at-1], e) {
			at--
		}
	}
	a.entries = slices.Insert(a.entries, at, e)
}

// later reports whether old belongs behind e.
func later(old, e *entry) bool {
	if old.request != e.request {
		return old.request > e.request
	}
	return min(old.kind, callKind) > min(e.kind, callKind)
}

func drop(list []*entry, e *entry) []*entry {
	if i := slices.Index(list, e); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}
