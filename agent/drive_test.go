package agent

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// backendFunc is a backend of one function.
type backendFunc func(ctx context.Context, req Request, emit func(Event)) error

func (f backendFunc) Run(ctx context.Context, req Request, emit func(Event)) error {
	return f(ctx, req, emit)
}

// driven runs a backend and returns what came out.
func driven(ctx context.Context, b backendFunc) []Event {
	var out []Event
	Drive(ctx, b, Request{RunID: "r"}, func(ev Event) { out = append(out, ev) })
	return out
}

// emits drives a backend that emits the events and succeeds; what it returns is without
// RunStarted.
func emits(evs ...Event) []Event {
	return driven(context.Background(), func(_ context.Context, _ Request, emit func(Event)) error {
		for _, ev := range evs {
			emit(ev)
		}
		return nil
	})[1:]
}

func wantEvents(t *testing.T, got []Event, want ...Event) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got:%s\nwant:%s", list(got), list(want))
	}
}

func list(evs []Event) string {
	var b strings.Builder
	for _, ev := range evs {
		fmt.Fprintf(&b, "\n  %T%+v", ev, ev)
	}
	return b.String()
}

var done = RunFinished{RunID: "r", Outcome: Success}

func TestA1_OneTerminalEventWhateverTheBackendDoes(t *testing.T) {
	stopped, stop := context.WithCancel(context.Background())
	stop()
	late, cancelLate := context.WithDeadline(context.Background(), time.Now())
	defer cancelLate()
	shutdown, cancel := context.WithCancelCause(context.Background())
	cancel(fmt.Errorf("going down: %w", ErrInterrupted))
	told := &Failure{Kind: RateLimited, RetryAfter: time.Second, Status: 429}
	for name, c := range map[string]struct {
		ctx  context.Context
		run  backendFunc
		want Event
	}{
		"nil":     {context.Background(), func(context.Context, Request, func(Event)) error { return nil }, done},
		"failure": {context.Background(), func(context.Context, Request, func(Event)) error { return fmt.Errorf("run: %w", told) }, RunError{RunID: "r", Failure: *told}},
		"own ends": {context.Background(), func(_ context.Context, _ Request, emit func(Event)) error {
			emit(RunStarted{})
			emit(done)
			emit(RunError{})
			return nil
		}, done},
		"stopped":                  {stopped, func(ctx context.Context, _ Request, _ func(Event)) error { return ctx.Err() }, RunFinished{RunID: "r", Outcome: Cancelled}},
		"stopped, returns nil":     {stopped, func(context.Context, Request, func(Event)) error { return nil }, RunFinished{RunID: "r", Outcome: Cancelled}},
		"stopped, returns failure": {stopped, func(context.Context, Request, func(Event)) error { return told }, RunFinished{RunID: "r", Outcome: Cancelled}},
		"stopped, panics":          {stopped, func(context.Context, Request, func(Event)) error { panic("x") }, RunFinished{RunID: "r", Outcome: Cancelled}},
		"timed out":                {late, func(ctx context.Context, _ Request, _ func(Event)) error { return ctx.Err() }, RunError{RunID: "r", Failure: Failure{Kind: TimedOut, Err: context.DeadlineExceeded}}},
		"shutdown":                 {shutdown, func(ctx context.Context, _ Request, _ func(Event)) error { return ctx.Err() }, RunFinished{RunID: "r", Outcome: Interrupt}},
	} {
		t.Run(name, func(t *testing.T) {
			wantEvents(t, driven(c.ctx, c.run), RunStarted{RunID: "r"}, c.want)
		})
	}
}

func TestA1_PanicOfTheBackendIsCrashed(t *testing.T) {
	var kept func(Event)
	for name, run := range map[string]backendFunc{
		"panic": func(_ context.Context, _ Request, emit func(Event)) error {
			kept = emit
			emit(TextContent{ID: "t", Delta: "so far"})
			panic("boom")
		},
		"goexit": func(_ context.Context, _ Request, emit func(Event)) error {
			kept = emit
			emit(TextContent{ID: "t", Delta: "so far"})
			runtime.Goexit()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out []Event
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				Drive(context.Background(), run, Request{RunID: "r"}, func(ev Event) { out = append(out, ev) })
			}()
			<-ended
			kept(TextContent{ID: "new", Delta: "after the end"})
			if len(out) != 5 {
				t.Fatalf("events:%s", list(out))
			}
			wantEvents(t, out[1:4], TextStarted{ID: "t"}, TextContent{ID: "t", Delta: "so far"}, TextEnded{ID: "t", Incomplete: true})
			if f := out[4].(RunError).Failure; f.Kind != Crashed || f.Detail == "" {
				t.Errorf("failure = %+v", f)
			}
		})
	}
}

func TestA1_CancelledInsideTheBackendIsACut(t *testing.T) {
	out := driven(context.Background(), func(context.Context, Request, func(Event)) error { return context.Canceled })
	if f := out[1].(RunError).Failure; f.Kind != CutEarly {
		t.Errorf("failure = %+v", f)
	}
}

