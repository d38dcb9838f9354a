package script

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"typist/agent"
)

// directives are the words a line may begin with, and how the rest of it is read.
var directives = map[string]func(*node, string) error{
	"think":        readText,
	"say":          readText,
	"think-silent": readTime,
	"wait":         readTime,
	"pace":         readTime,
	"tool":         readTool,
	"tool-fail":    readTool,
	"call":         readTool,
	"step":         readName,
	"end-step":     readNothing,
	"ask-approval": readApproval,
	"file":         readFile,
	"silence":      readNothing,
	"error":        readError,
	"cut":          readNothing,
	"crash":        readNothing,
}

// blocks are the words of lines that end in {.
var blocks = map[string]func(*node, string) error{
	"parallel":    readNothing,
	"do":          readNothing,
	"once":        readNothing,
	"subagent":    readName,
	"if-approved": readNothing,
	"if-denied":   readNothing,
}

// maxTime bounds every time in a script.
const maxTime = 24 * time.Hour

type parser struct {
	file   string
	script *Script
	stack  []*node // open blocks; the first is the section
	last   *node   // what a | line goes on with
}

// Parse reads a script. The error names file, line and what to write instead.
func Parse(file, text string) (*Script, error) {
	p := &parser{file: file, script: &Script{}}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		if err := p.line(i+1, strings.TrimSpace(line)); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
	}
	if err := p.endSection(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", file, len(lines), err)
	}
	if len(p.script.sections) == 0 {
		return nil, fmt.Errorf(`%s: no section; begin one with a line on "words": or a line otherwise: and its directives`, file)
	}
	return p.script, nil
}

func (p *parser) line(number int, line string) error {
	switch {
	case line == "" || line[0] == '#':
		return nil
	case line[0] == '|':
		if p.last == nil {
			return errors.New("a | line needs a text or a result before it")
		}
		p.last.text = strings.TrimPrefix(p.last.text+"\n"+strings.TrimPrefix(line[1:], " "), "\n")
		return nil
	case line == "}":
		p.last = nil
		return p.closeBlock()
	}
	p.last = nil
	word, rest := line, ""
	if i := strings.IndexAny(line, " \t:{"); i >= 0 {
		word, rest = line[:i], strings.TrimSpace(line[i:])
	}
	if done, err := p.header(word, rest); done || err != nil {
		return err
	}
	if len(p.stack) == 0 {
		return fmt.Errorf(`%q stands before the first section; begin one with a line on "words": or a line otherwise: before it`, word)
	}
	return p.directive(number, word, rest)
}

// header takes lines that begin a section or tell about the script.
func (p *parser) header(word, rest string) (bool, error) {
	value, colon := strings.CutPrefix(rest, ":")
	value = strings.TrimSpace(value)
	switch word {
	case "title", "about", "try":
		if len(p.stack) > 0 || !colon {
			return true, fmt.Errorf("%s: TEXT stands before the first section", word)
		}
		*map[string]*string{"title": &p.script.Title, "about": &p.script.About, "try": &p.script.Try}[word] = value
		return true, nil
	case "otherwise":
		if rest != ":" {
			return true, errors.New("write otherwise: alone on its line")
		}
		return true, p.beginSection(nil)
	case "on":
		quoted, ok := strings.CutSuffix(rest, ":")
		pattern := strings.TrimSpace(quoted)
		if !ok || len(pattern) < 3 || pattern[0] != '"' || pattern[len(pattern)-1] != '"' {
			return true, errors.New(`write on "words": with a regular expression in double quotes and a colon`)
		}
		re, err := regexp.Compile("(?is)" + pattern[1:len(pattern)-1])
		if err != nil {
			return true, fmt.Errorf("%w; mend the expression in quotes", err)
		}
		return true, p.beginSection(re)
	}
	return false, nil
}

func (p *parser) beginSection(re *regexp.Regexp) error {
	if err := p.endSection(); err != nil {
		return err
	}
	p.script.sections = append(p.script.sections, section{pattern: re})
	p.stack = []*node{{word: "section"}}
	return nil
}

func (p *parser) endSection() error {
	if len(p.stack) > 1 {
		return fmt.Errorf("the block %s of line %d is open; close it with } alone on a line", p.stack[len(p.stack)-1].word, p.stack[len(p.stack)-1].line)
	}
	if len(p.stack) == 1 {
		p.script.sections[len(p.script.sections)-1].body = p.stack[0].children
	}
	return nil
}

func (p *parser) closeBlock() error {
	if len(p.stack) < 2 {
		return errors.New("} closes nothing; remove it")
	}
	p.stack = p.stack[:len(p.stack)-1]
	return nil
}

func (p *parser) directive(number int, word, rest string) error {
	n := &node{line: number, word: word}
	inner, isBlock := strings.CutSuffix(rest, "{")
	read, known := directives[word]
	if readBlock, ok := blocks[word]; ok {
		if !isBlock {
			return fmt.Errorf("%s begins a block; end its line with {", word)
		}
		read, known, rest = readBlock, true, strings.TrimSpace(inner)
	}
	if !known {
		return fmt.Errorf("unknown directive %q (known: %s)", word, strings.Join(knownWords(), ", "))
	}
	if err := read(n, rest); err != nil {
		return err
	}
	top := p.stack[len(p.stack)-1]
	top.children = append(top.children, n)
	if _, ok := blocks[word]; ok {
		p.stack = append(p.stack, n)
		return nil
	}
	p.last = n
	return nil
}

