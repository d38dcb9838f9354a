package discord

import (
	"strings"
	"testing"

	"typist/adapters/rich"
)

// BenchmarkFit splits an answer of about 24 KB.
func BenchmarkFit(b *testing.B) {
	a := &Adapter{}
	doc := rich.Parse(strings.Repeat("Some **bold** text with [a link](https://a.example/x) and `code`, over and over.\n\n", 250) +
		"```go\n" + strings.Repeat("x := f(y)\n", 400) + "```\n")
	for b.Loop() {
		a.Fit(doc)
	}
}

// BenchmarkFitLines splits a code block of many short lines.
func BenchmarkFitLines(b *testing.B) {
	a := &Adapter{}
	doc := rich.Parse("```go\n" + strings.Repeat("x\n", 6000) + "```\n")
	for b.Loop() {
		a.Fit(doc)
	}
}
