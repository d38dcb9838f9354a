package playground

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"typist/adapters"
	"typist/agent"
	"typist/agent/store"
	"typist/cmd/typist/assemble"
)

// Bounds of the tree that a page draws.
const (
	maxTwigs   = 400
	maxPreview = 90 // characters of a node
)

// sessionView is a chat's tree with its runs.
type sessionView struct {
	Down  bool                `json:"down,omitempty"` // there is no bot to ask
	Leaf  string              `json:"leaf"`
	Nodes []nodeView          `json:"nodes"`
	Runs  map[string]*runView `json:"runs"`
}

// nodeView is one message of the tree.
type nodeView struct {
	ID         string     `json:"id"`
	Parent     string     `json:"parent,omitempty"`
	Run        string     `json:"run,omitempty"`
	Role       agent.Role `json:"role"`
	Text       string     `json:"text"`
	Incomplete bool       `json:"incomplete,omitempty"`
	Active     bool       `json:"active,omitempty"` // on the path to the active leaf
	At         int64      `json:"at"`
}

// runView is what a run came to.
type runView struct {
	State    store.RunState `json:"state"`
	Started  int64          `json:"started"`
	Ended    int64          `json:"ended,omitempty"`
	Failure  string         `json:"failure,omitempty"`
	Progress string         `json:"progress,omitempty"`
	Answer   []string       `json:"answer,omitempty"`
}

// session is a chat's tree, read from the store as it is now.
func (w *web) session(rw http.ResponseWriter, r *http.Request) {
	chat := r.URL.Query().Get("chat")
	if _, err := adapters.ParseChat(chat); err != nil {
		respond(rw, nil, badRequest{err})
		return
	}
	var view sessionView
	err := w.p.bot.with(func(p *assemble.Parts) (err error) {
		view, err = readSession(r.Context(), p.Store, chat)
		return err
	})
	if errors.Is(err, errDown) {
		view.Down, err = true, nil
	}
	respond(rw, view, err)
}

func readSession(ctx context.Context, st *store.Store, chat string) (sessionView, error) {
	view := sessionView{Nodes: []nodeView{}, Runs: map[string]*runView{}}
	twigs, err := st.Outline(ctx, chat, 0)
	if err != nil {
		return view, err
	}
	twigs = twigs[max(0, len(twigs)-maxTwigs):]
	if view.Leaf, err = st.Leaf(ctx, chat); err != nil {
		return view, err
	}
	parents := map[string]string{}
	for _, t := range twigs {
		parents[t.ID] = t.Parent
	}
	active := map[string]bool{}
	for id := view.Leaf; id != "" && !active[id]; id = parents[id] {
		active[id] = true
	}
	for _, t := range twigs {
		n, ok, err := st.Node(ctx, t.ID)
		if err != nil {
			return view, err
		}
		if !ok {
			continue
		}
		view.Nodes = append(view.Nodes, nodeView{ID: t.ID, Parent: t.Parent, Run: t.RunID, Role: t.Role, Text: preview(n.Message),
			Incomplete: t.Incomplete, Active: active[t.ID], At: t.At.UnixMilli()})
		if t.RunID == "" || view.Runs[t.RunID] != nil {
			continue
		}
		run, ok, err := st.Run(ctx, t.RunID)
		if err != nil {
			return view, err
		}
		if ok {
			view.Runs[t.RunID] = &runView{State: run.State, Started: millis(run.StartedAt), Ended: millis(run.EndedAt), Failure: run.Failure,
				Progress: run.Progress, Answer: run.Answer}
		}
	}
	return view, nil
}

// preview is a node's beginning in one line.
func preview(m agent.Message) string {
	var words []string
	for _, p := range m.Blocks {
		switch p.Kind {
		case agent.PartText:
			words = append(words, strings.Fields(p.Text)...)
		case agent.PartReasoning:
			words = append(words, "(thought)")
		case agent.PartToolCall:
			words = append(words, "["+p.Name+"]")
		case agent.PartResult:
			words = append(words, "→", strings.Join(strings.Fields(p.Text), " "))
		case agent.PartSubagent:
			words = append(words, "{"+p.Name+"}")
		case agent.PartFile:
			words = append(words, "📎"+p.Name)
		}
	}
	text := []rune(strings.Join(words, " "))
	if len(text) > maxPreview {
		return string(text[:maxPreview-1]) + "…"
	}
	return string(text)
}

// message is a message with its earlier states, for a recording.
func (w *web) message(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	t, err := w.town(q.Get("platform"))
	if err != nil {
		respond(rw, nil, err)
		return
	}
	m, ok := t.World().Message(q.Get("chat"), q.Get("id"))
	if !ok {
		respond(rw, nil, badRequest{fmt.Errorf("no message %.40q", q.Get("id"))})
		return
	}
	type version struct {
		At   int64  `json:"at"`
		Text string `json:"text"`
	}
	out := struct {
		messageView
		History []version `json:"history"`
	}{messageOf(t.Name(), m), []version{}}
	for _, v := range m.History {
		out.History = append(out.History, version{v.At.UnixMilli(), v.Text})
	}
	respond(rw, out, nil)
}
