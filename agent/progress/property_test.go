package progress

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"typist/adapters/rich"
	"typist/agent"
)

// anyEvent draws an event of an area, with ids that collide between areas and kinds on purpose.
func anyEvent(r *rapid.T, area string) agent.Event {
	sub := in(area)
	id := rapid.SampledFrom([]string{"0", "1", "2"}).Draw(r, "id")
	req := rapid.SampledFrom([]string{"", "m1", "m2"}).Draw(r, "request")
	text := rapid.SampledFrom([]string{"", " ", "\n\n", "word ", "**b", "```\n", "語", `{"a":"`, `"}`, "…"}).Draw(r, "text")
	switch rapid.IntRange(0, 15).Draw(r, "kind") {
	case 0:
		return agent.ModelRequest{Sub: sub, ID: req}
	case 1:
		return agent.ReasoningStarted{Sub: sub, ID: id, Request: req}
	case 2, 3:
		return agent.ReasoningContent{Sub: sub, ID: id, Delta: text}
	case 4:
		return agent.ReasoningEnded{Sub: sub, ID: id}
	case 5:
		return agent.TextStarted{Sub: sub, ID: id, Request: req}
	case 6, 7:
		return agent.TextContent{Sub: sub, ID: id, Delta: text}
	case 8:
		return agent.TextEnded{Sub: sub, ID: id}
	case 9:
		return agent.ToolCallStarted{Sub: sub, ID: id, Request: req, Name: "Tool" + id}
	case 10:
		return agent.ToolCallArgs{Sub: sub, ID: id, Delta: text}
	case 11:
		return agent.ToolCallEnded{Sub: sub, ID: id}
	case 12:
		return agent.ToolCallResult{Sub: sub, ID: id, Content: text, IsError: text == ""}
	case 13:
		return agent.StepStarted{Sub: sub, Name: "Step" + id}
	case 14:
		return agent.StepFinished{Sub: sub, Name: "Step" + id}
	}
	return agent.ApprovalRequested{Sub: sub, Approval: agent.Approval{ID: id, ToolCall: id, Title: "May " + id}}
}

func spansText(spans []rich.Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// TestP10_InterleavingChangesNothing: whatever else goes on, an area shows what it shows alone.
func TestP10_InterleavingChangesNothing(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		areas := []string{"", "a", "b"}
		var all []Stamped
		alone := map[string][]Stamped{}
		now := epoch
		for _, a := range areas[1:] {
			ev := Stamped{now, agent.SubagentStarted{Sub: in(a), Name: "Sub " + a}}
			all, alone[a] = append(all, ev), append(alone[a], ev)
		}
		for range rapid.IntRange(0, 60).Draw(r, "events") {
			now = now.Add(time.Second)
			a := rapid.SampledFrom(areas).Draw(r, "area")
			ev := Stamped{now, anyEvent(r, a)}
			all, alone[a] = append(all, ev), append(alone[a], ev)
		}
		opt := Options{StartedAt: epoch}
		mixed := Replay(opt, all)
		for _, name := range areas {
			one := Replay(opt, alone[name])
			m, o := mixed.areas[name], one.areas[name]
			if m == nil || o == nil {
				r.Fatalf("area %q is missing", name)
			}
			if got, want := spansText(mixed.line(m, now)), spansText(one.line(o, now)); got != want {
				r.Fatalf("area %q: %q, alone %q", name, got, want)
			}
			for _, level := range Levels() {
				if got, want := mixed.liveLine(m, level, now), one.liveLine(o, level, now); got != want {
					r.Fatalf("area %q: live line %q, alone %q", name, got, want)
				}
			}
			var got, want []string
			for _, e := range m.entries {
				if e.sub == nil {
					got = append(got, spansText(mixed.preview(e, now)))
				}
			}
			for _, e := range o.entries {
				if e.sub == nil {
					want = append(want, spansText(one.preview(e, now)))
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				r.Fatalf("area %q: trace %q, alone %q", name, got, want)
			}
		}
		if mixed.Text() != Replay(opt, alone[""]).Text() {
			r.Fatalf("text %q", mixed.Text())
		}
	})
}

// TestP_AnyRunHoldsTogether: in any order of events nothing panics, the overview is one line,
// the clock only ticks ahead, and after the end nothing runs and nothing changes.
func TestP_AnyRunHoldsTogether(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := NewBoard(Options{Lang: rapid.SampledFrom(Langs()).Draw(r, "lang"), Reasoning: rapid.SampledFrom(Reasonings()).Draw(r, "reasoning"), Limit: 200})
		now, text := epoch, ""
		for range rapid.IntRange(0, 80).Draw(r, "events") {
			now = now.Add(time.Duration(rapid.IntRange(0, 5000).Draw(r, "ms")) * time.Millisecond)
			b.Apply(anyEvent(r, rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(r, "area")), now)
			if text != "" && strings.TrimSpace(b.Text()) == "" {
				r.Fatal("the text was displaced by nothing")
			}
			text = strings.TrimSpace(b.Text())
			if at, ok := b.NextTick(now); ok && !at.After(now) {
				r.Fatalf("a tick at %s, now is %s", at, now)
			}
			if doc := b.View(Overview, now); len(doc) != 1 || strings.Contains(spansText(doc[0].Spans), "\n") {
				r.Fatalf("overview %+v", doc)
			}
			b.View(Summary, now)
			b.View(Detail, now)
			b.Trace(now)
			if s := b.Status(now); len([]rune(s)) > 50 || strings.Contains(s, ",") {
				r.Fatalf("status %q", s)
			}
		}
		b.Apply(agent.RunFinished{Outcome: agent.Cancelled}, now)
		before := b.View(Detail, now)
		later := now.Add(time.Hour)
		b.Apply(agent.TextContent{ID: "9", Delta: "late"}, later)
		if after := b.View(Detail, later); !rich.Equal(before, after) {
			r.Fatalf("after the end\n was %q\n  is %q", rich.Text(before), rich.Text(after))
		}
		if len(b.Running()) > 0 || b.OnlyWaiting() {
			r.Fatal("something runs after the end")
		}
		if _, ok := b.NextTick(later); ok {
			r.Fatal("the clock ticks after the end")
		}
	})
}
