package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"typist/agent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func parse(t *testing.T, text string) *Script {
	t.Helper()
	s, err := Parse("test.txt", text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// play drives a run and returns its events, merged and short, with their times.
func play(ctx context.Context, b agent.Backend, req agent.Request) []string {
	if req.RunID == "" {
		req.RunID = "r"
	}
	started := time.Now()
	var out []string
	c := agent.NewCoalescer()
	at := time.Duration(0)
	flush := func() {
		for _, ev := range c.Take() {
			out = append(out, fmt.Sprintf("%v %s", at, short(ev)))
		}
	}
	agent.Drive(ctx, b, req, func(ev agent.Event) {
		if now := time.Since(started); now != at {
			flush()
			at = now
		}
		c.Add(ev)
	})
	flush()
	return out
}

func short(ev agent.Event) string {
	s := strings.TrimPrefix(fmt.Sprintf("%T%+v", ev, ev), "agent.")
	return strings.NewReplacer("Sub:{Subagent:} ", "", "Sub:{Subagent:", "{", "{top:{} ", "{", " IsError:false", "", " Incomplete:false Silent:false}", "}", " Incomplete:false}", "}", " Signature:}", "}", " Signature: Incomplete:false}", "}", " Title:}", "}", " Parent: ToolCall:}", "}").Replace(s)
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func says(text string) []agent.Message { return []agent.Message{agent.UserText(text)} }

func TestA2_ScriptPlaysByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := parse(t, `
on "hello":
  step Look
  think 1s: a b
  think-silent 2s
  say: One two {{input}}.
  tool 3s Bash {"command":"echo {{input}}"} => did
  | {{input}}
  tool-fail Bash => no
  end-step
  wait 1s
  pace 10ms
  say:
  | Done
  | now.
`)
		got := play(context.Background(), New(s, nil), agent.Request{History: says(`Hello "x"`)})
		want(t, got,
			"0s RunStarted{RunID:r}", "0s StepStarted{Name:Look}", "0s ModelRequest{ID:r.m1}", "0s ReasoningStarted{ID:r.r4 Request:r.m1}", "0s ReasoningContent{ID:r.r4 Delta:a }",
			"500ms ReasoningContent{ID:r.r4 Delta:b}", "1s ReasoningEnded{ID:r.r4}", "1s ReasoningStarted{ID:r.r5 Request:r.m1}", "3s ReasoningEnded{ID:r.r5}",
			"3s TextStarted{ID:r.t6 Request:r.m1}", "3s TextContent{ID:r.t6 Delta:One }", "3.04s TextContent{ID:r.t6 Delta:two }", `3.08s TextContent{ID:r.t6 Delta:Hello }`, `3.12s TextContent{ID:r.t6 Delta:"x".}`,
			"3.16s TextEnded{ID:r.t6}", "3.16s ToolCallStarted{ID:r.c7 Request:r.m1 Name:Bash}", `3.16s ToolCallArgs{ID:r.c7 Delta:{"command":"echo Hello \"x\""}}`, "3.16s ToolCallEnded{ID:r.c7}",
			"6.16s ToolCallResult{ID:r.c7 Content:did\nHello \"x\"}", "6.16s ModelRequest{ID:r.m2}", "6.16s ToolCallStarted{ID:r.c9 Request:r.m2 Name:Bash}", "6.16s ToolCallArgs{ID:r.c9 Delta:{}}", "6.16s ToolCallEnded{ID:r.c9}",
			"7.16s ToolCallResult{ID:r.c9 Content:no IsError:true}", "7.16s StepFinished{Name:Look}",
			"8.16s ModelRequest{ID:r.m3}", "8.16s TextStarted{ID:r.t13 Request:r.m3}", "8.16s TextContent{ID:r.t13 Delta:Done\n}", "8.17s TextContent{ID:r.t13 Delta:now.}", "8.18s TextEnded{ID:r.t13}", "8.18s RunFinished{RunID:r Outcome:success}")
	})
}

