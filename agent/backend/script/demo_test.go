package script

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"typist/agent"
)

func demo(t interface{ Fatal(...any) }) *Script {
	s, err := Demo()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func approves(context.Context, string, agent.Approval) (string, error) { return "option1", nil }

func TestW5_EveryDemoIsFoundAndTakesUnderAMinute(t *testing.T) {
	infos, err := Demos()
	if err != nil || len(infos) < 12 {
		t.Fatalf("%d demos, %v", len(infos), err)
	}
	for _, info := range infos {
		t.Run(info.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if info.Title == "" || info.About == "" || info.Try == "" {
					t.Errorf("%+v", info)
				}
				own, err := demoScripts()
				if err != nil {
					t.Fatal(err)
				}
				all := demo(t)
				for _, f := range own {
					if f.info.Name != info.Name {
						continue
					}
					got, _ := all.find(info.Try)
					if body, _ := f.script.find(info.Try); len(body) == 0 || len(got) == 0 || !reflect.DeepEqual(got, body) {
						t.Errorf("%q plays another demo", info.Try)
					}
				}
				b := New(all, nil)
				started := time.Now()
				var first, second agent.Transcript
				agent.Drive(context.Background(), b, agent.Request{RunID: "r", Session: "s", History: says(info.Try), Approve: approves}, first.Apply)
				if d := time.Since(started); d > time.Minute || d < 500*time.Millisecond {
					t.Errorf("takes %v", d)
				}
				if first.Text() == "" {
					t.Error("no answer")
				}
				agent.Drive(context.Background(), b, agent.Request{RunID: "r", Session: "s", History: says(info.Try), Approve: approves}, second.Apply)
				if info.Name != "retry" && !reflect.DeepEqual(first.Messages(), second.Messages()) {
					t.Error("not the same each time")
				}
			})
		})
	}
}

func TestW5_HelpListsTheDemos(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		infos, _ := Demos()
		for _, input := range []string{"help", "/help", "Demos?", "hilfe"} {
			var transcript agent.Transcript
			agent.Drive(context.Background(), New(demo(t), nil), agent.Request{History: says(input)}, transcript.Apply)
			for _, info := range infos {
				if !strings.Contains(transcript.Text(), info.Try) {
					t.Errorf("%s: no %q", input, info.Try)
				}
			}
		}
		var transcript agent.Transcript
		agent.Drive(context.Background(), New(demo(t), nil), agent.Request{History: says("xyzzy")}, transcript.Apply)
		if !strings.Contains(transcript.Text(), "“xyzzy”") {
			t.Errorf("%q", transcript.Text())
		}
	})
}

// TestS5_AnyDemoResumesWhereItWasStopped stops a demo at any moments, resumes it each time with
// the history that its events make, and compares with an undisturbed run: every text once and
// whole, every call executed once.
func TestS5_AnyDemoResumesWhereItWasStopped(t *testing.T) {
	infos, err := Demos()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := 0
	rapid.Check(t, func(rt *rapid.T) {
		info := infos[rapid.IntRange(0, len(infos)-1).Draw(rt, "demo")]
		if info.Name == "retry" {
			return // its once block counts runs
		}
		stops := rapid.SliceOfN(rapid.IntRange(0, 50_000), 0, 4).Draw(rt, "stops after ms")
		file++
		record := filepath.Join(dir, fmt.Sprint(file))
		synctest.Test(t, func(t *testing.T) {
			wantTexts, wantCalls := playWhole(t, info.Try)
			b := New(demo(t), NewToolbox(nil, record))
			history := says(info.Try)
			for i := 0; ; i++ {
				ctx, cancel := context.WithCancel(context.Background())
				if i < len(stops) {
					ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(stops[i])*time.Millisecond+time.Microsecond, context.Canceled)
				}
				var transcript agent.Transcript
				var outcome agent.Outcome
				agent.Drive(ctx, b, agent.Request{RunID: fmt.Sprintf("r%d", i), Session: "s", History: history, Resume: i > 0, Approve: approves}, func(ev agent.Event) {
					transcript.Apply(ev)
					if f, ok := ev.(agent.RunFinished); ok {
						outcome = f.Outcome
					}
				})
				cancel()
				history = append(history, transcript.Messages()...)
				var results []agent.Part // as the turn code does (S4)
				for _, c := range transcript.Open() {
					results = append(results, agent.Part{Kind: agent.PartResult, ID: c.ID, Subagent: c.Subagent, Text: "outcome unknown", IsError: true})
				}
				if len(results) > 0 {
					history = append(history, agent.Message{Role: agent.ToolRole, Blocks: results})
				}
				if outcome == agent.Success {
					break
				}
			}
			texts, _ := saidAndCalled(history)
			if !reflect.DeepEqual(texts, wantTexts) {
				t.Fatalf("%s stopped at %v:\n got %q\nwant %q", info.Name, stops, texts, wantTexts)
			}
			executed := map[string]int{}
			data, _ := os.ReadFile(record)
			for line := range strings.Lines(string(data)) {
				var call struct{ ID string }
				if err := json.Unmarshal([]byte(line), &call); err != nil {
					t.Fatal(err)
				}
				executed[call.ID[strings.LastIndexByte(call.ID, '.'):]]++
			}
			for id, n := range executed {
				if n != 1 {
					t.Fatalf("%s stopped at %v: %s executed %d times", info.Name, stops, id, n)
				}
			}
			if len(executed) != wantCalls {
				t.Fatalf("%s stopped at %v: %d calls, want %d", info.Name, stops, len(executed), wantCalls)
			}
		})
	})
}

func playWhole(t *testing.T, input string) (map[string]string, int) {
	var transcript agent.Transcript
	agent.Drive(context.Background(), New(demo(t), nil), agent.Request{RunID: "w", Session: "w", History: says(input), Approve: approves}, transcript.Apply)
	return saidAndCalled(transcript.Messages())
}

// saidAndCalled are the texts by line, pieces joined, and the number of calls.
func saidAndCalled(history []agent.Message) (map[string]string, int) {
	texts, calls := map[string]string{}, map[string]bool{}
	for _, m := range history {
		for _, p := range m.Blocks {
			line := p.ID[strings.LastIndexByte(p.ID, '.')+1:]
			switch {
			case m.Role == agent.Assistant && p.Kind == agent.PartText:
				texts[line] += p.Text
			case p.Kind == agent.PartToolCall:
				calls[line] = true
			}
		}
	}
	return texts, len(calls)
}
