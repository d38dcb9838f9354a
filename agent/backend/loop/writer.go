package loop

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"

	"typist/agent"
)

// Finish says why a model stopped.
type Finish uint8

// The ways to finish.
const (
	Stop     Finish = iota // it was done, or wants tools
	Length                 // token limit
	Filtered               // content filter, or a refusal by the provider
)

// Reply is what one model request came to.
type Reply struct {
	Message agent.Message // thinking, text, calls: in the order of P8
	Finish  Finish
}

// Calls are the calls that the model wants executed: none of an answer that was filtered.
func (r *Reply) Calls() []agent.Part {
	var calls []agent.Part
	for _, p := range r.Message.Blocks {
		if p.Kind == agent.PartToolCall && r.Finish != Filtered {
			calls = append(calls, p)
		}
	}
	return calls
}

func (r *Reply) text() string {
	for _, p := range r.Message.Blocks {
		if p.Kind == agent.PartText {
			return p.Text
		}
	}
	return ""
}

// Writer turns what a model streams into events and into its Reply. One goroutine writes.
// White space before the first character of a text or thought is held, and dropped if nothing
// follows: templates leave it where there is no text at all.
type Writer struct {
	emit      func(agent.Event)
	request   string
	titles    map[string]string
	finished  Finish
	reasoning []*piece
	texts     []*piece
	calls     []*Call
	thinking  *piece // the thought that is open
	text      *piece // the text that is open
	usage     agent.Usage
	blocks    int
}

// piece is a thought or a text.
type piece struct {
	id        string
	buf       strings.Builder
	held      string // white space not yet shown
	shown     bool   // its start was emitted
	signature string
}

func newWriter(names *ids, tools []agent.Tool, emit func(agent.Event)) *Writer {
	w := &Writer{emit: emit, request: names.request(), titles: map[string]string{}}
	for _, t := range tools {
		w.titles[t.Name] = t.Title
	}
	return w
}

// id names the next block.
func (w *Writer) id(letter string) string {
	w.blocks++
	return w.request + "." + letter + strconv.Itoa(w.blocks)
}

// push adds to a piece and returns what is to be shown of it.
func (p *piece) push(delta string) string {
	if !p.shown {
		p.held += delta
		rest := strings.TrimLeftFunc(p.held, unicode.IsSpace)
		if rest == "" {
			return ""
		}
		lead := p.held[:len(p.held)-len(rest)]
		delta = lead[strings.LastIndexByte(lead, '\n')+1:] + rest // the first line keeps its indentation
		p.held = ""
	}
	p.buf.WriteString(delta)
	return delta
}

// StartReasoning begins a thought, if none is open: for models that think without saying what.
func (w *Writer) StartReasoning() {
	if w.thinking == nil {
		w.thinking = &piece{id: w.id("r")}
		w.reasoning = append(w.reasoning, w.thinking)
	}
	w.showReasoning()
}

func (w *Writer) showReasoning() {
	if !w.thinking.shown {
		w.thinking.shown = true
		w.emit(agent.ReasoningStarted{ID: w.thinking.id, Request: w.request})
	}
}

// Reasoning adds to the open thought, or begins one.
func (w *Writer) Reasoning(delta string) {
	if delta == "" {
		return
	}
	if w.thinking == nil {
		w.thinking = &piece{id: w.id("r")}
		w.reasoning = append(w.reasoning, w.thinking)
	}
	if delta = w.thinking.push(delta); delta != "" {
		w.showReasoning()
		w.emit(agent.ReasoningContent{ID: w.thinking.id, Delta: delta})
	}
}

// EndReasoning ends the open thought. signature is what the model's API wants back with it; it
// alone makes a thought without text worth keeping.
func (w *Writer) EndReasoning(signature string) {
	p := w.thinking
	if p == nil {
		return
	}
	p.signature = signature
	if signature != "" {
		w.showReasoning()
	}
	w.thinking = nil
	if p.shown {
		w.emit(agent.ReasoningEnded{ID: p.id, Signature: signature})
	}
}

// Text adds to the answer of this request, and ends the open thought.
func (w *Writer) Text(delta string) {
	if delta == "" {
		return
	}
	if w.text == nil {
		w.text = &piece{id: w.id("t")}
		w.texts = append(w.texts, w.text)
	}
	p := w.text
	if w.thinking != nil && strings.TrimSpace(delta) != "" {
		w.EndReasoning("")
		if p.shown && !strings.HasSuffix(p.buf.String(), "\n") {
			delta = "\n\n" + delta // thinking parted two paragraphs
		}
	}
	if delta = p.push(delta); delta == "" {
		return
	}
	if !p.shown {
		p.shown = true
		w.emit(agent.TextStarted{ID: p.id, Request: w.request})
	}
	w.emit(agent.TextContent{ID: p.id, Delta: delta})
}

