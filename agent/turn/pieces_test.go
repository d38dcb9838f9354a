package turn

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"typist/adapters"
)

// pieces makes a message one that was joined from three: "5 one", " two" and " three".
func pieces(m *adapters.Message) {
	m.Join(m.ID+"b", "", " two")
	m.Join(m.ID+"c", "", " three")
}

// TestS7_AnEditOfAPieceFindsItsTurn while the message waits, while it is worked on, and later.
func TestS7_AnEditOfAPieceFindsItsTurn(t *testing.T) {
	for _, when := range []time.Duration{0, 8 * time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, setup{backend: backendFunc(byText)})
			b.write("dm", "5 first")
			after(time.Second)
			id := b.write("dm", "5 one", pieces)
			after(time.Second + when)
			b.edit("dm", id+"b", " 2")
			after(20 * time.Second)
			b.want("dm", "Answer to 5 one 2 three")
			b.edit("dm", id+"c", " 3")
			after(20 * time.Second)
			b.edit("dm", id, "6 eins")
			after(20 * time.Second)
			b.want("dm", "Answer to 6 eins 2 3")
			b.wantNot("dm", "Answer to 5 one two three")
			n := len(b.bot("dm"))
			b.edit("dm", id+"b", " 2") // nothing new
			after(20 * time.Second)
			if len(b.bot("dm")) != n {
				t.Errorf("after %s: an edit that changes nothing is answered", when)
			}
		})
	}
}

func TestS7_RewordingOnePiece(t *testing.T) {
	album := adapters.Message{ID: "1", Text: "one"}
	album.Join("2", "\n", "")
	album.Join("3", "\n", "three")
	paste := adapters.Message{ID: "1", Text: "öne"}
	paste.Join("2", "", "two")
	for _, c := range []struct {
		name, id, text, want string
		m                    adapters.Message
		changed              bool
	}{
		{"the only piece", "1", "uno", "uno", adapters.Message{ID: "1", Text: "one"}, true},
		{"of another message", "4", "uno", "one", adapters.Message{ID: "1", Text: "one"}, false},
		{"the same", "2", "two", "önetwo", paste, false},
		{"the first of a paste", "1", "1", "1two", paste, true},
		{"the second of a paste", "2", "zwei", "önezwei", paste, true},
		{"an album's caption", "1", "uno", "uno\nthree", album, true},
		{"a new caption", "2", "two", "one\ntwo\nthree", album, true},
		{"the last caption", "3", "drei", "one\ndrei", album, true},
		{"the caption goes", "3", "", "one\n", album, true},
		{"cuts that can't be", "2", "x", "one", adapters.Message{ID: "1", Text: "one", Parts: []string{"2"}, Cuts: []int{9}}, false},
		{"no cuts", "2", "x", "one", adapters.Message{ID: "1", Text: "one", Parts: []string{"2"}}, false},
	} {
		m, changed := reword(c.m, c.id, c.text)
		if m.Text != c.want || changed != c.changed {
			t.Errorf("%s: got %q, %t, want %q, %t", c.name, m.Text, changed, c.want, c.changed)
		}
	}
	again := paste
	for _, step := range [][2]string{{"1", "a longer first"}, {"2", "B"}, {"1", "A"}, {"2", "b"}} {
		var stored adapters.Message // as the inbox keeps it
		raw, err := json.Marshal(again)
		if err != nil || json.Unmarshal(raw, &stored) != nil {
			t.Fatal(err)
		}
		again, _ = reword(stored, step[0], step[1])
	}
	if again.Text != "Ab" {
		t.Errorf("after four edits: %q", again.Text)
	}
}
