package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// finding is one row of the table of `typist check` (O4).
type finding struct {
	name, found string
	todo        string // "" = nothing is wrong
	mild        bool   // worth knowing, but nothing that makes the check fail
}

func (f finding) mark() string {
	switch {
	case f.todo == "":
		return "✓"
	case f.mild:
		return "!"
	}
	return "✗"
}

// tableWidth is how wide the table gets at most, in characters.
const tableWidth = 120

// table prints the findings and reports whether all is well.
func table(w io.Writer, rows []finding) bool {
	all := append([]finding{{name: "WHAT", found: "FOUND", todo: "WHAT TO DO"}}, rows...)
	var name, found, todo int
	for _, r := range all {
		name, found, todo = max(name, width(r.name)), max(found, width(r.found)), max(todo, width(r.todo))
	}
	if left := tableWidth - len("x  ") - name - len("  ") - len("  "); found+todo > left {
		todo = min(todo, max(left/2, left-found))
		found = left - todo
	}
	ok := true
	for i, r := range all {
		mark := r.mark()
		if i == 0 {
			mark = " "
		}
		ok = ok && mark != "✗"
		first, second := wrap(r.found, found), wrap(r.todo, todo)
		for n := range max(len(first), len(second)) {
			line := fmt.Sprintf("%s  %-*s  %-*s  %s", mark, name, r.name, found, at(first, n), at(second, n))
			fmt.Fprintln(w, strings.TrimRight(line, " "))
			mark, r.name = " ", ""
		}
	}
	return ok
}

func width(s string) int { return utf8.RuneCountInString(s) }

func at(lines []string, n int) string {
	if n < len(lines) {
		return lines[n]
	}
	return ""
}

// wrap breaks a text between words; a word that is longer than a line is cut. It is one line at
// least.
func wrap(text string, limit int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && width(line)+1+width(word) > limit {
			lines, line = append(lines, line), ""
		}
		for width(word) > limit {
			runes := []rune(word)
			lines, word = append(lines, string(runes[:limit])), string(runes[limit:])
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