func TestP10_SubagentsInterleave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := parse(t, `
otherwise:
  parallel {
    subagent A {
      say 2s: a b
    }
    subagent B {
      wait 500ms
      tool 1s Read => r
    }
  }
`)
		got := play(context.Background(), New(s, nil), agent.Request{})
		for area, events := range map[string][]string{
			"r.s4": {"0s SubagentStarted{{r.s4} Name:A}", "0s ModelRequest{{r.s4} ID:r.m1.r.s4}", "0s TextStarted{{r.s4} ID:r.t5 Request:r.m1.r.s4}", "0s TextContent{{r.s4} ID:r.t5 Delta:a }",
				"1s TextContent{{r.s4} ID:r.t5 Delta:b}", "2s TextEnded{{r.s4} ID:r.t5}", "2s SubagentFinished{{r.s4}}"},
			"r.s7": {"0s SubagentStarted{{r.s7} Name:B}", "500ms ModelRequest{{r.s7} ID:r.m1.r.s7}", "500ms ToolCallStarted{{r.s7} ID:r.c9 Request:r.m1.r.s7 Name:Read}", "500ms ToolCallArgs{{r.s7} ID:r.c9 Delta:{}}", "500ms ToolCallEnded{{r.s7} ID:r.c9}",
				"1.5s ToolCallResult{{r.s7} ID:r.c9 Content:r}", "1.5s SubagentFinished{{r.s7}}"},
		} {
			want(t, slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.Contains(s, "{{"+area+"}") }), events...)
		}
	})
}

func TestA3_ParallelCallsAreWrittenFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := parse(t, "otherwise:\nparallel {\ntool 2s A\ntool 1s B\ndo {\nwait 500ms\nsay: hi\n}\n}\nsay: end")
		got := play(context.Background(), New(s, nil), agent.Request{})
		slices.Sort(got[6:8]) // they begin in the same instant
		want(t, got, "0s RunStarted{RunID:r}", "0s ModelRequest{ID:r.m1}", "0s ToolCallStarted{ID:r.c3 Request:r.m1 Name:A}", "0s ToolCallArgs{ID:r.c3 Delta:{}}", "0s ToolCallStarted{ID:r.c4 Request:r.m1 Name:B}", "0s ToolCallArgs{ID:r.c4 Delta:{}}",
			"0s ToolCallEnded{ID:r.c3}", "0s ToolCallEnded{ID:r.c4}", "500ms TextStarted{ID:r.t7 Request:r.m1}", "500ms TextContent{ID:r.t7 Delta:hi}", "540ms TextEnded{ID:r.t7}",
			"1s ToolCallResult{ID:r.c4 Content:}", "2s ToolCallResult{ID:r.c3 Content:}", "2s ModelRequest{ID:r.m2}", "2s TextStarted{ID:r.t10 Request:r.m2}", "2s TextContent{ID:r.t10 Delta:end}", "2.04s TextEnded{ID:r.t10}", "2.04s RunFinished{RunID:r Outcome:success}")
	})
}

func TestS3_ScriptedFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for body, want := range map[string]string{
			"error rate_limited 30s: slow down": "RunError{RunID:r Failure:rate_limited: slow down}",
			"cut":                               "RunError{RunID:r Failure:cut",
			"crash":                             "RunError{RunID:r Failure:crashed: panic: the script says so",
			"parallel {\nwait 1m\ncrash\n}":     "RunError{RunID:r Failure:crashed: panic: the script says so",
			"parallel {\nwait 1m\ncut\n}":       "RunError{RunID:r Failure:cut",
			"silence":                           "RunFinished{RunID:r Outcome:success}",
			"call nothing":                      "RunError{RunID:r Failure:invalid: line 2 of the script calls nothing",
		} {
			var last agent.Event
			agent.Drive(context.Background(), New(parse(t, "otherwise:\n"+body), nil), agent.Request{RunID: "r"}, func(ev agent.Event) { last = ev })
			got := short(last)
			if e, ok := last.(agent.RunError); ok {
				got = fmt.Sprintf("RunError{RunID:%s Failure:%s}", e.RunID, e.Failure.Error())
			}
			if !strings.HasPrefix(got, want) {
				t.Errorf("%q: %s", body, got)
			}
		}
	})
}

