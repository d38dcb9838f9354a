package store

import (
	"strings"
	"testing"
)

// TestMigrationsAreCompleteOrNotDone: a migration that fails leaves the file as it was, and the
// next start with a right one goes on from there.
func TestMigrationsAreCompleteOrNotDone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	id := accept(t, s, chatA, "1")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	released := migrations
	defer func() { migrations = released }()
	migrations = append(released[:len(released):len(released)], "CREATE TABLE extra (x BIGINT); INSERT INTO extra VALUES (1); CREATE TABLE nodes (x BIGINT)")
	if _, err := Open(background, Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "schema 2") {
		t.Fatalf("opened with a failing migration: %v", err)
	}
	migrations = append(released[:len(released):len(released)], "CREATE TABLE extra (x BIGINT); INSERT INTO extra VALUES (1)")
	for range 2 {
		s = open(t, dir)
		if n, err := count(s, "SELECT COUNT(*) FROM extra"); n != 1 || err != nil {
			t.Errorf("%d rows, %v", n, err)
		}
		if in, ok, err := s.NextWaiting(background, chatA); in.ID != id || !ok || err != nil {
			t.Errorf("%+v %v %v", in, ok, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStatementsUseIndexes looks at the plans of the statements that run per message or event.
func TestStatementsUseIndexes(t *testing.T) {
	s := open(t, "")
	for name, query := range map[string]string{
		"unfinished": inputColumns + unfinished,
		"waiting":    inputColumns + waitingOf + ` ORDER BY i.id`,
		"children":   childrenOf,
		"by message": nodeColumns + showing,
		"last run":   runColumns + lastOf,
		"running":    runColumns + inState,
		"turn":       turnOf,
		"run nodes":  twigsOfRun,
		"events":     eventColumns + eventsAfter,
		"run events": eventColumns + eventsOfSpan,
		"oldest run": oldestRun,
		"old ids":    forgetSeen,
		"old inputs": forgetOld[0],
		"old slots":  forgetOld[1],
		"old posts":  forgetOld[2],
		"old calls":  forgetOld[3],
	} {
		var plan []string
		if err := s.read(background, "plan", func(c *conn) error {
			return c.rows("EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?")), func(r scanner) error {
				var id, parent, unused int
				var detail string
				err := r.Scan(&id, &parent, &unused, &detail)
				plan = append(plan, detail)
				return err
			})
		}); err != nil {
			t.Fatal(name, err)
		}
		text := strings.Join(plan, "; ")
		for _, step := range plan {
			if strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "inbox_open") && step != "SCAN t" || strings.Contains(step, "TEMP B-TREE") && name != "unfinished" && name != "turn" {
				t.Errorf("%s: %s", name, text)
				break
			}
		}
	}
}
