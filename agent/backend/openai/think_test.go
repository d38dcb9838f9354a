package openai

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// filtered is what the filter makes of pieces, as one string with the thoughts in brackets.
func filtered(pieces []string) string {
	var f thinkFilter
	var b strings.Builder
	thinking := false
	write := func(out []thinkPiece) {
		for _, p := range out {
			switch {
			case p.closed:
				b.WriteString("]")
				thinking = false
				continue
			case p.stray:
				b.WriteString("|")
				continue
			case p.thinking && !thinking:
				b.WriteString("[")
				thinking = true
			}
			b.WriteString(p.text)
		}
	}
	for _, s := range pieces {
		write(f.push(s))
	}
	write(f.end())
	return b.String()
}

func TestA2_ThinkTagsMayBeCutAnywhere(t *testing.T) {
	for in, want := range map[string]string{
		"<think>hm</think>Hi":                         "[hm]Hi",
		" \n<thinking>a</thinking><think>b</think> c": "[a][b] c",
		"<thought>a </think> b</thought>c":            "[a </think> b]c",
		"<think>a</think>b</think>c":                  "[a]b</think>c",
		"a<think>b":                                   "a<think>b",
		"hm</think>Hi</think>":                        "hm|Hi</think>",
		"<think>never closed":                         "[never closed",
		"<think>cut </thi":                            "[cut </thi",
		"<thin":                                       "<thin",
		"<b>x":                                        "<b>x",
	} {
		if got := filtered([]string{in}); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if got := filtered(strings.Split(in, "")); got != want {
			t.Errorf("%q by bytes: %q, want %q", in, got, want)
		}
	}
	word := rapid.SampledFrom([]string{"<think>", "</think>", "<thinking>", "</thinking>", "<", "/", "think", ">", " ", "\n", "a", "</", "ä"})
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOf(word).Draw(t, "in"), "")
		var pieces []string
		for rest := in; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		if whole, cut := filtered([]string{in}), filtered(pieces); whole != cut {
			t.Fatalf("%q: %q whole, %q as %q", in, whole, cut, pieces)
		}
	})
}
