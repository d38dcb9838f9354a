package progress

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

func TestP3_LiveLine(t *testing.T) {
	for _, c := range []struct{ thought, summary, detail string }{
		{"", "", ""},
		{"one", "one", "one"},
		{"one\ntwo", "one two", "two"},
		{"one\n\ntwo", "two", "two"},
		{"one\n \t\ntwo\nthree", "two three", "three"},
		{"one\r\n\r\ntwo\r\n", "two", "two"},
		{"one\n\ntwo\n\n", "two", "two"}, // a pause after a line break keeps the last words
		{"\n\n  one", "one", "one"},
		{"  a \t b  \x1b[31m", "a b [31m", "a b [31m"},
		{"use --password hunter2 here", "use --password *** here", "use --password *** here"},
		{"**bold** <b>x</b>", "**bold** <b>x</b>", "**bold** <b>x</b>"},
		{strings.Repeat("a", 80), strings.Repeat("a", 80), strings.Repeat("a", 80)},
		{strings.Repeat("x ", 40) + "end", strings.Repeat("x ", 39) + "x…", "…" + strings.Repeat(" x", 38)[1:] + " end"},
		{"first\n\n" + strings.Repeat("👩‍👩‍👧‍👦", 90), strings.Repeat("👩‍👩‍👧‍👦", 79) + "…", "…" + strings.Repeat("👩‍👩‍👧‍👦", 79)},
	} {
		for _, size := range []int{1, 3, 1 << 20} { // however it is cut into deltas
			var l live
			for s := c.thought; s != ""; {
				n := min(size, len(s))
				l.add(s[:n])
				s = s[n:]
			}
			if got := l.show(Summary); got != c.summary {
				t.Errorf("summary of %q by %d: %q, want %q", c.thought, size, got, c.summary)
			}
			if got := l.show(Detail); got != c.detail {
				t.Errorf("detail of %q by %d: %q, want %q", c.thought, size, got, c.detail)
			}
		}
	}
}

func TestP3_LongThoughtsStayBounded(t *testing.T) {
	var l live
	for range 20000 {
		l.add("words without any break, ")
	}
	if n := cap(l.para) + cap(l.line); n > 8*liveBytes {
		t.Errorf("%d bytes kept", n)
	}
	if got := l.show(Detail); !strings.HasSuffix(got, "any break,") || uniseg.GraphemeClusterCount(got) > 80 {
		t.Errorf("detail %q", got)
	}
	if got := l.show(Summary); !strings.HasPrefix(got, "words without") {
		t.Errorf("summary %q", got)
	}
	l.add("\n\n" + strings.Repeat("é", 100_000) + " tail")
	if got := l.show(Detail); !strings.HasSuffix(got, "é tail") && got != "… tail" {
		t.Errorf("detail after one huge delta %q", got)
	}
}

func TestP3_NeverOver80Graphemes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var l live
		for _, d := range rapid.SliceOf(rapid.StringOf(rapid.RuneFrom([]rune("ab \n\r\t🇩🇪é\u0301👩\u200d👧語*`")))).Draw(r, "deltas") {
			l.add(d)
		}
		for _, level := range Levels() {
			got := l.show(level)
			if uniseg.GraphemeClusterCount(got) > 80 || strings.ContainsAny(got, "\n\r\t") || strings.TrimSpace(got) != got {
				r.Fatalf("%s: %q", level, got)
			}
		}
	})
}

func TestP3_LiveLineStandsUnderTheRunLine(t *testing.T) {
	s := onStage(t, Options{})
	s.at(0, request("m1"), begins("r", "m1"), think("r", "Old.\n\nNew paragraph\nwith a line"))
	s.at(10)
	s.want(Overview, "Thinking… (10s)")
	s.want(Summary, "Thinking… (10s)", "New paragraph with a line", "…")
	s.want(Detail, "Thinking… (10s)", "with a line", "Thinking… (10s)", "Old.", "New paragraph", "with a line", "…")
	if spans := s.View(Summary, s.now)[0].Spans; !spans[0].Bold || !spans[len(spans)-1].Italic {
		t.Errorf("looks: %+v", spans)
	}
}
