package agent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Transcript makes of a run's events the messages that a model is given later (S5, P8). Events
// are merged by id; their order decides only where nothing else does. The zero value is ready; not
// safe for concurrent use.
type Transcript struct {
	areas  map[string]*areaLog
	blocks map[deltaKey]*entry
	calls  []*entry // tool calls of all areas, in the order they were begun
	texts  []*entry // texts of the run itself, in the order they were begun
}

// areaLog is what one area did: the run itself, or a subagent.
type areaLog struct {
	requests []*request
}

// request is one call of a model and what it yielded.
type request struct {
	id                     string
	reasoning, text, calls []*entry
	files                  []*entry
	subagents              []*entry // started without naming a call
}

// entry is a part in the making.
type entry struct {
	part      Part
	buf       []byte
	subagents []*entry // of a call: what it started
	result    *Part    // of a call
	area      string   // of a subagent: its own area
}

// Apply takes the next event.
func (t *Transcript) Apply(ev Event) {
	switch ev := ev.(type) {
	case ModelRequest:
		log := t.area(ev.Subagent)
		log.requests = append(log.requests, &request{id: ev.ID})
	case ReasoningStarted:
		t.reasoning(ev.Sub, ev.ID, ev.Request)
	case ReasoningContent:
		e := t.reasoning(ev.Sub, ev.ID, "")
		e.buf = append(e.buf, ev.Delta...)
	case ReasoningEnded:
		e := t.reasoning(ev.Sub, ev.ID, "")
		e.part.Signature = ev.Signature
		e.part.Incomplete = ev.Incomplete
	case TextStarted:
		t.text(ev.Sub, ev.ID, ev.Request)
	case TextContent:
		e := t.text(ev.Sub, ev.ID, "")
		e.buf = append(e.buf, ev.Delta...)
	case TextEnded:
		t.text(ev.Sub, ev.ID, "").part.Incomplete = ev.Incomplete
	case ToolCallStarted:
		e := t.call(ev.Sub, ev.ID, ev.Request)
		e.part.Name = ev.Name
	case ToolCallArgs:
		e := t.call(ev.Sub, ev.ID, "")
		e.buf = append(e.buf, ev.Delta...)
	case ToolCallEnded:
		t.call(ev.Sub, ev.ID, "").part.Incomplete = false
	case ToolCallResult:
		t.result(ev)
	case SubagentStarted:
		t.subagent(ev)
	case SubagentFinished:
		if e := t.blocks[deltaKey{subagentBlock, "", ev.Subagent}]; e != nil {
			e.part.IsError, e.part.Incomplete = ev.IsError, ev.Incomplete
		}
	case FileProduced:
		r := t.current(ev.Subagent)
		r.files = append(r.files, &entry{part: Part{Kind: PartFile, Subagent: ev.Subagent, Request: r.id, Name: ev.Name, MIME: ev.MIME}})
	case RunStarted, RunFinished, RunError, StepStarted, StepFinished, ApprovalRequested, ApprovalResolved, Usage, Retrying:
		// Nothing that a model is told.
	}
}

func (t *Transcript) reasoning(sub Sub, id, request string) *entry {
	return t.entry(reasoningBlock, PartReasoning, sub, id, request)
}

func (t *Transcript) text(sub Sub, id, request string) *entry {
	return t.entry(textBlock, PartText, sub, id, request)
}

func (t *Transcript) call(sub Sub, id, request string) *entry {
	return t.entry(callBlock, PartToolCall, sub, id, request)
}

// entry returns the block of an id, begun now if it is new. Until its end comes it counts as cut.
func (t *Transcript) entry(kind blockKind, part PartKind, sub Sub, id, requestID string) *entry {
	key := deltaKey{kind, sub.Subagent, id}
	if e := t.blocks[key]; e != nil {
		return e
	}
	r := t.place(sub.Subagent, requestID)
	e := &entry{part: Part{Kind: part, ID: id, Subagent: sub.Subagent, Request: r.id, Incomplete: true}}
	t.keep(key, e)
	switch kind {
	case reasoningBlock:
		r.reasoning = append(r.reasoning, e)
	case textBlock:
		r.text = append(r.text, e)
		if sub.Subagent == "" {
			t.texts = append(t.texts, e)
		}
	default:
		r.calls = append(r.calls, e)
		t.calls = append(t.calls, e)
	}
	return e
}

func (t *Transcript) keep(key deltaKey, e *entry) {
	if t.blocks == nil {
		t.blocks = map[deltaKey]*entry{}
	}
	t.blocks[key] = e
}

func (t *Transcript) area(id string) *areaLog {
	log := t.areas[id]
	if log == nil {
		if t.areas == nil {
			t.areas = map[string]*areaLog{}
		}
		log = &areaLog{}
		t.areas[id] = log
	}
	return log
}

// current is the area's newest request.
func (t *Transcript) current(area string) *request {
	log := t.area(area)
	if len(log.requests) == 0 {
		log.requests = append(log.requests, &request{})
	}
	return log.requests[len(log.requests)-1]
}

// place finds the request that a new block belongs to. Where the backend doesn't say (an external
// agent), one that follows the results of all calls so far belongs to a new request: the model has
// seen them.
func (t *Transcript) place(area, id string) *request {
	log := t.area(area)
	if id != "" {
		for _, r := range slices.Backward(log.requests) {
			if r.id == id {
				return r
			}
		}
		log.requests = append(log.requests, &request{id: id})
	} else if r := t.current(area); r.answered() {
		log.requests = append(log.requests, &request{})
	}
	return t.current(area)
}