func TestA1_OpenBlocksAreClosedAtTheEnd(t *testing.T) {
	wantEvents(t, emits(
		StepStarted{Name: "build"}, ReasoningStarted{ID: "a"}, TextStarted{ID: "b"}, ToolCallStarted{ID: "c", Name: "Bash"},
		SubagentStarted{Sub: Sub{"s"}, ToolCall: "c"}, TextStarted{Sub: Sub{"s"}, ID: "d"},
		ApprovalRequested{Approval: Approval{ID: "e", ToolCall: "c"}},
	),
		StepStarted{Name: "build"}, ReasoningStarted{ID: "a"}, TextStarted{ID: "b"}, ToolCallStarted{ID: "c", Name: "Bash"},
		SubagentStarted{Sub: Sub{"s"}, ToolCall: "c"}, TextStarted{Sub: Sub{"s"}, ID: "d"},
		ApprovalRequested{Approval: Approval{ID: "e", ToolCall: "c"}},
		ApprovalResolved{ID: "e"}, TextEnded{Sub: Sub{"s"}, ID: "d", Incomplete: true},
		SubagentFinished{Sub: Sub{"s"}, Incomplete: true}, ToolCallResult{ID: "c", Incomplete: true},
		TextEnded{ID: "b", Incomplete: true}, ReasoningEnded{ID: "a", Incomplete: true}, StepFinished{Name: "build"}, done)
}

func TestP9_AFailedRunTicksNoStep(t *testing.T) {
	out := driven(context.Background(), func(_ context.Context, _ Request, emit func(Event)) error {
		emit(StepStarted{Name: "build"})
		return &Failure{Kind: Overloaded}
	})
	wantEvents(t, out[1:], StepStarted{Name: "build"}, RunError{RunID: "r", Failure: Failure{Kind: Overloaded}})
}

func TestA1_ContentWithoutStartOpensItsBlock(t *testing.T) {
	wantEvents(t, emits(
		TextContent{ID: "a", Delta: "x"}, TextContent{ID: "a", Delta: ""}, TextEnded{ID: "a"}, TextContent{ID: "a", Delta: "late"}, TextEnded{ID: "a"},
		ReasoningContent{ID: "a", Delta: "y"}, ReasoningEnded{ID: "a", Signature: "s"}, ReasoningEnded{ID: "b", Signature: "s"}, ReasoningEnded{ID: "none"},
		ToolCallArgs{ID: "c", Delta: "{}"}, ToolCallEnded{ID: "c"}, ToolCallArgs{ID: "c", Delta: "late"}, ToolCallEnded{ID: "c"}, ToolCallResult{ID: "c", Content: "ok"}, ToolCallResult{ID: "c", Content: "twice"},
		ToolCallResult{ID: "d", Content: "done"}, ToolCallResult{ID: "e", IsError: true},
		StepFinished{Name: "none"}, StepStarted{Name: "s"}, StepStarted{Name: "s"}, StepFinished{Name: "s"}, ApprovalResolved{ID: "none"},
		ModelRequest{ID: "m"}, ModelRequest{ID: "m"},
	),
		TextStarted{ID: "a"}, TextContent{ID: "a", Delta: "x"}, TextEnded{ID: "a"},
		ReasoningStarted{ID: "a~2"}, ReasoningContent{ID: "a~2", Delta: "y"}, ReasoningEnded{ID: "a~2", Signature: "s"},
		ReasoningStarted{ID: "b"}, ReasoningEnded{ID: "b", Signature: "s"},
		ToolCallStarted{ID: "c"}, ToolCallArgs{ID: "c", Delta: "{}"}, ToolCallEnded{ID: "c"}, ToolCallResult{ID: "c", Content: "ok"},
		ToolCallStarted{ID: "d"}, ToolCallEnded{ID: "d"}, ToolCallResult{ID: "d", Content: "done"},
		ToolCallStarted{ID: "e"}, ToolCallResult{ID: "e", IsError: true},
		StepStarted{Name: "s"}, StepFinished{Name: "s"}, ModelRequest{ID: "m"}, done)
}

func TestA1_AnIdUsedAgainIsANewBlock(t *testing.T) {
	wantEvents(t, emits(
		TextStarted{ID: "0"}, TextContent{ID: "0", Delta: "one"}, TextEnded{ID: "0"},
		TextStarted{ID: "0"}, TextContent{ID: "0", Delta: "two"}, TextEnded{ID: "0"},
	),
		TextStarted{ID: "0"}, TextContent{ID: "0", Delta: "one"}, TextEnded{ID: "0"},
		TextStarted{ID: "0~2"}, TextContent{ID: "0~2", Delta: "two"}, TextEnded{ID: "0~2"}, done)
}

