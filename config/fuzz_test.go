package config

import (
	"strings"
	"testing"
)

// FuzzParse: whatever the file holds, it is read or refused with lines, and what is read has
// valid values.
func FuzzParse(f *testing.F) {
	f.Add(`{ agents: { defaults: { typingMode: "thinking", typingIntervalSeconds: 6, }, }, }`)
	f.Add("session:\n  typingMode: ${X}\nchannels: {telegram: &a {botToken: x}, discord: *a}\n")
	f.Add("a: &a [*a]\n? {b: c}\n: !!binary x\n")
	f.Add("store: {url: postgres://x}\nbackends: {m: {type: acp}}\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("f.yaml", []byte(text), env("X", "message"))
		if err != nil {
			for _, line := range strings.Split(err.Error(), "\n") {
				if !strings.HasPrefix(line, "f.yaml:") {
					t.Errorf("%q: a problem without file and line: %q", text, line)
				}
			}
			return
		}
		if i := c.Session.TypingInterval; i != 0 && i.Seconds() < 1 {
			t.Errorf("%q: interval %s", text, i)
		}
		_ = c.ForRun()
		if live, restart := Diff(c, c); len(live)+len(restart) > 0 {
			t.Errorf("%q differs from itself: %q %q", text, live, restart)
		}
	})
}
