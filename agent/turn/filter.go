package turn

import (
	"typist/agent"
	"typist/typing"
)

// filter holds one text back while it may be a silent token (T5).
type filter struct {
	typing.SilentFilter
	any bool // there was some text
}

// filter holds back texts that may become a silent token (T5). The run's last text that is one at
// all decides whether the run is silent.
func (r *run) filter(ev agent.Event) []agent.Event {
	if e, ok := ev.(agent.TextStarted); ok {
		r.filters[e.Subagent+"/"+e.ID] = &filter{SilentFilter: typing.NewSilentFilter(r.lane.hub.settings().SilentTokens)}
	}
	if e, ok := ev.(agent.TextContent); ok {
		f := r.filters[e.Subagent+"/"+e.ID]
		if f == nil {
			return []agent.Event{ev}
		}
		f.any = f.any || e.Delta != ""
		if e.Delta = f.Push(e.Delta); e.Delta == "" {
			return nil
		}
		return []agent.Event{e}
	}
	if e, ok := ev.(agent.TextEnded); ok {
		return r.textEnded(e)
	}
	return []agent.Event{ev}
}

func (r *run) textEnded(e agent.TextEnded) []agent.Event {
	key := e.Subagent + "/" + e.ID
	f := r.filters[key]
	if f == nil {
		return []agent.Event{e}
	}
	delete(r.filters, key)
	rest, silent := f.End()
	e.Silent = silent && !e.Incomplete
	if f.any && e.Subagent == "" {
		r.silent = e.Silent
	}
	if rest != "" {
		return []agent.Event{agent.TextContent{Sub: e.Sub, ID: e.ID, Delta: rest}, e}
	}
	return []agent.Event{e}
}