func TestP10_SubagentsKeepToTheirArea(t *testing.T) {
	s, u := Sub{"s"}, Sub{"unknown"}
	wantEvents(t, emits(
		SubagentStarted{Sub: s, Name: "Explore"}, SubagentStarted{Sub: s, Name: "again"},
		TextStarted{Sub: s, ID: "t"}, TextContent{Sub: s, ID: "t", Delta: "mine"},
		TextContent{Sub: u, ID: "t", Delta: "theirs"},
		SubagentFinished{Sub: s}, TextContent{Sub: s, ID: "t2", Delta: "late"}, SubagentFinished{Sub: s},
		SubagentStarted{}, SubagentFinished{},
	),
		SubagentStarted{Sub: s, Name: "Explore"}, TextStarted{Sub: s, ID: "t"}, TextContent{Sub: s, ID: "t", Delta: "mine"},
		SubagentStarted{Sub: u}, TextStarted{Sub: u, ID: "t~2"}, TextContent{Sub: u, ID: "t~2", Delta: "theirs"},
		TextEnded{Sub: s, ID: "t", Incomplete: true}, SubagentFinished{Sub: s},
		TextEnded{Sub: u, ID: "t~2", Incomplete: true}, SubagentFinished{Sub: u, Incomplete: true}, done)
}

func TestA1_EmitIsSafeForConcurrentUse(t *testing.T) {
	inside := 0 // the race detector and this counter see two at a time
	Drive(context.Background(), backendFunc(func(_ context.Context, _ Request, emit func(Event)) error {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 100 {
					emit(TextContent{ID: "t", Delta: "x"})
				}
			})
		}
		wg.Wait()
		return nil
	}), Request{}, func(Event) {
		if inside++; inside != 1 {
			t.Error("two at a time")
		}
		inside--
	})
}

// TestA1_WellFormedForAnyInput holds the promises against arbitrary sequences of events.
func TestA1_WellFormedForAnyInput(t *testing.T) {
	gen := anyEvent()
	rapid.Check(t, func(t *rapid.T) {
		evs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Event { return fewIDs(t, gen.Draw(t, "e")) }), 0, 40).Draw(t, "events")
		fails := rapid.Bool().Draw(t, "fails")
		out := driven(context.Background(), func(_ context.Context, _ Request, emit func(Event)) error {
			for _, ev := range evs {
				emit(ev)
			}
			if fails {
				return errors.New("x")
			}
			return nil
		})
		checkWellFormed(t, out)
	})
}

// fewIDs makes ids collide.
func fewIDs(t *rapid.T, ev Event) Event {
	v := reflect.New(reflect.TypeOf(ev)).Elem()
	v.Set(reflect.ValueOf(ev))
	for _, name := range []string{"ID", "Name", "Parent", "ToolCall", "Subagent"} {
		if f := v.FieldByName(name); f.IsValid() {
			f.SetString(rapid.SampledFrom([]string{"", "1", "2", "1~2"}).Draw(t, name))
		}
	}
	return v.Interface().(Event)
}

func checkWellFormed(t *rapid.T, out []Event) {
	state := map[string]string{} // kind+id → open or closed
	areas := map[string]string{"": "open"}
	opens := func(kind, id string) {
		if state[kind+id] != "" {
			t.Fatalf("%s %q started twice:%s", kind, id, list(out))
		}
		state[kind+id] = "open"
	}
	needs := func(kind, id string) {
		if state[kind+id] != "open" {
			t.Fatalf("%s %q is not open:%s", kind, id, list(out))
		}
	}
	closes := func(kind, id string) { needs(kind, id); state[kind+id] = "closed" }
	for i, ev := range out {
		if first := i == 0; first != (reflect.TypeOf(ev) == reflect.TypeFor[RunStarted]()) {
			t.Fatalf("RunStarted at %d:%s", i, list(out))
		}
		if last := i == len(out)-1; last != Terminal(ev) {
			t.Fatalf("terminal event at %d:%s", i, list(out))
		}
		if s, ok := ev.(SubagentStarted); ok {
			if areas[s.Subagent] != "" {
				t.Fatalf("subagent started twice:%s", list(out))
			}
			areas[s.Subagent] = "open"
		} else if areas[ev.Area()] != "open" {
			t.Fatalf("event %d in an area that is not open:%s", i, list(out))
		}
		switch ev := ev.(type) {
		case ReasoningStarted:
			opens("reasoning", ev.ID)
		case ReasoningContent:
			needs("reasoning", ev.ID)
		case ReasoningEnded:
			closes("reasoning", ev.ID)
		case TextStarted:
			opens("text", ev.ID)
		case TextContent:
			needs("text", ev.ID)
		case TextEnded:
			closes("text", ev.ID)
		case ToolCallStarted:
			opens("call", ev.ID)
		case ToolCallArgs:
			needs("call", ev.ID)
		case ToolCallEnded:
			needs("call", ev.ID)
		case ToolCallResult:
			closes("call", ev.ID)
		case SubagentFinished:
			areas[ev.Subagent] = "closed"
		default:
		}
	}
	for key, s := range state {
		if s == "open" {
			t.Fatalf("%q left open:%s", key, list(out))
		}
	}
	for area, s := range areas {
		if area != "" && s == "open" {
			t.Fatalf("subagent %q left open:%s", area, list(out))
		}
	}
}
