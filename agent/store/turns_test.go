package store

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"typist/agent"
)

// TestEndTurnIsOneTransaction: an end that fails at its last step leaves the turn as it was.
func TestEndTurnIsOneTransaction(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		id := accept(t, s, chatA, "1")
		if err := s.BeginTurn(background, Begin{Inputs: []int64{id}, Node: text("u", chatA, "", agent.User, "q"), Run: Run{ID: "r", Progress: "p1", Indicator: true}}); err != nil {
			t.Fatal(err)
		}
		before, _, err := s.Run(background, "r")
		if err != nil {
			t.Fatal(err)
		}
		end := End{RunID: "r", State: RunDone, Nodes: []Node{text("a", chatA, "u", agent.Assistant, "x")}, Leaf: "a", Answer: []PostRef{{MessageID: "m1"}, {Node: "none", MessageID: "m2"}}}
		if err := s.EndTurn(background, end); !errors.Is(err, ErrNotFound) {
			t.Fatalf("end with an unknown node: %v", err)
		}
		after, _, err := s.Run(background, "r")
		if err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("run changed: %+v %v", after, err)
		}
		if leaf, _ := s.Leaf(background, chatA); leaf != "u" {
			t.Errorf("leaf moved to %q", leaf)
		}
		if _, ok, _ := s.Node(background, "a"); ok {
			t.Error("the answer's node was kept")
		}
		if left, _ := s.Unfinished(background); len(left) != 1 || left[0].State != InputRunning {
			t.Errorf("inputs: %+v", left)
		}
		end.Answer[1].Node = "u"
		if err := s.EndTurn(background, end); err != nil {
			t.Fatal(err)
		}
		if err := s.EndTurn(background, end); !errors.Is(err, ErrRunEnded) {
			t.Errorf("second end: %v", err)
		}
		if err := s.EndTurn(background, End{RunID: "none"}); !errors.Is(err, ErrNotFound) {
			t.Errorf("end of an unknown run: %v", err)
		}
		run, _, err := s.Run(background, "r")
		if err != nil || run.Progress != "" || run.Indicator || run.EndedAt.IsZero() || fmt.Sprint(run.Answer) != "[m1 m2]" {
			t.Errorf("run: %+v %v", run, err)
		}
		if n, ok, err := s.NodeByRef(background, chatA, "m2"); n.ID != "u" || !ok || err != nil {
			t.Error(n, ok, err)
		}
	})
}

// TestS5_ResumeAndRetryBeginAtAnExistingNode: nothing is appended, the leaf goes there.
func TestS5_ResumeAndRetryBeginAtAnExistingNode(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		if err := s.AppendNodes(background, []Node{text("u", chatA, "", agent.User, "q"), text("a", chatA, "u", agent.Assistant, "x"), text("v", chatA, "a", agent.User, "next")}); err != nil {
			t.Fatal(err)
		}
		if err := s.SetLeaf(background, chatA, "v"); err != nil {
			t.Fatal(err)
		}
		for _, node := range []string{"u", "a"} {
			id := accept(t, s, chatA, "e"+node)
			if err := s.BeginTurn(background, Begin{Inputs: []int64{id}, Node: Node{ID: node, Chat: chatA}, Run: Run{ID: "r" + node}}); err != nil {
				t.Fatal(err)
			}
			leaf, err := s.Leaf(background, chatA)
			path, err2 := s.Path(background, chatA, "v")
			if leaf != node || len(path) != 3 || path[0].Message.Blocks[0].Text != "q" || errors.Join(err, err2) != nil {
				t.Errorf("leaf %q, path %+v, %v %v", leaf, path, err, err2)
			}
			run, ok, err := s.LastRun(background, chatA)
			if run.ID != "r"+node || run.Node != node || run.State != RunRunning || !ok || err != nil {
				t.Errorf("%+v %v %v", run, ok, err)
			}
			if err := s.EndTurn(background, End{RunID: "r" + node, State: RunFailed, Failure: "cut", Inputs: nil}); err != nil {
				t.Fatal(err)
			}
		}
		list, err := s.RunsIn(background, RunRunning, RunFailed)
		if len(list) != 2 || list[0].ID != "ru" || list[0].Failure != "cut" || err != nil {
			t.Errorf("%+v %v", list, err)
		}
	})
}

