package store

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"typist/agent"
)

const (
	crashDir   = "STORE_TEST_CRASH_DIR"
	crashRound = "STORE_TEST_CRASH_ROUND"
	crashChats = 4
	crashBatch = 3 // events an append stores together
)

func crashChat(i int) string { return fmt.Sprintf("telegram/%d", i) }

// crash is the child of TestKilledAtAnyPoint: it works turns off in several chats and prints a
// line after every write that has returned, until it is killed.
func crash(dir string) error {
	s, err := Open(background, Options{Dir: dir})
	if err != nil {
		return err
	}
	round := os.Getenv(crashRound)
	var out sync.Mutex
	say := func(format string, args ...any) {
		out.Lock()
		defer out.Unlock()
		fmt.Printf(format+"\n", args...)
	}
	failed := make(chan error)
	for i := range crashChats {
		go func() {
			for n := 0; ; n++ {
				if err := crashTurn(s, crashChat(i), fmt.Sprintf("%s.%d.%d", round, i, n), say); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	return <-failed
}

func crashTurn(s *Store, chat, name string, say func(string, ...any)) error {
	id, _, err := s.Accept(background, Input{EventID: name, Chat: chat, MessageID: "m" + name, Kind: InputMessage, Payload: []byte("{}")})
	if err != nil {
		return err
	}
	say("accepted %s %d", name, id)
	leaf, err := s.Leaf(background, chat)
	if err != nil {
		return err
	}
	user := text("u"+name, chat, leaf, agent.User, "question "+name)
	user.Refs = []string{"m" + name}
	if err := s.BeginTurn(background, Begin{Inputs: []int64{id}, Node: user, Run: Run{ID: name}}); err != nil {
		return err
	}
	say("began %s", name)
	for part := range 3 {
		var evs []agent.Event
		for range crashBatch {
			evs = append(evs, agent.TextContent{ID: fmt.Sprint(part), Delta: "words "})
		}
		first, err := s.Append(background, chat, name, time.Now(), evs)
		if err != nil {
			return err
		}
		say("appended %s %d", name, first)
	}
	if err := s.EndTurn(background, End{RunID: name, State: RunDone, Nodes: []Node{text("a"+name, chat, user.ID, agent.Assistant, "answer")}, Leaf: "a" + name, Answer: []PostRef{{MessageID: "p" + name}}}); err != nil {
		return err
	}
	say("ended %s", name)
	return nil
}

// TestKilledAtAnyPoint kills a writing process again and again and looks at what it left: what
// was acknowledged is there, no turn is half there, numbers grow without a gap.
func TestKilledAtAnyPoint(t *testing.T) {
	const rounds = 10
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	dir := t.TempDir()
	for round := range rounds {
		said := killedWriter(t, dir, round, 1+random.IntN(150))
		s, err := Open(background, Options{Dir: dir})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		checkSaid(t, s, said)
		checkWhole(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			t.Fatalf("round %d after %d lines", round, len(said))
		}
	}
}

// killedWriter runs the child until it has said that many lines, kills it, and returns all it said.
func killedWriter(t *testing.T, dir string, round, lines int) (said []string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashDir+"="+dir, fmt.Sprintf("%s=%d", crashRound, round))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for sc := bufio.NewScanner(out); sc.Scan(); {
		if said = append(said, sc.Text()); len(said) == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || len(said) < lines {
		t.Fatalf("the writer ended by itself after %d lines: %v", len(said), err)
	}
	return said
}

// checkSaid compares what the child was told to be durable with what is there.
func checkSaid(t *testing.T, s *Store, said []string) {
	t.Helper()
	for _, line := range said {
		f := strings.Fields(line)
		name := f[1]
		var n int64
		var err error
		want := int64(1)
		switch f[0] {
		case "accepted":
			n, err = count(s, `SELECT COUNT(*) FROM inbox WHERE channel = 'telegram' AND event_id = ?1 AND id = ?2`, name, f[2])
		case "began":
			n, err = count(s, `SELECT COUNT(*) FROM runs WHERE id = ?1`, name)
		case "appended":
			want = crashBatch
			n, err = count(s, `SELECT COUNT(*) FROM spans s CROSS JOIN events e WHERE s.run = ?1 AND e.chat = s.chat AND e.seq BETWEEN ?2 AND ?2 + 2 AND e.span = s.id`, name, f[2])
		case "ended":
			n, err = count(s, `SELECT COUNT(*) FROM runs WHERE id = ?1 AND state = 'done'`, name)
		}
		if err != nil || n != want {
			t.Errorf("%q was acknowledged; found %d, %v", line, n, err)
		}
	}
}

// checkWhole looks for anything that is half there.
func checkWhole(t *testing.T, s *Store) {
	t.Helper()
	for what, query := range map[string]string{
		"running turn without its message":     `SELECT COUNT(*) FROM runs r WHERE NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = r.node)`,
		"begun input that is not running":      `SELECT COUNT(*) FROM runs r JOIN inbox i ON i.channel = 'telegram' AND i.event_id = r.id WHERE r.state = 'running' AND i.state <> 'running'`,
		"ended turn whose input is not done":   `SELECT COUNT(*) FROM runs r JOIN inbox i ON i.channel = 'telegram' AND i.event_id = r.id WHERE r.state = 'done' AND i.state <> 'done'`,
		"done input without an ended turn":     `SELECT COUNT(*) FROM inbox i WHERE i.state = 'done' AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = i.event_id AND r.state = 'done')`,
		"ended turn without its answer":        `SELECT COUNT(*) FROM runs r WHERE r.state = 'done' AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.id = 'a' || r.id)`,
		"answer of a turn that has not ended":  `SELECT COUNT(*) FROM nodes n WHERE n.role = 'assistant' AND NOT EXISTS (SELECT 1 FROM runs r WHERE 'a' || r.id = n.id AND r.state = 'done')`,
		"answer without its message":           `SELECT COUNT(*) FROM runs r WHERE r.state = 'done' AND NOT EXISTS (SELECT 1 FROM answers a WHERE a.run = r.id)`,
		"node without its message":             `SELECT COUNT(*) FROM nodes n WHERE NOT EXISTS (SELECT 1 FROM refs f WHERE f.node = n.pos)`,
		"leaf that is not the last node":       `SELECT COUNT(*) FROM chats c WHERE c.leaf <> COALESCE((SELECT MAX(pos) FROM nodes n WHERE n.chat = c.id), 0)`,
		"append that is half there":            `SELECT COUNT(*) FROM (SELECT event FROM events GROUP BY span, event HAVING COUNT(*) <> 3) AS h`,
		"gap or repetition in the numbers":     `SELECT COUNT(*) FROM (SELECT 1 FROM events e JOIN chats c ON c.id = e.chat GROUP BY c.id, c.seq HAVING COUNT(*) <> MAX(e.seq) OR MIN(e.seq) <> 1 OR MAX(e.seq) <> c.seq) AS h`,
		"run whose span misses some of it":     `SELECT COUNT(*) FROM events e JOIN spans s ON s.id = e.span WHERE e.seq NOT BETWEEN s.first AND s.last OR e.chat <> s.chat`,
		"damage that SQLite sees in the pages": `SELECT COUNT(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'`,
	} {
		if n, err := count(s, query); err != nil || n != 0 {
			t.Errorf("%s: %d, %v", what, n, err)
		}
	}
}

func count(s *Store, query string, args ...any) (n int64, err error) {
	err = s.read(background, "count", func(c *conn) error {
		_, err := c.row(query, args, &n)
		return err
	})
	return n, err
}
