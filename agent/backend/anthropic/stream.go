package anthropic

import (
	"bytes"
	"encoding/json"
	"io"

	"typist/agent"
	"typist/agent/backend/loop"
	"typist/agent/backend/sse"
)

type event struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	Message *answer         `json:"message"`
	Block   *contentBlock   `json:"content_block"`
	Delta   delta           `json:"delta"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
	// A server that does not stream answers with the message itself.
	Content    []contentBlock `json:"content"`
	StopReason string         `json:"stop_reason"`
}

type answer struct {
	Usage *usage `json:"usage"`
}

type usage struct {
	Input      int64 `json:"input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

type contentBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

type delta struct {
	Type       string `json:"type"`
	Text       string `json:"text"`
	Thinking   string `json:"thinking"`
	Signature  string `json:"signature"`
	Partial    string `json:"partial_json"`
	StopReason string `json:"stop_reason"`
}

// decoder is the state of one answer.
type decoder struct {
	out      *loop.Writer
	blocks   map[int]*openBlock
	usage    usage
	progress sse.Progress
}

type openBlock struct {
	contentBlock
	call *loop.Call
	args bool // arguments came in pieces
}

// read reads an answer to its end and closes the stream.
func read(stream *sse.Stream, out *loop.Writer) error {
	d := &decoder{out: out, blocks: map[int]*openBlock{}}
	return stream.Read(func(ev sse.Event) (sse.Progress, error) {
		err := d.event(ev)
		return d.progress, err
	})
}

func (d *decoder) event(ev sse.Event) error {
	data := bytes.TrimSpace(ev.Data)
	if len(data) == 0 {
		return nil
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		if ev.Open {
			return io.ErrUnexpectedEOF
		}
		return &agent.ProtocolError{Detail: "an event of the answer is no JSON", Err: err}
	}
	switch e.Type {
	case "message_start":
		if e.Message != nil {
			d.count(e.Message.Usage)
		}
	case "content_block_start":
		if e.Block != nil {
			d.start(e.Index, *e.Block)
		}
	case "content_block_delta":
		if b := d.blocks[e.Index]; b != nil {
			d.delta(b, e.Delta)
		}
	case "content_block_stop":
		if b := d.blocks[e.Index]; b != nil {
			d.stop(b)
			delete(d.blocks, e.Index)
		}
	case "message_delta":
		d.count(e.Usage)
		d.finish(e.Delta.StopReason)
	case "message_stop":
		d.progress = sse.Done
	case "error":
		return &agent.HTTPError{Body: bytes.Clone(data)}
	case "message":
		for i, b := range e.Content {
			d.start(i, b)
			d.stop(d.blocks[i])
		}
		d.count(e.Usage)
		d.finish(e.StopReason)
	}
	return nil
}

func (d *decoder) start(index int, b contentBlock) {
	open := &openBlock{contentBlock: b}
	d.blocks[index] = open
	switch b.Type {
	case "text":
		d.out.Text(b.Text)
	case "thinking":
		d.out.StartReasoning()
		d.out.Reasoning(b.Thinking)
	case "redacted_thinking":
		d.out.StartReasoning()
	case "tool_use":
		open.call = d.out.Call(b.ID)
		open.call.Name(b.Name)
	}
}

func (d *decoder) delta(b *openBlock, delta delta) {
	switch delta.Type {
	case "text_delta":
		d.out.Text(delta.Text)
	case "thinking_delta":
		d.out.Reasoning(delta.Thinking)
	case "signature_delta":
		b.Signature += delta.Signature
	case "input_json_delta":
		if b.call != nil && delta.Partial != "" {
			b.args = true
			b.call.Args(delta.Partial)
		}
	}
}

func (d *decoder) stop(b *openBlock) {
	switch b.Type {
	case "thinking":
		d.out.EndReasoning(b.Signature)
	case "redacted_thinking":
		d.out.EndReasoning(redactedMark + b.Data)
	case "tool_use":
		if !b.args && len(b.Input) > 0 && string(b.Input) != "null" {
			b.call.Args(string(b.Input)) // whole at once
		}
	}
}

// count takes what is told of the tokens: the input at the start, the output at the end.
func (d *decoder) count(u *usage) {
	if u == nil {
		return
	}
	d.usage.Input = max(d.usage.Input, u.Input+u.CacheRead+u.CacheWrite)
	d.usage.Output = max(d.usage.Output, u.Output)
	d.out.Usage(d.usage.Input, d.usage.Output)
}

func (d *decoder) finish(reason string) {
	switch reason {
	case "":
		return
	case "max_tokens", "model_context_window_exceeded":
		d.out.Finish(loop.Length)
	case "refusal":
		d.out.Finish(loop.Filtered)
	}
	d.progress = sse.Finished
}
