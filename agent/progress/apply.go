package progress

import (
	"time"

	"typist/agent"
)

// Apply takes in an event that came at that time. A zero time says that the source has none.
// Nothing follows a terminal event. A delta costs no allocation beyond the growth of what it is
// added to.
func (b *Board) Apply(ev agent.Event, now time.Time) {
	if b.over {
		return
	}
	if b.started.IsZero() {
		b.started = now
	}
	switch ev := ev.(type) {
	case agent.ReasoningContent:
		b.thought(ev.Subagent, ev.ID, ev.Delta, now)
	case agent.TextContent:
		b.text(ev.Subagent, ev.ID, ev.Delta, now)
	case agent.ToolCallArgs:
		b.open(callKind, ev.Subagent, ev.ID, "", now).call.args.feed(ev.Delta)
	case agent.RunStarted, agent.Usage, agent.FileProduced:
	case agent.Retrying:
		if b.note.Kind == NoNote {
			b.note = NoteRetrying(now.Add(ev.Wait))
		}
	case agent.ModelRequest:
		if b.note.Kind == Retrying {
			b.note = NoteNone
		}
		a := b.area(ev.Subagent, now)
		a.request(ev.ID)
		pause(a, len(a.requests)-2, now)
	case agent.StepStarted:
		b.stepStarted(b.area(ev.Subagent, now), ev.Name)
	case agent.StepFinished:
		stepFinished(b.area(ev.Subagent, now), ev.Name)
	case agent.ReasoningStarted:
		b.begin(thoughtKind, ev.Subagent, ev.ID, ev.Request, now)
	case agent.ReasoningEnded:
		b.end(thoughtKind, ev.Subagent, ev.ID, ev.Incomplete, now)
	case agent.TextStarted:
		b.begin(textKind, ev.Subagent, ev.ID, ev.Request, now)
	case agent.TextEnded:
		b.end(textKind, ev.Subagent, ev.ID, ev.Incomplete, now)
	case agent.ToolCallStarted:
		e := b.begin(callKind, ev.Subagent, ev.ID, ev.Request, now)
		if e.call.name == "" {
			e.call.name, e.call.title = ev.Name, ev.Title
		}
		pause(e.area, e.request, now)
	case agent.ToolCallEnded:
		if e := b.index[key{callKind, ev.Subagent, ev.ID}]; e != nil && e.open {
			b.execute(e, now)
		}
	case agent.ToolCallResult:
		b.result(ev, now)
	case agent.SubagentStarted:
		b.subagentStarted(ev, now)
	case agent.SubagentFinished:
		if a := b.areas[ev.Subagent]; a != nil && a.entry != nil {
			a.entry.failed = ev.IsError
			b.freeze(a, now, ev.Incomplete)
		}
	case agent.ApprovalRequested:
		a := b.area(ev.Subagent, now)
		a.resolve(ev.Approval.ID)
		a.approvals = append(a.approvals, approval{ev.Approval.ID, ev.Approval.ToolCall, ev.Approval.Title})
	case agent.ApprovalResolved:
		b.area(ev.Subagent, now).resolve(ev.ID)
	case agent.RunFinished:
		b.finish(now)
	case agent.RunError:
		b.finish(now)
	}
}

// area finds a subagent's area by its run id; "" is the run itself. One that was never announced
// gets an area without a name.
func (b *Board) area(id string, now time.Time) *area {
	if a := b.areas[id]; a != nil {
		return a
	}
	return b.addArea(id, b.run, nil, now)
}

func (b *Board) addArea(id string, parent *area, after *entry, now time.Time) *area {
	a := &area{id: id, parent: parent, byCall: after}
	a.entry = &entry{kind: areaKind, id: id, sub: a, area: parent, open: true, started: now, request: parent.request("")}
	if after != nil {
		a.entry.request = after.request
	}
	b.areas[id] = a
	parent.children = append(parent.children, a)
	parent.insert(a.entry, after)
	b.trim(parent)
	b.worked = true
	b.steps++
	return a
}

func (b *Board) subagentStarted(ev agent.SubagentStarted, now time.Time) {
	if ev.Subagent == "" {
		return
	}
	a := b.areas[ev.Subagent]
	if a == nil {
		parent := b.areas[ev.Parent]
		if parent == nil {
			parent = b.run
		}
		a = b.addArea(ev.Subagent, parent, b.index[key{callKind, parent.id, ev.ToolCall}], now)
	}
	if a.name == "" {
		a.name = ev.Name
	}
}

// begin opens an entry on its start event. An id that has ended already and comes again in
// another model request is a new entry: some servers count from zero in each request.
func (b *Board) begin(k kind, in, id, request string, now time.Time) *entry {
	a := b.area(in, now)
	if e := b.index[key{k, in, id}]; e != nil {
		if n := a.request(request); e.open || e.request == n {
			return e
		}
		delete(b.index, key{k, in, id})
	}
	return b.open(k, in, id, request, now)
}

// open finds an entry, or opens it where its start never came.
func (b *Board) open(k kind, in, id, request string, now time.Time) *entry {
	if e := b.index[key{k, in, id}]; e != nil {
		return e
	}
	a := b.area(in, now)
	b.opened++
	e := &entry{kind: k, id: id, area: a, request: a.request(request), seq: b.opened, open: true, started: now}
	switch k {
	case thoughtKind:
		e.from, e.live = now, &live{}
		a.thoughts = append(a.thoughts, e)
	case callKind:
		e.call = &call{}
		a.calls = append(a.calls, e)
	case textKind, areaKind:
	}
	b.index[key{k, in, id}] = e
	a.insert(e, nil)
	b.trim(a)
	return e
}

