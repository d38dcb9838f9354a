package progress

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"typist/adapters/rich"
)

// window is the part of a growing text that a view shows: all of it while it is short, then its
// end. The cut only moves on, in strides and to the beginning of a line, so that the message does
// not jump with every edit; following it costs linear time over the whole text.
type window struct {
	counted int // bytes whose characters are counted
	chars   int // characters from cut to counted
	cut     int
	fence   string // the opening line of the code fence that is open at cut; "" = none
}

// follow moves the window on so that it holds at most limit characters.
func (w *window) follow(text []byte, limit int) {
	w.chars += utf8.RuneCount(text[w.counted:])
	w.counted = len(text)
	if w.chars <= limit {
		return
	}
	for stride := limit * 2 / 3; w.chars > stride && w.cut < len(text); {
		n := bytes.IndexByte(text[w.cut:], '\n') + 1
		if n == 0 || utf8.RuneCount(text[w.cut:w.cut+n]) > max(w.chars-limit/4, 0) {
			w.cutLine(text, w.chars-stride)
			return
		}
		w.skip(text[w.cut : w.cut+n])
	}
}

// skip leaves one line behind.
func (w *window) skip(line []byte) {
	w.cut += len(line)
	w.chars -= utf8.RuneCount(line)
	mark := bytes.TrimLeft(line, " \t>")
	switch {
	case w.fence == "" && (bytes.HasPrefix(mark, []byte("```")) || bytes.HasPrefix(mark, []byte("~~~"))):
		w.fence = strings.TrimSpace(string(mark[:min(len(mark), 64)]))
	case w.fence != "" && bytes.HasPrefix(mark, []byte(w.fence[:3])) && len(bytes.Trim(mark, "`~ \t\r\n")) == 0:
		w.fence = ""
	}
}

// cutLine cuts n characters into a line that is too long to leave behind whole, at a blank where
// one is near.
func (w *window) cutLine(text []byte, n int) {
	at := w.cut
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRune(text[at:])
		at += size
		w.chars--
	}
	if i := bytes.IndexByte(text[at:min(len(text), at+40)], ' '); i >= 0 {
		w.chars -= utf8.RuneCount(text[at : at+i+1])
		at += i + 1
	}
	w.cut = at
}

// parsed is a text's parsed window, kept until it changes.
type parsed struct {
	of     *entry
	view   int
	length int
	cut    int
	doc    rich.Doc
}

// answer is the answer-so-far as a view shows it: at most limit characters of its end, or the
// dots while the run has no text at all (P5). view tells the windows of the two views apart.
func (b *Board) answer(view, limit int) rich.Doc {
	e := b.run.text
	if e == nil {
		return rich.Plain(ellipsis)
	}
	w := &e.window[view]
	w.follow(e.body, limit)
	if p := &b.parsed; p.of == e && p.view == view && p.length == len(e.body) && p.cut == w.cut {
		return p.doc
	}
	text := string(e.body[w.cut:])
	var doc rich.Doc
	if w.cut > 0 {
		doc = rich.Plain(ellipsis)
		if w.fence != "" {
			text = w.fence + "\n" + text
		}
	}
	doc = append(doc, rich.Parse(text)...)
	b.parsed = parsed{of: e, view: view, length: len(e.body), cut: w.cut, doc: doc}
	return doc
}