// TextWasReasoning ends the text so far: it turned out to be thinking, as with models whose
// template opens the thought and whose answer only closes it. The text that follows replaces it.
func (w *Writer) TextWasReasoning() {
	p := w.text
	if p == nil {
		return
	}
	w.text = nil
	w.texts = nil
	if p.shown {
		w.emit(agent.TextEnded{ID: p.id})
		w.reasoning = append(w.reasoning, p)
	}
}

// Finish says why the model stopped.
func (w *Writer) Finish(f Finish) { w.finished = f }

// Usage says how many tokens the request used; the last word counts.
func (w *Writer) Usage(input, output int64) {
	w.usage = agent.Usage{Request: w.request, Input: input, Output: output}
}

// Call is a tool call that the model writes.
type Call struct {
	w     *Writer
	part  agent.Part
	args  bytes.Buffer
	shown bool
}

// Call begins a tool call. id is the model's own, "" if it has none; Name may come later.
func (w *Writer) Call(id string) *Call {
	w.EndReasoning("")
	c := &Call{w: w, part: agent.Part{Kind: agent.PartToolCall, ID: callID(id), Request: w.request}}
	w.calls = append(w.calls, c)
	return c
}

// Name sets the tool's name, once.
func (c *Call) Name(name string) {
	if c.part.Name != "" || name == "" {
		return
	}
	c.part.Name = name
	c.show()
}

func (c *Call) show() {
	if c.shown {
		return
	}
	c.shown = true
	c.w.emit(agent.ToolCallStarted{ID: c.part.ID, Request: c.w.request, Name: c.part.Name, Title: c.w.titles[c.part.Name]})
	if c.args.Len() > 0 {
		c.w.emit(agent.ToolCallArgs{ID: c.part.ID, Delta: c.args.String()})
	}
}

// Args adds to the arguments' JSON text.
func (c *Call) Args(delta string) {
	if delta == "" {
		return
	}
	c.args.WriteString(delta)
	if c.shown {
		c.w.emit(agent.ToolCallArgs{ID: c.part.ID, Delta: delta})
	}
}

// Sign keeps what the model's API wants back with the call.
func (c *Call) Sign(signature string) { c.part.Signature = signature }

// ToolName is the call's name, "" before it is known.
func (c *Call) ToolName() string { return c.part.Name }

// Complete reports whether the arguments are a JSON document already.
func (c *Call) Complete() bool { return json.Valid(c.args.Bytes()) }

// finish closes the blocks of a complete answer and returns it.
func (w *Writer) finish() *Reply {
	w.EndReasoning("")
	reply := &Reply{Message: agent.Message{Role: agent.Assistant}, Finish: w.finished}
	add := func(p agent.Part) { reply.Message.Blocks = append(reply.Message.Blocks, p) }
	for _, p := range w.reasoning {
		if p.shown {
			add(agent.Part{Kind: agent.PartReasoning, ID: p.id, Request: w.request, Text: p.buf.String(), Signature: p.signature})
		}
	}
	for _, p := range w.texts {
		if p.shown {
			cut := w.finished != Stop
			w.emit(agent.TextEnded{ID: p.id, Incomplete: cut})
			add(agent.Part{Kind: agent.PartText, ID: p.id, Request: w.request, Text: p.buf.String(), Incomplete: cut})
		}
	}
	for _, c := range w.calls {
		c.show()
		switch args := bytes.TrimSpace(c.args.Bytes()); {
		case len(args) == 0:
			c.part.Args = agent.ToolArgs("{}")
		case json.Valid(args):
			c.part.Args = bytes.Clone(args)
		default:
			c.part.Text = c.args.String()
		}
		add(c.part)
	}
	if w.usage != (agent.Usage{}) {
		w.emit(w.usage)
	}
	return reply
}

// abandon closes the blocks of a broken answer that is asked for again.
func (w *Writer) abandon() {
	if p := w.thinking; p != nil && p.shown {
		w.emit(agent.ReasoningEnded{ID: p.id, Incomplete: true})
	}
	if p := w.text; p != nil && p.shown {
		w.emit(agent.TextEnded{ID: p.id, Incomplete: true})
	}
	for _, c := range w.calls {
		if c.shown {
			c.w.emit(agent.ToolCallResult{ID: c.part.ID, Incomplete: true})
		}
	}
}
