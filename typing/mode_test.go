package typing

import (
	"strings"
	"testing"
	"time"
)

func TestT1_WhichSignalStartsWhichMode(t *testing.T) {
	signals := []Signal{LoopStarted, Reasoning, Execution, Text}
	table := map[Mode]string{ // one letter per signal: does it start?
		Unset:    "----",
		Never:    "----",
		Instant:  "xxxx",
		Thinking: "-xxx",
		Message:  "--xx",
	}
	for mode, want := range table {
		for i, s := range signals {
			c := NewController(Params{Mode: mode, Life: 5 * time.Second})
			c.Signal(t0, s)
			at, due := c.Due()
			if starts := want[i] == 'x'; c.Active() != starts || due != starts {
				t.Errorf("mode %s, signal %d: active %t, due %t, want %t", mode, s, c.Active(), due, starts)
			} else if due && !at.Equal(t0) {
				t.Errorf("mode %s, signal %d: due at +%s, want at once", mode, s, at.Sub(t0))
			}
		}
	}
}

func TestT1_LaterSignalStartsWhatAnEarlierOneDidNot(t *testing.T) {
	c := NewController(Params{Mode: Message, Life: 5 * time.Second})
	c.Signal(t0, LoopStarted)
	c.Signal(t0.Add(time.Second), Reasoning)
	if c.Active() {
		t.Fatal("message mode starts by thinking")
	}
	c.Signal(t0.Add(2*time.Second), Execution)
	if at, ok := c.Due(); !ok || !at.Equal(t0.Add(2*time.Second)) {
		t.Fatalf("due %v %t, want at the tool call", at, ok)
	}
}

func TestT15_ParseMode(t *testing.T) {
	for _, m := range []Mode{Never, Instant, Thinking, Message} {
		got, err := ParseMode(m.String())
		if err != nil || got != m {
			t.Errorf("ParseMode(%q) = %v, %v", m.String(), got, err)
		}
	}
	for _, bad := range []string{"", "unset", "Thinking", "sometimes", "instant "} {
		_, err := ParseMode(bad)
		if err == nil || !strings.Contains(err.Error(), "never, instant, thinking, message") {
			t.Errorf("ParseMode(%q): error %v, want one that lists the allowed values", bad, err)
		}
	}
	if got := Mode(9).String(); got != "Mode(9)" {
		t.Errorf("Mode(9).String() = %q", got)
	}
}