func TestS3_OnceIsForTheFirstTry(t *testing.T) {
	b := New(parse(t, "otherwise:\nonce {\nerror overloaded\n}\npace 0s\nsay: fine"), nil)
	for i, want := range []string{"RunError", "RunFinished"} {
		got := play(context.Background(), b, agent.Request{Session: "s"})
		if !strings.Contains(got[len(got)-1], want) {
			t.Errorf("try %d: %s", i+1, got[len(got)-1])
		}
	}
}

func TestA4_ScriptAsksAndBranches(t *testing.T) {
	s := parse(t, "otherwise:\npace 0s\nask-approval [Delete | Keep]: Delete {{input}}?\nif-approved {\nsay: deleted\n}\nif-denied {\nsay: kept\n}")
	for option, want := range map[string]string{"option1": "deleted", "option2": "kept", "": "kept"} {
		var transcript agent.Transcript
		agent.Drive(context.Background(), New(s, nil), agent.Request{History: says("it"), Approve: func(_ context.Context, area string, a agent.Approval) (string, error) {
			if area != "" || a.Title != "Delete it?" || len(a.Options) != 2 || a.Options[0].Name != "Delete" || !a.Options[0].Allow || a.Options[1].Allow {
				t.Errorf("%+v", a)
			}
			return option, nil
		}}, transcript.Apply)
		if got := transcript.Text(); got != want {
			t.Errorf("%q: %q", option, got)
		}
	}
}

// guarded is a toolbox as the turn code's guard: it knows results, and counts.
type guarded struct {
	agent.Toolbox
	listed int
}

func (g *guarded) List(ctx context.Context) ([]agent.Tool, error) {
	g.listed++
	return g.Toolbox.List(ctx)
}

type realTool struct{}

func (realTool) List(context.Context) ([]agent.Tool, error) {
	return []agent.Tool{{Name: "files__read", Title: "Read a file"}}, nil
}
func (realTool) Call(_ context.Context, c agent.ToolCall) (agent.ToolResult, error) {
	if c.Name != "files__read" {
		return agent.ToolResult{}, errors.New("unknown")
	}
	return agent.ToolResult{Content: "real " + string(c.Args)}, nil
}

func TestS4_ScriptedToolsGoThroughTheGuardAndAreRecorded(t *testing.T) {
	record := filepath.Join(t.TempDir(), "calls")
	box := NewToolbox(realTool{}, record)
	s := parse(t, "otherwise:\ntool 0s Bash {\"command\":\"{{input}}\"} => ok\ncall files__read {\"path\":\"a\"}\ncall other\npace 0s\nsay: done")
	g := &guarded{Toolbox: box}
	got := play(context.Background(), New(s, box), agent.Request{Tools: g, History: says("x")})
	all := strings.Join(got, "\n")
	for _, piece := range []string{"Content:ok}", `Content:real {"path":"a"}}`, "Title:Read a file", "could not be called: unknown IsError:true"} {
		if !strings.Contains(all, piece) {
			t.Errorf("no %q in\n%s", piece, all)
		}
	}
	if g.listed != 1 {
		t.Errorf("listed %d times: the guard learns from it what needs an approval", g.listed)
	}
	lines, err := os.ReadFile(record)
	if want := `{"id":"r.c2","name":"Bash","args":{"command":"x"}}` + "\n"; err != nil || string(lines) != want {
		t.Errorf("recorded %q, %v", lines, err)
	}
	// A script backend without the toolbox in the request plays all the same.
	if got := play(context.Background(), New(parse(t, "otherwise:\ntool 0s Bash => ok"), nil), agent.Request{}); !strings.Contains(strings.Join(got, "\n"), "Content:ok}") {
		t.Error(got)
	}
}

func TestC7_ScriptedFiles(t *testing.T) {
	s := parse(t, "otherwise:\nfile a.png\nfile b.txt text/x-test: one\n| two\nfile c.csv: x")
	var files []agent.FileProduced
	agent.Drive(context.Background(), New(s, nil), agent.Request{}, func(ev agent.Event) {
		if f, ok := ev.(agent.FileProduced); ok {
			files = append(files, f)
		}
	})
	if len(files) != 3 || files[0].MIME != "image/png" || !strings.HasPrefix(string(files[0].Data), "\x89PNG") || files[1].MIME != "text/x-test" || string(files[1].Data) != "one\ntwo" {
		t.Errorf("%+v", files)
	}
}

