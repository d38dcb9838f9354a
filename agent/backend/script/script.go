// Package script is a backend whose answers are written in a small text format: for tests and
// demonstrations (A2). It does what models and their tools do, by the clock and the same each time.
//
// A script has sections, chosen by what the person wrote; the first that matches is played:
//
//	on "build|release":            a regular expression, upper and lower case alike
//	  think 3s: I should look at the Makefile first.
//	  say: Building now.
//	  tool 2s Bash {"command":"make","description":"Build with tests"} => ok
//	otherwise:
//	  say: You said: {{input}}
//
// Each line is one directive; # begins a comment line, and indentation is free. Times are Go's:
// 500ms, 2s, 1m. A line that begins with | goes on with the text or the result before it, on a
// new line. {{input}} in texts, arguments and results is what the person wrote.
//
//	think [TIME]: TEXT             a thought, streamed word by word
//	think-silent TIME              a thought of which nothing is told
//	say [TIME]: TEXT               text of the answer, streamed word by word
//	wait TIME                      nothing happens
//	pace TIME                      the time of a word where no TIME is given (40ms)
//	tool [TIME] NAME [JSON] [=> RESULT]       a tool call that takes TIME (1s)
//	tool-fail [TIME] NAME [JSON] [=> ERROR]   one that fails
//	call NAME [JSON]               a call of a real tool (MCP) of the request
//	parallel { … }                 every directive in it at the same time; do { … } makes one of several
//	step NAME … end-step           a named step
//	subagent NAME { … }            a subagent; two in parallel { … } interleave
//	ask-approval [YES | NO …]: TITLE          asks the chat's people, with the agent's own options if
//	                               given: the first allows. if-approved { … } and if-denied { … } follow
//	file NAME [MIME][: CONTENT]    a file for the chat; a picture if NAME ends in .png
//	once { … }                     only the first time in a session: for what a retry mends
//	silence                        the answer is NO_REPLY
//	error KIND [TIME][: DETAIL]    the run fails; TIME is how long to wait before a retry.
//	                               KIND: never_sent, cut, server_error, overloaded, rate_limited,
//	                               unauthorized, not_found, too_long, invalid, malformed
//	cut                            the stream breaks off
//	crash                          the backend panics
//
// Before the sections may stand about: (a line for the list of demonstrations), try: (what to
// write to see it) and title:.
//
// A resumed run (S5) plays on after what its history shows: text goes on where it stopped, and
// calls with a result are not made again.
package script

import (
	"fmt"
	"os"
	"regexp"
	"time"

	"typist/agent"
)

// Script is a parsed script. It does not change.
type Script struct {
	Title, About, Try string
	sections          []section
}

type section struct {
	pattern *regexp.Regexp // nil: otherwise
	body    []*node
}

// Load reads a script from a file. Its error names file and line.
func Load(path string) (*Script, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the script: %w", err)
	}
	return Parse(path, string(text))
}

// find returns the section for what a person wrote.
func (s *Script) find(input string) ([]*node, error) {
	for _, sec := range s.sections {
		if sec.pattern == nil || sec.pattern.MatchString(input) {
			return sec.body, nil
		}
	}
	return nil, &agent.Failure{Kind: agent.Invalid, Detail: "no section of the script matches; add one that begins with otherwise:"}
}

// node is one directive.
type node struct {
	line     int
	word     string // the directive
	time     time.Duration
	name     string
	args     string // JSON
	text     string // text, result, title, content
	fails    bool
	kind     agent.FailureKind
	options  []string
	children []*node
}
