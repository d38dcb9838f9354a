package openai

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"typist/agent"
	"typist/agent/backend/loop"
	"typist/agent/backend/sse"
)

type chunk struct {
	Object  string          `json:"object"`
	Message json.RawMessage `json:"message"` // vLLM's old error object
	Error   json.RawMessage `json:"error"`
	Choices []choice        `json:"choices"`
	Usage   *tokens         `json:"usage"`
}

type choice struct {
	Index   int             `json:"index"`
	Delta   *delta          `json:"delta"`
	Message *delta          `json:"message"` // a server that does not stream
	Finish  string          `json:"finish_reason"`
	Error   json.RawMessage `json:"error"` // OpenRouter
}

type tokens struct {
	Prompt     float64 `json:"prompt_tokens"` // some write 10.0
	Completion float64 `json:"completion_tokens"`
}

type delta struct {
	Content          json.RawMessage   `json:"content"`
	Refusal          string            `json:"refusal"` // OpenAI's model says no, in words for people
	ReasoningContent string            `json:"reasoning_content"`
	Reasoning        json.RawMessage   `json:"reasoning"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details"`
	ToolCalls        []callDelta       `json:"tool_calls"`
}

type callDelta struct {
	Index    *int            `json:"index"`
	ID       string          `json:"id"`
	Extra    json.RawMessage `json:"extra_content"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // a string; an object from some
	} `json:"function"`
}

// decoder is the state of one answer.
type decoder struct {
	out      *loop.Writer
	think    thinkFilter
	thought  thought
	calls    calls
	progress sse.Progress
}

// read reads an answer to its end and closes the stream.
func read(stream *sse.Stream, out *loop.Writer) error {
	d := &decoder{out: out}
	err := stream.Read(func(ev sse.Event) (sse.Progress, error) {
		err := d.event(ev)
		return d.progress, err
	})
	if err == nil {
		d.flush()
	}
	return err
}

func (d *decoder) event(ev sse.Event) error {
	data := bytes.TrimSpace(ev.Data)
	switch {
	case len(data) == 0:
		return nil
	case string(data) == "[DONE]":
		d.progress = sse.Done
		return nil
	case ev.Name == "error":
		return &agent.HTTPError{Body: bytes.Clone(data)}
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		if ev.Open {
			return io.ErrUnexpectedEOF
		}
		return &agent.ProtocolError{Detail: "a chunk of the answer is no JSON", Err: err}
	}
	if failed(c.Error) || c.Object == "error" && len(c.Message) > 0 {
		return &agent.HTTPError{Body: bytes.Clone(data)}
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // one answer was asked for
		}
		if failed(choice.Error) {
			return &agent.HTTPError{Body: []byte(`{"error":` + string(choice.Error) + `}`)}
		}
		if choice.Finish == "error" {
			return &agent.HTTPError{Body: bytes.Clone(data)}
		}
		for _, part := range []*delta{choice.Delta, choice.Message} {
			if part != nil {
				d.delta(part)
			}
		}
		d.finish(choice.Finish)
	}
	if c.Usage != nil {
		d.out.Usage(int64(c.Usage.Prompt), int64(c.Usage.Completion))
	}
	return nil
}

// failed reports whether an error member holds an error.
func failed(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null" && string(raw) != `""` && string(raw) != "{}"
}

func (d *decoder) finish(reason string) {
	switch reason {
	case "":
		return
	case "length", "max_tokens", "model_length":
		d.out.Finish(loop.Length)
	case "content_filter":
		d.out.Finish(loop.Filtered)
	}
	d.progress = sse.Finished
}

func (d *decoder) delta(part *delta) {
	d.thought.add(d.out, part)
	text, thinking := contentOf(part.Content)
	if thinking != "" {
		d.out.Reasoning(thinking)
	}
	d.text(text + part.Refusal)
	for _, c := range part.ToolCalls {
		d.flush()
		d.calls.add(d.out, c)
	}
}

// text takes a piece of the content, in which thoughts may stand between tags.
func (d *decoder) text(s string) {
	if s == "" {
		return
	}
	d.piece(d.think.push(s))
}

func (d *decoder) piece(pieces []thinkPiece) {
	for _, p := range pieces {
		switch {
		case p.closed:
			d.out.EndReasoning("")
		case p.stray:
			d.out.TextWasReasoning()
		case p.thinking:
			d.out.Reasoning(p.text)
		default:
			if strings.TrimSpace(p.text) != "" {
				d.thought.end(d.out)
			}
			d.out.Text(p.text)
		}
	}
}

// flush ends what the tag filter and the thought hold back.
func (d *decoder) flush() {
	d.piece(d.think.end())
	d.thought.end(d.out)
}

// contentOf reads a content: a string, or a list of parts as Mistral's thinking models send it.
func contentOf(raw json.RawMessage) (text, thinking string) {
	if len(raw) == 0 || raw[0] != '[' {
		return jsonString(raw), ""
	}
	var parts []struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return "", ""
	}
	for _, p := range parts {
		if p.Type == "thinking" {
			inner, _ := contentOf(p.Thinking)
			thinking += inner
		} else {
			text += p.Text
		}
	}
	return text, thinking
}

func jsonString(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