func TestS2_ScriptStopsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, body := range []string{"wait 1h", "think 1h: a b", "think-silent 1h", "say 1h: a b", "tool 1h A", "parallel {\ntool 1h A\nsubagent B {\nwait 1h\n}\n}"} {
			ctx, cancel := context.WithTimeoutCause(context.Background(), time.Minute, context.Canceled)
			started := time.Now()
			got := play(ctx, New(parse(t, "otherwise:\n"+body), nil), agent.Request{})
			cancel()
			if d := time.Since(started); d != time.Minute || got[len(got)-1] != "1m0s RunFinished{RunID:r Outcome:cancelled}" {
				t.Errorf("%q: after %v\n%s", body, d, strings.Join(got, "\n"))
			}
		}
	})
}

func TestA2_ScriptErrorsNameLineAndMend(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   `x.txt: no section; begin one with a line on "words": or a line otherwise: and its directives`,
		"say: hi":                            `x.txt:1: "say" stands before the first section; begin one with a line on "words": or a line otherwise: before it`,
		"otherwise:\n\nthnk: hi":             `x.txt:3: unknown directive "thnk" (known: ask-approval, call, crash,`,
		"otherwise:\nwait soon":              `x.txt:2: "soon" is no time; write one like 500ms, 2s or 1m`,
		"otherwise:\nwait -1s":               `x.txt:2: "-1s" is no time`,
		"otherwise:\nsay hi":                 `x.txt:2: write say: TEXT or say 2s: TEXT`,
		"otherwise:\nparallel {\nsay: x":     `x.txt:3: the block parallel of line 2 is open; close it with } alone on a line`,
		"otherwise:\nparallel":               `x.txt:2: parallel begins a block; end its line with {`,
		"otherwise:\n}":                      `x.txt:2: } closes nothing; remove it`,
		"otherwise:\n| x":                    `x.txt:2: a | line needs a text or a result before it`,
		"on hello:":                          `x.txt:1: write on "words": with a regular expression in double quotes and a colon`,
		`on "(":`:                            `x.txt:1: error parsing regexp: missing closing ): ` + "`(?is)(`; mend the expression in quotes",
		"otherwise: say":                     `x.txt:1: write otherwise: alone on its line`,
		"otherwise:\ntool {\"a\":1}":         `x.txt:2: write tool NAME {"argument":"value"} with the tool's name first`,
		"otherwise:\ntool A {\"a\":":         `x.txt:2: the arguments are no JSON object: it does not end`,
		"otherwise:\ntool A {} result":       `x.txt:2: "result": write => before the result`,
		"otherwise:\ncall A {} => result":    `x.txt:2: call asks a real tool, which gives its own result; remove => and what follows, or write tool`,
		"otherwise:\nerror broken":           `x.txt:2: unknown kind of error "broken" (allowed: [never_sent cut`,
		"otherwise:\nstep":                   `x.txt:2: step needs a name`,
		"otherwise:\ncut now":                `x.txt:2: cut takes nothing; remove "now"`,
		"otherwise:\nask-approval [A]: t":    `x.txt:2: write at least two options: ask-approval [Delete | Keep]: TITLE`,
		"otherwise:\nask-approval [A | B: t": `x.txt:2: close the options with ]`,
		"otherwise:\nask-approval":           `x.txt:2: write ask-approval: TITLE or ask-approval [Delete | Keep]: TITLE`,
		"otherwise:\nfile":                   `x.txt:2: write file NAME: CONTENT or file NAME MIME: CONTENT`,
		"otherwise:\ntitle: late":            `x.txt:2: title: TEXT stands before the first section`,
	} {
		_, err := Parse("x.txt", text)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.txt")); err == nil {
		t.Error("a missing file")
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("demos/*.txt")
	for _, name := range files {
		text, _ := os.ReadFile(name)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := Parse("x", text); err == nil && len(s.sections) == 0 {
			t.Error("no section and no error")
		}
	})
}