func (r *request) answered() bool {
	return len(r.calls) > 0 && !slices.ContainsFunc(r.calls, func(e *entry) bool { return e.result == nil })
}

func (t *Transcript) result(ev ToolCallResult) {
	e := t.call(ev.Sub, ev.ID, "")
	if ev.Incomplete {
		return // it stays open
	}
	e.part.Incomplete = false
	e.result = &Part{Kind: PartResult, ID: ev.ID, Subagent: ev.Subagent, Request: e.part.Request, Text: ev.Content, IsError: ev.IsError}
}

func (t *Transcript) subagent(ev SubagentStarted) {
	key := deltaKey{subagentBlock, "", ev.Subagent}
	if ev.Subagent == "" || t.blocks[key] != nil {
		return
	}
	if t.blocks[deltaKey{subagentBlock, "", ev.Parent}] == nil {
		ev.Parent = "" // the run itself; a parent not met before would allow circles
	}
	e := &entry{area: ev.Subagent, part: Part{Kind: PartSubagent, ID: ev.Subagent, Subagent: ev.Parent, Name: ev.Name, Incomplete: true}}
	t.keep(key, e)
	if call := t.blocks[deltaKey{callBlock, ev.Parent, ev.ToolCall}]; call != nil {
		e.part.Request = call.part.Request
		call.subagents = append(call.subagents, e)
		return
	}
	r := t.current(ev.Parent)
	e.part.Request = r.id
	r.subagents = append(r.subagents, e)
}

// Text is the run's own last text that is not empty: its answer (P5).
func (t *Transcript) Text() string {
	for _, e := range slices.Backward(t.texts) {
		if len(bytes.TrimSpace(e.buf)) > 0 {
			return string(e.buf)
		}
	}
	return ""
}

// Open lists the calls that got no result, in the order they were begun. One whose arguments were
// never finished, or are no JSON, has Args nil.
func (t *Transcript) Open() []ToolCall {
	var out []ToolCall
	for _, e := range t.calls {
		if e.result == nil && !t.superseded(e) {
			p := e.finished()
			out = append(out, ToolCall{ID: p.ID, Subagent: p.Subagent, Name: p.Name, Args: p.Args})
		}
	}
	return out
}

// superseded reports whether the call's request was sent again.
func (t *Transcript) superseded(e *entry) bool {
	log := t.area(e.part.Subagent)
	for i, r := range log.requests {
		if slices.Contains(r.calls, e) {
			return log.resent(i)
		}
	}
	return false
}

// resent reports whether request i was cut and sent again: the next request stands in its place
// (S3). A backend marks it by ending the blocks of the cut request as incomplete.
func (a *areaLog) resent(i int) bool {
	if i == len(a.requests)-1 {
		return false
	}
	cut := false
	r := a.requests[i]
	for _, e := range slices.Concat(r.reasoning, r.text, r.calls) {
		if e.result != nil {
			return false
		}
		cut = cut || e.part.Incomplete
	}
	return cut
}

// Messages are the run's messages in the order of P8: for each model request one of the assistant
// with its thinking, its text and its calls (each followed by the subagents it started), then one
// with the results of these calls. What a resent request had yielded before is left out; what is
// cut is marked Incomplete.
func (t *Transcript) Messages() []Message {
	var out []Message
	log := t.area("")
	for i, r := range log.requests {
		if log.resent(i) {
			continue
		}
		var parts, results []Part
		t.collect(r, &parts, &results)
		if len(parts) > 0 {
			out = append(out, Message{Role: Assistant, Blocks: parts})
		}
		if len(results) > 0 {
			out = append(out, Message{Role: ToolRole, Blocks: results})
		}
	}
	return out
}

func (t *Transcript) collect(r *request, parts, results *[]Part) {
	for _, e := range slices.Concat(r.reasoning, r.text) {
		if p := e.finished(); p.Text != "" || p.Signature != "" {
			*parts = append(*parts, p)
		}
	}
	for _, e := range r.calls {
		*parts = append(*parts, e.finished())
		if e.result != nil {
			*results = append(*results, *e.result)
		}
		t.collectSubagents(e.subagents, parts, results)
	}
	t.collectSubagents(r.subagents, parts, results)
	for _, e := range r.files {
		*parts = append(*parts, e.part)
	}
}

func (t *Transcript) collectSubagents(subagents []*entry, parts, results *[]Part) {
	for _, e := range subagents {
		*parts = append(*parts, e.part)
		log := t.area(e.area)
		for i, r := range log.requests {
			if !log.resent(i) {
				t.collect(r, parts, results)
			}
		}
	}
}

// finished is the part with what was merged into it.
func (e *entry) finished() Part {
	p := e.part
	if p.Kind != PartToolCall {
		p.Text = string(e.buf)
		return p
	}
	switch args := strings.TrimSpace(string(e.buf)); {
	case args == "" && !p.Incomplete:
		p.Args = ToolArgs("{}")
	case json.Valid([]byte(args)):
		p.Args = ToolArgs(args)
	default:
		p.Text = string(e.buf)
	}
	return p
}