func (b *Board) thought(in, id, delta string, now time.Time) {
	e := b.open(thoughtKind, in, id, "", now)
	if delta == "" {
		return
	}
	if e.paused && e.open {
		e.paused, e.from = false, now
	}
	e.write(delta, thoughtBytes)
	if e.live != nil {
		e.live.add(delta)
	}
}

func (b *Board) text(in, id, delta string, now time.Time) {
	e := b.open(textKind, in, id, "", now)
	if delta == "" {
		return
	}
	a := e.area
	switch {
	case e == a.text:
	case e.said: // replaced by a newer one already
		e.write(delta, replacedBytes)
		return
	case spoken(delta):
		e.said = true
		if a.text != nil {
			if t := a.text; t.request > e.request || t.request == e.request && t.seq > e.seq { // not the newest
				e.write(delta, replacedBytes)
				return
			}
			a.text.shorten(replacedBytes)
		}
		a.text = e
	}
	e.write(delta, 0)
	if e.said {
		pause(a, e.request, now)
	}
}

// pause ends the thoughts up to that request as the current step: their request has gone on.
func pause(a *area, request int, now time.Time) {
	for _, e := range a.thoughts {
		if !e.paused && e.request <= request {
			e.pause(now)
		}
	}
}

func (b *Board) end(k kind, in, id string, incomplete bool, now time.Time) {
	e := b.index[key{k, in, id}]
	if e == nil || !e.open {
		return
	}
	e.close(now, incomplete)
	if k == thoughtKind {
		e.area.thoughts = drop(e.area.thoughts, e)
		e.area.thought = e
	}
}

// execute marks that a call's arguments are complete and that it runs.
func (b *Board) execute(e *entry, now time.Time) {
	if e.call.begun {
		return
	}
	e.call.begun, e.call.executing = true, now
	pause(e.area, e.request, now)
	b.worked = true
	b.steps++
}

func (b *Board) result(ev agent.ToolCallResult, now time.Time) {
	e := b.index[key{callKind, ev.Subagent, ev.ID}]
	if e == nil || !e.open {
		return
	}
	if !e.call.begun && !ev.Incomplete {
		b.execute(e, now)
	}
	e.failed = ev.IsError
	e.write(ev.Content, resultBytes)
	e.close(now, ev.Incomplete)
	e.area.calls = drop(e.area.calls, e)
}

func (a *area) resolve(id string) {
	for i, p := range a.approvals {
		if p.id == id {
			a.approvals = append(a.approvals[:i], a.approvals[i+1:]...)
			return
		}
	}
}

// finish freezes everything: what has no end yet is incomplete and stays (P6).
func (b *Board) finish(now time.Time) {
	b.walk(b.run, func(a *area) { b.freeze(a, now, true) })
	b.over, b.ended, b.note = true, now, NoteNone
}

// freeze ends an area. Its open entries are incomplete, and so is the area where cut says so.
func (b *Board) freeze(a *area, now time.Time, cut bool) {
	for _, e := range a.entries {
		if e.kind != areaKind {
			e.close(now, e.kind != textKind || cut)
		}
	}
	if n := len(a.thoughts); n > 0 {
		a.thought = a.thoughts[n-1]
	}
	a.thoughts, a.calls, a.approvals = nil, nil, nil
	for i := range a.steps {
		if !a.steps[i].done {
			a.steps[i].cut = true
		}
	}
	if a.entry != nil {
		a.entry.close(now, cut)
	}
}

func (b *Board) stepStarted(a *area, name string) {
	for _, s := range a.steps {
		if s.name == name && !s.done {
			return
		}
	}
	if len(a.steps) >= maxSteps {
		a.steps = append(a.steps[:0], a.steps[1:]...)
		a.stepsGone++
	}
	a.steps = append(a.steps, step{name: name})
	b.worked = true
	b.steps++
}

func stepFinished(a *area, name string) {
	for i := len(a.steps) - 1; i >= 0; i-- {
		if s := &a.steps[i]; s.name == name && !s.done {
			s.done = true
			return
		}
	}
}

// trim keeps an area's memory bounded: old entries lose what lies behind their preview, the
// oldest go whole. Open ones and the newest text stay.
func (b *Board) trim(a *area) {
	if n := len(a.entries) - 1 - maxBodies; n >= 0 {
		if e := a.entries[n]; !e.open && e != a.text {
			b.settle(e)
		}
	}
	if len(a.entries) <= maxEntries {
		return
	}
	for i, e := range a.entries[:len(a.entries)-maxBodies] {
		if e.open || e == a.text {
			continue
		}
		a.entries = append(a.entries[:i], a.entries[i+1:]...)
		a.dropped++
		b.forget(e)
		return
	}
}

func (b *Board) forget(e *entry) {
	if e.sub == nil {
		if k := (key{e.kind, e.area.id, e.id}); b.index[k] == e {
			delete(b.index, k)
		}
		return
	}
	for _, inner := range e.sub.entries {
		b.forget(inner)
	}
	delete(b.areas, e.sub.id)
	e.area.children = dropArea(e.area.children, e.sub)
}

func dropArea(list []*area, a *area) []*area {
	for i := range list {
		if list[i] == a {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}
