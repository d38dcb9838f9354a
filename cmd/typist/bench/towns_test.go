package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"typist/adapters/sim"
	"typist/adapters/sim/telegram"
)

// town is a miniature Telegram with a direct chat for each of many people.
type town struct {
	*telegram.Server
	people []string // ids, which are their chats' too
}

func newTown(t testing.TB, people int, limits telegram.Limits) *town {
	t.Helper()
	s, err := telegram.New(telegram.Options{Empty: true, Limits: limits})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	w := &town{Server: s}
	s.World().Keep(people*4, people*100)
	for i := range people {
		id := fmt.Sprint(10_000 + i)
		s.World().AddPerson(sim.Person{ID: id, Name: "Person " + id})
		s.World().AddChat(sim.Chat{ID: id, Name: "Person " + id, Direct: true, Members: []string{id}})
		w.people = append(w.people, id)
	}
	return w
}

// say lets a person write.
func (w *town) say(t testing.TB, person, text string) {
	t.Helper()
	_, err := w.Say(sim.Say{Chat: person, Person: person, Text: text})
	must(t, err)
}

// answer is when the answer with that text came to stand in the chat; false: it does not. What has
// buttons is a progress message that shows the text so far.
func (w *town) answer(chat, text string) (at time.Time, ok bool) {
	for _, m := range sim.FromBot(w.World().Messages(chat, "")) {
		if strings.Contains(m.Text, text) && len(m.Buttons) == 0 {
			return stands(m), true
		}
	}
	return time.Time{}, false
}

// stands is since when a message reads as it does.
func stands(m sim.Message) time.Time {
	if !m.EditedAt.IsZero() {
		return m.EditedAt
	}
	return m.At
}

// configure writes a configuration for platforms, with a script.
func configure(t testing.TB, dir, script, more string, platforms ...sim.Platform) string {
	t.Helper()
	played := filepath.Join(dir, "script.txt")
	must(t, os.WriteFile(played, []byte(script), 0o600))
	var b strings.Builder
	fmt.Fprintf(&b, "dataDir: %s\nhttp: {listen: \"127.0.0.1:0\"}\nbackends:\n  main: {type: script, file: %s}\n%s\nchannels:\n", filepath.Join(dir, "data"), played, more)
	for _, p := range platforms {
		fmt.Fprintf(&b, "  %s:\n    apiURL: %q\n    allowFrom: [\"*\"]\n    groups: {\"*\": {}}\n", p.Name(), p.URL())
		for key, value := range p.Credentials() {
			fmt.Fprintf(&b, "    %s: %q\n", key, value)
		}
	}
	file := filepath.Join(dir, "typist.yaml")
	must(t, os.WriteFile(file, []byte(b.String()), 0o600))
	return file
}

// quantile is the q-th part (0…1) of durations; it sorts them.
func quantile(d []time.Duration, q float64) time.Duration {
	if len(d) == 0 {
		return 0
	}
	slices.Sort(d)
	return d[min(len(d)-1, int(q*float64(len(d))))]
}
