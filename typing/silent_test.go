package typing

import (
	"strings"
	"testing"
	"unicode/utf8"
)

var defaults = NewSilentTokens([]string{"NO_REPLY", "HEARTBEAT_OK"})

func TestT5_Match(t *testing.T) {
	for text, want := range map[string]bool{
		"NO_REPLY": true, "no_reply": true, "No_Reply.": true, "  HEARTBEAT_OK\n": true,
		"**NO_REPLY**": true, "`heartbeat_ok`": true, "```\nNO_REPLY\n```": true, "_NO_REPLY_!": true,
		"> \"NO_REPLY\"": true, "\ufeffNO_REPLY\u200b": true, "~~NO_REPLY~~": true,
		"": false, "**": false, "NO": false, "NO_REPLY to that": false, "NOREPLY": false,
		"I say NO_REPLY": false, "NO_REPLY NO_REPLY": false, "NO_REPLYX": false, "NO_REPLY👍": false,
	} {
		if got := defaults.Match(text); got != want {
			t.Errorf("Match(%q) = %t", text, got)
		}
	}
}

func TestT5_TokensAreNormalised(t *testing.T) {
	tokens := NewSilentTokens([]string{" [quiet] ", "QUIET", "", "**", "Straße", "stille ruhe"})
	if len(tokens) != 3 {
		t.Fatalf("tokens %q", tokens)
	}
	for text, want := range map[string]bool{"Quiet": true, "STRAßE!": true, "stille Ruhe": true, "stille": false} {
		if got := tokens.Match(text); got != want {
			t.Errorf("Match(%q) = %t", text, got)
		}
	}
}

// pass streams text in the given pieces; out is what was released, piece by piece, joined by "|".
func pass(tokens SilentTokens, pieces ...string) (out string, silent bool) {
	f := NewSilentFilter(tokens)
	var released []string
	for _, p := range pieces {
		released = append(released, f.Push(p))
	}
	rest, silent := f.End()
	return strings.Join(append(released, rest), "|"), silent
}

func TestT5_HoldsEveryPrefixAndReleasesItWhole(t *testing.T) {
	overlap := NewSilentTokens([]string{"NO", "NO_REPLY"})
	for _, c := range []struct {
		name   string
		tokens SilentTokens
		pieces []string
		out    string
		silent bool
	}{
		{"a token in pieces", defaults, []string{"N", "O_", "RE", "PLY"}, "||||", true},
		{"a token with marks", defaults, []string{"**", "no_reply", "**", ".\n"}, "||||", true},
		{"diverges at once", defaults, []string{"Hello", " you"}, "Hello| you|", false},
		{"diverges late", defaults, []string{"N", "O", "PE", "!"}, "||NOPE|!|", false},
		{"diverges after the token", defaults, []string{"NO_REPLY", "\n", "said he"}, "||NO_REPLY\nsaid he|", false},
		{"unfinished", defaults, []string{"N", "o"}, "||No", false},
		{"unfinished with a full stop", defaults, []string{"No", "."}, "|No.|", false},
		{"only marks", defaults, []string{" ", "**"}, "|| **", false},
		{"nothing", defaults, nil, "", false},
		{"empty pieces", defaults, []string{"", "N", "", "ext"}, "|||Next|", false},
		{"two tokens", defaults, []string{"NO_REPLY ", "HEARTBEAT_OK"}, "|NO_REPLY HEARTBEAT_OK|", false},
		{"marks before text", defaults, []string{"- ", "**B"}, "|- **B|", false},
		{"a rune in two pieces", defaults, []string{"N\xc3", "\xa4chste"}, "|Nächste|", false},
		{"a mark in two pieces", defaults, []string{"NO_REPLY\xe2\x80", "\xa6"}, "||", true},
		{"half a rune at the end", defaults, []string{"NO\xc3"}, "|NO\xc3", false},
		{"no tokens", nil, []string{"N", "O"}, "N|O|", false},
		{"a token that begins another: the longer", overlap, []string{"NO", "_", "REPLY"}, "|||", true},
		{"a token that begins another: the shorter", overlap, []string{"NO", "_"}, "||", true},
		{"a token that begins another: neither", overlap, []string{"NO", "_", "RX"}, "||NO_RX|", false},
		{"a token that begins another: mark, then the rest", overlap, []string{"NO", "__", "REPLY"}, "||NO__REPLY|", false},
	} {
		if out, silent := pass(c.tokens, c.pieces...); out != c.out || silent != c.silent {
			t.Errorf("%s: %q, silent %t; want %q, %t", c.name, out, silent, c.out, c.silent)
		}
	}
}

func TestT5_Held(t *testing.T) {
	f := NewSilentFilter(defaults)
	if f.Held() {
		t.Error("holds nothing yet")
	}
	f.Push("NO")
	if !f.Held() {
		t.Error("does not hold a prefix")
	}
	f.Push("PE")
	if f.Held() {
		t.Error("still holds")
	}
}

func TestT5_AfterEndPiecesPass(t *testing.T) {
	f := NewSilentFilter(defaults)
	f.Push("NO_REPLY")
	f.End()
	if got := f.Push("x"); got != "x" {
		t.Errorf("got %q", got)
	}
	if rest, silent := f.End(); rest != "" || silent {
		t.Errorf("a second end: %q, %t", rest, silent)
	}
}

func TestT5_NoAllocationOnceOpen(t *testing.T) {
	f := NewSilentFilter(defaults)
	f.Push("Hello")
	if n := testing.AllocsPerRun(100, func() { f.Push(" you") }); n != 0 {
		t.Errorf("%g allocations per piece", n)
	}
}

// mayBecomeSilent is the rule in slow words: some continuation makes text a silent token.
func mayBecomeSilent(tokens SilentTokens, text string) bool {
	body := strings.TrimLeftFunc(text, isEdge)
	if body == "" || tokens.Match(text) {
		return true
	}
	for _, token := range tokens {
		if n := utf8.RuneCountInString(body); n <= utf8.RuneCountInString(token) && strings.EqualFold(string([]rune(token)[:n]), body) {
			return true
		}
	}
	return false
}

func FuzzT5(f *testing.F) {
	f.Add("NO_REPLY", uint8(1))
	f.Add("**no_reply**.", uint8(3))
	f.Add("Nope, HEARTBEAT_OK", uint8(2))
	f.Add("NO\u200b…\xc3", uint8(1))
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		if len(text) > 1000 {
			return // the slow rule below is asked after every piece
		}
		filter := NewSilentFilter(defaults)
		out, seen := "", ""
		for rest := text; rest != ""; {
			n := min(int(size)%7+1, len(rest))
			seen += rest[:n]
			out += filter.Push(rest[:n])
			rest = rest[n:]
			if out != "" && out != seen {
				t.Fatalf("released %q of %q: neither nothing nor all", out, seen)
			}
			if utf8.ValidString(seen) && !strings.ContainsRune(seen, utf8.RuneError) {
				if may := mayBecomeSilent(defaults, seen); may != (out == "") {
					t.Fatalf("%q may become silent: %t, released %q", seen, may, out)
				}
			}
		}
		rest, silent := filter.End()
		if silent != defaults.Match(text) {
			t.Fatalf("silent %t, match %t for %q", silent, !silent, text)
		}
		if !silent && out+rest != text || silent && out+rest != "" {
			t.Fatalf("%q came out as %q", text, out+rest)
		}
	})
}