func knownWords() []string {
	var words []string
	for w := range directives {
		words = append(words, w)
	}
	for w := range blocks {
		words = append(words, w)
	}
	slices.Sort(words)
	return words
}

func readNothing(n *node, rest string) error {
	if rest != "" {
		return fmt.Errorf("%s takes nothing; remove %q", n.word, rest)
	}
	return nil
}

func readName(n *node, rest string) error {
	n.name = rest
	if rest == "" {
		return fmt.Errorf("%s needs a name", n.word)
	}
	return nil
}

func readTime(n *node, rest string) error {
	d, err := parseTime(rest)
	n.time = d
	return err
}

func parseTime(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > maxTime {
		return 0, fmt.Errorf("%q is no time; write one like 500ms, 2s or 1m", s)
	}
	return d, nil
}

// readText reads [TIME]: TEXT.
func readText(n *node, rest string) error {
	before, text, ok := strings.Cut(rest, ":")
	if !ok {
		return fmt.Errorf("write %s: TEXT or %s 2s: TEXT", n.word, n.word)
	}
	n.text = strings.TrimSpace(text)
	n.time = -1
	if before = strings.TrimSpace(before); before != "" {
		return readTime(n, before)
	}
	return nil
}

// readTool reads [TIME] NAME [JSON] [=> RESULT].
func readTool(n *node, rest string) error {
	n.time = time.Second
	word, after, _ := strings.Cut(rest, " ")
	if d, err := parseTime(word); err == nil {
		n.time = d
		word, after, _ = strings.Cut(strings.TrimSpace(after), " ")
	}
	if word == "" || strings.ContainsAny(word, `{}="`) {
		return fmt.Errorf(`write %s NAME {"argument":"value"} with the tool's name first`, n.word)
	}
	n.name, n.fails, n.args = word, n.word == "tool-fail", "{}"
	after = strings.TrimSpace(after)
	if strings.HasPrefix(after, "{") {
		dec := json.NewDecoder(strings.NewReader(after))
		var args json.RawMessage
		if err := dec.Decode(&args); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = errors.New("it does not end")
			}
			return fmt.Errorf("the arguments are no JSON object: %w", err)
		}
		n.args = string(args)
		after = strings.TrimSpace(after[dec.InputOffset():])
	}
	result, arrow := strings.CutPrefix(after, "=>")
	switch {
	case arrow && n.word == "call":
		return errors.New("call asks a real tool, which gives its own result; remove => and what follows, or write tool")
	case after != "" && !arrow:
		return fmt.Errorf("%q: write => before the result", after)
	}
	n.text = strings.TrimSpace(result)
	return nil
}

// readApproval reads [YES | NO]: TITLE; the brackets belong to it.
func readApproval(n *node, rest string) error {
	if strings.HasPrefix(rest, "[") {
		options, after, ok := strings.Cut(rest[1:], "]")
		if !ok {
			return errors.New("close the options with ]")
		}
		for o := range strings.SplitSeq(options, "|") {
			n.options = append(n.options, strings.TrimSpace(o))
		}
		if len(n.options) < 2 || slices.Contains(n.options, "") {
			return errors.New("write at least two options: ask-approval [Delete | Keep]: TITLE")
		}
		rest = strings.TrimSpace(after)
	}
	title, ok := strings.CutPrefix(rest, ":")
	n.text = strings.TrimSpace(title)
	if !ok || n.text == "" {
		return errors.New("write ask-approval: TITLE or ask-approval [Delete | Keep]: TITLE")
	}
	return nil
}

// readFile reads NAME [MIME][: CONTENT].
func readFile(n *node, rest string) error {
	before, content, _ := strings.Cut(rest, ":")
	fields := strings.Fields(before)
	if len(fields) == 0 || len(fields) > 2 {
		return errors.New("write file NAME: CONTENT or file NAME MIME: CONTENT")
	}
	n.name, n.text = fields[0], strings.TrimSpace(content)
	if len(fields) == 2 {
		n.options = fields[1:]
	}
	return nil
}

// kinds are the failures that a script can name.
var kinds = []agent.FailureKind{agent.NeverSent, agent.CutEarly, agent.ServerError, agent.Overloaded, agent.RateLimited, agent.Unauthorized,
	agent.NotFound, agent.TooLong, agent.Invalid, agent.Malformed}

// readError reads KIND [TIME][: DETAIL].
func readError(n *node, rest string) error {
	before, detail, _ := strings.Cut(rest, ":")
	kind, wait, _ := strings.Cut(strings.TrimSpace(before), " ")
	n.kind, n.text = agent.FailureKind(kind), strings.TrimSpace(detail)
	if !slices.Contains(kinds, n.kind) {
		return fmt.Errorf("unknown kind of error %q (allowed: %v)", kind, kinds)
	}
	if wait = strings.TrimSpace(wait); wait != "" {
		return readTime(n, wait)
	}
	return nil
}
