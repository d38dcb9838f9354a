package turn

import (
	"context"
	"fmt"
	"slices"

	"typist/adapters"
	"typist/adapters/rich"
	"typist/agent"
	"typist/agent/session"
)

// branchButtons is the row ◀ k/n ▶ of an answer that has versions (S8); nil where it is the only one.
func branchButtons(v session.Versions) [][]adapters.Button {
	if len(v.IDs) < 2 {
		return nil
	}
	var row []adapters.Button
	if v.Before() != "" {
		row = append(row, adapters.Button{Text: "◀", Data: "b:" + v.Before()})
	}
	row = append(row, adapters.Button{Text: fmt.Sprintf("%d/%d", v.Index+1, len(v.IDs)), Data: "n"})
	if v.After() != "" {
		row = append(row, adapters.Button{Text: "▶", Data: "b:" + v.After()})
	}
	return [][]adapters.Button{row}
}

// switching is a pressed ◀ or ▶: the version to be shown, and the message it was pressed under.
type switching struct{ version, message string }

// switchTo shows another version of a turn in the place of the one that stands there, and moves
// the active leaf (S8). While a run is in work the chat's branch is fixed. One switch goes on at a
// time; of those that were pressed meanwhile the last one follows, so that what is shown and what
// is active are the same in the end.
func (l *lane) switchTo(version, message string) {
	if message == "" {
		return
	}
	if l.run != nil {
		l.say(adapters.Post{Doc: rich.Plain(l.words().Busy)})
		return
	}
	w := switching{version, message}
	if l.switching != nil {
		l.switches = slices.DeleteFunc(l.switches, func(o switching) bool { return o.message == message })
		l.switches = append(l.switches, w)
		return
	}
	l.switching, l.leafMoves = &w, true
	l.hub.go_(func() {
		s, err := l.loadVersion(context.WithoutCancel(l.hub.callCtx), version, message)
		s.err = err
		l.mail.put(s)
	})
}

// switched: what a switch shows is stored, or it has failed; the next one may begin.
type switched struct{}

func (switched) isLetter() {}

func (switched) read(l *lane) {
	l.switching = nil
	if len(l.switches) == 0 {
		return
	}
	next := l.switches[0]
	l.switches = l.switches[1:]
	l.switchTo(next.version, next.message)
}

// loadVersion moves the leaf and collects what there is to show.
func (l *lane) loadVersion(ctx context.Context, version, message string) (versionRead, error) {
	st, chat := l.hub.store, l.chat.Key()
	tree := session.Open(st, chat)
	out := versionRead{node: version}
	shown, ok, err := st.NodeByRef(ctx, chat, message)
	if err != nil {
		return out, err
	}
	out.shown = []string{message}
	if ok && len(shown.Refs) > 0 {
		out.shown = shown.Refs
	}
	if out.versions, err = tree.Versions(ctx, version); err != nil {
		return out, err
	}
	line, err := tree.Line(ctx, version)
	if err != nil {
		return out, err
	}
	for _, n := range line {
		if n.Message.Role == agent.Assistant {
			if text := lastText(n.Message); text != "" {
				out.text = text
			}
		}
	}
	_, err = tree.Switch(ctx, version)
	return out, err
}

// versionRead: another version is to stand in the place of the shown one.
type versionRead struct {
	node     string
	text     string
	versions session.Versions
	shown    []string // the messages that stand there
	err      error
}

func (versionRead) isLetter() {}

func (v versionRead) read(l *lane) {
	l.leafMoves = false
	if v.err != nil {
		l.log.Error("a branch could not be shown", "error", v.err)
		switched{}.read(l)
		return
	}
	doc := rich.Parse(v.text)
	if len(doc) == 0 {
		doc = rich.Plain(l.words().NoAnswer)
	}
	parts := l.chn.adapter.Fit(doc)
	posts := make([]adapters.Post, len(parts))
	for i, part := range parts {
		posts[i] = adapters.Post{Doc: part, Silent: true}
	}
	posts[len(posts)-1].Buttons = branchButtons(v.versions)
	reuse := make([]*slot, len(v.shown))
	for i, id := range v.shown {
		reuse[i] = &slot{id: id}
	}
	l.deliver(posts, reuse, nil, func(slots []*slot, err error) {
		if err != nil {
			l.log.Error("a branch could not be shown", "error", err)
		}
		refs := ids(slots)
		l.hub.go_(func() {
			if err := l.hub.store.SetRefs(context.WithoutCancel(l.hub.callCtx), v.node, refs); err != nil {
				l.log.Error("what a branch shows could not be stored", "error", err)
			}
			l.mail.put(switched{})
		})
	})
}

func lastText(m agent.Message) string {
	text := ""
	for _, p := range m.Blocks {
		if p.Kind == agent.PartText && p.Text != "" {
			text = p.Text
		}
	}
	return text
}

// branchFrom goes on from an earlier message (/branch and its native forms, S8).
func (l *lane) branchFrom(message string, answer func(string)) {
	words := l.words()
	switch {
	case message == "":
		answer(words.BranchHow)
		return
	case l.run != nil: // its end moves the active leaf
		answer(words.Busy)
		return
	}
	l.hub.go_(func() {
		_, err := session.Open(l.hub.store, l.chat.Key()).Branch(context.WithoutCancel(l.hub.callCtx), message)
		if err != nil {
			l.log.Info("no branch from this message", "error", err)
			answer(words.BranchUnknown)
			return
		}
		answer(words.Branched)
	})
}