// TestRunTwigs: a run's nodes in order, the one it began with and those of other runs apart.
func TestRunTwigs(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		u := text("u", chatA, "", agent.User, "q")
		u.RunID = "r1"
		if err := s.BeginTurn(background, Begin{Node: u, Run: Run{ID: "r1"}}); err != nil {
			t.Fatal(err)
		}
		var made []Node
		for i, role := range []agent.Role{agent.Assistant, agent.ToolRole, agent.User, agent.Assistant} {
			parent := "u"
			if i > 0 {
				parent = made[i-1].ID
			}
			n := text(fmt.Sprint("n", i), chatA, parent, role, "x")
			n.RunID, n.At, n.Incomplete = "r1", at(i), i == 3
			made = append(made, n)
		}
		other := text("o", chatA, "u", agent.Assistant, "x")
		other.RunID = "r2"
		if err := errors.Join(s.AppendNodes(background, append([]Node{other}, made...)), s.EndTurn(background, End{RunID: "r1", State: RunDone, Nodes: made, Leaf: "n3"})); err != nil {
			t.Fatal(err)
		}
		list, err := s.RunTwigs(background, "r1")
		if err != nil || len(list) != 5 || list[0].ID != "u" {
			t.Fatalf("%+v %v", list, err)
		}
		for i, n := range made {
			if want := (Twig{ID: n.ID, Parent: n.Parent, RunID: "r1", Role: n.Message.Role, Incomplete: n.Incomplete, At: n.At}); list[i+1] != want {
				t.Errorf("%+v, want %+v", list[i+1], want)
			}
		}
		if all, err := s.Outline(background, chatA, 0); len(all) != 6 || err != nil {
			t.Errorf("%+v %v", all, err)
		}
		if some, err := s.Outline(background, chatA, 2); len(some) != 2 || err != nil {
			t.Errorf("%+v %v", some, err)
		}
	})
}

func TestRunFields(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		run := Run{ID: "r", Chat: chatB, Node: "n", Backend: "main", State: RunRunning, Progress: "p", ProgressKey: "k", Answer: []string{"1"}, Anchor: "m", Indicator: true, Failure: "f", StartedAt: at(1), EndedAt: at(2)}
		if err := s.BeginTurn(background, Begin{Run: run}); err != nil {
			t.Fatal(err)
		}
		same := func() {
			t.Helper()
			for _, get := range []func() (Run, bool, error){
				func() (Run, bool, error) { return s.Run(background, "r") },
				func() (Run, bool, error) { return s.LastRun(background, chatB) },
				func() (Run, bool, error) { return s.RunByMessage(background, chatB, run.Progress) },
				func() (Run, bool, error) { return s.RunByMessage(background, chatB, run.Answer[0]) },
			} {
				if got, ok, err := get(); !ok || err != nil || !reflect.DeepEqual(got, run) {
					t.Errorf("got %+v %v %v\nwant %+v", got, ok, err, run)
				}
			}
		}
		same()
		if err := s.SaveProgress(background, "r", "k2", "p2"); err != nil {
			t.Fatal(err)
		}
		run.ProgressKey, run.Progress = "k2", "p2"
		same()
		run = Run{ID: "r", Chat: chatB, Node: "n2", Backend: "b2", State: RunStopped, Progress: "p3", ProgressKey: "k3", Answer: []string{"2", "3"}, Anchor: "m2", StartedAt: at(3), EndedAt: at(4)}
		if err := s.UpdateRun(background, run); err != nil {
			t.Fatal(err)
		}
		same()
		if list, err := s.RunsOf(background, chatB, "n2"); len(list) != 1 || err != nil {
			t.Error(list, err)
		}
		for what, err := range map[string]error{
			"update":   s.UpdateRun(background, Run{ID: "none"}),
			"progress": s.SaveProgress(background, "none", "", ""),
		} {
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if _, ok, err := s.RunByMessage(background, chatB, ""); ok || err != nil {
			t.Errorf("a run by no message: %v %v", ok, err)
		}
		if err := s.BeginTurn(background, Begin{Run: Run{ID: "r", Chat: chatB}}); err == nil {
			t.Error("a run id was used twice")
		}
	})
}
